"""Device variables of RDNA3 assembly as PTX."""

from __future__ import annotations

import ast
import re
from itertools import islice

from cass_ray.assembly.rdna3 import Rdna3LineKind, Rdna3Module
from cass_ray.rdna3_to_ptx.wave import ptx_name

_MOST_BYTES = 16 << 20
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_SIZES = {".byte": 1, ".short": 2, ".long": 4, ".quad": 8}
_FILLS = frozenset({".zero", ".space", ".skip"})
_TEXTS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}


def variables(module: Rdna3Module) -> dict[str, str]:
    """PTX definitions by name; variables with contents of unknown form are left out."""
    result = {}
    starts = {line.label: n for n, line in reversed(list(enumerate(module.lines))) if line.label}
    for name in module.variables:
        content = _content(module, name, starts.get(name))
        if content is not None:
            result[name] = _definition(name, content)
    return result


def _definition(name: str, content: bytes) -> str:
    size = max(len(content), 1)
    values = f" = {{{', '.join(map(str, content))}}}" if any(content) else ""
    return f".visible .global .align 16 .b8 {ptx_name(name)}[{size}]{values};"


def _content(module: Rdna3Module, name: str, start: int | None) -> bytes | None:
    """The bytes from a variable's label to its ``.size``; None with an address among them, or for
    more than a variable may be.
    """
    if start is None:
        return None
    content = bytearray()
    for line in islice(module.lines, start, None):
        directive = line.mnemonic
        if directive == ".size" or (line.label and line.label != name):
            return bytes(content)
        if line.kind is not Rdna3LineKind.DIRECTIVE:
            continue
        added = _bytes(directive, line.operands)
        if added is None:
            return None
        content += added
        if len(content) > _MOST_BYTES:
            return None
    return bytes(content)


def _bytes(directive: str, operands: tuple[str, ...]) -> bytes | None:
    try:
        if directive in _SIZES:
            size = _SIZES[directive]
            masked = (int(operand, 0) & ((1 << 8 * size) - 1) for operand in operands)
            return b"".join(number.to_bytes(size, "little") for number in masked)
        if directive in _FILLS:
            fill, count = int(operands[1], 0) if len(operands) > 1 else 0, int(operands[0], 0)
            return bytes([fill]) * count if count <= _MOST_BYTES else None
        if directive in _TEXTS:
            return _text(operands[0]) + _TEXTS[directive]
    except (ValueError, SyntaxError):
        return None
    return b"" if directive in (".p2align", ".globl", ".protected", ".type", ".section") else None


def _text(operand: str) -> bytes:
    """A string of the assembler: octal and the usual escapes, as Python's bytes have them."""
    if not _STRING.fullmatch(operand):
        raise ValueError(operand)
    value = ast.literal_eval(f"b{operand}")
    if not isinstance(value, bytes):
        raise ValueError(operand)
    return value
