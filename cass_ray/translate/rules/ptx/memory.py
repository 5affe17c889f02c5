"""PTX instructions that touch memory, other lanes or the flow of control."""

from __future__ import annotations

from cass_ray.translate.rules.ptx.registers import (
    INTEGER,
    TYPES,
    Handler,
    RegisterState,
    UnknownInstructionError,
    kind_of,
)


def _space(modifiers: list[str]) -> str:
    return next((item for item in modifiers if item in {"shared", "global", "local"}), "generic")


def _elements(operand: str) -> list[str]:
    if operand.startswith("{"):
        return [item.strip() for item in operand.strip("{}").split(",")]
    return [operand]


def _load(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
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


def _store(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
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
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = kind_of(modifiers)
        operation = next((item for item in modifiers if item in _ATOMICS), None)
        if operation is None:
            raise UnknownInstructionError(f"atomics `{'.'.join(modifiers)}`")
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


def _fence(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    scopes = {"cta": "__threadfence_block();", "gl": "__threadfence();", "gpu": "__threadfence();"}
    scopes["sys"] = "__threadfence_system();"
    if "proxy" in modifiers:
        raise UnknownInstructionError("fences between proxies")
    scope = next((scopes[item] for item in reversed(modifiers) if item in scopes), None)
    if scope is None:
        raise UnknownInstructionError(f"fences of `{'.'.join(modifiers)}`")
    return scope


def _barrier(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    if modifiers in (["warp", "sync"],):
        state.snippets.add("syncwarp")
        return "cass::syncwarp();"
    if "sync" not in modifiers or operands != ["0"] or "red" in modifiers:
        raise UnknownInstructionError("named barriers")
    return "__syncthreads();"


def _shuffle(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    modifiers = [item for item in modifiers if item != "sync"]
    mode, _ = modifiers
    if mode not in {"idx", "up", "down", "bfly"}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    target, _, predicate = operands[0].partition("|")
    value, lane = state.read(operands[1], "u32"), state.read(operands[2], "u32")
    clamp = operands[3]
    width = _width(mode, clamp)
    if predicate or not width:
        state.snippets |= {"lane", "shuffle_ptx"}
        call = f"cass::shuffle<cass::Shuffle::{mode}>({value}, {lane}, {state.read(clamp, 'u32')}"
        result = state.write(target, "u32", f"{call}, cass_in_range)")
        kept = state.write(predicate, "pred", "cass_in_range") if predicate else ""
        return f"{{ bool cass_in_range; {result} {kept} }}"
    function = {"idx": "__shfl", "up": "__shfl_up", "down": "__shfl_down", "bfly": "__shfl_xor"}
    return state.write(operands[0], "u32", f"{function[mode]}({value}, {lane}, {width})")


def _width(mode: str, control: str) -> int:
    """Lanes of a segment, where ``control`` has a clamp (bits 0 to 4) at its end and a mask (bits 8
    to 12) as CUDA's functions have; else 0."""
    if not INTEGER.match(control):
        return 0
    value = int(control.rstrip("U"), 0)
    width = 32 - (value >> 8 & 31)
    at_its_end = value & 31 == (0 if mode == "up" else 31)
    return width if at_its_end and width.bit_count() == 1 else 0


def _vote(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kinds = [item for item in modifiers if item in {"ballot", "any", "all", "uni"}]
    predicate = f"static_cast<int>({state.read(operands[1], 'pred')})"
    mask = state.read(operands[2], "u32") if len(operands) > 2 else "0xffffffffu"
    state.snippets.add("ballot")
    result = "u32" if kinds[0] == "ballot" else "pred"
    return state.write(operands[0], result, f"cass::{kinds[0]}({mask}, {predicate})")


def _active_mask(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    state.snippets.add("ballot")
    return state.write(operands[0], "u32", "cass::activemask()")


def _match(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if "any" not in modifiers:
        raise UnknownInstructionError("match.all")
    state.snippets.add("match")
    mask = state.read(operands[2], "u32")
    return state.write(
        operands[0], "u32", f"cass::match_any({mask}, {state.read(operands[1], kind)})"
    )


def _copy(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``cp.async`` copies at once; the commit and wait that follow have nothing left to do."""
    if modifiers[:2] == ["async", "commit_group"] or modifiers[:2] == ["async", "wait_all"]:
        return "(void)0;"
    if modifiers[:2] == ["async", "wait_group"]:
        return "(void)0;"
    if modifiers[0] != "async" or not {"shared", "global"} <= set(modifiers):
        raise UnknownInstructionError("this kind of copy")
    if "bulk" in modifiers or len(operands) not in {3, 4}:
        raise UnknownInstructionError("this kind of copy")
    target = state.pointer(operands[0], "u32", "shared")
    source = state.pointer(operands[1], "u32", "global")
    # A number, or an operand that is one: "n"(16).
    size = operands[2] if operands[2].isdigit() else state.constant(operands[2])
    if len(operands) == 4 or not size.isdigit():
        state.snippets.add("copy")
        wanted = state.read(operands[3], "u32") if len(operands) == 4 else size
        return f"cass::copy_and_fill<{size}>({target}, {source}, {wanted});"
    vector = {4: "unsigned int", 8: "uint2", 16: "uint4"}[int(size)]
    return f"*reinterpret_cast<{vector}*>({target}) = *reinterpret_cast<const {vector}*>({source});"


def _nothing(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    return "(void)0;"


def _trap(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    return "__builtin_trap();"


def _sleep(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    state.snippets.add("nanosleep")
    return f"cass::nanosleep({state.read(operands[0], 'u32')});"


def _convert_address(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kind = kind_of(modifiers)
    if "shared" not in modifiers:
        return state.write(operands[0], kind, state.read(operands[1], kind))
    state.snippets.add("space")
    if "to" in modifiers:
        pointer = f"reinterpret_cast<const void*>({state.read(operands[1], 'u64')})"
        return state.write(operands[0], "u64", f"cass::shared_address({pointer})")
    address = f"cass::from_shared_address({state.read(operands[1], 'u32')})"
    return state.write(operands[0], "u64", f"reinterpret_cast<unsigned long long>({address})")


HANDLERS: dict[str, Handler] = {
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
    # Without a launch that may overlap with the one before, which HIP lacks, both do nothing.
    "griddepcontrol": _nothing,
    "trap": _trap,
    "brkpt": _trap,
    "nanosleep": _sleep,
    "cvta": _convert_address,
}
"""Instruction -> its translation."""
