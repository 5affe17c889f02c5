"""Whole files of inline PTX: functions, macros, kernels and a host part; or grafted into others.

A file compiles as CUDA: what its functions ask for its kernels have. Nothing is said about what it
computes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from recipes.small.asm_programs import idioms
from recipes.small.asm_programs.blocks import random_block
from recipes.small.asm_programs.functions import AsmFunction, Names, element, function, macro
from recipes.small.asm_programs.statements import statement

_LOCALS = {
    "r": ("unsigned", "words[i]"),
    "l": ("unsigned long long", "(unsigned long long)words[i] << {}"),
    "h": ("unsigned short", "(unsigned short)words[i]"),
    "f": ("float", "reals[i]"),
    "d": ("double", "(double)reals[i]"),
}
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)


class Kernel:
    """A kernel over ``words`` and ``reals``, arrays of unsigned and float."""

    def __init__(self, rng: random.Random, names: Names, functions: Sequence[AsmFunction]) -> None:
        self._rng, self._functions = rng, functions
        self.name = names.fresh()
        self.words, self.reals, self.size = names.fresh(), names.fresh(), "n"
        self._own = {kind: [names.fresh() for _ in range(3)] for kind in _LOCALS}
        self._used: set[str] = set()
        self._arrays: dict[str, str] = {}
        self._shared = names.fresh()
        self._needs_shared = False
        self._names = names

    def _pick(self, kind: str) -> str:
        name = self._rng.choice(self._own[kind])
        self._used.add(kind)
        return name

    def _argument(self, kind: str, type_: str) -> str:
        """What is given for an operand of ``kind``; ``type_`` is what an address is of."""
        if kind.endswith("*"):
            array = self._array(kind[0])
            return array if type_ == _LOCALS[kind[0]][0] else f"({type_}*){array}"
        if kind == "L":
            base = self.reals if type_ == "float" else self.words
            place = f"{base} + i"
            return place if type_ in ("unsigned", "float") else f"({type_}*)({place})"
        if kind in "SP":
            self._needs_shared = True
            if kind == "P":
                return self._shared
            return f"(unsigned)__cvta_generic_to_shared({self._shared} + threadIdx.x)"
        return self._pick(kind.strip("=&"))

    def _array(self, kind: str) -> str:
        if kind not in self._arrays or self._rng.random() < 0.3:
            self._arrays.setdefault(kind, self._names.fresh())
        return self._arrays[kind]

    def _call(self, made: AsmFunction) -> str:
        arguments: list[str] = []
        for kind, type_ in zip(made.parameters, made.pointers, strict=True):
            given = self._argument(kind, type_)
            arguments.append(given)
        call = f"{made.name}({', '.join(arguments)})"
        if not made.result:
            return f"{call};"
        form = self._rng.choice(("{} = {};", "{} = {};", "{} += {};"))
        return form.format(self._pick(made.result), call)

    def _direct(self) -> list[str]:
        """A statement in the kernel itself."""
        block = random_block(self._rng)
        outputs = [self._pick(kind[0]) for kind in block.outputs]
        if len(set(outputs)) < len(outputs):
            return []
        type_ = element(block)
        inputs = []
        for kind in block.inputs:
            given = self._argument(kind, type_)
            if kind == "r" and self._rng.random() < 0.25:
                given = self._rng.choice(
                    ("7", "0x80u", "threadIdx.x", f"{given} + 3u", f"({given} >> 2)", "blockDim.x")
                )
            inputs.append(given)
        made = statement(self._rng, block, outputs, inputs)
        made[-1] += ";"
        return made

    def lines(self) -> list[str]:
        """The kernel; asked for once."""
        rng = self._rng
        body: list[str] = []
        typed = idioms.TypedLines(rng, self._names.fresh)
        for made in self._functions:
            body.append(self._call(made))
            if rng.random() < 0.2:
                body += typed.lines(self._pick("r"))
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            body += self._direct()
        if rng.random() < 0.5:
            body += typed.lines(self._pick("r"))
        for kind in self._arrays:
            self._used.add(kind)
        head = f"__global__ void {self.name}(unsigned* {self.words}, float* {self.reals}, int n)"
        opened = [f"{head} {{"] if rng.random() < 0.6 else [head, "{"]
        before = ["int i = blockIdx.x * blockDim.x + threadIdx.x;"]
        if self._needs_shared:
            before.append(f"__shared__ unsigned {self._shared}[256];")
        if rng.random() < 0.7:
            before.append("if (i >= n) return;")
        for kind, (type_, value) in _LOCALS.items():
            start = value.format(rng.randrange(1, 32))
            start = start.replace("words", self.words).replace("reals", self.reals)
            if kind in self._used or kind in "rf":
                before.append(
                    f"{type_} " + ", ".join(f"{name} = {start}" for name in self._own[kind]) + ";"
                )
        for kind, name in self._arrays.items():
            fill = ", ".join(self._own[kind])
            before.append(f"{_LOCALS[kind][0]} {name}[12] = {{{fill}}};")
        r, f = self._own["r"][0], self._own["f"][0]
        after = [f"{self.words}[i] = {r};", f"{self.reals}[i] = {f};"]
        wide = sorted(self._used - {"r", "f"})
        after += [f"{self.words}[i] ^= (unsigned){self._own[kind][0]};" for kind in wide]
        after += [f"{self.words}[i] += (unsigned){name}[1];" for name in self._arrays.values()]
        indent = rng.choice(("    ", "    ", "  ", "\t"))
        return [*opened, *(indent + line for line in [*before, *body, *after]), "}"]


def _parts(rng: random.Random, names: Names, most: int) -> list[AsmFunction]:
    return [
        macro(rng, names) if rng.random() < 0.15 else function(rng, names)
        for _ in range(rng.randrange(1, most + 1))
    ]


def ptx_file(rng: random.Random) -> str:
    """One file."""
    names = Names(rng)
    lines = idioms.head(rng)
    check = ""
    if rng.random() < 0.65:
        check, made = idioms.check_macro(rng)
        lines += [*([""] if rng.random() < 0.6 else []), *made]
    functions = _parts(rng, names, 6)
    for made_function in functions:
        lines += ["", *made_function.lines]
    kernel = Kernel(rng, names, functions)
    lines += ["", *kernel.lines()]
    if rng.random() < 0.6:
        lines += idioms.host_part(rng, names.fresh, kernel.name, check)
    return "\n".join([*lines, ""])


def grafted(rng: random.Random, source: str) -> str | None:
    """``source`` with functions of inline PTX behind its first includes; None without a place."""
    ends = [found.end() for found in _INCLUDE.finditer(source[:6000])]
    names = Names(rng)
    while ends:
        end = ends.pop()
        opened = [found[1] for found in _CONDITION.finditer(source, 0, end)]
        if sum(1 if word != "endif" else -1 for word in opened) == 0:
            break
    else:
        return None
    functions = _parts(rng, names, 4)
    made: list[str] = []
    for each in functions:
        made += ["", *each.lines]
    if rng.random() < 0.5:
        made += ["", *Kernel(rng, names, functions).lines()]
    return source[:end] + "\n" + "\n".join(made) + source[end:]


def ptx_files(count: int, seed: int) -> Iterator[str]:
    """``count`` files."""
    for number in range(count):
        yield ptx_file(random.Random(f"ptx {seed} {number}"))
