"""Expressions of generated programs: their text in CUDA and their value, side by side.

Every function here returns an expression that is well defined for all values within the bounds of
its operands, or raises ``ValueError``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cass_ray.corpus.generate.machine import KernelArray, LaunchState
from cass_ray.corpus.generate.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    UNSIGNED,
    Bounds,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    Values,
    full_span,
    normal,
)

TYPE_PARAMETER = "T"
"""Spelling of a template's type parameter."""


@dataclass(frozen=True, eq=False)
class Expression:
    """Something with a value in each thread. ``primary``: needs no parentheses as an operand."""

    text: str
    type: Scalar
    bounds: Bounds
    primary: bool = True

    @property
    def operand(self) -> str:
        """The text where an operator is next to it."""
        return self.text if self.primary else f"({self.text})"

    @property
    def span(self) -> ValueRange:
        """Bounds of an integer."""
        assert isinstance(self.bounds, ValueRange)
        return self.bounds

    @property
    def grid(self) -> Grid:
        """Bounds of a float."""
        assert isinstance(self.bounds, Grid)
        return self.bounds

    def value(self, machine: LaunchState) -> Values:
        """The value in each thread."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ConstantExpression(Expression):
    """A literal."""

    number: Values | None = None

    def value(self, machine: LaunchState) -> Values:
        assert self.number is not None
        return self.number


@dataclass(frozen=True, eq=False)
class VariableExpression(Expression):
    """A variable, a parameter or a built-in one such as ``threadIdx.x``."""

    def value(self, machine: LaunchState) -> Values:
        values = machine.variables[self.text]
        if machine.checked:
            machine.check(self.bounds, values, self.text)
        return values


@dataclass(frozen=True, eq=False)
class TemplateArgument(Expression):
    """An integer template parameter."""

    def value(self, machine: LaunchState) -> Values:
        """Its value in this instantiation."""
        return np.asarray(machine.constants[self.text], self.type.dtype)


@dataclass(frozen=True, eq=False)
class Element(Expression):
    """An array element; ``place`` names the array, and for a struct the field too."""

    place: KernelArray | None = None
    index: Expression | None = None

    def value(self, machine: LaunchState) -> Values:
        assert self.place is not None and self.index is not None
        values = machine.load(self.place, self.index.value(machine))
        if machine.checked:
            machine.check(self.bounds, values, self.place.name)
        return values.astype(self.type.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Operation(Expression):
    """A function of the operands' values in the same thread."""

    function: Callable[..., Values] = operator.pos
    operands: tuple[Expression, ...] = ()

    def value(self, machine: LaunchState) -> Values:
        """The function's result, in this expression's type."""
        result = self.function(*[operand.value(machine) for operand in self.operands])
        return result.astype(self.type.dtype, copy=False)


def literal(number: float, type_: Scalar) -> ConstantExpression:
    """A constant; of floats only multiples of ``2**-20`` or so, which print exactly."""
    value = np.asarray(number, dtype=type_.dtype)
    if type_.kind is not ScalarKind.FLOAT:
        whole = int(number)
        text = f"{whole}{type_.suffix}" if type_.name != TYPE_PARAMETER else f"T({whole})"
        return ConstantExpression(text, type_, ValueRange(whole, whole), whole >= 0, value)
    numerator, denominator = float(number).as_integer_ratio()
    grid = Grid(1 - denominator.bit_length(), abs(numerator))
    text = f"{float(number)!r}{type_.suffix}"
    if type_.same(HALF):
        return ConstantExpression(f"__float2half({float(number)!r}f)", type_, grid, True, value)
    return ConstantExpression(text, type_, grid, number >= 0, value)


def element(place: KernelArray, index: Expression, text: str = "") -> Element:
    """``place[index]``, converted to ``int`` where the type is only stored."""
    type_ = INT if place.type.is_integer and place.type.bits < INT.bits else place.type
    return Element(text or f"{place.name}[{index.text}]", type_, place.bounds, True, place, index)


# Integers


def _wrapping(
    symbol: str, left: Expression, right: Expression, span: ValueRange
) -> Operation | None:
    """The plain operator, where it is defined."""
    function = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    type_ = left.type
    if not span.within(full_span(type_)):
        if type_.kind is ScalarKind.SIGNED:
            return None
        span = full_span(type_)
    text = f"{left.operand} {symbol} {right.operand}"
    return Operation(text, type_, span, False, function, (left, right))


def integer_arithmetic(symbol: str, left: Expression, right: Expression) -> Operation:
    """``+``, ``-`` or ``*`` on two integers of one type; signed ones wrap by way of unsigned."""
    a, b = left.span, right.span
    if symbol == "+":
        span = ValueRange(a.low + b.low, a.high + b.high)
    elif symbol == "-":
        span = ValueRange(a.low - b.high, a.high - b.low)
    else:
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        span = ValueRange(min(corners), max(corners))
    made = _wrapping(symbol, left, right, span)
    if made is not None:
        return made
    type_ = left.type
    unsigned = f"unsigned {type_.name}"
    text = f"({type_.name})(({unsigned}){left.operand} {symbol} ({unsigned}){right.operand})"
    function = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    return Operation(text, type_, full_span(type_), True, function, (left, right))


def bitwise(symbol: str, left: Expression, right: Expression) -> Operation:
    """``&``, ``|`` or ``^`` on two integers of one type."""
    function = {"&": operator.and_, "|": operator.or_, "^": operator.xor}[symbol]
    a, b = left.span, right.span
    span = full_span(left.type)
    if a.low >= 0 and b.low >= 0:
        bits = max(a.high.bit_length(), b.high.bit_length())
        span = ValueRange(0, min(a.high, b.high) if symbol == "&" else (1 << bits) - 1)
    elif symbol == "&" and max(a.low, b.low) >= 0:
        span = ValueRange(0, a.high if a.low >= 0 else b.high)
    text = f"{left.operand} {symbol} {right.operand}"
    return Operation(text, left.type, span, False, function, (left, right))


def shift(symbol: str, left: Expression, amount: Expression) -> Operation:
    """``<<`` of an unsigned integer or ``>>`` of any; ``amount`` is within the type's bits."""
    high = amount.span.high
    if amount.span.low < 0 or high >= left.type.bits:
        raise ValueError("shift amount out of range")
    if symbol == "<<" and left.type.kind is ScalarKind.SIGNED:
        raise ValueError("left shift of a signed integer")
    function = operator.lshift if symbol == "<<" else operator.rshift
    span = left.span
    if symbol == ">>":
        span = ValueRange(min(span.low, span.low >> high, 0), max(span.high, 0))
    else:
        span = ValueRange(0, span.high << high)
        span = span if span.within(full_span(left.type)) else full_span(left.type)

    def shifted(value: Values, by: Values) -> Values:
        return np.asarray(function(value, by.astype(value.dtype)))

    text = f"{left.operand} {symbol} {amount.operand}"
    return Operation(text, left.type, span, False, shifted, (left, amount))


def quotient(left: Expression, right: Expression) -> Operation:
    """``/`` on two integers of one type; C truncates. The divisor is positive."""
    if right.span.low <= 0:
        raise ValueError("the divisor may be zero or negative")
    a, b = left.span, right.span
    corners = [_truncated(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    span = ValueRange(min(*corners, 0), max(*corners, 0))

    def divided(value: Values, by: Values) -> Values:
        return (value - np.fmod(value, by)) // by

    text = f"{left.operand} / {right.operand}"
    return Operation(text, left.type, span, False, divided, (left, right))


def _truncated(value: int, by: int) -> int:
    return -(-value // by) if value < 0 else value // by


def remainder(left: Expression, right: Expression) -> Operation:
    """``%`` on two integers of one type; the sign is the dividend's. The divisor is positive."""
    if right.span.low <= 0:
        raise ValueError("the divisor may be zero or negative")
    most = right.span.high - 1
    a = left.span
    span = ValueRange(max(a.low, -most) if a.low < 0 else 0, min(a.high, most) if a.high > 0 else 0)
    text = f"{left.operand} % {right.operand}"
    return Operation(text, left.type, span, False, np.fmod, (left, right))


def extreme(name: str, left: Expression, right: Expression) -> Operation:
    """``min`` or ``max`` of two integers of one type."""
    a, b = left.span, right.span
    pick = min if name == "min" else max
    span = ValueRange(pick(a.low, b.low), pick(a.high, b.high))
    function = np.minimum if name == "min" else np.maximum
    text = f"{name}({left.text}, {right.text})"
    return Operation(text, left.type, span, True, function, (left, right))


def call(
    name: str,
    function: Callable[..., Values],
    operands: Sequence[Expression],
    type_: Scalar,
    bounds: Bounds,
) -> Operation:
    """A function that both vendors define alike: ``__popc(x)``, ``__umulhi(a, b)`` …"""
    text = f"{name}({', '.join(operand.text for operand in operands)})"
    return Operation(text, type_, bounds, True, function, tuple(operands))


# Floats


def _float_text(symbol: str, left: Expression, right: Expression) -> tuple[str, bool]:
    if left.type.same(HALF):
        name = {"+": "__hadd", "-": "__hsub", "*": "__hmul"}[symbol]
        return f"{name}({left.text}, {right.text})", True
    return f"{left.operand} {symbol} {right.operand}", False


def float_sum(symbol: str, left: Expression, right: Expression) -> Operation:
    """``+`` or ``-`` on two floats of one type, rounded to nearest."""
    a, b = left.grid, right.grid
    grain = min(a.grain, b.grain)
    total = Grid(grain, a.at(grain) + b.at(grain)).rounded(left.type.precision)
    grid = normal(left.type, total)
    text, primary = _float_text(symbol, left, right)
    function = operator.add if symbol == "+" else operator.sub
    return Operation(text, left.type, grid, primary, function, (left, right))


def product_grid(left: Expression, right: Expression) -> Grid:
    """The grid of the exact product of two floats, before rounding."""
    a, b = left.grid, right.grid
    return Grid(a.grain + b.grain, a.most * b.most)


def float_product(left: Expression, right: Expression) -> Operation:
    """``*`` on two floats of one type, exact: so it may be contracted with a sum."""
    grid = product_grid(left, right)
    power_of_two = any(
        isinstance(operand, ConstantExpression) and operand.grid.most.bit_count() == 1
        for operand in (left, right)
    )
    if not power_of_two and not grid.exact(left.type.precision):
        raise ValueError("the product may round")
    normal(left.type, grid)
    text, primary = _float_text("*", left, right)
    return Operation(text, left.type, grid, primary, operator.mul, (left, right))


_FUSED = {FLOAT.dtype: "__fmaf_rn", DOUBLE.dtype: "__fma_rn", HALF.dtype: "__hfma"}


def fused(left: Expression, right: Expression, addend: Expression) -> Operation:
    """A fused multiply-add, where double precision holds product and sum exactly.

    Raises:
        ValueError: it does not, or the result may overflow.
    """
    product, c = product_grid(left, right), addend.grid
    grain = min(product.grain, c.grain)
    grid = Grid(grain, product.at(grain) + c.at(grain))
    if not grid.exact(DOUBLE.precision):
        raise ValueError("the sum does not fit double precision")

    grid = normal(left.type, grid.rounded(left.type.precision))

    def evaluate(x: Values, y: Values, z: Values) -> Values:
        return x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)

    operands = (left, right, addend)
    text = f"{_FUSED[left.type.dtype]}({', '.join(operand.text for operand in operands)})"
    return Operation(text, left.type, grid, True, evaluate, operands)


def float_quotient(left: Expression, right: Expression, text: str = "") -> Operation:
    """``/``, rounded to nearest; the divisor's magnitude is at least 1 by how it is made."""
    a, b = left.grid, right.grid
    # A nonzero quotient is at least 2**(a.grain - b.exponent); its last bit is precision lower.
    grain = a.grain - b.exponent - left.type.precision - 1
    grid = normal(left.type, Grid(grain, a.at(grain)).rounded(left.type.precision))
    shown = text or f"{left.operand} / {right.operand}"
    return Operation(shown, left.type, grid, bool(text), operator.truediv, (left, right))


def float_call(
    name: str, function: Callable[..., Values], operands: Sequence[Expression], grid: Grid
) -> Operation:
    """A function of floats whose result is the same everywhere; ``name`` is that of ``float``."""
    type_ = operands[0].type
    spelled = name.removesuffix("f") if type_.same(DOUBLE) else name
    return call(spelled, function, operands, type_, grid)


# Both


def convert(source: Expression, type_: Scalar) -> Expression:
    """A cast that keeps the value, or rounds it to nearest, or wraps it (to unsigned).

    Raises:
        ValueError: the cast is not defined for all values.
    """
    if source.type.same(type_):
        return source
    if type_.kind is ScalarKind.FLOAT:
        return _to_float(source, type_)
    if source.type.kind is ScalarKind.FLOAT:
        grid = source.grid
        most = grid.at(0) if grid.grain < 0 else grid.most << grid.grain
        span = ValueRange(-most, most)
        if not span.within(full_span(INT)) or type_.kind is not ScalarKind.SIGNED:
            raise ValueError("the float may not fit")
        inner = f"__half2float({source.text})" if source.type.same(HALF) else source.operand
        text = f"({type_.name}){inner}"
        return Operation(text, type_, span, True, np.trunc, (source,))
    span = ValueRange(0, 1) if source.type is BOOL else source.span
    if not span.within(full_span(type_)):
        if type_.kind is ScalarKind.SIGNED:
            raise ValueError("the integer may not fit")
        span = full_span(type_)
    return Operation(f"({type_.name}){source.operand}", type_, span, True, np.asarray, (source,))


def _to_float(source: Expression, type_: Scalar) -> Expression:
    if source.type.kind is ScalarKind.FLOAT:
        grid = source.grid.rounded(type_.precision)
    else:
        most = max(abs(source.span.low), abs(source.span.high))
        grid = Grid(0, most).rounded(type_.precision)
    if grid.exponent >= (15 if type_.same(HALF) else 100) or (
        (type_.same(HALF) and grid.grain < -14) or (type_.same(FLOAT) and grid.grain < -120)
    ):
        raise ValueError("the value may not fit")
    if source.type.same(HALF):
        inner = f"__half2float({source.text})"
        text = inner if type_.same(FLOAT) else f"(double){inner}"
    elif type_.same(HALF):
        # Two roundings, unless the first is exact.
        if not source.type.same(FLOAT) and not _float_exact(source):
            raise ValueError("the value would be rounded twice")
        inner = source.text if source.type.same(FLOAT) else f"(float){source.operand}"
        text = f"__float2half({inner})"
    else:
        text = f"({type_.name}){source.operand}"
    return Operation(text, type_, grid, True, np.asarray, (source,))


def _float_exact(source: Expression) -> bool:
    if isinstance(source.bounds, Grid):
        return source.bounds.exact(FLOAT.precision)
    return max(abs(source.bounds.low), abs(source.bounds.high)) <= 1 << FLOAT.precision


def compare(symbol: str, left: Expression, right: Expression) -> Operation:
    """A comparison of two values of one type."""
    functions: dict[str, Callable[..., Values]] = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "==": operator.eq,
        "!=": operator.ne,
    }
    if left.type.same(HALF):
        names = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
        text, primary = f"__h{names[symbol]}({left.text}, {right.text})", True
    else:
        text, primary = f"{left.operand} {symbol} {right.operand}", False
    return Operation(text, BOOL, ValueRange(0, 1), primary, functions[symbol], (left, right))


def logical(symbol: str, left: Expression, right: Expression) -> Operation:
    """``&&`` or ``||``; operands have no effects, so evaluating both is the same."""
    function = np.logical_and if symbol == "&&" else np.logical_or
    text = f"{left.operand} {symbol} {right.operand}"
    return Operation(text, BOOL, ValueRange(0, 1), False, function, (left, right))


def negated(condition: Expression) -> Operation:
    """``!value``: 1 where the value is 0."""
    return Operation(
        f"!{condition.operand}", BOOL, ValueRange(0, 1), True, np.logical_not, (condition,)
    )


def select(condition: Expression, yes: Expression, no: Expression) -> Operation:
    """``condition ? yes : no`` of two values of one type."""
    if isinstance(yes.bounds, ValueRange):
        assert isinstance(no.bounds, ValueRange)
        bounds: Bounds = yes.bounds.union(no.bounds)
    else:
        bounds = yes.grid.union(no.grid)
    text = f"{condition.operand} ? {yes.operand} : {no.operand}"
    return Operation(text, yes.type, bounds, False, np.where, (condition, yes, no))


def bits_of(source: Expression) -> Operation:
    """The bits of a ``float``, with -0 as 0: which zero a minimum gives is not defined."""

    def bits(values: Values) -> Values:
        return (values + np.float32(0)).astype(np.float32).view(np.uint32)

    text = f"__float_as_uint({source.operand} + 0.0f)"
    return Operation(text, UNSIGNED, full_span(UNSIGNED), True, bits, (source,))


@dataclass(frozen=True, eq=False)
class Guarded(Expression):
    """``condition ? yes : no`` where ``yes`` may only be evaluated if the condition holds."""

    condition: Expression | None = None
    yes: Expression | None = None
    no: Expression | None = None

    def value(self, machine: LaunchState) -> Values:
        """As the ternary operator: each side in its threads."""
        assert self.condition is not None and self.yes is not None and self.no is not None
        saved = machine.mask
        holds = np.broadcast_to(self.condition.value(machine), saved.shape)
        try:
            machine.mask = saved & holds
            yes = self.yes.value(machine)
            machine.mask = saved & ~holds
            no = self.no.value(machine)
        finally:
            machine.mask = saved
        return np.where(holds, yes, no)


def guarded(condition: Expression, yes: Expression, no: Expression) -> Guarded:
    """A load that is in range only where ``condition`` holds, and a value for elsewhere."""
    shape = select(condition, yes, no)
    return Guarded(shape.text, shape.type, shape.bounds, False, condition, yes, no)
