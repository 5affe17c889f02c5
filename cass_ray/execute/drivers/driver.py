"""Drivers for kernels in files without ``main``: allocate, fill, launch, print what came out.

The arguments are inferred from the kernel's signature: pointers to plain numbers become buffers
with repeatable contents, integers become sizes. Both sides get the same driver, in CUDA's or HIP's
spelling. ``argv`` is: number of elements, threads in a block, blocks (0: as many as the elements
need), seed; then, where only one kernel is meant, its number, and width and height of the blocks of
a kernel over two dimensions; then whether the numbers that stand in the program are among the
contents: 1, of buffers of real numbers, 2, of integers, too. What cannot be driven (other types,
templates, members) stays "compiled".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cass_ray.corpus.parsing.lexer import Token, TokenKind, significant_tokens
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Inputs, Language
from cass_ray.execute.programs import has_main

ARGUMENT_LISTS: tuple[tuple[str, ...], ...] = (
    ("1024", "256", "0", "1"),
    ("1000", "32", "0", "2"),
    ("4097", "128", "0", "3"),
    ("777", "1024", "0", "4"),
    ("300", "64", "1", "5"),
    ("2500", "96", "1048576", "6"),
)
"""Blocks of 32 to 1024, grids of 1 to 2^20, numbers of elements that blocks do not divide."""

_REAL = frozenset({"float", "double"})
_INTEGRAL_BYTES = {
    **dict.fromkeys(("bool", "char", "signed char", "unsigned char", "uchar"), 1),
    **dict.fromkeys(("int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "unsigned short", "ushort", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "uint", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("long", "unsigned long", "long int", "unsigned long int", "ulong"), 8),
    **dict.fromkeys(("long long", "long long int", "unsigned long long"), 8),
    **dict.fromkeys(("unsigned long long int", "size_t", "std::size_t", "int64_t", "uint64_t"), 8),
}
_QUALIFIERS = frozenset(
    {"const", "volatile", "restrict", "__restrict__", "__restrict", "__grid_constant__", "register"}
)
_SKIPPED_ATTRIBUTES = frozenset({"__launch_bounds__", "__maxnreg__", "__attribute__"})
_ENDS_OF_DECLARATION = frozenset({";", "{", "}"})
_LONGEST_SIGNATURE = 400
_LONGEST_PARAMETERS = 2000
"""Tokens; a kernel with more is not driven."""
_SHARED_BYTES = 16 << 10
_USUAL_EDGES = ("0", "0.5", "1", "3", "1000")
_DECIMAL = re.compile(r"(?!0[xXbB0-7])\d+\.?\d*(?:[eE][-+]?\d{1,2})?(?=[fFlLuU]*$)|\.\d+(?=[fF]*$)")
_LONGEST_NUMBER, _MOST_NUMBERS = 12, 64


@dataclass(frozen=True)
class DriverParameter:
    """``type`` is the pointed-to or plain type; ``writable`` is for pointers to non-const."""

    type: str
    pointer: bool
    writable: bool

    def takes(self, other: DriverParameter) -> bool:
        """Whether what is made up for ``other`` can be given to it: numbers are converted, and
        integers behind a pointer may have another sign."""
        sizes = [_INTEGRAL_BYTES.get(each.type) for each in (self, other)]
        if self.pointer != other.pointer or sizes.count(None) == 1:
            return False
        if not self.pointer:
            return True
        return sizes[0] == sizes[1] if sizes[0] else self.type == other.type


@dataclass(frozen=True)
class DrivenKernel:
    """A kernel that a driver can launch."""

    name: str
    parameters: tuple[DriverParameter, ...]
    dynamic_shared: bool
    two_dimensional: bool
    numbers: tuple[str, ...] = ()
    """The numbers in the text of the kernel's file, without their suffixes."""


def drivable_kernels(source: str) -> list[DrivenKernel]:
    """The kernels of ``source`` at file scope whose every parameter can be made up."""
    read = _Tokens([t for t in significant_tokens(source) if t.kind is not TokenKind.NEWLINE])
    tokens = read.tokens
    kernels: dict[str, DrivenKernel] = {}
    depth = 0
    opened: list[bool] = []
    in_template = False
    for index, token in enumerate(tokens):
        if token.text in _ENDS_OF_DECLARATION or token.kind is TokenKind.INCLUDE:
            in_template = False
        elif token.text == "template":
            in_template = True
        if token.text == "{":
            opened.append(not _is_transparent(tokens, index))
            depth += opened[-1]
        elif token.text == "}" and opened:
            depth -= opened.pop()
        elif token.text == "__global__" and depth == 0 and not in_template:
            kernel = _kernel(read, index)
            if kernel is not None:
                kernels.setdefault(kernel.name, kernel)
    numbers = _numbers(tokens) if kernels else ()
    return [replace(kernel, numbers=numbers) for kernel in kernels.values()]


def _numbers(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The decimal numbers of a program, each once; those of many digits are tables."""
    texts = (token.text for token in tokens if token.kind is TokenKind.NUMBER)
    numbers = (match[0] for text in texts if (match := _DECIMAL.match(text)))
    short = (number for number in numbers if len(number) <= _LONGEST_NUMBER)
    return tuple(dict.fromkeys(short))[:_MOST_NUMBERS]


def with_driver(sources: Sources, kernels: Sequence[DrivenKernel], language: Language) -> Sources:
    """``sources`` with a ``main`` that launches ``kernels`` after one another.

    A ``main`` that the main file has gets another name, and is not called.
    """
    main = str(sources.main)
    text = sources.files[main]
    if has_main([text.decode("utf-8", "replace")]):
        text = b"#define main cass_program_main\n" + text + b"\n#undef main"
    text += b"\n" + driver(kernels, language).encode()
    return replace(sources, files={**sources.files, main: text})


def driver_inputs() -> list[Inputs]:
    """The runs of a driven program: one for each list of ``ARGUMENT_LISTS``."""
    return [Inputs(arguments) for arguments in ARGUMENT_LISTS]


def driver(kernels: Sequence[DrivenKernel], language: Language) -> str:
    """The text of a ``main`` that feeds the kernels and prints what they wrote."""
    prefix = language.value
    numbers = dict.fromkeys(number for kernel in kernels for number in kernel.numbers)
    edges = ", ".join([*_USUAL_EDGES, *numbers])
    parts = [_text("prelude.hpp").replace("GPU_", prefix).replace("EDGES", edges)]
    parts += [_function(kernel, prefix) for kernel in kernels]
    calls = "".join(
        f"  if (only < 0 || only == {number}) cass_drive_{kernel.name}(run);\n"
        for number, kernel in enumerate(kernels)
    )
    parts.append(_text("main.cpp").replace("CALLS", calls))
    return "\n".join(parts)


def _text(name: str) -> str:
    return "\n" + (Path(__file__).parent / name).read_text(encoding="utf-8")


def _is_transparent(tokens: Sequence[Token], index: int) -> bool:
    """Whether names behind this bracket are file scope's: ``extern "C" {``, ``namespace {``."""
    before = [token.text for token in tokens[max(0, index - 2) : index]]
    return before[-1:] == ["namespace"] or (len(before) == 2 and before[0] == "extern")


class _Tokens:
    """The tokens of a file, and where things are; found once, for a file may have many kernels."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self._closing = [len(tokens)] * len(tokens)
        opened: dict[str, list[int]] = {"(": [], "{": []}
        opening_of = {")": "(", "}": "{"}
        self._shared: list[int] = []
        self._plane: list[int] = []
        texts = [token.text for token in tokens]
        for position, text in enumerate(texts):
            if text in opened:
                opened[text].append(position)
            elif text in opening_of and opened[opening_of[text]]:
                self._closing[opened[opening_of[text]].pop()] = position
            elif text == "extern" and texts[position + 1 : position + 2] == ["__shared__"]:
                self._shared.append(position)
            elif text == "threadIdx" and texts[position + 1 : position + 3] == [".", "y"]:
                self._plane.append(position)

    def closing(self, opening: int, bracket: str) -> int:
        """Where the ``bracket`` at ``opening`` closes; the number of tokens when it does not.

        ``opening`` itself where no such bracket stands there.
        """
        if opening >= len(self.tokens):
            return len(self.tokens)
        return self._closing[opening] if self.tokens[opening].text == bracket else opening

    def has_dynamic_shared(self, start: int, end: int) -> bool:
        """Whether ``extern __shared__`` stands in the tokens of ``[start, end)``."""
        return _any_within(self._shared, start, end - 1)

    def is_two_dimensional(self, start: int, end: int) -> bool:
        """Whether ``threadIdx.y`` stands in the tokens of ``[start, end)``."""
        return _any_within(self._plane, start, end - 2)


def _any_within(positions: list[int], start: int, end: int) -> bool:
    index = bisect_left(positions, start)
    return index < len(positions) and positions[index] < end


def _kernel(read: _Tokens, index: int) -> DrivenKernel | None:
    """The definition after ``__global__``; None for a declaration or unusual parameters."""
    tokens = read.tokens
    position = index + 1
    end = min(len(tokens), index + _LONGEST_SIGNATURE)
    while position < end - 1:
        if tokens[position].text in _SKIPPED_ATTRIBUTES:
            position = read.closing(position + 1, "(") + 1
        elif tokens[position].text in {";", "{"}:
            return None
        elif tokens[position + 1].text == "(" and tokens[position].kind is TokenKind.IDENTIFIER:
            break
        else:
            position += 1
    close = read.closing(position + 1, "(")
    if close + 1 >= len(tokens) or tokens[close + 1].text != "{":
        return None
    if close - position > _LONGEST_PARAMETERS:
        return None
    parameters = [_parameter(part) for part in _parts(tokens[position + 2 : close])]
    usable = [parameter for parameter in parameters if parameter is not None]
    if len(usable) != len(parameters) or not any(parameter.writable for parameter in usable):
        return None
    body_end = read.closing(close + 1, "{")
    return DrivenKernel(
        name=tokens[position].text,
        parameters=tuple(usable),
        dynamic_shared=read.has_dynamic_shared(close + 1, body_end),
        two_dimensional=read.is_two_dimensional(close + 1, body_end),
    )


def _parameter(part: Sequence[Token]) -> DriverParameter | None:
    words = [token.text for token in part]
    if "=" in words or "[" in words or "&" in words or words.count("*") > 1:
        return None
    pointer = "*" in words
    head = words[: words.index("*")] if pointer else words[:-1]
    base = " ".join(word for word in head if word not in _QUALIFIERS).replace(" :: ", "::")
    if base not in _REAL and base not in _INTEGRAL_BYTES:
        return None
    return DriverParameter(base, pointer, pointer and "const" not in head)


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Parameters, without their commas."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _function(kernel: DrivenKernel, prefix: str) -> str:
    """The function that launches one kernel on fresh buffers and prints those it may write."""
    lines = [f"static void cass_drive_{kernel.name}(const CassRun& run) {{"]
    lines += [f'  printf("kernel {kernel.name}\\n");']
    lines += [f"  const bool plane = {'true' if kernel.two_dimensional else 'false'};"]
    arguments = []
    for number, parameter in enumerate(kernel.parameters):
        if parameter.pointer:
            lines.append(f"  CassBuffer<{parameter.type}> b{number}(run, {number});")
            arguments.append(f"CassPointer<{parameter.type}>{{b{number}.device}}")
        elif parameter.type in _REAL:
            arguments.append(f"({parameter.type})0.75")
        else:
            arguments.append(f"({parameter.type})(plane ? run.side : run.elements)")
    shared = f", {_SHARED_BYTES}" if kernel.dynamic_shared else ""
    lines += [f"  {kernel.name}<<<run.grid(plane), run.block(plane){shared}>>>("]
    lines += [f"      {', '.join(arguments)});"]
    lines += [
        f"  cass_check({prefix}GetLastError());",
        f"  cass_check({prefix}DeviceSynchronize());",
    ]
    for number, parameter in enumerate(kernel.parameters):
        if parameter.writable:
            lines.append(f'  b{number}.print("argument {number}");')
    return "\n".join([*lines, "}", ""])
