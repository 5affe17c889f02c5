"""PTX instructions that compute: arithmetic, bits and conversions."""

from __future__ import annotations

from cass_ray.translate.rules.ptx import numeric, rounding
from cass_ray.translate.rules.ptx.registers import (
    INTEGER,
    TYPES,
    Handler,
    OtherStatementError,
    RegisterState,
    UnknownInstructionError,
    kind_of,
)

_OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}


def _move(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    target, source = operands
    if source.startswith("{") and kind in {"b32", "b64"}:
        low, high = (part.strip() for part in source.strip("{}").split(","))
        half = "u16" if kind == "b32" else "u32"
        shift = 16 if kind == "b32" else 32
        wide = TYPES[kind]
        value = (
            f"{state.read(low, half)} | (static_cast<{wide}>({state.read(high, half)}) << {shift})"
        )
        return state.write(target, kind, value)
    if target.startswith("{") and kind in {"b32", "b64"}:
        low, high = (part.strip() for part in target.strip("{}").split(","))
        half = "u16" if kind == "b32" else "u32"
        value = state.read(source, kind)
        first = state.write(low, half, f"static_cast<{TYPES[half]}>({value})")
        shifted = f"static_cast<{TYPES[half]}>({value} >> {16 if kind == 'b32' else 32})"
        return f"{first} {state.write(high, half, shifted)}"
    return state.write(target, kind, state.read(source, kind))


def _binary(name: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        a, b = (state.read(operand, kind) for operand in operands[1:])
        if "cc" in modifiers:
            return _carry(state, name, kind, operands, carry_in=False, carry_out=True)
        if rounding.says_rounding(name, modifiers):
            return rounding.rounded(state, name, modifiers, operands)
        if {"rz", "rm", "rp"} & set(modifiers):
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        if "sat" in modifiers:
            return numeric.saturating(name, state, modifiers, operands)
        if kind == "pred" and name in {"and", "or", "xor"}:
            return state.write(operands[0], kind, f"({a} {_OPERATORS[name]} {b})")
        return state.write(operands[0], kind, f"{a} {_OPERATORS[name]} {b}")

    return handler


def _carry(
    state: RegisterState,
    name: str,
    kind: str,
    operands: list[str],
    *,
    carry_in: bool,
    carry_out: bool,
) -> str:
    """Extended-precision addition and subtraction through the carry flag."""
    if kind[0] == "f":
        raise UnknownInstructionError(f"the type {kind}")
    unsigned = "u" + kind[1:]
    wide = "unsigned __int128" if kind.endswith("64") else "unsigned long long"
    bits = kind[1:]
    a, b = (state.read(operand, unsigned) for operand in operands[1:])
    if carry_in:
        if not state.sets_carry:
            raise OtherStatementError("a carry from another asm statement")
        state.uses_carry = True
    state.sets_carry = state.sets_carry or carry_out
    operator = "+" if name == "add" else "-"
    extra = f" {operator} cass_carry" if carry_in else ""
    total = f"const {wide} cass_sum = static_cast<{wide}>({a}) {operator} {b}{extra};"
    store = state.write(operands[0], unsigned, f"static_cast<{TYPES[unsigned]}>(cass_sum)")
    carry = f" cass_carry = (cass_sum >> {bits}) & 1;" if carry_out else ""
    return f"{{ {total} {store}{carry} }}"


def _with_carry(name: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        carry_out = "cc" in modifiers
        return _carry(state, name, kind_of(modifiers), operands, carry_in=True, carry_out=carry_out)

    return handler


def _multiply(
    state: RegisterState, modifiers: list[str], operands: list[str], addend: bool = False
) -> str:
    kind = kind_of(modifiers)
    mode = modifiers[0]
    if "cc" in modifiers:
        return numeric.product_with_carry(state, modifiers, operands, carry_in=False)
    if "sat" in modifiers and not addend:
        return numeric.saturating("mul", state, modifiers, operands)
    if not addend and rounding.says_rounding("mul", modifiers):
        return rounding.rounded(state, "mul", modifiers, operands)
    if kind in {"f32", "f64"}:
        a, b = (state.read(operand, kind) for operand in operands[1:3])
        if not set(modifiers[:-1]) <= {"rn", "ftz"} or addend:
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        return state.write(operands[0], kind, f"{a} * {b}")
    a, b = (state.read(operand, kind) for operand in operands[1:3])
    result = kind
    if mode == "lo":
        unsigned = "u" + kind[1:]
        product = f"{state.read(operands[1], unsigned)} * {state.read(operands[2], unsigned)}"
        result = unsigned
    elif mode == "wide":
        result = kind[0] + str(2 * int(kind[1:]))
        product = f"static_cast<{TYPES[result]}>({a}) * {b}"
    elif mode == "hi" and kind[1:] == "32":
        product = f"{'__umulhi' if kind == 'u32' else '__mulhi'}({a}, {b})"
    elif mode == "hi" and kind[1:] == "64":
        product = f"{'__umul64hi' if kind == 'u64' else '__mul64hi'}({a}, {b})"
    else:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    if addend:
        product = f"{product} + {state.read(operands[3], result)}"
    return state.write(operands[0], result, product)


def _multiply_add(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    if kind_of(modifiers) in {"f32", "f64"}:
        return _fused(state, modifiers, operands)
    return _multiply(state, modifiers, operands, addend=True)


def _multiply_add_carry(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    return numeric.product_with_carry(state, modifiers, operands, carry_in=True)


def _fused(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if rounding.says_rounding("fma", modifiers):
        return rounding.rounded(state, "fma", modifiers, operands)
    if "sat" in modifiers:
        return numeric.saturating("fma", state, modifiers, operands)
    if not set(modifiers[:-1]) <= {"rn", "ftz"} or kind not in {"f32", "f64"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    values = ", ".join(state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{'fmaf' if kind == 'f32' else 'fma'}({values})")


def _divide(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if rounding.says_rounding("div", modifiers):
        return rounding.rounded(state, "div", modifiers, operands)
    if not set(modifiers[:-1]) <= {"rn", "approx", "full", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{a} / {b}")


def _remainder(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    a, b = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{a} % {b}")


def _shift(left: bool) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        bits = int(kind[1:])
        value, amount = state.read(operands[1], kind), state.read(operands[2], "u32")
        # PTX clamps the amount; C++ leaves it undefined.
        over = "0" if left or kind[0] != "s" else f"({value} < 0 ? -1 : 0)"
        if INTEGER.match(operands[2]):
            expression = f"{value} {'<<' if left else '>>'} {operands[2].rstrip('U')}"
        else:
            shifted = f"{value} {'<<' if left else '>>'} {amount}"
            expression = f"({amount} < {bits}u ? {shifted} : {over})"
        return state.write(operands[0], kind, expression)

    return handler


def _unary(integer: str, float_: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        pattern = float_ if kind[0] == "f" else integer
        if not pattern:
            raise UnknownInstructionError(f"the type {kind}")
        return state.write(operands[0], kind, pattern.format(state.read(operands[1], kind)))

    return handler


def _extreme(smaller: bool) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        a, b = (state.read(operand, kind) for operand in operands[1:])
        if kind[0] == "f":
            function = ("fmin" if smaller else "fmax") + ("f" if kind == "f32" else "")
            return state.write(operands[0], kind, f"{function}({a}, {b})")
        return state.write(operands[0], kind, f"({a} {'<' if smaller else '>'} {b} ? {a} : {b})")

    return handler


def _field_extract(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if kind not in {"u32", "s32", "u64", "s64"}:
        raise UnknownInstructionError(f"the type {kind}")
    value = state.read(operands[1], kind)
    start, length = (state.read(operand, "u32") for operand in operands[2:])
    state.snippets.add("bits")
    return state.write(operands[0], kind, f"cass::bfe({value}, {start}, {length})")


def _field_insert(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = {"b32": "u32", "b64": "u64"}.get(kind_of(modifiers))
    if kind is None:
        raise UnknownInstructionError("the type")
    into = [state.read(operand, kind) for operand in operands[1:3]]
    place = [state.read(operand, "u32") for operand in operands[3:]]
    state.snippets.add("bits")
    return state.write(operands[0], kind, f"cass::bfi({', '.join(into + place)})")


_PERMUTE_MODES = {
    "f4e": "0x6543543243213210",
    "b4e": "0x0123701267015670",
    "rc8": "0x3333222211110000",
    "ecl": "0x3333322232113210",
    "ecr": "0x3210221011100000",
    "rc16": "0x3232101032321010",
}
"""The selectors of each mode of ``prmt``, 16 bits for each value of its third operand."""


def _permute(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    a, b, selector = (state.read(operand, "u32") for operand in operands[1:])
    if len(modifiers) == 2 and modifiers[1] in _PERMUTE_MODES:
        table = _PERMUTE_MODES[modifiers[1]]
        selector = f"static_cast<unsigned int>({table}ull >> 16 * ({selector} & 3u))"
    elif modifiers != ["b32"]:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    state.snippets.add("bits")
    return state.write(operands[0], "u32", f"cass::prmt({a}, {b}, {selector})")


def _logic3(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    if modifiers != ["b32"]:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b, c = (state.read(operand, "u32") for operand in operands[1:4])
    table = operands[4]
    if not INTEGER.match(table):
        state.snippets.add("bits")
        value = f"cass::lop3({a}, {b}, {c}, {state.read(table, 'u32')})"
        return state.write(operands[0], "u32", value)
    number = int(table.rstrip("U"), 0)
    terms = []
    for row in range(8):
        if number >> row & 1:
            signs = ("" if row >> bit & 1 else "~" for bit in (2, 1, 0))
            terms.append(" & ".join(f"{s}{x}" for s, x in zip(signs, (a, b, c), strict=True)))
    value = " | ".join(f"({term})" for term in terms) or "0u"
    return state.write(operands[0], "u32", value)


def _funnel(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    direction, mode, _ = modifiers
    low, high, amount = (state.read(operand, "u32") for operand in operands[1:])
    function = {"l": "__funnelshift_l", "r": "__funnelshift_r"}[direction]
    function += {"wrap": "", "clamp": "c"}[mode]
    return state.write(operands[0], "u32", f"{function}({low}, {high}, {amount})")


def _count(function: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        name = function + ("ll" if kind.endswith("64") else "")
        return state.write(operands[0], "u32", f"{name}({state.read(operands[1], kind)})")

    return handler


def _reverse(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    function = "__brevll" if kind.endswith("64") else "__brev"
    return state.write(operands[0], kind, f"{function}({state.read(operands[1], kind)})")


def _find_leading(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """The place of the highest bit that is no sign, or how far it is from the top; -1: none."""
    kind = modifiers[-1]
    if kind not in {"u32", "u64", "s32", "s64"} or modifiers[:-1] not in ([], ["shiftamt"]):
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    top, suffix = int(kind[1:]) - 1, "ll" if kind.endswith("64") else ""
    bits = state.read(operands[1], kind)
    if kind.startswith("s"):
        bits = f"{bits} ^ ({bits} >> {top})"
    zeros = f"__clz{suffix}({bits})"
    found = f"({bits}) ? {zeros} : -1" if len(modifiers) > 1 else f"{top} - {zeros}"
    return state.write(operands[0], "u32", f"static_cast<unsigned int>({found})")


def _approximate(function: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        if kind_of(modifiers) != "f32":
            raise UnknownInstructionError(f"the type {modifiers[-1]}")
        return state.write(operands[0], "f32", function.format(state.read(operands[1], "f32")))

    return handler


def _root(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if rounding.says_rounding("sqrt", modifiers):
        return rounding.rounded(state, "sqrt", modifiers, operands)
    if not set(modifiers[:-1]) <= {"rn", "approx", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    function = "sqrtf" if kind == "f32" else "sqrt"
    return state.write(operands[0], kind, f"{function}({state.read(operands[1], kind)})")


def _reciprocal(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if rounding.says_rounding("rcp", modifiers):
        return rounding.rounded(state, "rcp", modifiers, operands)
    if not set(modifiers[:-1]) <= {"rn", "approx", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    one = "1.0f" if kind == "f32" else "1.0"
    return state.write(operands[0], kind, f"{one} / {state.read(operands[1], kind)}")


HANDLERS: dict[str, Handler] = {
    "mov": _move,
    **{name: _binary(name) for name in _OPERATORS},
    "addc": _with_carry("add"),
    "subc": _with_carry("sub"),
    "mul": _multiply,
    "mad": _multiply_add,
    "madc": _multiply_add_carry,
    "fma": _fused,
    "div": _divide,
    "rem": _remainder,
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "not": _unary("~{}", ""),
    "neg": _unary("-{}", "-{}"),
    "abs": _unary("abs({})", "fabs({})"),
    "min": _extreme(smaller=True),
    "max": _extreme(smaller=False),
    "bfe": _field_extract,
    "bfi": _field_insert,
    "prmt": _permute,
    "lop3": _logic3,
    "shf": _funnel,
    "popc": _count("__popc"),
    "clz": _count("__clz"),
    "brev": _reverse,
    "bfind": _find_leading,
    "cvt": numeric.convert,
    "sin": _approximate("__sinf({})"),
    "cos": _approximate("__cosf({})"),
    "ex2": _approximate("exp2f({})"),
    "lg2": _approximate("__log2f({})"),
    "tanh": _approximate("tanhf({})"),
    "rsqrt": _approximate("rsqrtf({})"),
    "sqrt": _root,
    "rcp": _reciprocal,
}
"""Instruction -> its translation."""
