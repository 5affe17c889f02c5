"""PTX instructions that convert, saturate, carry through products, or work on packed lanes."""

from __future__ import annotations

from cass_ray.translate.rules.ptx.registers import (
    TYPES,
    Handler,
    OtherStatementError,
    RegisterState,
    UnknownInstructionError,
    kind_of,
)

_ROUNDINGS = frozenset({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"})
_INTEGRAL = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_DIRECTIONS = {"rz": "rz", "rm": "rd", "rp": "ru"}
_NAMES = TYPES | {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull"}
_DIRECTED = frozenset(
    f"__{source}_{ending}"
    for source in (
        *("double2float", "int2float", "uint2float", "ll2float", "ull2float"),
        *("ll2double", "ull2double"),
    )
    for ending in _DIRECTIONS.values()
)
"""Conversions to floats with a direction, which HIP has under CUDA's names."""
_PACKED_TYPES = {"u32": "false", "s32": "true"}


def saturating(name: str, state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``add.sat`` and others: 32-bit signed integers, and floats kept in [0, 1]."""
    kind = kind_of(modifiers)
    values = [state.read(operand, kind) for operand in operands[1:]]
    if set(modifiers[:-1]) - {"sat", "rn", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    state.snippets.add("numeric")
    if kind == "s32" and name in {"add", "sub"}:
        return state.write(operands[0], kind, f"cass::{name}_saturating({', '.join(values)})")
    operators = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "fma": "fmaf({}, {}, {})"}
    if kind != "f32" or name not in operators:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    value = operators[name].format(*values)
    return state.write(operands[0], kind, f"cass::unit_interval({value})")


def product_with_carry(
    state: RegisterState, modifiers: list[str], operands: list[str], *, carry_in: bool
) -> str:
    """``mad.cc`` and ``madc``: half of a product added to a number, with the carry flag."""
    kind = kind_of(modifiers)
    mode = modifiers[0]
    if kind not in {"u32", "s32", "u64", "s64"} or mode not in {"lo", "hi"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    if carry_in and not state.sets_carry:
        raise OtherStatementError("a carry from another asm statement")
    state.uses_carry = state.uses_carry or carry_in
    unsigned, bits = "u" + kind[1:], kind[1:]
    wide = "unsigned __int128" if bits == "64" else "unsigned long long"
    if mode == "lo":
        a, b = (state.read(operand, unsigned) for operand in operands[1:3])
        half = f"{a} * {b}"
    else:
        a, b = (state.read(operand, kind) for operand in operands[1:3])
        function = {"u32": "__umulhi", "s32": "__mulhi", "u64": "__umul64hi", "s64": "__mul64hi"}
        half = f"{function[kind]}({a}, {b})"
    addend = state.read(operands[3], unsigned)
    extra = " + cass_carry" if carry_in else ""
    half = f"static_cast<{TYPES[unsigned]}>({half})"
    total = f"const {wide} cass_sum = static_cast<{wide}>({half}) + {addend}{extra};"
    store = state.write(operands[0], unsigned, f"static_cast<{TYPES[unsigned]}>(cass_sum)")
    carry = ""
    if "cc" in modifiers:
        state.sets_carry = True
        carry = f" cass_carry = (cass_sum >> {bits}) & 1;"
    return f"{{ {total} {store}{carry} }}"


def convert(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``cvt``, with rounding to integral values, saturation, and 16-bit floats."""
    *options, target, source = modifiers
    if set(options) - _ROUNDINGS - {"ftz", "sat"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    rounding = next((item for item in options if item in _ROUNDINGS), "")
    saturate = "sat" in options
    if target in {"bf16", "bf16x2", "f16", "f16x2"} and not saturate:
        return _to_16_bits(state, target, source, rounding, operands)
    if source in {"f16", "bf16"} and target in TYPES:
        value = _from_16_bits(state, source, operands[1])
        if target == "f32" and not (rounding or saturate):
            return state.write(operands[0], target, value)
        source = "f32"  # which has each of their numbers
    elif not {source, target} <= TYPES.keys():
        raise UnknownInstructionError(f"the type {source if target in TYPES else target}")
    else:
        value = state.read(operands[1], source)
    return state.write(
        operands[0], target, _converted(state, (source, target), rounding, saturate, value)
    )


def _converted(
    state: RegisterState, kinds: tuple[str, str], rounding: str, saturate: bool, value: str
) -> str:
    source, target = kinds
    if source[0] == "f" and rounding in _INTEGRAL:
        value = f"{_INTEGRAL[rounding]}{'f' if source == 'f32' else ''}({value})"
    if target[0] == "f":
        directed = f"__{_NAMES[source]}2{TYPES[target]}_{_DIRECTIONS.get(rounding)}"
        if directed in _DIRECTED and not saturate:
            return f"{directed}({value})"
        if rounding not in {"", "rn", *(_INTEGRAL if source == target else ())}:
            raise UnknownInstructionError(f"the rounding {rounding}")
        value = value if source == target else f"static_cast<{TYPES[target]}>({value})"
        if not saturate:
            return value
        state.snippets.add("numeric")
        return f"cass::unit_interval({value})"
    if source[0] == "f":
        if rounding not in _INTEGRAL:
            raise UnknownInstructionError("a conversion to an integer without rounding")
        state.snippets.add("numeric")
        return f"cass::to_integer<{TYPES[target]}>({value})"
    if not saturate:
        return f"static_cast<{TYPES[target]}>({value})"
    state.snippets.add("numeric")
    return f"cass::clamp_integer<{TYPES[target]}>({value})"


def _to_16_bits(
    state: RegisterState, target: str, source: str, rounding: str, operands: list[str]
) -> str:
    """To half or bfloat16, one or a pair; of a pair the first source is the upper half."""
    if source != "f32" or rounding != "rn":
        raise UnknownInstructionError(f"the conversion to {target} from {source} by {rounding}")
    state.snippets.add("numeric")
    function = "cass::bfloat16_bits" if target.startswith("bf16") else "cass::half_bits"
    values = [f"{function}({state.read(operand, 'f32')})" for operand in operands[1:]]
    if not target.endswith("x2"):
        return state.write(operands[0], "b16", values[0])
    high, low = values
    return state.write(operands[0], "b32", f"static_cast<unsigned int>({high}) << 16 | {low}")


def _from_16_bits(state: RegisterState, source: str, operand: str) -> str:
    """A half or a bfloat16 as a float."""
    bits = state.read(operand, "b16")
    if source == "bf16":
        return f"__uint_as_float(static_cast<unsigned int>({bits}) << 16)"
    state.snippets.add("numeric")
    return f"cass::half_value({bits})"


def _difference(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``sad``: c + |a - b|."""
    kind = kind_of(modifiers)
    if modifiers != [kind] or kind[0] not in "us":
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b, c = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{c} + ({a} < {b} ? {b} - {a} : {a} - {b})")


def _dot(function: str) -> Handler:
    """``dp4a`` and ``dp2a``: operands of either sign."""

    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        *mode, a, b = modifiers
        signs = [_PACKED_TYPES[a], _PACKED_TYPES[b]]
        if function == "dot2":
            signs.append({"lo": "0", "hi": "2"}[mode[0]])
        elif mode:
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        values = ", ".join(state.read(operand, "u32") for operand in operands[1:])
        state.snippets.add("numeric")
        return state.write(operands[0], "u32", f"cass::{function}<{', '.join(signs)}>({values})")

    return handler


def _video(name: str, lanes: str) -> Handler:
    """The SIMD video instructions, without lane masks."""

    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        d, a, b, *options = modifiers
        if set(options) - {"sat", "add"}:
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        flags = [_PACKED_TYPES[each] for each in (a, b, d)]
        flags += [str(option in options).lower() for option in ("sat", "add")]
        values = ", ".join(state.read(operand, "u32") for operand in operands[1:4])
        arguments = ", ".join([f"cass::Video::{name}", str(32 // int(lanes)), *flags])
        state.snippets.add("numeric")
        return state.write(operands[0], "u32", f"cass::video<{arguments}>({values})")

    return handler


def _compare_lanes(lanes: str) -> Handler:
    """``vset2`` and ``vset4``: one where a comparison holds; ``add``: how often, and a number."""

    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        a, b, comparison, *options = modifiers
        known = comparison in {"eq", "ne", "lt", "le", "gt", "ge"}
        if a != b or not known or options not in ([], ["add"]):
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        sign = "" if comparison in {"eq", "ne"} else {"u32": "u", "s32": "s"}[a]
        x, y, addend = (state.read(operand, "u32") for operand in operands[1:4])
        state.snippets.add("simd")
        value = f"cass::vset{comparison}{sign}{lanes}({x}, {y})"
        if options:
            return state.write(operands[0], "u32", f"{addend} + __popc({value})")
        return state.write(operands[0], "u32", value)

    return handler


HANDLERS: dict[str, Handler] = {
    **{f"vset{lanes}": _compare_lanes(lanes) for lanes in "24"},
    "sad": _difference,
    "dp4a": _dot("dot4"),
    "dp2a": _dot("dot2"),
    **{
        f"v{name}{lanes}": _video(name, lanes)
        for name in ("add", "sub", "avrg", "absdiff", "min", "max")
        for lanes in "24"
    },
}
"""Instruction -> its translation."""
