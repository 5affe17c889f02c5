"""``printf`` of a format that is known: what AMD's device library is to be given, in order.

The library's messages are the format and then each argument as 64 bits, or the text of a ``%s``.
Nvidia's arguments lie one after the other in memory, each aligned to its size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext

MOST_VALUES = 7
"""Values in one part of a message."""

_CONVERSION = re.compile(rb"%(?P<flags>[-+ #0.1-9*]*)(?P<length>[lhjztq]*)(?P<kind>.?)", re.DOTALL)
_INTEGERS, _WIDE, _TEXT = b"diouxXc", b"eEfFgGaAp", b"s"


@dataclass(frozen=True)
class FormatArgument:
    """One argument: where it lies, how many bytes it has, and whether it is the address of text."""

    offset: int
    size: int
    is_text: bool = False


def arguments_of(text: bytes) -> list[FormatArgument]:
    """The arguments that the format ``text`` takes, widths and precisions (``*``) among them."""
    arguments: list[FormatArgument] = []
    end = 0
    for match in _CONVERSION.finditer(text):
        sizes = [4] * match["flags"].count(b"*")
        kind = match["kind"]
        is_text = bool(kind) and kind in _TEXT
        if kind and kind in _INTEGERS:
            sizes.append(8 if match["length"].strip(b"h") else 4)
        elif kind and kind in _WIDE + _TEXT:
            sizes.append(8)
        for number, size in enumerate(sizes):
            start = -(-end // size) * size
            end = start + size
            arguments.append(FormatArgument(start, size, is_text and number == len(sizes) - 1))
    return arguments


def print_known(
    context: LoweringContext, text: bytes, format_address: Value, arguments: Value
) -> Value:
    """Write ``vprintf`` of the format ``text``, which is at an address; its result."""
    ir = context.ir
    format_arguments = arguments_of(text)
    message = ir.call("i64", f"{SUPPORT_PREFIX}print_begin")
    last = i32(0 if format_arguments else 1)
    length = i64(len(text) + 1)
    message = ir.call("i64", f"{SUPPORT_PREFIX}print_format", message, format_address, length, last)
    parts = _parts(format_arguments)
    for number, part in enumerate(parts, 1):
        values = [_load(context, arguments, argument) for argument in part]
        last = i32(1 if number == len(parts) else 0)
        if part[0].is_text:
            message = ir.call("i64", f"{SUPPORT_PREFIX}print_text", message, values[0], last)
            continue
        padding = [i64(0)] * (MOST_VALUES - len(values))
        count = i32(len(values))
        name = f"{SUPPORT_PREFIX}print_values"
        message = ir.call("i64", name, message, count, *values, *padding, last)
    return i32(len(format_arguments))


def _parts(arguments: list[FormatArgument]) -> list[list[FormatArgument]]:
    """Runs of values, as long as a message takes, and texts on their own."""
    parts: list[list[FormatArgument]] = []
    for is_text, run in groupby(arguments, lambda argument: argument.is_text):
        listed = list(run)
        step = 1 if is_text else MOST_VALUES
        parts += [listed[n : n + step] for n in range(0, len(listed), step)]
    return parts


def _load(context: LoweringContext, arguments: Value, argument: FormatArgument) -> Value:
    ir = context.ir
    place = ir.cast("inttoptr", ir.op("add", arguments, i64(argument.offset)), "ptr")
    kind = "i64" if argument.size == 8 else "i32"
    return ir.cast("zext", ir.load(kind, place, argument.size), "i64")
