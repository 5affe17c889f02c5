"""PTX instructions that compare and choose (PTX ISA 8.5, 9.7.6)."""

from __future__ import annotations

from cass_ray.translate.rules.ptx.registers import (
    Handler,
    RegisterState,
    UnknownInstructionError,
    kind_of,
)

_FLOATS = frozenset({"f32", "f64"})
_ORDERED = {
    "eq": "{a} == {b}",
    "ne": "{a} != {b}",
    "lt": "{a} < {b}",
    "le": "{a} <= {b}",
    "gt": "{a} > {b}",
    "ge": "{a} >= {b}",
}
_OF_UNSIGNED = {
    **_ORDERED,
    "lo": _ORDERED["lt"],
    "ls": _ORDERED["le"],
    "hi": _ORDERED["gt"],
    "hs": _ORDERED["ge"],
}
_OF_FLOATS = {
    **_ORDERED,
    "ne": "__builtin_islessgreater({a}, {b})",  # false where one is not a number
    "equ": "!__builtin_islessgreater({a}, {b})",
    "neu": "{a} != {b}",
    "ltu": "!({a} >= {b})",
    "leu": "!({a} > {b})",
    "gtu": "!({a} <= {b})",
    "geu": "!({a} < {b})",
    "num": "!__builtin_isunordered({a}, {b})",
    "nan": "__builtin_isunordered({a}, {b})",
}
_CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x168,
    "subnormal": 0x090,
}
"""These are masks of clang's ``__builtin_isfpclass``; PTX counts zeros as normal (9.7.3.1)."""
_JOINED = {"and": "&&", "or": "||", "xor": "!="}
_RESULTS = {"u32": ("0xffffffffu", "0u"), "s32": ("-1", "0"), "f32": ("1.0f", "0.0f")}


def _conditions(state: RegisterState, modifiers: list[str], operands: list[str]) -> tuple[str, str]:
    """What the comparison says, joined with the third operand where there is one, and the same of
    its opposite. ``modifiers``: the comparison, what joins, and the type."""
    kind = kind_of(modifiers)
    table = _OF_FLOATS if kind in _FLOATS else _ORDERED
    table = _OF_UNSIGNED if kind.startswith("u") else table
    joins = [each for each in modifiers[1:-1] if each != "ftz"]
    if len(joins) > 1 or any(each not in _JOINED for each in joins):
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    if len(operands) != 2 + len(joins):
        raise UnknownInstructionError(f"{len(operands)} operands to compare")
    a, b = (state.read(operand, kind) for operand in operands[:2])
    said = table[modifiers[0]].format(a=a, b=b)
    if not joins:
        return said, f"!({said})"
    third = state.read(operands[2], "pred")
    return f"({said}) {_JOINED[joins[0]]} {third}", f"!({said}) {_JOINED[joins[0]]} {third}"


def _compare(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    target, _, opposite = (part.strip() for part in operands[0].partition("|"))
    said, contrary = _conditions(state, modifiers, operands[1:])
    if not opposite:
        return state.write(target, "pred", said)
    # The operands are read before either predicate is written.
    value = f"({said} ? 1 : 0) | ({contrary} ? 2 : 0)"
    first = state.write(target, "pred", "(cass_compared & 1) != 0")
    second = state.write(opposite, "pred", "(cass_compared & 2) != 0")
    return f"{{ const int cass_compared = {value}; {first} {second} }}"


def _set(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = modifiers[-2]
    said, _ = _conditions(state, [*modifiers[:-2], modifiers[-1]], operands[1:])
    true, false = _RESULTS[kind]
    return state.write(operands[0], kind, f"({said} ? {true} : {false})")


def _select(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    a, b = (state.read(operand, kind) for operand in operands[1:3])
    return state.write(operands[0], kind, f"({state.read(operands[3], 'pred')} ? {a} : {b})")


def _test(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    asked, kind = modifiers
    value = state.read(operands[1], kind)
    return state.write(operands[0], "pred", f"__builtin_isfpclass({value}, {_CLASSES[asked]})")


HANDLERS: dict[str, Handler] = {"set": _set, "setp": _compare, "selp": _select, "testp": _test}
