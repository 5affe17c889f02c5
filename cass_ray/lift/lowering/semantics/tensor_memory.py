"""Tensor memory: allocating it, loading and storing it, copies from shared memory, and what says
that products are done (PTX: ``tcgen05.alloc``, ``ld``, ``st``, ``cp``, ``commit``).

All of it is done when it is issued. A warp has access to the quarter of the lanes that its number
in its warpgroup says. Who holds what of a load: cuTe's copy traits of ``SM100_TMEM_LOAD``.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import MatrixDescriptors, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, SUPPORT_PREFIX, TRUE, Value, i32
from cass_ray.lift.lowering import fences, tensor_memory
from cass_ray.lift.lowering.clusters import place_in_first, place_in_lds
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_first_lane, lane, warp_number
from cass_ray.lift.lowering.semantics.bulk_copy import by_one_lane, bytes_of_block, only_register
from cass_ray.lift.lowering.semantics.mbarrier import arrive
from cass_ray.lift.lowering.table import lowers

_WORD_BYTES = 4
_COLUMN_BYTES = _WORD_BYTES * tensor_memory.LANES
_QUARTERS, _QUARTER_LANES = 4, 32


@lowers("UTCATOMSWS{,.2CTA}.FIND_AND_SET.ALIGN", has_effect=True)
def allocate(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Units of 32 columns, if so many are free in one line: the predicate says whether."""
    success, first, count = i.operands.exactly(3)
    if not isinstance(success, Predicate) or not isinstance(first, Register):
        raise i.unknown("an allocation without its results")
    if i.has("2CTA") and not ctx.environment.in_cluster:
        tensor_memory.traps(ctx)
        return
    columns = ctx.integer(count)
    ctx.write(first, i32(0))
    ctx.write_predicate(success, FALSE)
    with by_one_lane(ctx):
        states = [tensor_memory.own_state(ctx)] * 2
        if i.has("2CTA"):
            states = [state for state, _ in tensor_memory.blocks_of_pair(ctx)]
        allocation = ctx.ir.call("i64", f"{SUPPORT_PREFIX}tensor_allocate", *states, columns)
        ctx.write(first, ctx.ir.low(allocation))
        ctx.write_predicate(success, ctx.ir.icmp("ne", ctx.ir.high(allocation), i32(0)))
    own = ctx.ir.cast("zext", ctx.predicate(success), "i32")
    ctx.write(first, from_first_lane(ctx, ctx.register(first)))
    ctx.write_predicate(success, ctx.ir.icmp("ne", from_first_lane(ctx, own), i32(0)))


@lowers("UTCATOMSWS.AND", has_effect=True)
def free(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Keep those units alone whose bits are set."""
    old, new = i.operands.exactly(2)
    if not isinstance(old, Register) or not old.is_zero:
        raise i.unknown("units that were in use")
    with by_one_lane(ctx):
        arguments = tensor_memory.own_state(ctx), ctx.integer(new)
        ctx.ir.call_void(f"{SUPPORT_PREFIX}tensor_free", *arguments)


@lowers("FENCE.VIEW.ASYNC.T", has_effect=True)
def order(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """What was stored is there for other lanes and for products."""
    del i
    fences.order(ctx, "acq_rel")


@dataclass(frozen=True)
class _Shape:
    """How the words of a load or store are among the lanes of a warp."""

    lanes_of_row: int
    """The logarithm (base 2) of the lanes that share a row."""
    words: int
    """That a lane has next to each other."""
    rows: int
    """Rows that a lane has: the second is eight below the first."""

    @property
    def registers(self) -> int:
        """Registers of one repetition."""
        return self.words * self.rows

    def position(self, number: int) -> tuple[int, int]:
        """Rows and columns from a lane's first word to that in its register ``number``."""
        repetition, inside = divmod(number, self.registers)
        row, word = divmod(inside, self.words)
        return 8 * row, (self.words << self.lanes_of_row) * repetition + word


_WHOLE = _Shape(0, 1, 1)
_SHAPES = {
    "16dp128bit": _Shape(2, 1, 2),
    "16dp256bit": _Shape(2, 2, 2),
    "16dp64bit": _Shape(1, 1, 1),
    "16dp32bit_t0_t15": _WHOLE,
    "16dp32bit_t16_t31": _WHOLE,
}
_COUNTS = "{,.x2,.x4,.x8,.x16,.x32,.x64,.x128}"
_FORMS = f"{{,.{',.'.join(_SHAPES)}}}{_COUNTS}"
_HALVES = {"16dp32bit_t0_t15": 0, "16dp32bit_t16_t31": 1}


@dataclass(frozen=True)
class _Access:
    """Where the words of a lane are, and how many there are."""

    first: Value
    """A pointer to the first of them."""
    shape: _Shape
    count: int

    def place(self, ctx: LoweringContext, number: int, scale: int, part: int = 0) -> Value:
        """Address of register ``number``, in part ``part`` of a word that is ``scale`` columns
        wide."""
        row, column = self.shape.position(number)
        distance = _COLUMN_BYTES * (scale * column + part) + _WORD_BYTES * row
        return ctx.ir.offset(self.first, i32(distance))


def _first_position(ctx: LoweringContext, shape: str) -> tuple[Value, Value]:
    """Row and column of a lane's first word, in what the warp has access to."""
    own = lane(ctx)
    if shape in _HALVES:
        return ctx.ir.op("and", own, i32(15)), i32(0)
    if shape == "16dp64bit":
        # Lanes of odd number have the lower eight rows.
        row = ctx.ir.op("lshr", own, i32(2))
        lower = ctx.ir.op("shl", ctx.ir.op("and", own, i32(1)), i32(3))
        column = ctx.ir.op("and", ctx.ir.op("lshr", own, i32(1)), i32(1))
        return ctx.ir.op("add", row, lower), column
    if not shape:
        return own, i32(0)
    column = ctx.ir.op("mul", ctx.ir.op("and", own, i32(3)), i32(_SHAPES[shape].words))
    return ctx.ir.op("lshr", own, i32(2)), column


def _access(ctx: LoweringContext, i: DecodedInstruction, operand: object, scale: int) -> _Access:
    name = i.one_of(*_SHAPES)
    shape = _SHAPES.get(name, _WHOLE)
    repetitions = next((int(m[1:]) for m in i.modifiers if m[0] == "x"), 1)
    lane, first_column = tensor_memory.lane_and_column(
        ctx, tensor_memory.address_in(ctx, i, operand)
    )
    row, column = _first_position(ctx, name)
    quarter = ctx.ir.op("and", warp_number(ctx), i32(_QUARTERS - 1))
    inside = ctx.ir.op("and", lane, i32(_QUARTER_LANES - 1))
    row = ctx.ir.sum(row, inside, ctx.ir.op("mul", quarter, i32(_QUARTER_LANES)))
    column = ctx.ir.op("add", ctx.ir.op("mul", column, i32(scale)), first_column)
    number = ctx.ir.op("add", ctx.ir.op("mul", column, i32(tensor_memory.LANES)), row)
    start = ctx.ir.offset(tensor_memory.memory(ctx), ctx.ir.op("mul", number, i32(_WORD_BYTES)))
    return _Access(start, shape, repetitions * shape.registers)


def _takes_part(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """Whether the lane is among those of the instruction."""
    half = _HALVES.get(i.one_of(*_HALVES))
    if half is None:
        return TRUE
    return ctx.ir.icmp("eq", ctx.ir.op("lshr", lane(ctx), i32(4)), i32(half))


@lowers(f"LDTM{_FORMS}{{,.PACK16BIT}}", has_effect=True)
def load(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Load to registers; with PACK16BIT each has the low halves of two columns."""
    target, source = i.operands.exactly(2)
    if not isinstance(target, Register):
        raise i.unknown("a destination that is no register")
    scale = 2 if i.has("PACK16BIT") else 1
    with ctx.registers.skipped_unless(_takes_part(ctx, i)):
        access = _access(ctx, i, source, scale)
        words = []
        for number in range(access.count):
            parts = [
                ctx.ir.load("i32", access.place(ctx, number, scale, part), _WORD_BYTES)
                for part in range(scale)
            ]
            if scale == 2:
                low = ctx.ir.op("and", parts[0], i32(0xFFFF))
                parts = [ctx.ir.op("or", low, ctx.ir.op("shl", parts[1], i32(16)))]
            words += parts
        ctx.write_words(target, words)


@lowers(f"STTM{_FORMS}{{,.EXPAND16BIT}}", has_effect=True)
def store(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Store registers; with EXPAND16BIT each half of one goes to a column of its own."""
    target, source = i.operands.exactly(2)
    if not isinstance(source, Register) or source.negated or source.absolute or source.suffixes:
        raise i.unknown("a stored value that is no plain register")
    scale = 2 if i.has("EXPAND16BIT") else 1
    with ctx.registers.skipped_unless(_takes_part(ctx, i)):
        access = _access(ctx, i, target, scale)
        for number in range(access.count):
            word = ctx.register(source.following(number))
            parts = [word]
            if scale == 2:
                parts = [
                    ctx.ir.op("and", word, i32(0xFFFF)),
                    ctx.ir.op("lshr", word, i32(16)),
                ]
            for part, value in enumerate(parts):
                ctx.ir.store(value, access.place(ctx, number, scale, part), _WORD_BYTES)


@lowers("UTCBAR{,.2CTA}{,.MULTICAST}", has_effect=True)
def commit(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Arrive at a barrier when products and copies are done, as they are; or at one of each block
    of several."""
    operands = i.operands.exactly(3 if i.has("MULTICAST") else 2)
    zero = operands[1]
    if not isinstance(zero, Register) or not zero.is_zero:
        raise i.unknown("a barrier with a register that is not known")
    barrier = only_register(i, operands[0])
    with by_one_lane(ctx):
        address = ctx.register(barrier)
        if not i.has("MULTICAST"):
            arrive(ctx, place_in_lds(ctx, address), i32(1), i32(0), i32(0))
            return
        # Alone, the block is the only one, and has the first bit.
        blocks = ctx.integer(operands[2]) if ctx.environment.in_cluster else i32(1)
        arguments = place_in_first(ctx, address), blocks, bytes_of_block(ctx)
        ctx.ir.call_void(f"{SUPPORT_PREFIX}mbarrier_arrive_each", *arguments)


_COPIES = {
    "": (128, 2, 1, 128),
    "128dp128bit": (128, 1, 1, 128),
    "4x32dp128bit": (32, 1, 4, 32),
    "2x64dp128bit_lw02_lw13": (64, 1, 2, 64),
    "2x64dp128bit_lw01_lw23": (64, 1, 2, 32),
}
"""Rows, chunks of 16 bytes, copies of each row, and how many lanes they are apart."""
_COPY_FORMS = ",.".join(_COPIES)


@lowers(f"UTCCP.T.S{{,.2CTA}}{{{_COPY_FORMS}}}", has_effect=True)
def copy(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A matrix of shared memory to tensor memory; with 2CTA in both blocks of a pair."""
    target, matrix = i.operands.exactly(2)
    if not isinstance(matrix, MatrixDescriptors) or matrix.flags:
        raise i.unknown("a matrix without its descriptor")
    if i.has("2CTA") and not ctx.environment.in_cluster:
        tensor_memory.traps(ctx)
        return
    numbers = map(i32, _COPIES[i.one_of(*filter(None, _COPIES))])
    with by_one_lane(ctx):
        address = tensor_memory.address_in(ctx, i, target)
        shape = tuple(numbers)
        pair = i.has("2CTA")
        blocks = tensor_memory.blocks_of_pair(ctx) if pair else [tensor_memory.own_block(ctx)]
        for state, shift in blocks:
            arguments = state, address, ctx.wide(matrix.first), shift, *shape
            ctx.ir.call_void(f"{SUPPORT_PREFIX}tensor_copy", *arguments)
