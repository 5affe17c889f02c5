"""Random expressions over what is in scope: the grammar's expression rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cass_ray.corpus.generate import expressions as ex
from cass_ray.corpus.generate import intrinsics
from cass_ray.corpus.generate.expressions import Element, Expression, VariableExpression, literal
from cass_ray.corpus.generate.machine import KernelArray
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.statements import FunctionCall, GeneratedFunction
from cass_ray.corpus.generate.types import (
    COMPUTED,
    FLOAT,
    HALF,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    VARIABLE_GRIDS,
    WORKING_GRIDS,
    Bounds,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    full_span,
)


@dataclass
class Scope:
    """What an expression may use. ``own`` indexes the thread's own element of arrays of ``n``."""

    names: list[Expression] = field(default_factory=list)
    mutable: list[VariableExpression] = field(default_factory=list)
    arrays: list[KernelArray] = field(default_factory=list)
    functions: list[GeneratedFunction] = field(default_factory=list)
    own: Expression | None = None
    own_size: int = 0

    def inner(self) -> Scope:
        """For a block: what it declares is not seen outside."""
        return replace(self, names=[*self.names], mutable=[*self.mutable], arrays=[*self.arrays])


class ExpressionGenerator:
    """Makes expressions from ``rng``; the same ``rng`` gives the same expressions."""

    def __init__(self, rng: random.Random, options: GeneratorOptions, scope: Scope) -> None:
        self.rng = rng
        self.options = options
        self.scope = scope

    def within(self, scope: Scope) -> ExpressionGenerator:
        return ExpressionGenerator(self.rng, self.options, scope)

    def any_type(self) -> Scalar:
        """A type of variables, by the weights of the options."""
        return self.rng.choices(COMPUTED, type_weights(self.options))[0]

    def one_of(self, types: Sequence[Scalar]) -> Scalar:
        """One of ``types`` that the options give a weight; ``int`` where they give none any."""
        weights = dict(zip(COMPUTED, type_weights(self.options), strict=True))
        return self.rng.choice([type_ for type_ in types if weights[type_]] or [INT])

    def value(self, type_: Scalar, depth: int | None = None) -> Expression:
        depth = self.rng.randint(1, self.options.depth) if depth is None else depth
        if type_.kind is ScalarKind.FLOAT:
            return self.real(type_, depth)
        return self.integer(type_, depth)

    # Leaves

    def leaf(self, type_: Scalar) -> Expression:
        """A name, an element, a literal, or one of these converted."""
        names = [name for name in self.scope.names if name.type.same(type_)]
        roll = self.rng.random()
        if names and roll < 0.65:
            return self.rng.choice(names)
        if self.scope.arrays and roll < 0.82:
            found = self._element_of(type_)
            if found is not None:
                return found
        if roll < 0.92:
            converted = self._converted_name(type_)
            if converted is not None:
                return converted
        return self.constant(type_)

    def constant(self, type_: Scalar) -> Expression:
        """A literal that is not 0."""
        if type_.kind is ScalarKind.FLOAT:
            return literal(self.rng.randint(1, 40) * 2.0 ** -self.rng.randint(0, 3), type_)
        return literal(self.rng.choice((1, 2, 3, 5, 7, 11, 13, 17, 29, 31, 64, 97)), type_)

    def _element_of(self, type_: Scalar) -> Expression | None:
        fitting = [
            place
            for place in self.scope.arrays
            if place.type.same(type_) or (type_.same(INT) and place.type.bits < 32
                                          and place.type.is_integer)
        ]  # fmt: skip
        return self.load(self.rng.choice(fitting)) if fitting else None

    def load(self, place: KernelArray) -> Element:
        """An element of ``place``: the thread's own, a neighbour's or any."""
        scope = self.scope
        own = scope.own
        if own is not None and place.space == "global" and place.size == scope.own_size:
            roll = self.rng.random()
            if roll < 0.5:
                return ex.element(place, own)
            if roll < 0.8:
                ahead = ex.integer_arithmetic("+", own, literal(self.rng.randint(1, 31), INT))
                return ex.element(place, ex.remainder(ahead, literal(place.size, INT)))
        return ex.element(place, self.index(place.size))

    def index(self, size: int) -> Expression:
        """An ``int`` or ``unsigned int`` from 0 to ``size - 1``."""
        type_ = self.rng.choice((INT, UNSIGNED))
        names = [name for name in self.scope.names if name.type.same(type_)]
        made: Expression = self.rng.choice(names) if names else self.leaf(type_)
        if self.rng.random() < 0.4:
            made = ex.integer_arithmetic(self.rng.choice("+*"), made, self.constant(type_))
        return self.fit(made, ValueRange(0, size - 1))

    def _converted_name(self, type_: Scalar) -> Expression | None:
        names = [name for name in self.scope.names if not name.type.same(type_)]
        self.rng.shuffle(names)
        for name in names[:3]:
            try:
                return self.tamed(ex.convert(name, type_))
            except ValueError:
                continue
        return None

    # Bounds

    def fit(self, made: Expression, bounds: Bounds) -> Expression:
        """``made``, brought within ``bounds`` by an operation where it may be outside."""
        if isinstance(bounds, Grid):
            return self._fit_grid(made, bounds)
        if made.span.within(bounds):
            return made
        if bounds.low == 0 and made.span.low < 0:
            mask = (1 << ((bounds.high + 1).bit_length() - 1)) - 1
            return ex.bitwise("&", made, literal(mask, made.type))
        if bounds.low > 0:
            inner = self.fit(made, ValueRange(0, bounds.high - bounds.low))
            return ex.integer_arithmetic("+", inner, literal(bounds.low, made.type))
        most = bounds.high if bounds.low == 0 else min(-bounds.low, bounds.high)
        if bounds.low == 0 and (most + 1).bit_count() == 1 and self.rng.random() < 0.6:
            return ex.bitwise("&", made, literal(most, made.type))
        return ex.remainder(made, literal(most + 1, made.type))

    def _fit_grid(self, made: Expression, bounds: Grid) -> Expression:
        if made.grid.within(bounds):
            return made
        type_ = made.type
        if type_.same(HALF):
            return ex.convert(self._fit_grid(ex.convert(made, FLOAT), bounds), HALF)
        if made.grid.grain < bounds.grain:
            scale = 2.0**-bounds.grain
            scaled = made
            if scale != 1:
                scaled = ex.float_product(made, literal(scale, type_))
            grid = Grid(0, scaled.grid.at(0) + 1).rounded(type_.precision)
            made = ex.float_call("rintf", np.rint, (scaled,), grid)
            if scale != 1:
                made = ex.float_product(made, literal(1 / scale, type_))
        if made.grid.at(bounds.grain) > bounds.most:
            made = self._limited(made, bounds)
        return made

    def _limited(self, made: Expression, bounds: Grid) -> Expression:
        """``made``, its magnitude brought down: most remainders keep what tells values apart."""
        grain = made.grid.grain
        most = literal(bounds.magnitude, made.type)
        grid = Grid(grain, most.grid.at(grain))
        if self.rng.random() < 0.8:
            return ex.float_call("fmodf", np.fmod, (made, most), grid)
        low = literal(-bounds.magnitude, made.type)
        raised = ex.float_call("fmaxf", np.maximum, (made, low), made.grid.union(low.grid))
        return ex.float_call("fminf", np.minimum, (raised, most), grid)

    def tamed(self, made: Expression) -> Expression:
        """A float expression that further ones can be made of."""
        if made.type.kind is ScalarKind.FLOAT and not made.grid.within(
            WORKING_GRIDS[made.type.dtype]
        ):
            return self._fit_grid(made, VARIABLE_GRIDS[made.type.dtype])
        return made

    def narrow(self, made: Expression) -> Expression:
        """A float whose product with another such one is exact."""
        bits = made.type.precision // 2 - 1
        return self._fit_grid(made, Grid(-(bits // 3), 1 << bits))

    # Integers

    def integer(self, type_: Scalar, depth: int) -> Expression:
        """An expression of an integer type."""
        if depth <= 0:
            return self.leaf(type_)
        rules: list[tuple[float, Callable[[Scalar, int], Expression]]] = [
            (5, self._arithmetic),
            (2, self._bitwise),
            (1.5, self._shift),
            (1.5, self._division),
            (1, self._extreme),
            (1.5, self._intrinsic),
            (1, self._selection),
            (1, self._conversion),
            (1.5, self._call),
        ]
        rule = self.rng.choices([rule for _, rule in rules], [weight for weight, _ in rules])[0]
        return rule(type_, depth - 1)

    def _arithmetic(self, type_: Scalar, depth: int) -> Expression:
        left, right = self._pair(type_, depth, depth)
        return ex.integer_arithmetic(self.rng.choice("+-*+"), left, right)

    def _pair(self, type_: Scalar, depth: int, other: int) -> tuple[Expression, Expression]:
        """Two operands that are not the same expression twice."""
        left, right = self.value(type_, depth), self.value(type_, other)
        return left, (self.constant(type_) if right.text == left.text else right)

    def _bitwise(self, type_: Scalar, depth: int) -> Expression:
        left, right = self._pair(type_, depth, 0)
        return ex.bitwise(self.rng.choice("&|^^"), left, right)

    def _shift(self, type_: Scalar, depth: int) -> Expression:
        left = self.integer(type_, depth)
        if self.rng.random() < 0.7:
            amount: Expression = literal(self.rng.randint(1, 15), INT)
        else:
            amount = self.fit(self.leaf(UNSIGNED), ValueRange(0, 15))
        symbol = ">>" if type_.kind is ScalarKind.SIGNED else self.rng.choice(("<<", ">>"))
        return ex.shift(symbol, left, amount)

    def _division(self, type_: Scalar, depth: int) -> Expression:
        left = self.integer(type_, depth)
        if self.rng.random() < 0.6:
            right: Expression = self.constant(type_)
        else:
            right = self.fit(self.leaf(type_), ValueRange(1, self.rng.choice((8, 16, 64))))
        return self.rng.choice((ex.quotient, ex.remainder))(left, right)

    def _extreme(self, type_: Scalar, depth: int) -> Expression:
        name = self.rng.choice(("min", "max"))
        return ex.extreme(name, *self._pair(type_, depth, 0))

    def _intrinsic(self, type_: Scalar, depth: int) -> Expression:
        fitting = [item for item in intrinsics.INTEGER if item.result.same(type_)]
        if not fitting or type_.name == "T":
            return self.integer(type_, depth)
        item = self.rng.choice(fitting)
        operands = [self.integer(operand, depth) for operand in item.operands]
        return ex.call(item.name, item.function, operands, item.result, item.span)

    def _selection(self, type_: Scalar, depth: int) -> Expression:
        yes, no = self.value(type_, depth), self.value(type_, 0)
        return ex.select(self.condition(0), yes, no)

    def _conversion(self, type_: Scalar, depth: int) -> Expression:
        other = self.any_type()
        if type_.name == "T" or other.same(type_):
            return self.integer(type_, depth)
        inner = self.value(other, depth)
        if other.same(FLOAT) and type_.same(UNSIGNED):
            return ex.bits_of(inner)
        try:
            if other.kind is ScalarKind.FLOAT:
                target = INT if type_.kind is ScalarKind.UNSIGNED else type_
                limit = VARIABLE_GRIDS[FLOAT.dtype]
                if other.same(HALF):
                    limit = VARIABLE_GRIDS[HALF.dtype]
                whole = ex.convert(self._fit_grid(inner, limit), target)
                return ex.convert(whole, type_)
            if type_.kind is ScalarKind.SIGNED:
                inner = self.fit(inner, ValueRange(0, (1 << 20) - 1))
            return ex.convert(inner, type_)
        except ValueError:
            return self.leaf(type_)

    def _call(self, type_: Scalar, depth: int) -> Expression:
        fitting = [item for item in self.scope.functions if item.result.type.same(type_)]
        if not fitting:
            return self.value(type_, depth)
        function = self.rng.choice(fitting)
        arguments = tuple(
            self.fit(self.value(parameter, min(depth, 1)), bounds)
            for _, parameter, bounds in function.parameters
        )
        text = f"{function.name}({', '.join(argument.text for argument in arguments)})"
        bounds = function.result.bounds
        return FunctionCall(text, type_, bounds, True, function, arguments)

    # Floats

    def real(self, type_: Scalar, depth: int) -> Expression:
        """An expression of a float type."""
        if depth <= 0:
            return self.leaf(type_)
        if not type_.same(HALF) and self.rng.random() < self.options.mathematics:
            return self._rounded_function(type_, depth - 1)
        rules: list[tuple[float, Callable[[Scalar, int], Expression]]] = [
            (4, self._sum),
            (3, self._product),
            (2, self._fused),
            (1, self._selection),
            (1, self._from_integer),
            (1.5, self._call),
            (0 if type_.same(HALF) else 1, self._float_division),
            (0 if type_.same(HALF) else 3, self._float_function),
        ]
        rule = self.rng.choices([rule for _, rule in rules], [weight for weight, _ in rules])[0]
        return self.tamed(rule(type_, depth - 1))

    def _sum(self, type_: Scalar, depth: int) -> Expression:
        left, right = self._pair(type_, depth, depth)
        return ex.float_sum(self.rng.choice("+-"), left, right)

    def _product(self, type_: Scalar, depth: int) -> Expression:
        left, right = self._pair(type_, depth, 0)
        if not ex.product_grid(left, right).exact(type_.precision):
            left, right = self.narrow(left), self.narrow(right)
        return ex.float_product(left, right)

    def _fused(self, type_: Scalar, depth: int) -> Expression:
        left, right, addend = self.real(type_, depth), self.real(type_, 0), self.real(type_, 0)
        try:
            return ex.fused(left, right, addend)
        except ValueError:
            limit = VARIABLE_GRIDS[type_.dtype]
            return ex.fused(self.narrow(left), self.narrow(right), self._fit_grid(addend, limit))

    def _from_integer(self, type_: Scalar, depth: int) -> Expression:
        source = self.rng.choice((INT, UNSIGNED, LONG, UNSIGNED_LONG))
        inner = self.integer(source, depth)
        if type_.same(HALF) or self.rng.random() < 0.7:
            inner = self.fit(inner, ValueRange(0, 255))
        return ex.convert(inner, type_)

    def _float_division(self, type_: Scalar, depth: int) -> Expression:
        limit = VARIABLE_GRIDS[type_.dtype]
        above = self._fit_grid(self.real(type_, depth), limit)
        below = self._fit_grid(self.real(type_, 0), limit)
        magnitude = ex.float_call("fabsf", np.abs, (below,), below.grid)
        divisor = ex.float_sum("+", magnitude, literal(1.0, type_))
        if type_.same(FLOAT) and self.rng.random() < 0.2:
            return ex.float_quotient(above, divisor, f"__fdiv_rn({above.text}, {divisor.text})")
        return ex.float_quotient(above, divisor)

    def _float_function(self, type_: Scalar, depth: int) -> Expression:
        inner = self.real(type_, depth)
        grid = inner.grid
        whole = Grid(0, grid.at(0) + 1).rounded(type_.precision)
        kind = self.rng.choice(("fabsf", "sqrtf", "whole", "extreme", "extreme", "fmodf"))
        if kind == "fabsf":
            return ex.float_call("fabsf", np.abs, (inner,), grid)
        if kind == "whole" and grid.grain < 0:
            name = self.rng.choice(("floorf", "ceilf", "truncf", "rintf"))
            return ex.float_call(name, intrinsics.WHOLE[name], (inner,), whole)
        if kind == "sqrtf":
            inner = self._fit_grid(inner, VARIABLE_GRIDS[type_.dtype])
            magnitude = ex.float_call("fabsf", np.abs, (inner,), inner.grid)
            # The root of a nonzero value is at least 2**(grain / 2).
            grain = inner.grid.grain // 2 - type_.precision - 1
            high = max(1, inner.grid.exponent)
            return ex.float_call("sqrtf", np.sqrt, (magnitude,), Grid(grain, 1 << (high - grain)))
        if kind == "fmodf":
            inner = self._fit_grid(inner, VARIABLE_GRIDS[type_.dtype])
            divisor = literal(self.rng.randint(2, 20) * 0.5, type_)
            grain = min(inner.grid.grain, divisor.grid.grain)
            grid = Grid(grain, min(inner.grid.at(grain), divisor.grid.at(grain)))
            return ex.float_call("fmodf", np.fmod, (inner, divisor), grid)
        other = self.real(type_, 0)
        name = self.rng.choice(("fminf", "fmaxf"))
        function = np.minimum if name == "fminf" else np.maximum
        return ex.float_call(name, function, (inner, other), grid.union(other.grid))

    def _rounded_function(self, type_: Scalar, depth: int) -> Expression:
        item = self.rng.choice(intrinsics.APPROXIMATE)
        bits = item.exponent + 6
        inner = self._fit_grid(self.real(type_, depth), Grid(-6, 1 << bits))
        if item.positive:
            magnitude = ex.float_call("fabsf", np.abs, (inner,), inner.grid)
            inner = ex.float_sum("+", magnitude, literal(item.positive, type_))
        return intrinsics.rounded_call(item, inner)

    # Conditions

    def condition(self, depth: int) -> Expression:
        """A condition; most are true in some threads and false in others."""
        roll = self.rng.random()
        if depth > 0 and roll < 0.25:
            symbol = self.rng.choice(("&&", "||"))
            return ex.logical(symbol, self.condition(depth - 1), self.condition(depth - 1))
        if depth > 0 and roll < 0.32:
            return ex.negated(self.condition(depth - 1))
        if roll < 0.6:
            type_ = self.rng.choice((INT, UNSIGNED))
            divisor = self.rng.choice((2, 3, 4, 5, 7, 8))
            left = self.fit(self.leaf(type_), ValueRange(0, divisor - 1))
            symbol = self.rng.choice(("==", "!=", "<", ">="))
            return ex.compare(symbol, left, literal(self.rng.randrange(1, divisor), type_))
        type_ = self.any_type()
        symbol = self.rng.choice(("<", ">", "<=", ">=", "!="))
        return ex.compare(symbol, *self._pair(type_, min(depth, 1), 0))


def type_weights(options: GeneratorOptions) -> list[float]:
    """Weights of the types ``COMPUTED``."""
    mix = options.types
    weights = [mix.int_, mix.unsigned, mix.long, mix.unsigned_long]
    return [*weights, mix.float_, mix.double, mix.half]


def zero_of(type_: Scalar) -> Expression:
    """0 of a type; no computed float is compared by sign, so it may stand for -0 too."""
    if type_.same(HALF):
        return literal(0.0, HALF)
    return literal(0, type_)


def variable_bounds(type_: Scalar, rng: random.Random) -> Bounds:
    """Bounds for a variable that is assigned to."""
    if type_.kind is ScalarKind.FLOAT:
        return VARIABLE_GRIDS[type_.dtype]
    if type_.kind is ScalarKind.UNSIGNED:
        return full_span(type_)
    most = rng.choice((99, 511, 1000, 4095, 30_000))
    if type_.same(LONG):
        most = most * 65_537
    return ValueRange(-most, most)
