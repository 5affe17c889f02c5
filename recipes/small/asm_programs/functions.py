"""Device functions, macros and kernels around random ``asm`` statements."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.corpus.generate.invented import invented_name
from recipes.small.asm_programs.blocks import AsmBlock, random_block
from recipes.small.asm_programs.statements import statement

_TYPES = {
    "r": ("unsigned", "unsigned int", "uint32_t", "int", "unsigned", "uint32_t"),
    "l": ("unsigned long long", "uint64_t", "long long", "unsigned long long"),
    "h": ("unsigned short", "uint16_t", "unsigned short"),
    "f": ("float",),
    "d": ("double",),
    "S": ("unsigned", "uint32_t"),
    "P": ("const void*", "const unsigned*"),
}
_QUALIFIERS = (
    *("__device__ __forceinline__", "__device__ __forceinline__", "__device__ inline"),
    *("static __device__ __forceinline__", "__device__", "static __device__ inline"),
    *("__device__ __inline__", "__forceinline__ __device__", "inline __device__"),
)
_LETTERS = {"r": "abcxyuv", "l": "abwzpq", "h": "hst", "f": "xyzf", "d": "xyd"}


@dataclass(frozen=True)
class AsmFunction:
    """A function or a macro: its lines, and what a call of it takes and gives."""

    name: str
    lines: Sequence[str]
    result: str
    """Kind of what it returns; empty for none."""
    parameters: Sequence[str]
    """Kinds; ``r*`` is a pointer to words, ``r&`` a reference, ``=r`` what a macro writes."""
    pointers: Sequence[str]
    """For each parameter the C type of what it points to; empty for others."""


class Names:
    """Invented names, each once in a file."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def fresh(self) -> str:
        """A name that the file has not yet."""
        name = invented_name(self._rng)
        while name in self._taken or name in _RESERVED:
            name = f"{invented_name(self._rng)}{self._rng.randrange(10)}"
        self._taken.add(name)
        return name

    def short(self, taken: set[str], kind: str) -> str:
        """A name of a parameter."""
        rng = self._rng
        letters = _LETTERS.get(kind, "abn")
        name = rng.choice(letters) if rng.random() < 0.6 else invented_name(rng)
        while name in taken or name in _RESERVED:
            name = f"{rng.choice(letters)}{rng.randrange(100)}"
        taken.add(name)
        return name


_RESERVED = frozenset(
    (
        *("max", "min", "fold", "host", "device", "global", "shared", "int", "index", "time"),
        *("init", "free", "hash", "read", "rand", "launch", "y0", "y1", "j0", "j1", "jn", "yn"),
    )
)


def element(block: AsmBlock) -> str:
    """The C type behind an address of ``block``: what its opcode loads or stores."""
    text = block.instructions[-1].split(" ")[0]
    for ending, type_ in (
        *(("f32", "float"), ("f64", "double"), ("u64", "unsigned long long")),
        *(("s32", "int"),),
    ):
        if text.endswith(ending):
            return type_
    return "unsigned"


def _declared(rng: random.Random, kind: str, name: str, block: AsmBlock) -> str:
    if kind == "L":
        const = rng.choice(("const ", "")) if block.instructions[-1].startswith("ld") else ""
        return f"{const}{element(block)}{rng.choice(('* ', ' *'))}{name}"
    const = rng.choice(("", "", "", "const "))
    type_ = rng.choice(_TYPES[kind])
    return f"{'' if type_.startswith('const') else const}{type_} {name}"


def _value(rng: random.Random, kind: str, name: str) -> str:
    """An operand's expression of a parameter."""
    if kind == "L":
        return rng.choice((name, name, f"({name})"))
    if kind == "P":
        return name
    if kind == "r" and rng.random() < 0.12:
        return rng.choice((f"(unsigned){name}", f"{name} + 1", f"{name} ^ 5u", f"~{name}"))
    if kind == "f" and rng.random() < 0.08:
        return rng.choice((f"-{name}", f"{name} * 2.0f"))
    return name


def function(rng: random.Random, names: Names) -> AsmFunction:
    """A device function that holds a random block."""
    return wrapped(rng, names, random_block(rng))


def wrapped(rng: random.Random, names: Names, block: AsmBlock) -> AsmFunction:
    """A device function that holds ``block``."""
    if len(block.outputs) > 1 or any(kind.endswith("+") for kind in block.outputs):
        return _of_several(rng, names, block)
    name, taken = names.fresh(), set[str]()
    inputs = [names.short(taken, kind) for kind in block.inputs]
    parameters = ", ".join(
        _declared(rng, kind, given, block) for kind, given in zip(block.inputs, inputs, strict=True)
    )
    values = [_value(rng, k, n) for k, n in zip(block.inputs, inputs, strict=True)]
    kind = block.outputs[0] if block.outputs else ""
    indent = rng.choice(("    ", "    ", "  ", "\t"))
    body: list[str] = []
    result = ""
    if kind:
        result = rng.choice(("r", "d", "ret", "result", "out", "res", "value"))
        while result in taken:
            result += "_"
        body.append(f"{rng.choice(_TYPES[kind])} {result};")
    written = statement(rng, block, [result] if kind else [], values)
    written[-1] += ";"
    body += written
    if kind:
        body.append(f"return {result};")
    type_ = rng.choice(_TYPES[kind]) if kind else "void"
    head = f"{rng.choice(_QUALIFIERS)} {type_} {name}({parameters})"
    if len(body) == 1 and rng.random() < 0.4:
        lines = [f"{head} {{ {body[0]} }}"]
    elif rng.random() < 0.4:
        lines = [head, "{", *(indent + line for line in body), "}"]
    else:
        lines = [f"{head} {{", *(indent + line for line in body), "}"]
    return AsmFunction(name, lines, kind, block.inputs, _pointers(block))


def _pointers(block: AsmBlock) -> list[str]:
    return [element(block) if kind == "L" else "" for kind in block.inputs]


def _of_several(rng: random.Random, names: Names, block: AsmBlock) -> AsmFunction:
    """A function that writes several words, through pointers or references."""
    name, taken = names.fresh(), set[str]()
    types = {kind: rng.choice(_TYPES[kind]) for kind in "rlhfd"}
    parameters: list[str] = []
    kinds: list[str] = []
    pointers: list[str] = []

    def group(wanted: Sequence[str], letters: str, const: str) -> list[str]:
        """Operands of one kind as elements of an array, others as parameters of their own."""
        if len(wanted) > 1 and len(set(wanted)) == 1 and wanted[0] in types and arrays:
            array = rng.choice(letters)
            while array in taken:
                array += "s"
            taken.add(array)
            star = rng.choice(("* ", " *"))
            parameters.append(f"{const}{types[wanted[0]]}{star}{array}")
            kinds.append(f"{wanted[0]}*")
            pointers.append(types[wanted[0]])
            return [f"{array}[{n}]" for n in range(len(wanted))]
        made = []
        for kind in wanted:
            given = names.short(taken, kind)
            if kind in types and not const:
                parameters.append(f"{_TYPES[kind][0]}{rng.choice(('& ', ' &'))}{given}")
                kinds.append(f"{kind}&")
            else:
                parameters.append(_declared(rng, kind, given, block))
                kinds.append(kind)
            pointers.append(element(block) if kind == "L" else "")
            made.append(given)
        return made

    arrays = rng.random() < 0.6
    outputs = group([kind[0] for kind in block.outputs], "rdco", "")
    half = len(block.inputs) // 2
    if len(block.inputs) > 3 and len(block.inputs) % 2 == 0:
        inputs = group(block.inputs[:half], "a", "const ")
        inputs += group(block.inputs[half:], "b", "const ")
    else:
        inputs = group(block.inputs, "a", "const ")
    written = statement(rng, block, outputs, inputs)
    written[-1] += ";"
    head = f"{rng.choice(_QUALIFIERS)} void {name}({', '.join(parameters)})"
    indent = rng.choice(("    ", "    ", "  ", "\t"))
    lines = [f"{head} {{", *(indent + line for line in written), "}"]
    return AsmFunction(name, lines, "", kinds, pointers)


def macro(rng: random.Random, names: Names) -> AsmFunction:
    """A macro of one statement; lines of it are joined."""
    block = random_block(rng)
    name, taken = names.fresh().upper(), set[str]()
    outputs = [names.short(taken, kind[0]) for kind in block.outputs]
    inputs = [names.short(taken, kind) for kind in block.inputs]
    values = [rng.choice((given, f"({given})")) for given in inputs]
    places = [rng.choice((given, f"({given})")) for given in outputs]
    lines = statement(rng, block, places, values)
    head = f"#define {name}({', '.join([*outputs, *inputs])})"
    if len(lines) == 1 and len(head) + len(lines[0]) < 100:
        made = [f"{head} {lines[0]}"]
    else:
        indent = rng.choice(("    ", "  ", "\t"))
        pad = rng.choice((1, 1, 80))
        made = [f"{head} ".ljust(pad) + "\\"]
        made += [f"{indent}{line} ".ljust(pad) + "\\" for line in lines[:-1]]
        made.append(indent + lines[-1])
    kinds = [f"={kind[0]}" for kind in block.outputs] + list(block.inputs)
    return AsmFunction(name, made, "", kinds, [""] * len(block.outputs) + _pointers(block))
