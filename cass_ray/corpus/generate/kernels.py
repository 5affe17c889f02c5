"""Random kernels: launch shape, parameters, guard, body and the results they store."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import numpy as np

from cass_ray.corpus.generate import expressions as ex
from cass_ray.corpus.generate.bodies import BodyGenerator, StructType
from cass_ray.corpus.generate.collectives import CollectiveGenerator
from cass_ray.corpus.generate.expression_generator import ExpressionGenerator, Scope, zero_of
from cass_ray.corpus.generate.expressions import (
    Expression,
    TemplateArgument,
    VariableExpression,
    literal,
)
from cass_ray.corpus.generate.machine import WARP, KernelArray, LaunchShape, LaunchState
from cass_ray.corpus.generate.names import Namer
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.statements import (
    Assign,
    Atomic,
    Escapes,
    GeneratedFunction,
    If,
    Leave,
    Loop,
    Statement,
    StoreStatement,
    block_lines,
    run_block,
)
from cass_ray.corpus.generate.types import (
    INT,
    UNSIGNED,
    Bounds,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    Values,
    full_span,
)


@dataclass(frozen=True)
class ScalarArgument:
    """A scalar that the host passes."""

    name: str
    type: Scalar
    value: int


@dataclass(frozen=True)
class Counter:
    """An array that threads update by one atomic operation. ``start`` is its first value."""

    place: KernelArray
    operation: str
    function: np.ufunc
    start: int


@dataclass(eq=False)
class GeneratedKernel:
    """A kernel and how it is launched. Parameters are named as in the kernel's text."""

    name: str
    inputs: list[KernelArray]
    outputs: list[KernelArray]
    counters: list[KernelArray]
    scalars: list[ScalarArgument]
    shape: LaunchShape
    body: list[Statement] = field(default_factory=list)
    arrays: list[KernelArray] = field(default_factory=list)
    """Shared and local ones."""
    dynamic_bytes: int = 0
    template: str = ""
    """Name of the integer template parameter, if there is one."""
    template_values: tuple[int, ...] = ()
    """One launch for each."""
    restrict: str = " __restrict__"
    bounds: str = ""
    """``__launch_bounds__``."""

    def lines(self) -> list[str]:
        parts = [f"const {p.type.name}*{self.restrict} {p.name}" for p in self.inputs]
        parts += [f"{p.type.name}*{self.restrict} {p.name}" for p in self.outputs]
        parts += [f"{p.type.name}* {p.name}" for p in self.counters]
        parts += [f"{scalar.type.name} {scalar.name}" for scalar in self.scalars]
        head = [f"template <int {self.template}>"] if self.template else []
        opening = f"__global__ void {self.bounds}{self.name}("
        pad = " " * len(opening)
        signature = f",\n{pad}".join(
            ", ".join(parts[at : at + 3]) for at in range(0, len(parts), 3)
        )
        return [*head, f"{opening}{signature}) {{", *block_lines(self.body, 1), "}"]

    def run(self, memory: dict[str, Values], template_value: int, checked: bool) -> None:
        """Evaluate one launch on arrays by parameter name.

        Raises :class:`~.machine.GeneratorError` and :class:`~.machine.Unpredictable`.
        """
        machine = LaunchState(self.shape, memory, checked)
        if self.template:
            machine.constants[self.template] = template_value
        for scalar in self.scalars:
            machine.variables[scalar.name] = np.asarray(scalar.value, scalar.type.dtype)
        machine.add_arrays(self.arrays)
        everyone = machine.everyone
        run_block(self.body, machine, everyone, Escapes.none(everyone))


@dataclass
class Surroundings:
    """What a kernel can use of its program."""

    width: int
    height: int
    arrays: list[KernelArray]
    """In global memory, to be passed."""
    constants: list[KernelArray]
    functions: list[GeneratedFunction]
    structs: list[StructType]

    @property
    def size(self) -> int:
        """Elements of the main arrays."""
        return self.width * self.height


class KernelGenerator:
    """Makes a kernel: its parameters, its body and how it is launched."""

    def __init__(
        self, rng: random.Random, options: GeneratorOptions, namer: Namer, around: Surroundings
    ) -> None:
        self.rng = rng
        self.options = options
        self.namer = namer
        self.around = around
        self.collective = rng.random() < options.collective
        self.flat = rng.random() >= options.two_dimensional
        self.stride = self.flat and not self.collective and rng.random() < options.grid_stride

    def kernel(
        self, inputs: list[KernelArray], outputs: list[KernelArray], counters: list[Counter]
    ) -> GeneratedKernel:
        kernel = GeneratedKernel(
            self.namer.kernel(), inputs, outputs, [item.place for item in counters],
            self._scalars(), self._shape(),
        )  # fmt: skip
        self._style(kernel)
        scope = Scope(
            arrays=[*inputs, *self.around.constants],
            functions=self.around.functions,
            own_size=self.around.size,
        )
        for scalar in kernel.scalars[1 if self.flat else 2 :]:
            scope.names.append(
                VariableExpression(scalar.name, scalar.type, ValueRange(scalar.value, scalar.value))
            )
        if kernel.template:
            least, most = min(kernel.template_values), max(kernel.template_values)
            scope.names.append(TemplateArgument(kernel.template, INT, ValueRange(least, most)))
        body = BodyGenerator(ExpressionGenerator(self.rng, self.options, scope), self.namer)
        body.structs = self.around.structs
        if counters:
            body.make_atomic = lambda generator: self._atomic(generator, self.rng.choice(counters))
        if self.collective:
            self._collective_kernel(kernel, body, counters)
        elif self.stride:
            self._stride_kernel(kernel, body, counters)
        else:
            self._plain_kernel(kernel, body, counters)
        kernel.arrays += body.local_arrays
        return kernel

    def _style(self, kernel: GeneratedKernel) -> None:
        if self.rng.random() < 0.4:
            kernel.restrict = ""
        if self.rng.random() < 0.15:
            kernel.bounds = f"__launch_bounds__({kernel.shape.block_threads}) "
        if self.rng.random() < self.options.templates:
            kernel.template = self.namer.take(["ROUNDS", "UNROLL", "STEPS", "DEPTH", "TAPS"])
            kernel.template_values = tuple(sorted(self.rng.sample(range(2, 8), 2)))
        else:
            kernel.template_values = (0,)

    def _scalars(self) -> list[ScalarArgument]:
        around = self.around
        if self.flat:
            made = [ScalarArgument("n", INT, around.size)]
        else:
            made = [
                ScalarArgument("width", INT, around.width),
                ScalarArgument("height", INT, around.height),
            ]
        for _ in range(self.rng.randint(0, 2)):
            type_ = self.rng.choice((INT, INT, UNSIGNED))
            made.append(ScalarArgument(self.namer.variable(), type_, self.rng.randint(2, 60)))
        return made

    def _shape(self) -> LaunchShape:
        around = self.around
        if self.flat:
            threads = self.rng.choice((32, 64, 96, 128, 192, 256))
            if not self.collective and self.rng.random() < 0.3:
                threads = self.rng.choice((20, 50, 100, 48))
            blocks = -(-around.size // threads)
            if self.stride:
                blocks = max(1, blocks // self.rng.choice((2, 3, 4)))
            return LaunchShape((blocks, 1), (threads, 1))
        choices = [(8, 4), (16, 4), (32, 2), (16, 8), (32, 4)]
        if not self.collective:
            choices += [(5, 7), (10, 3), (12, 6)]
        x, y = self.rng.choice(choices)
        return LaunchShape((-(-around.width // x), -(-around.height // y)), (x, y))

    # Bodies

    def _count(self) -> int:
        return self.rng.randint(*self.options.statements)

    def _plain_kernel(
        self, kernel: GeneratedKernel, body: BodyGenerator, counters: list[Counter]
    ) -> None:
        """Each thread has one element, or none."""
        indices, inside = self._indices(kernel, guarded=True)
        own = VariableExpression("i", INT, ValueRange(0, self.around.size - 1))
        self._enter(body, own)
        work = [
            *body.statements(self._count(), self.options.nesting),
            *self._stores(kernel, body, counters),
        ]
        if self.rng.random() < 0.5:
            out_of_range = ex.negated(inside)
            leave = Leave(_restated(out_of_range, self._outside_text()), "return")
            kernel.body = [*indices, leave, *work]
        else:
            kernel.body = [*indices, If(inside, work)]
        if not self.flat:
            self._place_flat_index(kernel)

    def _place_flat_index(self, kernel: GeneratedKernel) -> None:
        """In two dimensions ``i`` is only computed where ``x`` and ``y`` are in range."""
        x = VariableExpression("x", INT, ValueRange(0, self.around.width - 1))
        y = VariableExpression("y", INT, ValueRange(0, self.around.height - 1))
        flat = _flat_index(x, y, self.around.width)
        declare = Assign(f"const int i = {flat.text}", "i", flat)
        guard = kernel.body[2]
        if isinstance(guard, If):
            guard.then.insert(0, declare)
        else:
            kernel.body.insert(3, declare)

    def _stride_kernel(
        self, kernel: GeneratedKernel, body: BodyGenerator, counters: list[Counter]
    ) -> None:
        """Each thread walks over elements, a grid's width apart."""
        size = self.around.size
        step = kernel.shape.threads
        indices, _ = self._indices(kernel, guarded=False)
        own = VariableExpression("i", INT, ValueRange(0, size - 1))
        self._enter(body, own)
        work = [
            *body.statements(self._count(), self.options.nesting),
            *self._stores(kernel, body, counters),
        ]
        start = indices[0]
        assert isinstance(start, Assign)
        beyond = VariableExpression("i", INT, ValueRange(0, size + step))
        next_ = ex.integer_arithmetic("+", beyond, literal(step, INT))
        count = VariableExpression("n", INT, ValueRange(size, size))
        head = (f"for (int i = {start.expression.text}; i < n;"
                " i += gridDim.x * blockDim.x) {")  # fmt: skip
        kernel.body = [
            Loop(head, "}", [start], ex.compare("<", beyond, count),
                 [Assign("i += gridDim.x * blockDim.x", "i", next_)], work)
        ]  # fmt: skip

    def _collective_kernel(
        self, kernel: GeneratedKernel, body: BodyGenerator, counters: list[Counter]
    ) -> None:
        """All threads of a block stay to its end; those without an element compute on zeros."""
        indices, inside = self._indices(kernel, guarded=True)
        threads = kernel.shape.block_threads
        tid = VariableExpression(
            self.namer.take(["tid", "local_id", "t_index"]), INT, ValueRange(0, threads - 1)
        )
        start: list[Statement] = [*indices, _thread_number(tid, self.flat)]
        if not self.flat:
            flat = _flat_index(*self._whole_coordinates(kernel), self.around.width)
            start.append(Assign(f"const int i = {flat.text}", "i", flat))
        lane = VariableExpression(
            self.namer.take(["lane", "lane_id"]), INT, ValueRange(0, WARP - 1)
        )
        lane_value = ex.bitwise("&", tid, literal(31, INT)) if self.rng.random() < 0.5 else (
            ex.remainder(tid, literal(WARP, INT)))  # fmt: skip
        start.append(Assign(f"const int {lane.text} = {lane_value.text}", lane.text, lane_value))
        body.scope.names += [tid, lane]
        start += self._guarded_loads(kernel, body, inside)
        collectives = CollectiveGenerator(body, tid, lane, threads)
        work: list[Statement] = []
        segments = self.rng.randint(1, 3)
        for _ in range(segments):
            work += body.statements(max(1, self._count() // (segments + 1)), self.options.nesting)
            work += collectives.segment(self.options.nesting)
        work += body.statements(1, self.options.nesting)
        own = VariableExpression("i", INT, ValueRange(0, self.around.size - 1))
        kernel.body = [*start, *work, If(inside, self._stores(kernel, body, counters, own))]
        kernel.arrays += collectives.shared
        if collectives.dynamic is not None:
            place = collectives.dynamic
            kernel.dynamic_bytes = place.size * place.type.bits // 8

    def _enter(self, body: BodyGenerator, own: VariableExpression) -> None:
        body.scope.own = own
        body.scope.names.append(own)
        if not self.flat:
            body.scope.names.append(
                VariableExpression("x", INT, ValueRange(0, self.around.width - 1))
            )
            body.scope.names.append(
                VariableExpression("y", INT, ValueRange(0, self.around.height - 1))
            )

    def _indices(
        self, kernel: GeneratedKernel, guarded: bool
    ) -> tuple[list[Statement], Expression]:
        """Declarations of ``i``, or ``x`` and ``y``, and whether the thread has an element."""
        const = "const " if guarded else ""
        if self.flat:
            value = _coordinate("x", kernel.shape.grid[0], kernel.shape.block[0])
            name = VariableExpression("i", INT, value.bounds)
            inside = ex.compare(
                "<", name, VariableExpression("n", INT, ValueRange(*[self.around.size] * 2))
            )
            return [Assign(f"{const}int i = {value.text}", "i", value)], inside
        x, y = self._whole_coordinates(kernel)
        out: list[Statement] = []
        for axis, name, count, block in zip(
            "xy", (x, y), kernel.shape.grid, kernel.shape.block, strict=True
        ):
            value = _coordinate(axis, count, block)
            out.append(Assign(f"{const}int {name.text} = {value.text}", name.text, value))
        width = VariableExpression("width", INT, ValueRange(*[self.around.width] * 2))
        height = VariableExpression("height", INT, ValueRange(*[self.around.height] * 2))
        inside = ex.logical("&&", ex.compare("<", x, width), ex.compare("<", y, height))
        return out, inside

    def _outside_text(self) -> str:
        return "i >= n" if self.flat else "x >= width || y >= height"

    def _whole_coordinates(
        self, kernel: GeneratedKernel
    ) -> tuple[VariableExpression, VariableExpression]:
        grid, block = kernel.shape.grid, kernel.shape.block
        return (
            VariableExpression("x", INT, ValueRange(0, grid[0] * block[0] - 1)),
            VariableExpression("y", INT, ValueRange(0, grid[1] * block[1] - 1)),
        )

    def _guarded_loads(
        self, kernel: GeneratedKernel, body: BodyGenerator, inside: Expression
    ) -> list[Statement]:
        """The thread's own elements, 0 where it has none."""
        own = VariableExpression("i", INT, ValueRange(0, self.around.size - 1))
        out: list[Statement] = []
        for place in kernel.inputs:
            if place.size != self.around.size:
                continue
            loaded = ex.element(place, own)
            out.append(body.declare(ex.guarded(inside, loaded, zero_of(loaded.type)), True))
        return out

    def _stores(
        self,
        kernel: GeneratedKernel,
        body: BodyGenerator,
        counters: list[Counter],
        own: Expression | None = None,
    ) -> list[Statement]:
        """Every output gets something that depends on most of what was computed."""
        index = own or body.scope.own
        assert index is not None
        out: list[Statement] = []
        for place in kernel.outputs:
            value = self._digest(body, place.type)
            out.append(StoreStatement(place, index, body.generator.fit(value, place.bounds)))
        if counters:
            out.insert(0, self._atomic(body.generator, self.rng.choice(counters)))
        return out

    def _digest(self, body: BodyGenerator, type_: Scalar) -> Expression:
        value = body.generator.value(type_, 1)
        names = [name for name in body.scope.names if name.text not in ("i", "x", "y")]
        for name in self.rng.sample(names, min(len(names), self.rng.randint(2, 5))):
            try:
                term = ex.convert(name, type_)
            except ValueError:
                term = body.generator.leaf(type_)
            if type_.kind is ScalarKind.FLOAT:
                value = body.generator.tamed(ex.float_sum(self.rng.choice("+-"), value, term))
            elif self.rng.random() < 0.5:
                value = ex.bitwise("^", value, term)
            else:
                value = ex.integer_arithmetic("+", value, term)
        return value

    def _atomic(self, generator: ExpressionGenerator, counter: Counter) -> Statement:
        place = counter.place
        index = generator.index(place.size)
        value = generator.value(place.type, 2)
        if place.type.kind is ScalarKind.FLOAT:
            value = generator.fit(value, ATOMIC_GRID)
        target = f"&{place.name}[{index.text}]" if place.size > 1 else place.name
        if place.size == 1:
            index = literal(0, INT)
        text = f"{counter.operation}({target}, {value.text})"
        return Atomic(text, place, counter.function, index, value)


ATOMIC_GRID = Grid(-1, 1 << 4)
"""Of what is added to a float: a million of these add up exactly, in any order."""


def counter_bounds(type_: Scalar) -> Bounds:
    """Bounds of what an array of counters of this type may hold."""
    return Grid(-1, 1 << 24) if type_.kind is ScalarKind.FLOAT else full_span(type_)


def _coordinate(axis: str, blocks: int, threads: int) -> Expression:
    """``blockIdx.x * blockDim.x + threadIdx.x``."""
    block = VariableExpression(f"blockIdx.{axis}", INT, ValueRange(0, blocks - 1))
    size = VariableExpression(f"blockDim.{axis}", INT, ValueRange(threads, threads))
    thread = VariableExpression(f"threadIdx.{axis}", INT, ValueRange(0, threads - 1))
    start = ex.integer_arithmetic("*", block, size)
    text = f"{start.text} + {thread.text}"
    return _restated(ex.integer_arithmetic("+", start, thread), text)


def _thread_number(tid: VariableExpression, flat: bool) -> Assign:
    """Declares the number of a thread in its block."""
    most = tid.span.high
    x = VariableExpression("threadIdx.x", INT, ValueRange(0, most))
    if flat:
        return Assign(f"const int {tid.text} = threadIdx.x", tid.text, x)
    y, width = (
        VariableExpression("threadIdx.y", INT, ValueRange(0, most)),
        VariableExpression("blockDim.x", INT, ValueRange(0, 1024)),
    )
    value = ex.integer_arithmetic("+", ex.integer_arithmetic("*", y, width), x)
    text = "threadIdx.y * blockDim.x + threadIdx.x"
    return Assign(f"const int {tid.text} = {text}", tid.text, value)


def _flat_index(x: VariableExpression, y: VariableExpression, width: int) -> Expression:
    row = ex.integer_arithmetic("*", y, VariableExpression("width", INT, ValueRange(width, width)))
    made = ex.integer_arithmetic("+", row, x)
    return _restated(made, f"{row.text} + {x.text}")


def _restated(made: Expression, text: str) -> Expression:
    """``made`` with another text of the same meaning."""
    return replace(made, text=text)
