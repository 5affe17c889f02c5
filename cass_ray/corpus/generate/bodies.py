"""Random statements: the grammar's rules for what one thread does by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cass_ray.corpus.generate import expressions as ex
from cass_ray.corpus.generate.expression_generator import (
    ExpressionGenerator,
    Scope,
    variable_bounds,
    zero_of,
)
from cass_ray.corpus.generate.expressions import Expression, VariableExpression, literal
from cass_ray.corpus.generate.machine import KernelArray
from cass_ray.corpus.generate.names import FIELDS, STRUCTS, Namer
from cass_ray.corpus.generate.statements import (
    Assign,
    Fields,
    If,
    Leave,
    Loop,
    Statement,
    StoreStatement,
    Switch,
    Text,
)
from cass_ray.corpus.generate.types import (
    COMPUTED,
    INT,
    UNSIGNED,
    VARIABLE_GRIDS,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    full_span,
)


class StructType:
    """A struct of the program: its name and its fields."""

    def __init__(self, name: str, fields: list[tuple[str, Scalar]]) -> None:
        self.name = name
        self.fields = fields

    def lines(self) -> list[str]:
        inside = [f"    {type_.name} {name};" for name, type_ in self.fields]
        return [f"struct {self.name} {{", *inside, "};"]


class BodyGenerator:
    """Makes statements.

    ``structs`` holds the struct types that they use, ``local_arrays`` the arrays of each thread. In
    ``plain`` bodies, those of device functions, there are neither.
    """

    def __init__(self, generator: ExpressionGenerator, namer: Namer, plain: bool = False) -> None:
        self.generator = generator
        self.rng = generator.rng
        self.options = generator.options
        self.namer = namer
        self.plain = plain
        self.structs: list[StructType] = []
        self.local_arrays: list[KernelArray] = []
        self.make_atomic: Callable[[ExpressionGenerator], Statement | None] = lambda generator: None

    @property
    def scope(self) -> Scope:
        """What is in scope where the next statement goes."""
        return self.generator.scope

    def statements(self, count: int, nesting: int) -> list[Statement]:
        """About ``count`` statements, in the scope of now; it grows by what they declare."""
        out: list[Statement] = []
        for _ in range(count):
            out += self.statement(nesting)
        return out

    def statement(self, nesting: int) -> list[Statement]:
        """One statement, with the declarations that it needs."""
        mix = self.options.body
        rules: list[tuple[float, Callable[[int], list[Statement]]]] = [
            (mix.declare, self._declare),
            (mix.assign, self._assign),
            (mix.accumulate, self._accumulate),
        ]
        if not self.plain:
            rules += [
                (mix.struct, self._struct),
                (mix.local_array, self._local_array),
                (mix.atomic, self._atomic),
            ]
        if nesting > 0:
            rules += [
                (mix.branch, self._branch),
                (mix.switch, self._switch),
                (mix.loop, self._loop),
                (mix.while_, self._while),
            ]
        rule = self.rng.choices([rule for _, rule in rules], [weight for weight, _ in rules])[0]
        return rule(nesting)

    def inside(self, count: int, nesting: int) -> list[Statement]:
        """Statements of an inner block: they change something that is seen outside."""
        outer = self.generator
        self.generator = outer.within(outer.scope.inner())
        try:
            out = self.statements(count - 1, nesting - 1)
            return out + self._assign(nesting)
        finally:
            self.generator = outer

    # Variables

    def declare(self, value: Expression, mutable: bool = False, hint: str = "") -> Assign:
        """Declare a variable with ``value``; it can be used from here on."""
        name = self.namer.take([hint]) if hint else self.namer.variable()
        bounds = value.bounds
        if mutable:
            bounds = variable_bounds(value.type, self.rng)
            value = self.generator.fit(value, bounds)
        made = VariableExpression(name, value.type, bounds)
        self.scope.names.append(made)
        if mutable:
            self.scope.mutable.append(made)
        qualifier = "const " if not mutable and self.rng.random() < 0.4 else ""
        return Assign(f"{qualifier}{value.type.name} {name} = {value.text}", name, value)

    def _declare(self, nesting: int) -> list[Statement]:
        type_ = self.generator.any_type()
        return [self.declare(self.generator.value(type_), self.rng.random() < 0.6)]

    def _assign(self, nesting: int) -> list[Statement]:
        if not self.scope.mutable:
            return self._declare(nesting)
        target = self.rng.choice(self.scope.mutable)
        value = self.generator.value(target.type)
        compound = self._compound(target, value)
        if compound is not None and self.rng.random() < 0.5:
            return [compound]
        if self.rng.random() < 0.5:
            value = self._combined(target, value)
        value = self.generator.fit(value, target.bounds)
        if value.text == target.text:
            return self._declare(nesting)
        return [Assign(f"{target.text} = {value.text}", target.text, value)]

    def _combined(self, target: VariableExpression, value: Expression) -> Expression:
        if target.type.kind is ScalarKind.FLOAT:
            return ex.float_sum(self.rng.choice("+-"), target, value)
        return ex.integer_arithmetic(self.rng.choice("+-"), target, value)

    def _compound(self, target: VariableExpression, value: Expression) -> Assign | None:
        """``target += value`` and the like, of unsigned integers."""
        if target.type.kind is not ScalarKind.UNSIGNED:
            return None
        symbol = self.rng.choice("+-*^|+^")
        if symbol in "^|":
            made = ex.bitwise(symbol, target, value)
        else:
            made = ex.integer_arithmetic(symbol, target, value)
        return Assign(f"{target.text} {symbol}= {value.text}", target.text, made)

    # Control flow

    def _branch(self, nesting: int) -> list[Statement]:
        condition = self.generator.condition(1)
        then = self.inside(self.rng.randint(1, 3), nesting)
        otherwise = self.inside(self.rng.randint(1, 2), nesting)
        return [If(condition, then, otherwise if self.rng.random() < 0.6 else [])]

    def _switch(self, nesting: int) -> list[Statement]:
        count = self.rng.randint(2, 5)
        type_ = self.rng.choice((INT, UNSIGNED))
        selector = self.generator.fit(self.generator.integer(type_, 1), ValueRange(0, count))
        cases = [
            (value, self.inside(1, nesting), self.rng.random() < 0.8) for value in range(count)
        ]
        return [Switch(selector, cases, self.inside(1, nesting))]

    def _loop(self, nesting: int) -> list[Statement]:
        """``for`` with a constant or a computed number of turns."""
        before: list[Statement] = []
        if self.rng.random() < 0.65:
            turns: Expression = literal(self.rng.randint(2, 9), INT)
            trips = [name for name in self.scope.names if isinstance(name, ex.TemplateArgument)]
            turns = trips[0] if trips else turns
        else:
            type_ = self.rng.choice((INT, UNSIGNED))
            source = self.generator.fit(
                self.generator.leaf(type_), ValueRange(1, self.rng.choice((4, 8)))
            )
            before.append(self.declare(ex.convert(source, INT)))
            turns = self.scope.names[-1]
        return [*before, self.counted(turns, lambda: self._loop_body(nesting))]

    def _loop_body(self, nesting: int) -> list[Statement]:
        body = self.inside(self.rng.randint(1, 3), nesting)
        roll = self.rng.random()
        if roll < 0.3:
            leave = Leave(self.generator.condition(0), "break" if roll < 0.15 else "continue")
            body.insert(self.rng.randint(0, len(body) - 1), leave)
        return body

    def counted(self, turns: Expression, make_body: Callable[[], list[Statement]]) -> Loop:
        """``for`` from 0 up to ``turns``; the counter is in scope where the body is made."""
        name = self.namer.take(list("jklm"))
        counter = VariableExpression(name, INT, ValueRange(0, turns.span.high - 1))
        unbounded = VariableExpression(name, INT, ValueRange(0, turns.span.high))
        outer = self.generator
        self.generator = outer.within(outer.scope.inner())
        self.scope.names += [counter, counter]
        try:
            body = make_body()
        finally:
            self.generator = outer
        zero, one = literal(0, INT), literal(1, INT)
        condition = ex.compare("<", unbounded, turns)
        unroll = self.rng.choice(("", "", "", "#pragma unroll", "#pragma unroll 2"))
        constant = isinstance(turns, ex.ConstantExpression | ex.TemplateArgument)
        return Loop(
            head=f"for (int {name} = 0; {condition.text}; ++{name}) {{",
            tail="}",
            first=[Assign(name, name, zero)],
            condition=condition,
            step=[Assign(name, name, ex.integer_arithmetic("+", counter, one))],
            body=body,
            unroll=unroll if constant else "",
        )

    def _while(self, nesting: int) -> list[Statement]:
        """``while`` or ``do`` on a counter that goes down, with a ``break`` in some."""
        least = self.rng.randint(0, 1)
        start = self.generator.fit(self.generator.leaf(UNSIGNED), ValueRange(least, 11))
        name = self.namer.take(["remaining", "left_over", "turns", "budget"])
        counter = VariableExpression(name, UNSIGNED, ValueRange(1, start.span.high))
        after = VariableExpression(name, UNSIGNED, ValueRange(0, start.span.high))
        outer = self.generator
        self.generator = outer.within(outer.scope.inner())
        self.scope.names.append(counter)
        body = self.inside(self.rng.randint(1, 3), nesting)
        if self.rng.random() < 0.4:
            body.append(Leave(self.generator.condition(0), "break"))
        self.generator = outer
        # Halving ends sooner than counting.
        if self.rng.random() < 0.3:
            less, text = ex.shift(">>", counter, literal(1, INT)), f"{name} >>= 1"
        else:
            less = ex.integer_arithmetic("-", counter, literal(1, UNSIGNED))
            text = f"--{name}"
        body.append(Assign(text, name, less))
        condition = ex.compare(">", after, literal(0, UNSIGNED))
        declared = Assign(f"{UNSIGNED.name} {name} = {start.text}", name, start)
        if start.span.low >= 1 and self.rng.random() < 0.5:
            return [declared, Loop("do {", f"}} while ({condition.text});", [], condition, [],
                                   body, test_first=False)]  # fmt: skip
        return [declared, Loop(f"while ({condition.text}) {{", "}", [], condition, [], body)]

    # Arrays, sums and structs

    def _accumulate(self, nesting: int) -> list[Statement]:
        """A sum over elements of an array; its bounds are the term's, times the turns."""
        type_ = self.generator.any_type()
        turns = self.rng.randint(3, 16)
        name = self.namer.take(["sum", "acc", "total", "energy", "dot"])
        total: list[Expression] = []

        def body() -> list[Statement]:
            arrays = [place for place in self.scope.arrays if place.type.same(type_)]
            term = self.generator.load(self.rng.choice(arrays)) if arrays else None
            made = self.generator.value(type_, 1) if term is None else term
            if self.rng.random() < 0.5:
                made = self._weighted(made)
            made = self._summand(made, turns)
            total.append(made)
            running = VariableExpression(name, type_, _times(made, turns))
            added = (ex.float_sum if type_.kind is ScalarKind.FLOAT else ex.integer_arithmetic)(
                "+", running, made
            )
            return [Assign(f"{name} += {made.text}", name, replace(added, bounds=running.bounds))]

        loop = self.counted(literal(turns, INT), body)
        zero = zero_of(type_)
        bounds = _times(total[0], turns)
        declaration = Assign(f"{type_.name} {name} = {zero.text}", name, zero)
        self.scope.names.append(VariableExpression(name, type_, bounds))
        out: list[Statement] = [declaration, loop]
        if isinstance(bounds, Grid) and type_.bits == 16:
            self.scope.names.pop()
            limited = self.generator.fit(
                VariableExpression(name, type_, bounds), VARIABLE_GRIDS[type_.dtype]
            )
            out.append(self.declare(limited))
        return out

    def _weighted(self, made: Expression) -> Expression:
        if made.type.kind is ScalarKind.FLOAT:
            return ex.float_product(self.generator.narrow(made), self.generator.narrow(
                self.generator.leaf(made.type)))  # fmt: skip
        return ex.integer_arithmetic("*", made, self.generator.leaf(made.type))

    def _summand(self, made: Expression, turns: int) -> Expression:
        """``made``, small enough that ``turns`` of it can be added up."""
        if isinstance(made.bounds, Grid):
            limit = VARIABLE_GRIDS[made.type.dtype]
            if made.type.bits == 16:
                limit = Grid(-2, 1 << 6)
            return self.generator.fit(made, limit)
        if made.type.kind is ScalarKind.UNSIGNED:
            return made
        most = full_span(made.type).high // (turns + 1)
        return self.generator.fit(made, ValueRange(-most, most))

    def _local_array(self, nesting: int) -> list[Statement]:
        """An array of the thread: filled in one loop, read by computed indices afterwards."""
        type_ = self.generator.one_of([type_ for type_ in COMPUTED if type_.bits >= 32])
        size = self.rng.choice((4, 5, 8, 12, 16))
        place = KernelArray(self.namer.take(["scratch", "window", "history", "local"]), type_, size,
                      variable_bounds(type_, self.rng), "local")  # fmt: skip

        def body() -> list[Statement]:
            index = self.scope.names[-1]
            value = self.generator.fit(self.generator.value(type_, 2), place.bounds)
            return [StoreStatement(place, index, value)]

        self.local_arrays.append(place)
        fill = self.counted(literal(size, INT), body)
        self.scope.arrays.append(place)
        picked = ex.element(place, self.generator.index(size))
        return [
            Text((f"{type_.name} {place.name}[{size}];",)),
            fill,
            self.declare(picked, mutable=self.rng.random() < 0.5),
        ]

    def _struct(self, nesting: int) -> list[Statement]:
        """A struct of the thread, its fields set and changed."""
        if self.structs and self.rng.random() < 0.6:
            struct = self.rng.choice(self.structs)
        else:
            struct = self.new_struct()
        name = self.namer.variable()
        values: dict[str, Expression] = {}
        fields: list[VariableExpression] = []
        for field, type_ in struct.fields:
            bounds = variable_bounds(type_, self.rng)
            fields.append(VariableExpression(f"{name}.{field}", type_, bounds))
            values[fields[-1].text] = self.generator.fit(self.generator.value(type_, 2), bounds)
        listed = ", ".join(value.text for value in values.values())
        self.scope.names += fields
        self.scope.mutable += fields
        return [Fields(f"{struct.name} {name} = {{{listed}}}", values)]

    def new_struct(self) -> StructType:
        """A struct type that no statement has used yet."""
        fields = self.rng.sample(FIELDS, self.rng.randint(2, 4))
        types = [self.generator.any_type() for _ in fields]
        struct = StructType(
            self.namer.take(STRUCTS),
            [(name, type_) for name, type_ in zip(fields, types, strict=True)],
        )
        self.structs.append(struct)
        return struct

    def _atomic(self, nesting: int) -> list[Statement]:
        made = self.make_atomic(self.generator)
        return [made] if made is not None else self._declare(nesting)


def _times(made: Expression, turns: int) -> ValueRange | Grid:
    """Bounds of a sum of up to ``turns`` values."""
    if isinstance(made.bounds, Grid):
        grid = made.bounds
        # Rounding may carry a partial sum up by less than a factor of 2.
        return Grid(grid.grain, grid.most * turns * 2).rounded(made.type.precision)
    if made.type.kind is ScalarKind.UNSIGNED:
        return full_span(made.type)
    return ValueRange(min(made.bounds.low * turns, 0), max(made.bounds.high * turns, 0))
