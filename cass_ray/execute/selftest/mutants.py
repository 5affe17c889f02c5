"""Small faults planted in correct programs: in HIP source, and in RDNA3 assembly.

Every mutator yields all places where its fault can be planted; the self-test draws from them. A
fault is a change that people and models make: a wrong operator, a bound one off, a missing barrier.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cass_ray.corpus.parsing.lexer import Token, splice_lines, tokens
from cass_ray.corpus.parsing.lexer import TokenKind as TokenKind


class Fault(StrEnum):
    """What is planted."""

    OPERATOR = "operator"
    CONSTANT = "constant"
    BOUND = "off_by_one_bound"
    BARRIER = "dropped_barrier"
    SHUFFLE = "wrong_shuffle"
    COPY_DIRECTION = "copy_direction"
    COPY_SIZE = "copy_size"
    INITIALIZATION = "missing_initialisation"
    LAUNCH = "wrong_launch_size"
    ATOMIC = "dropped_atomic"
    WARP_SIZE = "warp_size_64"
    ASM_WAIT = "asm_dropped_wait"
    ASM_OPERAND = "asm_changed_operand"
    ASM_BARRIER = "asm_removed_barrier"


@dataclass(frozen=True)
class Mutant:
    """``text`` is the whole program with one fault; ``change`` says where and what."""

    fault: Fault
    text: str
    line: int
    change: str


@dataclass(frozen=True)
class _Edit:
    fault: Fault
    start: int
    end: int
    replacement: str


_OPERATORS = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|",
              "<<": ">>", ">>": "<<", "==": "!=", "!=": "==", "+=": "-=", "-=": "+=", "&&": "||",
              "||": "&&"}  # fmt: skip
_BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_WARP_CONSTANTS = {"32": "64", "31": "63", "5": "6", "32u": "64u", "31u": "63u"}
_SHUFFLES = re.compile(r"__shfl(?:_up|_down|_xor)?(?:_sync)?")
_ATOMIC_OPERATORS = {"atomicAdd": "+=", "atomicSub": "-=", "atomicOr": "|=", "atomicAnd": "&=",
                     "atomicXor": "^="}  # fmt: skip
_DIRECTIONS = {
    "hipMemcpyHostToDevice": "hipMemcpyDeviceToHost",
    "hipMemcpyDeviceToHost": "hipMemcpyHostToDevice",
}
_COPIES = frozenset({"hipMemcpy", "hipMemcpyAsync"})
_INTEGER = re.compile(r"\d+[uUlL]*")
_FLOAT = re.compile(r"(\d+\.\d*|\.\d+)([eE][+-]?\d+)?[fF]?")


def source_mutants(source: str) -> list[Mutant]:
    """Every fault that can be planted in a HIP source; those in ``main`` concern the runtime."""
    text = splice_lines(source)
    edits = sorted(_Scan(text).edits(), key=lambda edit: edit.start)
    mutants = [_apply(text, edit) for edit in edits]
    return [mutant for mutant in mutants if mutant.text != text]  # a grid of one block stays one


def assembly_mutants(assembly: str) -> list[Mutant]:
    """Faults in RDNA3 assembly: a wait or a barrier less, another source register."""
    edits = []
    offset = 0
    for line in assembly.splitlines(keepends=True):
        for fault, pattern, replacement in _ASSEMBLY_RULES:
            if match := pattern.match(line):
                new = replacement(match)
                if new != line:
                    edits.append(_Edit(fault, offset, offset + len(line), new))
        offset += len(line)
    return [_apply(assembly, edit) for edit in edits]


def draw(mutants: Sequence[Mutant], generator: random.Random, per_fault: int) -> list[Mutant]:
    """At most ``per_fault`` mutants of each fault, drawn at random."""
    chosen: list[Mutant] = []
    for fault in Fault:
        of_fault = [mutant for mutant in mutants if mutant.fault is fault]
        chosen += generator.sample(of_fault, min(per_fault, len(of_fault)))
    return chosen


def _apply(text: str, edit: _Edit) -> Mutant:
    line = text.count("\n", 0, edit.start) + 1
    old = text[edit.start : edit.end].strip()
    change = f"{old} -> {edit.replacement.strip() or 'nothing'}"
    return Mutant(
        edit.fault, text[: edit.start] + edit.replacement + text[edit.end :], line, change
    )


class _Scan:
    """One pass over the tokens of a source, knowing which function it is in."""

    def __init__(self, text: str) -> None:
        skipped = (TokenKind.SPACE, TokenKind.NEWLINE, TokenKind.COMMENT)
        self._tokens = [token for token in tokens(text) if token.kind not in skipped]

    def edits(self) -> Iterator[_Edit]:
        for index, in_device in self._places():
            if in_device:
                yield from self._in_kernel(index)
            yield from self._anywhere(index)

    def _places(self) -> Iterator[tuple[int, bool]]:
        """Token positions, and whether each is in the body of a device function."""
        device_next = in_device = False
        depth = 0
        for index, token in enumerate(self._tokens):
            if depth == 0 and token.text in {"__global__", "__device__"}:
                device_next = True
            elif depth == 0 and token.text == ";":
                device_next = False
            if token.text == "{":
                in_device = in_device or (depth == 0 and device_next)
                depth += 1
            elif token.text == "}":
                depth = max(0, depth - 1)
                if depth == 0:
                    in_device = device_next = False
            yield index, in_device and depth > 0

    def _in_kernel(self, index: int) -> Iterator[_Edit]:
        token = self._tokens[index]
        before, after = self._text(index - 1), self._text(index + 1)
        if token.text in _BOUNDS and not self._in_template(index):
            yield self._swap(Fault.BOUND, token, _BOUNDS[token.text])
        elif token.text in _OPERATORS and self._is_binary(before, after):
            yield self._swap(Fault.OPERATOR, token, _OPERATORS[token.text])
        elif token.kind is TokenKind.NUMBER:
            yield from self._number(token, before)
        elif token.text in {"__syncthreads", "__syncwarp"} and after == "(":
            yield self._statement(Fault.BARRIER, index)
        elif _SHUFFLES.fullmatch(token.text) and after == "(":
            yield from self._shuffle(index)
        elif token.text in _ATOMIC_OPERATORS and before in {";", "{", "}", ")"}:
            yield from self._atomic(index)

    def _anywhere(self, index: int) -> Iterator[_Edit]:
        token = self._tokens[index]
        after = self._text(index + 1)
        if token.text in _DIRECTIONS:
            yield self._swap(Fault.COPY_DIRECTION, token, _DIRECTIONS[token.text])
        elif token.text in _COPIES and after == "(":
            arguments = self._arguments(index + 1)
            if len(arguments) >= 4:
                first, last = arguments[2]
                start, end = self._span(first, last)
                yield _Edit(Fault.COPY_SIZE, start, end, f"({self._source(first, last)}) / 2")
        elif token.text == "hipMemset" and after == "(":
            close = self._close(index + 1)
            start, end = self._span(index, close)
            yield _Edit(Fault.INITIALIZATION, start, end, "hipSuccess")
        elif token.text == "<<<" or (token.text == "<<" and after == "<"):
            yield from self._launch(index)

    def _number(self, token: Token, before: str) -> Iterator[_Edit]:
        if token.text in _WARP_CONSTANTS and before in {"%", "/", "&", "==", ">>", "<", "*", "="}:
            yield self._swap(Fault.WARP_SIZE, token, _WARP_CONSTANTS[token.text])
        if before in {"[", "#", "<"}:
            return  # array sizes and template arguments change no result, or do not compile
        if _INTEGER.fullmatch(token.text):
            digits = token.text.rstrip("uUlL")
            changed = f"{int(digits, 8 if digits[0] == '0' else 10) + 1}"
            yield self._swap(Fault.CONSTANT, token, changed + token.text[len(digits) :])
        elif _FLOAT.fullmatch(token.text):
            suffix = "f" if token.text[-1] in "fF" else ""
            value = float(token.text.rstrip("fF"))
            yield self._swap(Fault.CONSTANT, token, f"{value * 1.25 + 0.125!r}{suffix}")

    def _shuffle(self, index: int) -> Iterator[_Edit]:
        """The lane argument changed; the width halved, or given as 16."""
        arguments = self._arguments(index + 1)
        lane = 2 if self._tokens[index].text.endswith("_sync") else 1
        if len(arguments) > lane:
            start, end = self._span(*arguments[lane])
            text = self._source(*arguments[lane])
            yield _Edit(Fault.SHUFFLE, start, end, f"({text}) ^ 1")
        if len(arguments) == lane + 1:
            _, end = self._span(*arguments[lane])
            yield _Edit(Fault.SHUFFLE, end, end, ", 16")

    def _atomic(self, index: int) -> Iterator[_Edit]:
        arguments = self._arguments(index + 1)
        close = self._close(index + 1)
        if len(arguments) == 2 and self._text(close + 1) == ";":
            target, value = (self._source(*argument) for argument in arguments)
            operator = _ATOMIC_OPERATORS[self._tokens[index].text]
            start, end = self._span(index, close)
            yield _Edit(Fault.ATOMIC, start, end, f"*({target}) {operator} {value}")

    def _launch(self, index: int) -> Iterator[_Edit]:
        """The grid halved or reduced to one block; the block halved."""
        position = index + (1 if self._tokens[index].text == "<<<" else 2)
        start, depth, parts = position, 0, []
        while position < min(len(self._tokens), index + 80):
            text = self._tokens[position].text
            depth += (text in "([{") - (text in ")]}")
            if depth == 0 and text in {",", ">>>", ">>"}:
                parts.append((start, position - 1))
                start = position + 1
                if text != ",":
                    break
            position += 1
        for first, last in parts[:2]:
            begin, end = self._span(first, last)
            if begin < end:
                yield _Edit(Fault.LAUNCH, begin, end, "1")

    def _statement(self, fault: Fault, index: int) -> _Edit:
        """The call that begins at ``index`` left out."""
        start, end = self._span(index, self._close(index + 1))
        return _Edit(fault, start, end, "")

    def _arguments(self, opening: int) -> list[tuple[int, int]]:
        """First and last token of each argument of the call whose bracket is at ``opening``."""
        close = self._close(opening)
        arguments, start, depth = [], opening + 1, 0
        for position in range(opening + 1, close + 1):
            text = self._tokens[position].text
            if depth == 0 and (text == "," or position == close):
                arguments.append((start, position - 1))
                start = position + 1
            depth += (text in "([{") - (text in ")]}")
        return arguments

    def _close(self, opening: int) -> int:
        depth = 0
        for position in range(opening, len(self._tokens)):
            text = self._tokens[position].text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return position
        return len(self._tokens) - 1

    def _in_template(self, index: int) -> bool:
        """Whether this angle bracket may be one of a template's."""
        before, after = self._tokens[index - 1], self._text(index + 1)
        named = before.kind is TokenKind.IDENTIFIER and (
            before.text.endswith(("_cast", "numeric_limits", "template"))
        )
        return named or before.text == "template" or after in {">", "typename", "class"}

    @staticmethod
    def _is_binary(before: str, after: str) -> bool:
        value = before[-1:].isalnum() or before in {")", "]"} or before.endswith("_")
        return value and before not in {"return", "case", "else"} and after not in {",", ")", ">"}

    def _text(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _span(self, first: int, last: int) -> tuple[int, int]:
        end = self._tokens[last]
        return self._tokens[first].start, end.start + len(end.text)

    def _source(self, first: int, last: int) -> str:
        return " ".join(token.text for token in self._tokens[first : last + 1])

    def _swap(self, fault: Fault, token: Token, replacement: str) -> _Edit:
        return _Edit(fault, token.start, token.start + len(token.text), replacement)


def _nothing(match: re.Match[str]) -> str:
    del match
    return ""


def _next_register(match: re.Match[str]) -> str:
    """Another source register. Signs of indices (shifts by 31) are zero in any register."""
    if _SIGN.search(match["before"]):
        return match[0]
    number = int(match["number"])
    other = number + 1 if number == 0 else number - 1
    return f"{match['before']}{match['bank']}{other}{match['after']}"


_SIGN = re.compile(r"v_(?:ashrrev_i32|lshrrev_b32)\w*\s+v\d+,\s*31,")
_AssemblyRule = tuple[Fault, re.Pattern[str], Callable[[re.Match[str]], str]]
_ASSEMBLY_RULES: tuple[_AssemblyRule, ...] = (
    (Fault.ASM_WAIT, re.compile(r"\s+s_waitcnt(?:_vscnt)?\b.*\n?"), _nothing),
    (Fault.ASM_BARRIER, re.compile(r"\s+s_barrier\b.*\n?"), _nothing),
    (
        Fault.ASM_OPERAND,
        re.compile(
            r"(?P<before>\s+v_(?!dual)\w+_(?:f32|u32|i32|b32|f64)\w*\s+v\d+,\s*(?:[^,\n]+,\s*)?)"
            r"(?P<bank>v)(?P<number>\d+)(?P<after>\s*(?:;.*)?\n?)$"
        ),
        _next_register,
    ),
)
