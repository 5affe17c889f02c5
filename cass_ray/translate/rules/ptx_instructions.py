"""What PTX instructions compute, as C++ that compiles for AMD.

The subset is what people write in ``asm`` statements: integer and floating-point arithmetic, bit
fields, carries, special registers, loads and stores with cache hints, atomics, fences, warp
functions, conversions and synchronous copies. Semantics follow the PTX ISA 8.5 manual.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

TYPES = {
    "u8": "unsigned char",
    "s8": "signed char",
    "b8": "unsigned char",
    "u16": "unsigned short",
    "s16": "short",
    "b16": "unsigned short",
    "u32": "unsigned int",
    "s32": "int",
    "b32": "unsigned int",
    "u64": "unsigned long long",
    "s64": "long long",
    "b64": "unsigned long long",
    "f32": "float",
    "f64": "double",
    "pred": "bool",
}

_LANE = "(__lane_id() & 31u)"
SPECIAL = {
    "%laneid": _LANE,
    "%warpid": "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32u)",
    "%lanemask_eq": f"(1u << {_LANE})",
    "%lanemask_lt": f"((1u << {_LANE}) - 1u)",
    "%lanemask_le": f"(0xffffffffu >> (31u - {_LANE}))",
    "%lanemask_gt": f"(0xfffffffeu << {_LANE})",
    "%lanemask_ge": f"(0xffffffffu << {_LANE})",
    "%clock": "static_cast<unsigned int>(clock64())",
    "%clock64": "static_cast<unsigned long long>(clock64())",
    # 100 MHz on every AMD device since gfx9; CUDA's timer counts nanoseconds.
    "%globaltimer": "(static_cast<unsigned long long>(wall_clock64()) * 10ull)",
    "%smid": "__smid()",
    "WARP_SZ": "32u",
}
for _axis in "xyz":
    SPECIAL[f"%tid.{_axis}"] = f"threadIdx.{_axis}"
    SPECIAL[f"%ntid.{_axis}"] = f"blockDim.{_axis}"
    SPECIAL[f"%ctaid.{_axis}"] = f"blockIdx.{_axis}"
    SPECIAL[f"%nctaid.{_axis}"] = f"gridDim.{_axis}"

_FLOAT_HEX = re.compile(r"0[fF]([0-9a-fA-F]{8})\Z")
_DOUBLE_HEX = re.compile(r"0[dD]([0-9a-fA-F]{16})\Z")
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?\Z")
_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?\Z")
_ADDRESS = re.compile(r"\[\s*([^+\s\]]+)\s*(?:\+\s*(-?\w+)\s*)?\]\Z")
_OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
_ROUNDINGS = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"}


class UnknownInstructionError(Exception):
    """An instruction, a modifier or an operand that has no translation here."""


@dataclass
class State:
    """Registers in scope (name -> PTX type and C++ name) and what the C++ needs beside itself."""

    registers: dict[str, tuple[str, str]] = field(default_factory=dict)
    snippets: set[str] = field(default_factory=set)
    uses_carry: bool = False
    sets_carry: bool = False

    def read(self, operand: str, kind: str) -> str:
        """The value of ``operand`` as PTX type ``kind``."""
        if operand in self.registers:
            declared, name = self.registers[operand]
            return _convert(name, declared, kind)
        if operand in SPECIAL:
            return _convert(SPECIAL[operand], "u64" if "64" in operand else "u32", kind)
        if _INTEGER.match(operand):
            return _literal(operand.rstrip("U"), kind)
        if (match := _FLOAT_HEX.match(operand)) and kind in {"f32", "b32"}:
            return _convert(f"0x{match[1]}u", "b32", kind)
        if (match := _DOUBLE_HEX.match(operand)) and kind in {"f64", "b64"}:
            return _convert(f"0x{match[1]}ull", "b64", kind)
        if _FLOAT.match(operand):
            return operand + ("f" if kind == "f32" else "")
        if operand.startswith("!") and kind == "pred":
            return f"!{self.read(operand[1:], kind)}"
        raise UnknownInstructionError(f"the operand {operand}")

    def write(self, operand: str, kind: str, value: str) -> str:
        """The statement that stores ``value``, of PTX type ``kind``, in ``operand``."""
        if operand == "_":
            return f"(void)({value});"
        if operand not in self.registers:
            raise UnknownInstructionError(f"the operand {operand}")
        declared, name = self.registers[operand]
        return f"{name} = {_convert(value, kind, declared)};"

    def pointer(self, operand: str, kind: str, space: str) -> str:
        """A C++ pointer for a memory operand ``[register+offset]``."""
        match = _ADDRESS.match(operand)
        if not match:
            raise UnknownInstructionError(f"the address {operand}")
        base = self.read(match[1], "u32" if space == "shared" else "u64")
        offset = f" + {match[2]}" if match[2] and match[2] != "0" else ""
        if space == "shared":
            self.snippets.add("space")
            return f"static_cast<{TYPES[kind]}*>(cass::from_shared_address({base}{offset}))"
        return f"reinterpret_cast<{TYPES[kind]}*>({base}{offset})"


def _convert(value: str, source: str, target: str) -> str:
    """``value`` of PTX type ``source`` with the bits read as ``target``."""
    if source == target or target == "pred":
        return value
    if source == "pred":
        return f"static_cast<{TYPES[target]}>({value})"
    if source in {"f32", "f64"} or target in {"f32", "f64"}:
        if source == "" or source[1:] != target[1:]:
            raise UnknownInstructionError(f"the move from {source or 'an integer'} to {target}")
        functions = {"f32": ("__float_as_uint", "__uint_as_float")}
        functions["f64"] = ("__double_as_longlong", "__longlong_as_double")
        if source in functions:
            return f"static_cast<{TYPES[target]}>({functions[source][0]}({value}))"
        return f"{functions[target][1]}({value})"
    if source[1:] == target[1:] and {source[0], target[0]} == {"u", "b"}:
        return value
    return f"static_cast<{TYPES[target]}>({value})"


def _literal(digits: str, kind: str) -> str:
    """An integer constant of PTX type ``kind``."""
    suffixes = {"u32": "u", "b32": "u", "u64": "ull", "b64": "ull", "s32": "", "s64": "ll"}
    if kind in suffixes and not (digits.startswith("-") and "u" in suffixes[kind]):
        return digits + suffixes[kind]
    return _convert(digits, "", kind)


Handler = Callable[[State, list[str], list[str]], str]


def translate_instruction(state: State, opcode: str, operands: list[str]) -> str:
    """The C++ statement of one instruction.

    Raises:
        UnknownInstructionError: it is outside the subset.
    """
    name, *modifiers = opcode.split(".")
    handler = _HANDLERS.get(name)
    if handler is None:
        raise UnknownInstructionError(f"the instruction {opcode}")
    try:
        return handler(state, modifiers, operands)
    except (KeyError, IndexError, ValueError) as error:
        raise UnknownInstructionError(f"the instruction {opcode}") from error


def _type(modifiers: list[str]) -> str:
    kind = modifiers[-1]
    if kind not in TYPES:
        raise UnknownInstructionError(f"the type {kind}")
    return kind


def _move(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
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
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        a, b = (state.read(operand, kind) for operand in operands[1:])
        if "cc" in modifiers:
            return _carry(state, name, kind, operands, carry_in=False)
        if {"rz", "rm", "rp", "sat"} & set(modifiers):
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        if kind == "pred" and name in {"and", "or", "xor"}:
            return state.write(operands[0], kind, f"({a} {_OPERATORS[name]} {b})")
        return state.write(operands[0], kind, f"{a} {_OPERATORS[name]} {b}")

    return handler


def _carry(state: State, name: str, kind: str, operands: list[str], *, carry_in: bool) -> str:
    """Extended-precision addition and subtraction through the carry flag."""
    if kind[0] == "f":
        raise UnknownInstructionError(f"the type {kind}")
    unsigned = "u" + kind[1:]
    wide = "unsigned __int128" if kind.endswith("64") else "unsigned long long"
    bits = kind[1:]
    a, b = (state.read(operand, unsigned) for operand in operands[1:])
    if carry_in:
        if not state.sets_carry:
            raise UnknownInstructionError("a carry from another asm statement")
        state.uses_carry = True
    state.sets_carry = True
    operator = "+" if name == "add" else "-"
    extra = f" {operator} cass_carry" if carry_in else ""
    total = f"const {wide} cass_sum = static_cast<{wide}>({a}) {operator} {b}{extra};"
    store = state.write(operands[0], unsigned, f"static_cast<{TYPES[unsigned]}>(cass_sum)")
    return f"{{ {total} {store} cass_carry = (cass_sum >> {bits}) & 1; }}"


def _with_carry(name: str) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        return _carry(state, name, _type(modifiers), operands, carry_in=True)

    return handler


def _multiply(state: State, modifiers: list[str], operands: list[str], addend: bool = False) -> str:
    kind = _type(modifiers)
    mode = modifiers[0]
    if "cc" in modifiers:
        raise UnknownInstructionError("multiplication with carry")
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


def _multiply_add(state: State, modifiers: list[str], operands: list[str]) -> str:
    if _type(modifiers) in {"f32", "f64"}:
        return _fused(state, modifiers, operands)
    return _multiply(state, modifiers, operands, addend=True)


def _fused(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if not set(modifiers[:-1]) <= {"rn", "ftz"} or kind not in {"f32", "f64"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    values = ", ".join(state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{'fmaf' if kind == 'f32' else 'fma'}({values})")


def _divide(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if not set(modifiers[:-1]) <= {"rn", "approx", "full", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{a} / {b}")


def _remainder(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    a, b = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"{a} % {b}")


def _shift(left: bool) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        bits = int(kind[1:])
        value, amount = state.read(operands[1], kind), state.read(operands[2], "u32")
        # PTX clamps the amount; C++ leaves it undefined.
        over = "0" if left or kind[0] != "s" else f"({value} < 0 ? -1 : 0)"
        if _INTEGER.match(operands[2]):
            expression = f"{value} {'<<' if left else '>>'} {operands[2].rstrip('U')}"
        else:
            shifted = f"{value} {'<<' if left else '>>'} {amount}"
            expression = f"({amount} < {bits}u ? {shifted} : {over})"
        return state.write(operands[0], kind, expression)

    return handler


def _unary(integer: str, float_: str) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        pattern = float_ if kind[0] == "f" else integer
        if not pattern:
            raise UnknownInstructionError(f"the type {kind}")
        return state.write(operands[0], kind, pattern.format(state.read(operands[1], kind)))

    return handler


def _extreme(smaller: bool) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        a, b = (state.read(operand, kind) for operand in operands[1:])
        if kind[0] == "f":
            function = ("fmin" if smaller else "fmax") + ("f" if kind == "f32" else "")
            return state.write(operands[0], kind, f"{function}({a}, {b})")
        return state.write(operands[0], kind, f"({a} {'<' if smaller else '>'} {b} ? {a} : {b})")

    return handler


def _compare(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    comparison = _COMPARISONS[modifiers[0]]
    if len(modifiers) > 2 and modifiers[1] != "ftz":
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b = (state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], "pred", f"{a} {comparison} {b}")


def _select(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    a, b = (state.read(operand, kind) for operand in operands[1:3])
    return state.write(operands[0], kind, f"({state.read(operands[3], 'pred')} ? {a} : {b})")


def _field_extract(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if kind not in {"u32", "s32"}:
        raise UnknownInstructionError(f"the type {kind}")
    value = state.read(operands[1], kind)
    start, length = (state.read(operand, "u32") for operand in operands[2:])
    state.snippets.add("bits")
    return state.write(operands[0], kind, f"cass::bfe({value}, {start}, {length})")


def _field_insert(state: State, modifiers: list[str], operands: list[str]) -> str:
    if _type(modifiers) != "b32":
        raise UnknownInstructionError("the type")
    values = ", ".join(state.read(operand, "u32") for operand in operands[1:])
    state.snippets.add("bits")
    return state.write(operands[0], "u32", f"cass::bfi({values})")


def _permute(state: State, modifiers: list[str], operands: list[str]) -> str:
    if modifiers != ["b32"]:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    values = ", ".join(state.read(operand, "u32") for operand in operands[1:])
    return state.write(operands[0], "u32", f"__byte_perm({values})")


def _logic3(state: State, modifiers: list[str], operands: list[str]) -> str:
    if modifiers != ["b32"]:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b, c = (state.read(operand, "u32") for operand in operands[1:4])
    table = operands[4]
    if not _INTEGER.match(table):
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


def _funnel(state: State, modifiers: list[str], operands: list[str]) -> str:
    direction, mode, _ = modifiers
    low, high, amount = (state.read(operand, "u32") for operand in operands[1:])
    function = {"l": "__funnelshift_l", "r": "__funnelshift_r"}[direction]
    function += {"wrap": "", "clamp": "c"}[mode]
    return state.write(operands[0], "u32", f"{function}({low}, {high}, {amount})")


def _count(function: str) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        name = function + ("ll" if kind.endswith("64") else "")
        return state.write(operands[0], "u32", f"{name}({state.read(operands[1], kind)})")

    return handler


def _reverse(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    function = "__brevll" if kind.endswith("64") else "__brev"
    return state.write(operands[0], kind, f"{function}({state.read(operands[1], kind)})")


def _find_leading(state: State, modifiers: list[str], operands: list[str]) -> str:
    if modifiers != ["u32"]:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    value = state.read(operands[1], "u32")
    return state.write(operands[0], "u32", f"static_cast<unsigned int>(31 - __clz({value}))")


def _cast(state: State, modifiers: list[str], operands: list[str]) -> str:
    *options, target, source = modifiers
    value = state.read(operands[1], source)
    rounding = next((item for item in options if item in _ROUNDINGS), "")
    if set(options) - _ROUNDINGS - {"ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    if source[0] == "f" and target[0] != "f":
        functions = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
        value = f"{functions[rounding]}{'f' if source == 'f32' else ''}({value})"
    elif target[0] == "f" and rounding not in {"", "rn"}:
        raise UnknownInstructionError(f"the rounding {rounding}")
    return state.write(operands[0], target, f"static_cast<{TYPES[target]}>({value})")


def _approximate(function: str) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        if _type(modifiers) != "f32":
            raise UnknownInstructionError(f"the type {modifiers[-1]}")
        return state.write(operands[0], "f32", function.format(state.read(operands[1], "f32")))

    return handler


def _root(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if not set(modifiers[:-1]) <= {"rn", "approx", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    function = "sqrtf" if kind == "f32" else "sqrt"
    return state.write(operands[0], kind, f"{function}({state.read(operands[1], kind)})")


def _reciprocal(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if not set(modifiers[:-1]) <= {"rn", "approx", "ftz"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    one = "1.0f" if kind == "f32" else "1.0"
    return state.write(operands[0], kind, f"{one} / {state.read(operands[1], kind)}")


def _space(modifiers: list[str]) -> str:
    return next((item for item in modifiers if item in {"shared", "global", "local"}), "generic")


def _elements(operand: str) -> list[str]:
    if operand.startswith("{"):
        return [item.strip() for item in operand.strip("{}").split(",")]
    return [operand]


def _load(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if "param" in modifiers or "const" in modifiers:
        raise UnknownInstructionError("loads of parameters and constants")
    pointer = state.pointer(operands[1], kind, _space(modifiers))
    if {"volatile", "cv", "relaxed", "acquire"} & set(modifiers):
        pointer = f"const_cast<volatile {TYPES[kind]}*>({pointer})"
    targets = _elements(operands[0])
    statements = [
        state.write(target, kind, f"{pointer}[{i}]" if len(targets) > 1 else f"*{pointer}")
        for i, target in enumerate(targets)
    ]
    if "acquire" in modifiers:
        statements.append("__threadfence();")
    return " ".join(statements)


def _store(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    pointer = state.pointer(operands[0], kind, _space(modifiers))
    if {"volatile", "relaxed", "release"} & set(modifiers):
        pointer = f"const_cast<volatile {TYPES[kind]}*>({pointer})"
    sources = _elements(operands[1])
    statements = [
        f"{pointer}[{i}] = {state.read(source, kind)};"
        if len(sources) > 1
        else f"*{pointer} = {state.read(source, kind)};"
        for i, source in enumerate(sources)
    ]
    if "release" in modifiers:
        statements.insert(0, "__threadfence();")
    return " ".join(statements)


_ATOMICS = {
    "add": "atomicAdd",
    "min": "atomicMin",
    "max": "atomicMax",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
    "exch": "atomicExch",
    "cas": "atomicCAS",
    "inc": "atomicInc",
    "dec": "atomicDec",
}


def _atomic(returns: bool) -> Handler:
    def handler(state: State, modifiers: list[str], operands: list[str]) -> str:
        kind = _type(modifiers)
        operation = next(item for item in modifiers if item in _ATOMICS)
        if kind == "s64" and operation == "add":
            kind = "u64"
        target, rest = (operands[0], operands[1:]) if returns else ("_", operands)
        pointer = state.pointer(rest[0], kind, _space(modifiers))
        values = ", ".join(state.read(operand, kind) for operand in rest[1:])
        call = f"{_ATOMICS[operation]}({pointer}, {values})"
        before = "__threadfence(); " if {"release", "acq_rel"} & set(modifiers) else ""
        after = " __threadfence();" if {"acquire", "acq_rel"} & set(modifiers) else ""
        return before + state.write(target, kind, call) + after

    return handler


def _fence(state: State, modifiers: list[str], operands: list[str]) -> str:
    scopes = {"cta": "__threadfence_block();", "gl": "__threadfence();", "gpu": "__threadfence();"}
    scopes["sys"] = "__threadfence_system();"
    if "proxy" in modifiers:
        raise UnknownInstructionError("fences between proxies")
    return next(scopes[item] for item in reversed(modifiers) if item in scopes)


def _barrier(state: State, modifiers: list[str], operands: list[str]) -> str:
    if modifiers in (["warp", "sync"],):
        state.snippets.add("syncwarp")
        return "cass::syncwarp();"
    if "sync" not in modifiers or operands != ["0"] or "red" in modifiers:
        raise UnknownInstructionError("named barriers")
    return "__syncthreads();"


def _shuffle(state: State, modifiers: list[str], operands: list[str]) -> str:
    modifiers = [item for item in modifiers if item != "sync"]
    mode, _ = modifiers
    if "|" in operands[0] or mode not in {"idx", "up", "down", "bfly"}:
        raise UnknownInstructionError("shuffles with a predicate")
    value, lane = state.read(operands[1], "u32"), state.read(operands[2], "u32")
    clamp = operands[3]
    if not _INTEGER.match(clamp):
        raise UnknownInstructionError("shuffles of a width that is not constant")
    # c holds the clamp in bits 0-4 and the segment mask in bits 8-12.
    width = 32 - (int(clamp.rstrip("U"), 0) >> 8 & 31)
    function = {"idx": "__shfl", "up": "__shfl_up", "down": "__shfl_down", "bfly": "__shfl_xor"}
    return state.write(operands[0], "u32", f"{function[mode]}({value}, {lane}, {width})")


def _vote(state: State, modifiers: list[str], operands: list[str]) -> str:
    kinds = [item for item in modifiers if item in {"ballot", "any", "all", "uni"}]
    predicate = f"static_cast<int>({state.read(operands[1], 'pred')})"
    mask = state.read(operands[2], "u32") if len(operands) > 2 else "0xffffffffu"
    state.snippets.add("ballot")
    result = "u32" if kinds[0] == "ballot" else "pred"
    return state.write(operands[0], result, f"cass::{kinds[0]}({mask}, {predicate})")


def _active_mask(state: State, modifiers: list[str], operands: list[str]) -> str:
    state.snippets.add("ballot")
    return state.write(operands[0], "u32", "cass::activemask()")


def _match(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if "any" not in modifiers:
        raise UnknownInstructionError("match.all")
    state.snippets.add("match")
    mask = state.read(operands[2], "u32")
    return state.write(
        operands[0], "u32", f"cass::match_any({mask}, {state.read(operands[1], kind)})"
    )


def _copy(state: State, modifiers: list[str], operands: list[str]) -> str:
    """``cp.async`` copies at once; the commit and wait that follow have nothing left to do."""
    if modifiers[:2] == ["async", "commit_group"] or modifiers[:2] == ["async", "wait_all"]:
        return "(void)0;"
    if modifiers[:2] == ["async", "wait_group"]:
        return "(void)0;"
    if modifiers[0] != "async" or not {"shared", "global"} <= set(modifiers):
        raise UnknownInstructionError("this kind of copy")
    if "bulk" in modifiers or len(operands) not in {3, 4} or not operands[2].lstrip("-").isdigit():
        raise UnknownInstructionError("this kind of copy")
    size = int(operands[2])
    target = state.pointer(operands[0], "u32", "shared")
    source = state.pointer(operands[1], "u32", "global")
    if len(operands) == 4:
        state.snippets.add("copy")
        wanted = state.read(operands[3], "u32")
        return f"cass::copy_and_fill<{size}>({target}, {source}, {wanted});"
    vector = {4: "unsigned int", 8: "uint2", 16: "uint4"}[size]
    return f"*reinterpret_cast<{vector}*>({target}) = *reinterpret_cast<const {vector}*>({source});"


def _nothing(state: State, modifiers: list[str], operands: list[str]) -> str:
    return "(void)0;"


def _trap(state: State, modifiers: list[str], operands: list[str]) -> str:
    return "__builtin_trap();"


def _sleep(state: State, modifiers: list[str], operands: list[str]) -> str:
    state.snippets.add("nanosleep")
    return f"cass::nanosleep({state.read(operands[0], 'u32')});"


def _convert_address(state: State, modifiers: list[str], operands: list[str]) -> str:
    kind = _type(modifiers)
    if "shared" not in modifiers:
        return state.write(operands[0], kind, state.read(operands[1], kind))
    state.snippets.add("space")
    if "to" in modifiers:
        pointer = f"reinterpret_cast<const void*>({state.read(operands[1], 'u64')})"
        return state.write(operands[0], "u64", f"cass::shared_address({pointer})")
    address = f"cass::from_shared_address({state.read(operands[1], 'u32')})"
    return state.write(operands[0], "u64", f"reinterpret_cast<unsigned long long>({address})")


_HANDLERS: dict[str, Handler] = {
    "mov": _move,
    **{name: _binary(name) for name in _OPERATORS},
    "addc": _with_carry("add"),
    "subc": _with_carry("sub"),
    "mul": _multiply,
    "mad": _multiply_add,
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
    "setp": _compare,
    "selp": _select,
    "bfe": _field_extract,
    "bfi": _field_insert,
    "prmt": _permute,
    "lop3": _logic3,
    "shf": _funnel,
    "popc": _count("__popc"),
    "clz": _count("__clz"),
    "brev": _reverse,
    "bfind": _find_leading,
    "cvt": _cast,
    "sin": _approximate("__sinf({})"),
    "cos": _approximate("__cosf({})"),
    "ex2": _approximate("exp2f({})"),
    "lg2": _approximate("__log2f({})"),
    "tanh": _approximate("tanhf({})"),
    "rsqrt": _approximate("rsqrtf({})"),
    "sqrt": _root,
    "rcp": _reciprocal,
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic(returns=True),
    "red": _atomic(returns=False),
    "membar": _fence,
    "fence": _fence,
    "bar": _barrier,
    "barrier": _barrier,
    "shfl": _shuffle,
    "vote": _vote,
    "activemask": _active_mask,
    "match": _match,
    "cp": _copy,
    "prefetch": _nothing,
    "prefetchu": _nothing,
    "discard": _nothing,
    "pmevent": _nothing,
    "trap": _trap,
    "brkpt": _trap,
    "nanosleep": _sleep,
    "cvta": _convert_address,
}
