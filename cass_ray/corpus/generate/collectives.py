"""Random collective statements: what the threads of a block or of a warp do together.

All stand in control flow that is the same for every thread of the block, except where lanes of a
partial mask are the ones that take a branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cass_ray.corpus.generate import expressions as ex
from cass_ray.corpus.generate.bodies import BodyGenerator
from cass_ray.corpus.generate.expressions import Expression, VariableExpression, literal
from cass_ray.corpus.generate.machine import WARP, KernelArray, LaunchState, Mask
from cass_ray.corpus.generate.statements import (
    INDENT,
    Assign,
    Atomic,
    Barrier,
    Escapes,
    If,
    Loop,
    Statement,
    StoreStatement,
    Text,
    WarpAssign,
)
from cass_ray.corpus.generate.types import (
    COMPUTED,
    FLOAT,
    INT,
    UNSIGNED,
    UNSIGNED_LONG,
    Bounds,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    Values,
    full_span,
)

_FULL = "0xffffffffu"
_SHARED_TYPES = tuple(type_ for type_ in COMPUTED if type_.bits >= 32)


class CollectiveGenerator:
    """Makes collective statements for blocks of ``threads`` threads, numbered by ``tid``."""

    def __init__(
        self, body: BodyGenerator, tid: VariableExpression, lane: Expression, threads: int
    ) -> None:
        self.body = body
        self.rng = body.rng
        self.tid = tid
        self.lane = lane
        self.threads = threads
        self.shared: list[KernelArray] = []
        self.dynamic: KernelArray | None = None

    def segment(self, nesting: int) -> list[Statement]:
        """One collective, perhaps in a loop that every thread runs alike."""
        mix = self.body.options.collectives
        rules: list[tuple[float, Callable[[], list[Statement]]]] = [
            (mix.exchange, self._exchange),
            (mix.reduction, self._reduction),
            (mix.scan, self._scan),
            (mix.histogram, self._histogram),
            (mix.shuffle, self._shuffle),
            (mix.warp_reduction, self._warp_reduction),
            (mix.vote, self._vote),
            (mix.partial_warp, self._partial_warp),
            (mix.lane_groups, self._lane_groups),
            (mix.lanes_apart, self._lanes_apart),
        ]
        rule = self.rng.choices([rule for _, rule in rules], [weight for weight, _ in rules])[0]
        if nesting > 0 and self.body.scope.mutable and self.rng.random() < 0.25:
            turns = literal(self.rng.randint(2, 4), INT)
            return [self.body.counted(turns, lambda: [*rule(), *self.body._assign(0)])]
        return rule()

    # Shared memory

    def _tile(
        self, type_: Scalar, size: int, bounds: Bounds
    ) -> tuple[KernelArray, list[Statement]]:
        """A shared array and its declaration."""
        name = self.body.namer.take(["tile", "cache", "shared", "stage", "partial", "bins"])
        place = KernelArray(name, type_, size, bounds, "shared")
        self.shared.append(place)
        if self.dynamic is None and self.rng.random() < self.body.options.dynamic_shared:
            self.dynamic = place
            return place, [Text((f"extern __shared__ {type_.name} {name}[];",))]
        return place, [Text((f"__shared__ {type_.name} {name}[{size}];",))]

    def _shared_value(self, type_: Scalar) -> Expression:
        value = self.body.generator.value(type_, 2)
        if type_.kind is ScalarKind.FLOAT:
            return self.body.generator.narrow(value)
        return value

    def _exchange(self) -> list[Statement]:
        """Every thread writes its slot, then reads those of others."""
        type_ = self.body.generator.one_of(_SHARED_TYPES)
        value = self._shared_value(type_)
        tile, out = self._tile(type_, self.threads, value.bounds)
        out += [StoreStatement(tile, self.tid, value), Barrier()]
        made: Expression | None = None
        for _ in range(self.rng.randint(1, 3)):
            read = ex.element(tile, self._other_thread())
            if made is None:
                made = read
            elif type_.kind is ScalarKind.FLOAT:
                made = ex.float_sum(self.rng.choice("+-"), made, read)
            else:
                made = ex.integer_arithmetic(self.rng.choice("+-"), made, read)
        assert made is not None
        return [*out, self.body.declare(made), Barrier()]

    def _other_thread(self) -> Expression:
        last = self.threads - 1
        kind = self.rng.choice(("ahead", "mirror", "any", "xor"))
        if kind == "mirror":
            return ex.integer_arithmetic("-", literal(last, INT), self.tid)
        if kind == "any":
            return self.body.generator.index(self.threads)
        if kind == "xor" and (last + 1).bit_count() == 1:
            flipped = 1 << self.rng.randrange(last.bit_length())
            return ex.bitwise("^", self.tid, literal(flipped, INT))
        ahead = ex.integer_arithmetic("+", self.tid, literal(self.rng.randint(1, 40), INT))
        return ex.remainder(ahead, literal(self.threads, INT))

    def _reducible(self) -> tuple[Expression, str, Bounds]:
        """A value, an operation whose order does not matter, and bounds of any partial result."""
        type_ = self.body.generator.one_of((INT, UNSIGNED, UNSIGNED_LONG, FLOAT))
        value = self.body.generator.value(type_, 2)
        symbol = self.rng.choice(("+", "+", "min", "max", "^"))
        if type_.kind is ScalarKind.FLOAT:
            # Sums that are exact: at most 2**23 steps of 1/4.
            value = self.body.generator.fit(value, Grid(-2, 1 << 12))
            return value, "+", Grid(-2, self.threads << 12)
        if symbol == "+" and type_.kind is ScalarKind.SIGNED:
            value = self.body.generator.fit(value, ValueRange(-100_000, 100_000))
            return value, "+", ValueRange(-100_000 * self.threads, 100_000 * self.threads)
        return value, symbol, full_span(type_) if symbol in "+^" else value.bounds

    @staticmethod
    def _combined(symbol: str, left: Expression, right: Expression) -> Expression:
        if symbol in ("min", "max"):
            return ex.extreme(symbol, left, right)
        if symbol == "^":
            return ex.bitwise("^", left, right)
        if left.type.kind is ScalarKind.FLOAT:
            return ex.float_sum("+", left, right)
        return ex.integer_arithmetic("+", left, right)

    def _halving(self, text: str, start: int, body: list[Statement], name: str) -> Loop:
        """``for`` with a distance that halves from ``start`` down to 1."""
        distance = VariableExpression(name, INT, ValueRange(0, start))
        return Loop(
            head=f"for (int {name} = {text}; {name} > 0; {name} >>= 1) {{",
            tail="}",
            first=[Assign(name, name, literal(start, INT))],
            condition=ex.compare(">", distance, literal(0, INT)),
            step=[Assign(name, name, ex.shift(">>", distance, literal(1, INT)))],
            body=body,
        )

    def _reduction(self) -> list[Statement]:
        """A tree over the block, in shared memory."""
        size = 1 << (self.threads.bit_length() - 1)
        value, symbol, bounds = self._reducible()
        tile, out = self._tile(value.type, self.threads, bounds)
        name = self.body.namer.take(["stride", "half_width", "offset", "reach"])
        there = ex.integer_arithmetic(
            "+", self.tid, VariableExpression(name, INT, ValueRange(1, size))
        )
        out += [StoreStatement(tile, self.tid, value), Barrier()]
        mine = ex.element(tile, self.tid)
        if size < self.threads:
            beyond = ex.integer_arithmetic("+", self.tid, literal(size, INT))
            inside = ex.compare("<", beyond, literal(self.threads, INT))
            sum_ = self._combined(symbol, mine, ex.element(tile, beyond))
            out += [If(inside, [StoreStatement(tile, self.tid, sum_)]), Barrier()]
        sum_ = self._combined(symbol, mine, ex.element(tile, there))
        step = If(
            ex.compare("<", self.tid, VariableExpression(name, INT, ValueRange(1, size))),
            [StoreStatement(tile, self.tid, self._bounded(sum_, bounds))],
        )
        out.append(self._halving(str(size // 2), size // 2, [step, Barrier()], name))
        result = ex.element(tile, literal(0, INT))
        return [*out, self.body.declare(result), Barrier()]

    @staticmethod
    def _bounded(made: Expression, bounds: Bounds) -> Expression:
        """``made`` with bounds that hold for the whole reduction, not of one step of it."""
        return replace(made, bounds=bounds)

    def _scan(self) -> list[Statement]:
        """An inclusive scan over the block: Hillis and Steele's."""
        value, symbol, bounds = self._reducible()
        tile, out = self._tile(value.type, self.threads, bounds)
        name = self.body.namer.take(["distance", "hop", "jump"])
        carried = self.body.namer.variable()
        hop = VariableExpression(name, INT, ValueRange(1, 2 * self.threads))
        reaches = ex.compare(">=", self.tid, hop)
        before = ex.element(tile, ex.integer_arithmetic("-", self.tid, hop))
        mine = ex.element(tile, self.tid)
        old = VariableExpression(carried, value.type, bounds)
        keep = ex.guarded(
            reaches, self._bounded(self._combined(symbol, mine, before), bounds), mine
        )
        doubled = ex.shift(
            "<<", VariableExpression(name, UNSIGNED, ValueRange(1, self.threads)), literal(1, INT)
        )
        loop = Loop(
            head=f"for (int {name} = 1; {name} < {self.threads}; {name} <<= 1) {{",
            tail="}",
            first=[Assign(name, name, literal(1, INT))],
            condition=ex.compare("<", hop, literal(self.threads, INT)),
            step=[Assign(name, name, ex.convert(doubled, INT))],
            body=[
                Assign(f"{value.type.name} {carried} = {keep.text}", carried, keep),
                Barrier(),
                StoreStatement(tile, self.tid, old),
                Barrier(),
            ],
        )
        out += [StoreStatement(tile, self.tid, value), Barrier(), loop]
        return [*out, self.body.declare(ex.element(tile, self._other_thread())), Barrier()]

    def _histogram(self) -> list[Statement]:
        """Counts in shared memory, by atomics."""
        bins = self.rng.choice([size for size in (8, 13, 16, 27, 32) if size <= self.threads])
        tile, out = self._tile(UNSIGNED, bins, full_span(UNSIGNED))
        clear = StoreStatement(tile, self.tid, literal(0, UNSIGNED))
        index = self.body.generator.fit(
            self.body.generator.value(UNSIGNED, 1), ValueRange(0, bins - 1)
        )
        amount: Expression = literal(1, UNSIGNED)
        if self.rng.random() < 0.4:
            amount = self.body.generator.value(UNSIGNED, 1)
        text = f"atomicAdd(&{tile.name}[{index.text}], {amount.text})"
        read = ex.element(tile, self.body.generator.index(bins))
        return [
            *out,
            If(ex.compare("<", self.tid, literal(bins, INT)), [clear]),
            Barrier(),
            Atomic(text, tile, np.add, index, amount),
            Barrier(),
            self.body.declare(read),
            Barrier(),
        ]

    # Warps

    def _warp_declare(
        self, call: str, operand: Expression, bounds: Bounds, function: Callable[[Values], Values],
        type_: Scalar | None = None, width: int = WARP,
    ) -> WarpAssign:  # fmt: skip
        """Declare a variable with the result of a warp function."""
        type_ = type_ or operand.type
        name = self.body.namer.variable()
        self.body.scope.names.append(VariableExpression(name, type_, bounds))
        return WarpAssign(f"{type_.name} {name} = {call}", name, operand, function, width)

    def _shuffle(self) -> list[Statement]:
        """``__shfl_*_sync`` over whole warps, or parts of 8 or 16 lanes."""
        value = self.body.generator.value(self.body.generator.one_of(_SHARED_TYPES), 2)
        width = self.rng.choice((32, 32, 32, 16, 8))
        kind = self.rng.choice(("xor", "down", "up", "index"))
        amount = self.rng.randrange(1, width)
        shown = "" if width == WARP else f", {width}"
        name = {"index": "__shfl_sync"}.get(kind, f"__shfl_{kind}_sync")
        text = f"{name}({_FULL}, {value.text}, {amount}{shown})"
        source = _sources(kind, amount, width)

        def shuffled(values: Values) -> Values:
            return values[:, source]

        return [self._warp_declare(text, value, value.bounds, shuffled)]

    def _warp_reduction(self) -> list[Statement]:
        """A butterfly of shuffles, or ``__reduce_*_sync``."""
        if self.rng.random() < 0.4:
            return self._warp_reduce_intrinsic()
        value, symbol, bounds = self._reducible()
        start = self.body.declare(value)
        self.body.scope.names.pop()
        name = self.body.namer.take(["mask_bit", "partner", "away"])
        mine, other = VariableExpression(start.name, value.type, bounds), self.body.namer.variable()
        text = f"__shfl_xor_sync({_FULL}, {start.name}, {name})"
        received = _Butterfly(f"{value.type.name} {other} = {text}", other, mine, lambda v: v, 32)
        received.distance = name
        sum_ = self._combined(symbol, mine, VariableExpression(other, value.type, bounds))
        step = Assign(f"{start.name} = {sum_.text}", start.name, self._bounded(sum_, bounds))
        self.body.scope.names.append(mine)
        start.text = f"{value.type.name} {start.name} = {value.text}"
        return [start, self._halving("16", 16, [received, step], name)]

    def _warp_reduce_intrinsic(self, mask: str = _FULL, width: int = WARP) -> list[Statement]:
        name = self.rng.choice(("add", "min", "max", "and", "or", "xor"))
        type_ = UNSIGNED if name in ("and", "or", "xor") else self.rng.choice((INT, UNSIGNED))
        value = self.body.generator.value(type_, 2)
        if name == "add" and type_ is INT:
            value = self.body.generator.fit(value, ValueRange(-1_000_000, 1_000_000))
        function: np.ufunc = {
            "add": np.add,
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[name]

        def reduced(values: Values) -> Values:
            made: Values = function.reduce(values, axis=1, keepdims=True, dtype=values.dtype)
            return made

        bounds = full_span(type_) if name in ("add", "or", "xor", "and") else value.bounds
        call = f"__reduce_{name}_sync({mask}, {value.text})"
        return [self._warp_declare(call, value, bounds, reduced, width=width)]

    def _vote(self) -> list[Statement]:
        """``__ballot_sync``, ``__any_sync``, ``__all_sync`` or ``__match_any_sync``."""
        kind = self.rng.choice(("ballot", "ballot", "any", "all", "match"))
        if kind == "match":
            value = self.body.generator.fit(
                self.body.generator.value(UNSIGNED, 1), ValueRange(0, 5)
            )
            call = f"__match_any_sync({_FULL}, {value.text})"
            return [self._warp_declare(call, value, full_span(UNSIGNED), _matches)]
        predicate = self.body.generator.condition(1)
        call = f"__{kind}_sync({_FULL}, {predicate.text})"
        if kind == "ballot":
            type_, bounds, function = UNSIGNED, full_span(UNSIGNED), _ballot
        else:
            type_, bounds = INT, ValueRange(0, 1)
            function = _any if kind == "any" else _all
            call = f"{call} ? 1 : 0"
        made = self._warp_declare(call, predicate, bounds, function, type_)
        if kind == "ballot" and self.rng.random() < 0.5:
            ballot = self.body.scope.names[-1]
            counted = ex.call("__popc", lambda x: np.bitwise_count(x).astype(np.int32), (ballot,),
                              INT, ValueRange(0, WARP))  # fmt: skip
            return [made, self.body.declare(counted)]
        return [made]

    def _lane_groups(self) -> list[Statement]:
        """All lanes of a warp at once, in groups of 4, 8 or 16, each with the mask of its own."""
        width = self.rng.choice((4, 8, 16))
        group = f"0x{(1 << width) - 1:x}u << ({self.lane.text} & {WARP - width})"
        if self.rng.random() < 0.4:
            return self._warp_reduce_intrinsic(group, width)
        kind = self.rng.choice(("ballot", "any", "all"))
        predicate = self.body.generator.condition(1)
        call = f"__{kind}_sync({group}, {predicate.text})"
        if kind == "ballot":
            return [
                self._warp_declare(
                    call, predicate, full_span(UNSIGNED), _group_ballot, UNSIGNED, width
                )
            ]
        function = _any if kind == "any" else _all
        return [
            self._warp_declare(f"{call} ? 1 : 0", predicate, ValueRange(0, 1), function, INT, width)
        ]

    def _lanes_apart(self) -> list[Statement]:
        """One shuffle or ballot of a whole warp, whose lanes come to it in two branches."""
        bit = literal(1 << self.rng.randrange(5), INT)
        apart = ex.compare("==", ex.bitwise("&", self.lane, bit), literal(0, INT))
        if self.rng.random() < 0.4:
            yes, no = self.body.generator.condition(1), self.body.generator.condition(1)
            call = f"__ballot_sync({_FULL}, {{}})"
            return [self._in_branches(apart, (yes, no), call, _ballot, UNSIGNED)]
        type_ = self.body.generator.one_of(_SHARED_TYPES)
        yes, no = (self.body.generator.value(type_, 1) for _ in range(2))
        amount = self.rng.randrange(1, WARP)
        source = _sources("xor", amount, WARP)
        call = f"__shfl_xor_sync({_FULL}, {{}}, {amount})"
        return [self._in_branches(apart, (yes, no), call, lambda values: values[:, source])]

    def _in_branches(
        self, condition: Expression, operands: tuple[Expression, Expression], call: str,
        function: Callable[[Values], Values], type_: Scalar | None = None,
    ) -> WarpAssign:  # fmt: skip
        """Declare a variable with the result of ``call`` with one of two operands."""
        given = ex.select(condition, *operands)
        bounds = full_span(type_) if type_ else given.bounds
        made = self._warp_declare("", given, bounds, function, type_)
        calls = (call.format(each.text) for each in operands)
        return _InBranches(
            made.text.removesuffix(" = "), made.name, given, function, WARP, condition.text, *calls
        )

    def _partial_warp(self) -> list[Statement]:
        """The first lanes of each warp alone, with a mask of just them."""
        width = self.rng.choice((4, 8, 16))
        mask = f"0x{(1 << width) - 1:08x}u"
        value = self.body.generator.value(self.body.generator.one_of((INT, UNSIGNED, FLOAT)), 1)
        start = self.body.declare(value)
        self.body.scope.names.pop()
        start.text = f"{value.type.name} {start.name} = {value.text}"
        mine = VariableExpression(start.name, value.type, value.bounds)
        flip = self.rng.randrange(1, width)
        call = f"__shfl_xor_sync({mask}, {start.name}, {flip})"
        source = np.arange(width) ^ flip
        shuffle = WarpAssign(f"{start.name} = {call}", start.name, mine,
                             lambda values: values[:, source], width)  # fmt: skip
        inside: list[Statement] = [shuffle]
        self.body.scope.names.append(mine)
        if self.rng.random() < 0.4:
            inside.append(Text((f"__syncwarp({mask});",)))
        branch = If(ex.compare("<", self.lane, literal(width, INT)), inside)
        return [start, branch]


class _Butterfly(WarpAssign):
    """``__shfl_xor_sync`` with a distance that is a variable, the same in every lane."""

    distance = ""

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Exchange with the lane that differs in one bit."""
        distance = int(np.ravel(machine.variables[self.distance])[0])
        self.function = lambda values: values[:, np.arange(WARP) ^ distance]
        return super().execute(machine, mask, escapes)


@dataclass(eq=False)
class _InBranches(WarpAssign):
    """A warp function that is called in both branches of an ``if``."""

    condition: str = ""
    then: str = ""
    otherwise: str = ""

    def lines(self, depth: int) -> list[str]:
        """The variable first."""
        pad = INDENT * depth
        return [
            f"{pad}{self.text};",
            f"{pad}if ({self.condition}) {{",
            f"{pad}{INDENT}{self.name} = {self.then};",
            f"{pad}}} else {{",
            f"{pad}{INDENT}{self.name} = {self.otherwise};",
            f"{pad}}}",
        ]


def _sources(kind: str, amount: int, width: int) -> Values:
    """The lane that each lane of a warp reads from."""
    lane = np.arange(WARP)
    first = lane // width * width
    if kind == "index":
        return first + amount % width
    if kind == "xor":
        return lane ^ amount
    moved = lane + amount if kind == "down" else lane - amount
    return np.where((moved >= first) & (moved < first + width), moved, lane)


def _ballot(values: Values) -> Values:
    return _ballot_of(values, WARP)


def _ballot_of(values: Values, width: int) -> Values:
    weights = np.uint64(1) << np.arange(width, dtype=np.uint64)
    words: Values = (values.astype(np.uint64) * weights).sum(axis=1, keepdims=True)
    return words.astype(np.uint32)


def _group_ballot(values: Values) -> Values:
    """The votes of each group, where its lanes are in their warp."""
    groups, width = values.shape
    start = np.arange(groups, dtype=np.uint32) * np.uint32(width) % np.uint32(WARP)
    made: Values = _ballot_of(values, width) << start[:, None]
    return made


def _any(values: Values) -> Values:
    return np.asarray(values.any(axis=1, keepdims=True)).astype(np.int32)


def _all(values: Values) -> Values:
    return np.asarray(values.all(axis=1, keepdims=True)).astype(np.int32)


def _matches(values: Values) -> Values:
    same = values[:, :, None] == values[:, None, :]
    weights = np.uint64(1) << np.arange(WARP, dtype=np.uint64)
    words: Values = (same * weights).sum(axis=2)
    return words.astype(np.uint32)
