"""What a lifted kernel does, with floating point and memory as unknown functions of their operands.

Two kernels that do the same in the same order are the same, whatever a load, a sum of floats or a
call of the device library may be: so one form of an instruction is compared with another
(:mod:`tests.lift.proofs.equality`). Integers are read exactly (:mod:`tests.lift.proofs.symbolic`).

Numbers and pointers are bit vectors of their width, vectors too, with their first element in the
lowest bits. What has no effect on memory is a function of its operands, named by its own text
without them. Everything else is an :class:`Effect`; what the nth gives is a variable of its number,
which is the same in two kernels as long as all that came before is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import z3

from tests.lift.proofs.symbolic import POISON, Argument, NotProvable, Reader

Term = Any

_TYPE = (
    r"(?:<\d+ x \w+>|\{[^}]*\}|i\d+|float|double|half|bfloat|ptr(?: addrspace\(\d+\))?(?![\w ]*\())"
)
_SCALAR = re.compile(r"i\d+")
_ALLOCA = re.compile(r"(%[\w.]+) = alloca ([^,]+), .*")
_RESULT = re.compile(r"(%[\w.]+) = (.+)")
_OPERAND = re.compile(
    r"(?P<name>%[\w.]+)|bitcast \(i(?P<width>\d+) (?P<number>-?\d+) to \w+\)"
    r"|\bi(?P<bits>\d+) (?P<literal>-?\d+)\b"
)
_LOAD = re.compile(
    rf"load (?:atomic )?(?:volatile )?{_TYPE}, ptr(?: addrspace\(\d+\))? (%[\w.]+).*"
)
_STORE = re.compile(rf"store {_TYPE} \S+, ptr addrspace\(5\) (%[\w.]+)(?:, align \d+)?")
_CALL = re.compile(rf"(?:tail )?call (?:[a-z]+ )*({_TYPE}) (?:@([\w.]+)|asm).*")
_CAST = re.compile(rf"(\w+) ({_TYPE}) (.+) to ({_TYPE})")
_UNARY = re.compile(rf"(fneg|freeze) ({_TYPE}) (.+)")
_FABS = re.compile(rf"call ({_TYPE}) @llvm\.fabs\.\w+\({_TYPE} (.+)\)")
_SELECT = re.compile(rf"select i1 (\S+), ({_TYPE}) (.+), ({_TYPE}) (.+)")
_ELEMENT = re.compile(r"extractelement <(\d+) x (\w+)> (%[\w.]+), i32 (\d+)")
_WITH_ELEMENT = re.compile(r"insertelement <(\d+) x (\w+)> (\S+), (\w+) (.+), i32 (\d+)")
_SHUFFLED = re.compile(
    r"shufflevector <(\d+) x (\w+)> (\S+), <\d+ x \w+> (\S+), <\d+ x i32> (<[^>]*>|zeroinitializer)"
)
_FIELD = re.compile(r"extractvalue (\{[^}]*\}) (%[\w.]+), (\d+)")
_OFFSET = re.compile(
    r"getelementptr (inbounds )?i8, (ptr(?: addrspace\(\d+\))?) (%[\w.]+), (i\d+) (\S+)"
)
_ATOMIC = re.compile(rf"(atomicrmw|cmpxchg) .*?ptr(?: addrspace\(\d+\))? %[\w.]+, ({_TYPE}) .*")
_PURE = re.compile(
    r"llvm\.(?:fma|fmuladd|maxnum|minnum|maximum|minimum|sqrt|roundeven|trunc|floor|ceil|rint"
    r"|fpto[us]i\.sat|canonicalize|copysign|ldexp|exp2|log2|sin|cos|is\.fpclass|[us](?:min|max)"
    r"|abs|ctlz|cttz|ctpop|bitreverse|bswap|fsh[lr]"
    r"|amdgcn\.(?:rcp|rsq|sqrt|sin|cos|exp2|log|fract|frexp\.\w+|cvt\.\w+|perm|ubfe|sbfe))\b.*"
)
_FUNCTION = re.compile(
    r'^define [^@]*@"?(?P<name>[^"(]+)"?\((?P<head>.*?)\{\n(?P<body>.*?)^\}', re.M | re.S
)


@dataclass(frozen=True)
class Effect:
    """Something that must happen in this order: ``text`` has ``?`` for each of ``operands``."""

    condition: z3.BoolRef
    text: str
    operands: tuple[Term, ...]


@dataclass(frozen=True)
class Doing:
    """What a kernel does; ``obligations`` must hold, or LLVM may do anything."""

    attributes: str
    """Parameters' types, and attributes: the floating-point mode is one."""
    effects: list[Effect]
    obligations: list[z3.BoolRef]


def doings(text: str) -> dict[str, Doing]:
    """What each kernel of a module does. Raises :class:`NotProvable`."""
    return {
        match["name"]: _EffectReader().whole(match["head"], match["body"])
        for match in _FUNCTION.finditer(text)
    }


def difference(one: Doing, other: Doing) -> tuple[str, z3.BoolRef]:
    """In which way two kernels plainly differ, or "" and what must hold for them to be the same.

    ``other`` is what the first is measured by: where LLVM may do anything with it, nothing is said.
    """
    if one.attributes != other.attributes:
        return f"attributes {one.attributes!r}, {other.attributes!r}", z3.BoolVal(False)
    texts = [[effect.text for effect in each.effects] for each in (one, other)]
    if texts[0] != texts[1]:
        apart = [pair for pair in zip(*texts, strict=False) if pair[0] != pair[1]]
        return f"effects {apart[:1] or [len(each) for each in texts]}", z3.BoolVal(False)
    claims = list(one.obligations)
    for left, right in zip(one.effects, other.effects, strict=True):
        claims.append(left.condition == right.condition)
        same = [a == b for a, b in zip(left.operands, right.operands, strict=True)]
        claims.append(z3.Implies(left.condition, z3.And(same)))
    return "", z3.Implies(z3.And(other.obligations), z3.And(claims))


class _EffectReader(Reader):
    """Reads what :class:`Reader` does not as unknown functions and effects."""

    def __init__(self) -> None:
        super().__init__()
        self.effects: list[Effect] = []
        self.registers: set[str] = set()
        """Allocas whose address is taken by loads and stores alone."""

    def whole(self, head: str, body: str) -> Doing:
        """What the function does."""
        for name, kind in _ALLOCA.findall(body):
            if _SCALAR.fullmatch(kind):
                self.registers.add(name)
            else:
                self.values[name] = z3.BitVec(name.removeprefix("%"), 32)
        try:
            self.read(body)
        except KeyError as error:
            raise NotProvable(f"the address of {error}") from None
        return Doing(" ".join(head.split()), self.effects, self.made.obligations)

    def _line(self, text: str) -> None:
        store = _STORE.fullmatch(text)
        if (store and store[1] in self.registers) or text.startswith("br "):
            super()._line(text)
        elif match := _RESULT.fullmatch(text):
            self.values[match[1]] = self._result(match[2])
        elif text.startswith(("switch", "indirectbr", "invoke", "callbr")):
            raise NotProvable(text)
        else:
            self._happens(text)

    def _result(self, text: str) -> Term:
        if text.startswith("phi"):
            raise NotProvable(text)
        load = _LOAD.fullmatch(text)
        if load and (load[1] in self.registers or isinstance(self.values.get(load[1]), Argument)):
            return super()._result(text)
        if load and "ptr addrspace(4)" in text and "!invariant.load" in text:
            return self._unknown(text)
        if load or text.startswith(("atomicrmw", "cmpxchg")):
            return self._happens(text)
        if match := _FABS.fullmatch(text):
            value = self._value(match[2])
            return value & ~_sign(value)
        call = _CALL.fullmatch(text)
        if call:
            return self._called(call[2] or "", text)
        made = self._exact(text)
        return self._unknown(text) if made is None else made

    def _called(self, name: str, text: str) -> Term:
        if not name:
            is_pure = "memory(none)" in text and "sideeffect" not in text
            return self._unknown(text) if is_pure else self._happens(text)
        if name.endswith("kernarg.segment.ptr"):
            return super()._result(text)
        if not _PURE.fullmatch(name):
            return self._happens(text)
        try:
            return super()._result(text)
        except NotProvable:
            return self._unknown(text)

    def _exact(self, text: str) -> Term | None:
        """The value of what is known to the bit; None for anything else."""
        if match := _ELEMENT.fullmatch(text):
            width, place = _width(match[2]), int(match[4])
            return z3.Extract(width * place + width - 1, width * place, self._value(match[3]))
        if match := _WITH_ELEMENT.fullmatch(text):
            return self._with_element(*match.groups())
        if match := _SHUFFLED.fullmatch(text):
            return self._shuffled(*match.groups())
        if match := _FIELD.fullmatch(text):
            return self._field(match[1], match[2], int(match[3]))
        if match := _OFFSET.fullmatch(text):
            return self._moved(*match.groups())
        if match := _UNARY.fullmatch(text):
            value = self._value(match[3])
            return value ^ _sign(value) if match[1] == "fneg" else None
        if match := _SELECT.fullmatch(text):
            yes, no = self._value(match[3], match[2]), self._value(match[5], match[4])
            return _as_made(z3.If(self._bool(match[1]), yes, no), yes.size())
        if (match := _CAST.fullmatch(text)) and match[1] in ("bitcast", "inttoptr", "ptrtoint"):
            value, width = self._value(match[3], match[2]), _width(match[4])
            if width <= value.size():
                return z3.Extract(width - 1, 0, value)
            return z3.ZeroExt(width - value.size(), value)
        if "float" in text or "double" in text or "half" in text or "<" in text or "ptr" in text:
            return None
        return super()._result(text)

    def _with_element(
        self, count: str, kind: str, vector: str, _: str, value: str, place: str
    ) -> Term:
        width = _width(kind)
        whole = self._value(vector, f"<{count} x {kind}>")
        parts = [
            z3.Extract(width * number + width - 1, width * number, whole)
            for number in range(int(count))
        ]
        parts[int(place)] = self._value(value, kind)
        return z3.Concat(parts[::-1])

    def _shuffled(self, count: str, kind: str, one: str, other: str, mask: str) -> Term:
        width, vector = _width(kind), f"<{count} x {kind}>"
        both = z3.Concat(self._value(other, vector), self._value(one, vector))
        places = [int(place) for place in re.findall(r"i32 (\d+)", mask)]
        parts = [z3.Extract(width * n + width - 1, width * n, both) for n in places]
        if len(parts) < 2:
            raise NotProvable(f"shufflevector {mask}")
        return z3.Concat(parts[::-1])

    def _field(self, kind: str, name: str, place: int) -> Term:
        widths = [_width(part.strip()) for part in kind.strip("{} ").split(",")]
        start = sum(widths[:place])
        value = z3.Extract(start + widths[place] - 1, start, self._value(name))
        return value == 1 if widths[place] == 1 else value

    def _moved(self, inbounds: str | None, space: str, base: str, kind: str, distance: str) -> Term:
        if inbounds:
            raise NotProvable("getelementptr inbounds")
        start = self.values[base]
        if isinstance(start, Argument):
            return Argument(start.offset + int(distance))
        moved, width = self._value(distance, kind), _width(space)
        if moved.size() > width:
            moved = z3.Extract(width - 1, 0, moved)
        return start + z3.SignExt(width - moved.size(), moved)

    # Unknown functions and effects

    def _unknown(self, text: str) -> Term:
        shape, operands = self._taken_apart(text)
        width = _width(_type_of(text))
        sorts = [operand.sort() for operand in operands]
        if not sorts:
            return _as_made(z3.BitVec(shape, width), width)
        return _as_made(z3.Function(shape, *sorts, z3.BitVecSort(width))(*operands), width)

    def _happens(self, text: str) -> Term:
        shape, operands = self._taken_apart(text)
        number = len(self.effects)
        self.effects.append(Effect(self.condition, shape, tuple(operands)))
        if text == "unreachable" or text.startswith(("store", "fence", "ret", "call void")):
            return None
        width = _width(_type_of(text))
        return _as_made(z3.BitVec(f"effect{number}_{width}", width), width)

    def _taken_apart(self, text: str) -> tuple[str, list[Term]]:
        operands: list[Term] = []

        def taken(match: re.Match[str]) -> str:
            if match["name"]:
                value = self.values[match["name"]]
                if value is POISON or isinstance(value, Argument | list):
                    raise NotProvable(f"{match['name']} in {text}")
                operands.append(_as_bits(value))
                return "?"
            if match["width"]:
                operands.append(z3.BitVecVal(int(match["number"]), int(match["width"])))
                return "?"
            operands.append(z3.BitVecVal(int(match["literal"]), int(match["bits"])))
            return f"i{match['bits']} ?"

        return _OPERAND.sub(taken, text), operands

    def _value(self, text: str, kind: str = "") -> Term:
        """Bits of an operand that is a name or a constant."""
        if text.startswith("%"):
            value = self.values[text]
            if value is POISON or isinstance(value, Argument | list):
                raise NotProvable(text)
            return _as_bits(value)
        if match := re.fullmatch(r"bitcast \(i(\d+) (-?\d+) to \w+\)", text):
            return z3.BitVecVal(int(match[2]), int(match[1]))
        if text in ("poison", "undef"):
            return z3.BitVec(f"poison_{_width(kind)}", _width(kind))
        if text == "zeroinitializer":
            return z3.BitVecVal(0, _width(kind))
        if text in ("true", "false"):
            return z3.BitVecVal(int(text == "true"), 1)
        if re.fullmatch(r"-?\d+", text) and kind.startswith("i"):
            return z3.BitVecVal(int(text), _width(kind))
        raise NotProvable(text)


def _as_bits(value: Term) -> Term:
    return z3.If(value, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) if z3.is_bool(value) else value


def _as_made(value: Term, width: int) -> Term:
    return value == 1 if width == 1 else value


def _sign(value: Term) -> Term:
    return z3.BitVecVal(1 << value.size() - 1, value.size())


def _type_of(text: str) -> str:
    """The type of what an instruction gives."""
    if match := _ATOMIC.fullmatch(text):
        return f"{{ {match[2]}, i1 }}" if match[1] == "cmpxchg" else match[2]
    if match := _CALL.fullmatch(text):
        return match[1]
    if text.startswith("fcmp"):
        return "i1"
    if match := _CAST.fullmatch(text):
        return match[4]
    found = re.search(_TYPE, text)
    if not found or text.startswith(("icmp", "shufflevector")):
        raise NotProvable(text)
    return found[0]


_WIDTHS = {"float": 32, "double": 64, "half": 16, "bfloat": 16, "ptr": 64}
_NARROW_SPACES = ("ptr addrspace(3)", "ptr addrspace(5)")


def _width(kind: str) -> int:
    """Bits of a type."""
    if kind in _WIDTHS:
        return _WIDTHS[kind]
    if kind.startswith("ptr"):
        return 32 if kind in _NARROW_SPACES else 64
    if kind.startswith("{"):
        return sum(_width(part.strip()) for part in kind.strip("{} ").split(","))
    if match := re.fullmatch(r"<(\d+) x (\w+)>", kind):
        return int(match[1]) * _width(match[2])
    if _SCALAR.fullmatch(kind):
        return int(kind[1:])
    raise NotProvable(f"the type {kind}")
