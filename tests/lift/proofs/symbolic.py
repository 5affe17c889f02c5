"""The lifter's LLVM IR as z3 terms: what a kernel without loops stores, and when it is defined.

Registers that the kernel reads before it writes them, and constants of its parameters, are free
variables. Anything that this reader does not know raises :class:`NotProvable`; it never passes over
an instruction. Semantics are those of the LLVM language reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import z3

from tests.lift.proofs.terms import product

Term = Any
"""A z3 expression, a list of them for a vector, or :data:`POISON`."""


class NotProvable(Exception):
    """The IR has something in it that is not modelled."""


class _Poison:
    """A value of which nothing may be made."""


POISON = _Poison()

PARAMETER_BASE = 0x160
"""Where a kernel's parameters start in ``c[0x0]`` on sm_80."""


@dataclass(frozen=True)
class Store:
    """A word written to global memory: where (64 bits), what, and under which condition."""

    condition: z3.BoolRef
    address: Term
    value: Term


@dataclass
class Kernel:
    """What one kernel does. ``obligations`` must hold, or LLVM may do anything."""

    stores: list[Store] = field(default_factory=list)
    obligations: list[z3.BoolRef] = field(default_factory=list)


_FUNCTION = re.compile(
    r'^define [^@]*@"?(?P<name>[^"(]+)"?\([^\n]*\)\n(?P<body>.*?)^}', re.M | re.S
)
_TYPE = r"(?:<\d+ x i\d+>|i\d+|ptr(?: addrspace\(\d+\))?)"
_RESULT = re.compile(r"(%[\w.]+) = (.+)")
_BINARY = re.compile(rf"(\w+) ({_TYPE}) (\S+), (\S+)")
_ICMP = re.compile(rf"icmp (\w+) ({_TYPE}) (\S+), (\S+)")
_SELECT = re.compile(rf"select i1 (\S+), ({_TYPE}) (\S+), ({_TYPE}) (\S+)")
_CAST = re.compile(rf"(zext|sext|trunc|bitcast|inttoptr|ptrtoint) ({_TYPE}) (\S+) to ({_TYPE})")
_LOAD = re.compile(
    rf"load ({_TYPE}), (ptr addrspace\(\d+\)) (%[\w.]+)(?:, align \d+)?(?:, !invariant\.load !0)?"
)
_STORE = re.compile(rf"store ({_TYPE}) (\S+), (ptr addrspace\(\d+\)) (%[\w.]+)(?:, align \d+)?")
_OFFSET = re.compile(r"getelementptr i8, (ptr addrspace\(\d+\)) (%[\w.]+), i64 (\d+)")
_PLACE = r"(?:align \d+ dereferenceable\(\d+\) )?"
_CALL = re.compile(rf"call {_PLACE}({_TYPE}) @([\w.]+)\((.*)\)")
_BRANCH = re.compile(r"br i1 (\S+), label %([\w.]+), label %([\w.]+)")
_JUMP = re.compile(r"br label %([\w.]+)")
_LOCAL, _GLOBAL, _CONSTANT = (f"ptr addrspace({number})" for number in (5, 1, 4))


def kernels(text: str) -> dict[str, str]:
    """The body of each function of a module."""
    return {match["name"]: match["body"] for match in _FUNCTION.finditer(text)}


def evaluate(body: str) -> Kernel:
    """What a function's body does. Raises :class:`NotProvable`."""
    return Reader().read(body)


class Reader:
    """Reads blocks in the order of the text, which must be one of control flow too."""

    def __init__(self) -> None:
        self.made = Kernel()
        self.values: dict[str, Term] = {}
        self.variables: dict[str, Term] = {}
        """What is in each alloca; a name that is not here has not been written."""
        self.condition: z3.BoolRef = z3.BoolVal(True)
        self.arriving: dict[str, list[tuple[z3.BoolRef, dict[str, Term]]]] = {}
        self.done: set[str] = set()

    def read(self, body: str) -> Kernel:
        reachable = True
        for line in body.splitlines():
            text = line.strip()
            if text.endswith(":"):
                reachable = self._begin(text[:-1])
            elif text and reachable and "{" not in text and " = alloca " not in text:
                self._line(text)
        return self.made

    def _begin(self, label: str) -> bool:
        if not self.done and label == "entry":
            self.done.add(label)
            return True
        ways = self.arriving.pop(label, [])
        self.done.add(label)
        if not ways:
            return False
        self.condition = z3.simplify(z3.Or([condition for condition, _ in ways]))
        names = sorted(set().union(*(memory for _, memory in ways)))
        self.variables = {name: self._merged(name, ways) for name in names}
        return True

    def _merged(self, name: str, ways: list[tuple[z3.BoolRef, dict[str, Term]]]) -> Term:
        kind = next(memory[name] for _, memory in ways if name in memory)
        merged: Term = None
        for condition, memory in ways:
            value = memory.get(name)
            if value is None:
                if isinstance(kind, _Poison):
                    return POISON
                value = _free(name, "i1" if z3.is_bool(kind) else f"i{kind.size()}")
            if isinstance(value, _Poison):
                return POISON
            merged = value if merged is None else z3.If(condition, value, merged)
        return merged

    def _go(self, label: str, condition: z3.BoolRef) -> None:
        if label in self.done:
            raise NotProvable("a loop")
        self.arriving.setdefault(label, []).append(
            (z3.And(self.condition, condition), dict(self.variables))
        )

    def _line(self, text: str) -> None:
        if text in ("ret void", "unreachable"):
            if text == "unreachable":
                self.made.obligations.append(z3.Not(self.condition))
            return
        if match := _RESULT.fullmatch(text):
            self.values[match[1]] = self._result(match[2])
        elif match := _STORE.fullmatch(text):
            self._store(*match.groups())
        elif match := _JUMP.fullmatch(text):
            self._go(match[1], z3.BoolVal(True))
        elif match := _BRANCH.fullmatch(text):
            chosen = self._bool(match[1])
            self._go(match[2], chosen)
            self._go(match[3], z3.Not(chosen))
        else:
            raise NotProvable(text)

    def _store(self, kind: str, value: str, space: str, place: str) -> None:
        if space == _LOCAL:
            self.variables[place] = POISON if value == "poison" else self._operand(kind, value)
        elif space == _GLOBAL:
            word = self._operand(kind, value)
            self.made.stores.append(Store(self.condition, self._operand(space, place), word))
        else:
            raise NotProvable(f"a store to {space}")

    def _result(self, text: str) -> Term:
        for pattern, make in self._makers():
            if match := pattern.fullmatch(text):
                return make(*match.groups())
        raise NotProvable(text)

    def _makers(self) -> list[tuple[re.Pattern[str], Callable[..., Term]]]:
        return [
            (_ICMP, self._compare),
            (_BINARY, self._binary),
            (_SELECT, self._select),
            (_CAST, self._cast),
            (_LOAD, self._load),
            (_OFFSET, self._offset),
            (_CALL, self._call),
        ]

    # Operands

    def _operand(self, kind: str, text: str) -> Term:
        if text.startswith("%"):
            value = self.values[text]
            if isinstance(value, _Poison):
                raise NotProvable(f"poison in {text}")
            return value
        if kind == "i1" and text in ("true", "false"):
            return z3.BoolVal(text == "true")
        if kind == "<2 x i16>" and text == "zeroinitializer":
            return [z3.BitVecVal(0, 16)] * 2
        if re.fullmatch(r"-?\d+", text) and kind.startswith("i"):
            return z3.BitVecVal(int(text), int(kind[1:]))
        raise NotProvable(f"{kind} {text}")

    def _bool(self, text: str) -> z3.BoolRef:
        return self._operand("i1", text)

    # Results

    def _load(self, kind: str, space: str, place: str) -> Term:
        if space == _LOCAL:
            value = self.variables.get(place)
            if isinstance(value, _Poison):
                raise NotProvable(f"poison in {place}")
            return _free(place, kind) if value is None else value
        if space == _CONSTANT and kind == "i32":
            offset = self.values[place]
            if isinstance(offset, Argument):
                return offset.word()
        if space == _CONSTANT and kind in ("i8", "i16"):
            offset = self.values[place]
            if isinstance(offset, Argument):
                return offset.part(int(kind[1:]))
        raise NotProvable(f"a load of {kind} from {space}")

    def _offset(self, space: str, base: str, distance: str) -> Term:
        value = self.values[base]
        if isinstance(value, Argument):
            return Argument(value.offset + int(distance))
        return value + int(distance)

    def _binary(self, opcode: str, kind: str, left: str, right: str) -> Term:
        first, second = self._operand(kind, left), self._operand(kind, right)
        if kind == "i1":
            return _CONDITIONS[_known(opcode, _CONDITIONS)](first, second)
        if isinstance(first, list):
            how = _OPERATIONS[_known(opcode, _OPERATIONS)]
            return [how(one, other) for one, other in zip(first, second, strict=True)]
        if opcode in _SHIFTS:
            self.made.obligations.append(z3.Implies(self.condition, z3.ULT(second, first.size())))
            return _SHIFTS[opcode](first, second)
        return _OPERATIONS[_known(opcode, _OPERATIONS)](first, second)

    def _compare(self, condition: str, kind: str, left: str, right: str) -> Term:
        if not kind.startswith("i") or kind == "i1":
            raise NotProvable(f"icmp {kind}")
        how = _COMPARISONS[_known(condition, _COMPARISONS)]
        return how(self._operand(kind, left), self._operand(kind, right))

    def _select(self, condition: str, kind: str, yes: str, _: str, no: str) -> Term:
        chosen = self._bool(condition)
        first, second = self._operand(kind, yes), self._operand(kind, no)
        if isinstance(first, list):
            return [z3.If(chosen, a, b) for a, b in zip(first, second, strict=True)]
        return z3.If(chosen, first, second)

    def _cast(self, how: str, kind: str, text: str, target: str) -> Term:
        value = self._operand(kind, text)
        if how in ("inttoptr", "ptrtoint"):
            if {kind, target} != {"i64", _GLOBAL}:
                raise NotProvable(f"{how} {kind} to {target}")
            return value
        if how == "bitcast":
            return _bitcast(value, kind, target)
        if isinstance(value, list):
            raise NotProvable(f"{how} of a vector")
        width = int(target[1:])
        if how == "trunc":
            return _low_bit(value) if width == 1 else z3.Extract(width - 1, 0, value)
        if kind == "i1":
            one = z3.BitVecVal(-1 if how == "sext" else 1, width)
            return z3.If(value, one, z3.BitVecVal(0, width))
        extend = z3.ZeroExt if how == "zext" else z3.SignExt
        return extend(width - value.size(), value)

    def _call(self, kind: str, name: str, listed: str) -> Term:
        if name == "llvm.amdgcn.kernarg.segment.ptr":
            return Argument(0)
        function, _, suffix = name.removeprefix("llvm.").partition(".")
        if function not in _INTRINSICS or suffix not in ("i16", "i32", "i64", "v2i16"):
            raise NotProvable(name)
        given = [part.rsplit(" ", 1) for part in listed.split(", ")]
        if function in ("abs", "ctlz", "cttz") and given.pop() != ["i1", "false"]:
            raise NotProvable(f"{name} with poison")
        values = [self._operand(*each) for each in given]
        if suffix == "v2i16":
            return [_INTRINSICS[function](*each) for each in zip(*values, strict=True)]
        return _INTRINSICS[function](*values)


@dataclass(frozen=True)
class Argument:
    """An address in the kernel's arguments."""

    offset: int

    def word(self) -> Term:
        """The 32 bits there."""
        return z3.BitVec(f"c[0x0][{PARAMETER_BASE + self.offset:#x}]", 32)

    def part(self, bits: int) -> Term:
        """A byte or half of the word there. Raises :class:`NotProvable` for one in two words."""
        start = 8 * (self.offset & 3)
        if start + bits > 32:
            raise NotProvable(f"{bits} bits at {self.offset}")
        return z3.Extract(start + bits - 1, start, Argument(self.offset & ~3).word())


def _free(name: str, kind: str) -> Term:
    name = name.removeprefix("%")
    if kind == "i1":
        return z3.Bool(name)
    if not re.fullmatch(r"i\d+", kind):
        raise NotProvable(f"a variable of type {kind}")
    return z3.BitVec(name, int(kind[1:]))


def _known(key: str, table: dict[str, Any]) -> str:
    if key not in table:
        raise NotProvable(key)
    return key


def _low_bit(value: z3.BitVecRef) -> z3.BoolRef:
    return z3.Extract(0, 0, value) == 1


def _bitcast(value: Term, kind: str, target: str) -> Term:
    if kind == target:
        return value
    if (kind, target) == ("i32", "<2 x i16>"):
        return [z3.Extract(15, 0, value), z3.Extract(31, 16, value)]
    if (kind, target) == ("<2 x i16>", "i32"):
        return z3.Concat(value[1], value[0])
    raise NotProvable(f"bitcast {kind} to {target}")


def _count_ones(value: z3.BitVecRef) -> z3.BitVecRef:
    width = value.size()
    bits = [z3.ZeroExt(width - 1, z3.Extract(n, n, value)) for n in range(width)]
    return z3.Sum(bits)


def _leading_zeros(value: z3.BitVecRef) -> z3.BitVecRef:
    width = value.size()
    count: Term = z3.BitVecVal(width, width)
    for n in range(width):
        count = z3.If(z3.Extract(n, n, value) == 1, z3.BitVecVal(width - 1 - n, width), count)
    return count


def _trailing_zeros(value: z3.BitVecRef) -> z3.BitVecRef:
    return _leading_zeros(_reversed(value))


def _reversed(value: z3.BitVecRef) -> z3.BitVecRef:
    return z3.Concat([z3.Extract(n, n, value) for n in range(value.size())])


def _swapped(value: z3.BitVecRef) -> z3.BitVecRef:
    return z3.Concat([z3.Extract(n + 7, n, value) for n in range(0, value.size(), 8)])


def _funnel(first: z3.BitVecRef, second: z3.BitVecRef, count: z3.BitVecRef, *, left: bool) -> Term:
    width = first.size()
    pair = z3.Concat(first, second)
    distance = z3.ZeroExt(width, z3.URem(count, z3.BitVecVal(width, width)))
    if left:
        return z3.Extract(2 * width - 1, width, pair << distance)
    return z3.Extract(width - 1, 0, z3.LShR(pair, distance))


_CONDITIONS: dict[str, Callable[[Term, Term], Term]] = {"and": z3.And, "or": z3.Or, "xor": z3.Xor}
_OPERATIONS: dict[str, Callable[[Term, Term], Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": product,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_SHIFTS: dict[str, Callable[[Term, Term], Term]] = {
    "shl": lambda a, b: a << b,
    "lshr": z3.LShR,
    "ashr": lambda a, b: a >> b,
}
_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "ugt": z3.UGT,
    "uge": z3.UGE,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
_INTRINSICS: dict[str, Callable[..., Term]] = {
    "abs": lambda a: z3.If(a < 0, -a, a),
    "umin": lambda a, b: z3.If(z3.ULT(a, b), a, b),
    "umax": lambda a, b: z3.If(z3.UGT(a, b), a, b),
    "smin": lambda a, b: z3.If(a < b, a, b),
    "smax": lambda a, b: z3.If(a > b, a, b),
    "ctpop": _count_ones,
    "ctlz": _leading_zeros,
    "cttz": _trailing_zeros,
    "bitreverse": _reversed,
    "bswap": _swapped,
    "fshl": lambda a, b, n: _funnel(a, b, n, left=True),
    "fshr": lambda a, b, n: _funnel(a, b, n, left=False),
}
