"""Whole programs: constants, structs, device functions, kernels, ``main`` and what it prints."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cass_ray.cache import digest
from cass_ray.corpus.generate.expression_generator import (
    ExpressionGenerator,
    Scope,
    type_weights,
    variable_bounds,
)
from cass_ray.corpus.generate.functions import FunctionGenerator
from cass_ray.corpus.generate.host import HostWriter
from cass_ray.corpus.generate.kernels import (
    Counter,
    GeneratedKernel,
    KernelGenerator,
    Surroundings,
    counter_bounds,
)
from cass_ray.corpus.generate.machine import KernelArray, Unpredictable
from cass_ray.corpus.generate.memory import INPUT_TYPES, Array, random_fill
from cass_ray.corpus.generate.names import ARRAYS, OUTPUTS, Namer
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.types import (
    COMPUTED,
    FLOAT,
    HALF,
    INT,
    UNSIGNED,
    UNSIGNED_LONG,
    Scalar,
    ScalarKind,
    Values,
    full_span,
)

_ATTEMPTS = 200
_HALF_NAMES = ("__half", "__float2half", "__half2float")

_OPERATIONS: tuple[tuple[str, np.ufunc, str], ...] = (
    ("atomicAdd", np.add, "zero"),
    ("atomicAdd", np.add, "zero"),
    ("atomicMin", np.minimum, "highest"),
    ("atomicMax", np.maximum, "lowest"),
    ("atomicAnd", np.bitwise_and, "ones"),
    ("atomicOr", np.bitwise_or, "zero"),
    ("atomicXor", np.bitwise_xor, "zero"),
)


@dataclass(frozen=True)
class GeneratedProgram:
    """A CUDA program and all that it prints. It takes no arguments and ends with status 0."""

    name: str
    source: str
    expected: str


class _ProgramGenerator:
    def __init__(self, rng: random.Random, options: GeneratorOptions, checked: bool) -> None:
        self.rng = rng
        self.options = options
        self.checked = checked
        self.namer = Namer(rng)
        self.host = HostWriter(rng)
        self.arrays: list[Array] = []
        self.constants: list[Array] = []
        self.kernels: list[GeneratedKernel] = []
        self.launches: list[tuple[GeneratedKernel, int, dict[str, str]]] = []
        width, height = self._extent()
        functions = FunctionGenerator(rng, options, self.namer)
        self.around = Surroundings(width, height, [], [], functions.made, [])
        self.functions = functions

    def _extent(self) -> tuple[int, int]:
        """Width and height of two-dimensional kernels; their product is the size of arrays."""
        low, high = self.options.elements
        for _ in range(_ATTEMPTS):
            size = self.rng.randint(low, high)
            width = self.rng.randint(5, max(5, int(size**0.5) * 2))
            height = size // width
            if height >= 2 and low <= width * height <= high:
                return width, height
        return low, 1

    def make(self) -> tuple[str, str]:
        """Source and expected output. Raises :class:`~.machine.Unpredictable`."""
        if self.rng.random() < self.options.device_functions:
            for _ in range(self.rng.randint(1, 3)):
                self.functions.plain()
        if self.rng.random() < self.options.templates:
            self.functions.template()
            self.namer = self.functions.namer
        if self.rng.random() < self.options.constant_memory:
            self._constant()
        for _ in range(self.rng.randint(1, 3)):
            self._input(self.around.size)
        if self.rng.random() < 0.3:
            self._input(self.rng.choice((16, 37, 64, 100)))
        for _ in range(self.rng.randint(*self.options.kernels)):
            self._kernel()
        contents = self._run()
        return self._source(), self.host.expected(self.arrays, contents)

    def _constant(self) -> None:
        weights = dict(zip(COMPUTED, type_weights(self.options), strict=True))
        types = [type_ for type_ in INPUT_TYPES if weights.get(type_, 1) and type_ is not HALF]
        type_ = self.rng.choice(types)
        size = self.rng.choice((4, 8, 10, 16))
        fill = random_fill(type_, self.rng)
        name = self.namer.take(["lookup", "kernel_weights", "palette", "stencil", "c_table"])
        place = KernelArray(name, type_, size, fill.bounds(type_))
        self.constants.append(Array(place, fill))
        self.around.constants.append(place)

    def _input(self, size: int) -> None:
        mix = self.options.types
        weights = [mix.int_, mix.unsigned, mix.float_, mix.double, mix.half, mix.long]
        weights += [mix.unsigned_long, mix.int_ / 5, mix.unsigned / 5]
        type_ = self.rng.choices(INPUT_TYPES, weights)[0]
        fill = random_fill(type_, self.rng)
        place = KernelArray(self.namer.take(ARRAYS), type_, size, fill.bounds(type_))
        self._add(Array(place, fill))

    def _add(self, array: Array) -> None:
        self.arrays.append(array)
        self.around.arrays.append(array.place)

    def _kernel(self) -> None:
        candidates = self.around.arrays
        count = min(len(candidates), self.rng.randint(1, 3))
        inputs = self.rng.sample(candidates, count)
        generator = ExpressionGenerator(self.rng, self.options, Scope())
        outputs = [self._output(generator.any_type()) for _ in range(self.rng.randint(1, 2))]
        counters: list[Counter] = []
        if self.rng.random() < 0.4:
            counters.append(self._counter())
        kernel = KernelGenerator(self.rng, self.options, self.namer, self.around).kernel(
            inputs, [array.place for array in outputs], counters
        )
        self.kernels.append(kernel)
        for number, value in enumerate(kernel.template_values):
            passed = {place.name: place.name for place in inputs}
            passed |= {item.place.name: item.place.name for item in counters}
            for array in outputs:
                target = array if number == 0 else self._output(array.place.type, array.place)
                self._add(target)
                passed[array.place.name] = target.place.name
            self.launches.append((kernel, value, passed))
        for item in counters:
            self._add(Array(item.place, None, item.start, printed=True))

    def _output(self, type_: Scalar, like: KernelArray | None = None) -> Array:
        bounds = like.bounds if like is not None else variable_bounds(type_, self.rng)
        place = KernelArray(self.namer.take(OUTPUTS), type_, self.around.size, bounds)
        return Array(place, None, 0, printed=True)

    def _counter(self) -> Counter:
        operation, function, start = self.rng.choice(_OPERATIONS)
        types = [INT, UNSIGNED, UNSIGNED_LONG]
        if operation == "atomicAdd" and self.options.types.float_:
            types.append(FLOAT)
        type_ = self.rng.choice(types)
        size = self.rng.choice((1, 4, 10, 16, 32))
        name = self.namer.take(["bins", "hits", "stats", "tally", "counters"])
        place = KernelArray(name, type_, size, counter_bounds(type_))
        first = 0
        if start != "zero" and type_.kind is not ScalarKind.FLOAT:
            span = full_span(type_)
            ones = -1 if type_.kind is ScalarKind.SIGNED else span.high
            # The lowest int has no literal of its own type.
            first = {"highest": span.high, "lowest": max(span.low, -span.high), "ones": ones}[start]
        return Counter(place, operation, function, first)

    def _run(self) -> dict[str, Values]:
        """Evaluate every launch, in order; the arrays' last contents by name."""
        contents = {array.place.name: array.initial() for array in (*self.arrays, *self.constants)}
        with np.errstate(all="ignore"):
            for kernel, value, passed in self.launches:
                memory = {inner: contents[outer] for inner, outer in passed.items()}
                memory |= {place.name: contents[place.name] for place in self.around.constants}
                kernel.run(memory, value, self.checked)
        return contents

    def _source(self) -> str:
        middle: list[str] = []
        for array in self.constants:
            middle += [*self.host.constant_lines(array), ""]
        for struct in self.around.structs:
            middle += [*struct.lines(), ""]
        seen: set[tuple[str, ...]] = set()
        for function in self.functions.made:
            text = tuple(function.lines())
            if text not in seen:
                middle += [*text, ""]
            seen.add(text)
        for kernel in self.kernels:
            middle += [*kernel.lines(), ""]
        tail = self.host.report_functions(self.arrays)
        tail += self.host.main(self.arrays, self.constants, self.launches)
        text_after = "\n".join([*middle, *tail]) + "\n"
        uses_half = any(name in text_after for name in _HALF_NAMES)
        return "\n".join(self.host.preamble(uses_half)) + "\n" + text_after


def generate(
    count: int,
    seed: int,
    options: GeneratorOptions | None = None,
    *,
    checked: bool = False,
    first: int = 0,
) -> Iterator[GeneratedProgram]:
    """``count`` distinct programs from number ``first`` on.

    The same seed and options give the same programs.

    ``checked`` asserts every claim about bounds while evaluating, at some cost.

    Raises:
        GeneratorError: a program is not well defined, which is a bug of the generator.
    """
    options = options or GeneratorOptions()
    seen: set[str] = set()
    for index in range(first, first + count):
        for attempt in range(_ATTEMPTS):
            rng = random.Random(f"cass generate {seed} {index} {attempt}")
            try:
                source, expected = _ProgramGenerator(rng, options, checked).make()
            except Unpredictable:
                continue
            key = digest([source])
            if key in seen:
                continue
            seen.add(key)
            yield GeneratedProgram(f"generated_{seed}_{index:06}", source, expected)
            break
        else:
            raise RuntimeError(
                f"no program came out of {_ATTEMPTS} attempts: the options leave too little choice"
            )
