"""Products of matrices whose sums are in tensor memory (PTX: ``tcgen05.mma``).

They are computed when they are issued, which PTX allows among other times, by the one thread that
does so (``llvm/device/tensor_products.hip``). A descriptor in a register says what is multiplied:
what is not known here (sparse matrices, other shapes) ends the program with an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import (
    Immediate,
    InstructionDescriptor,
    MatrixDescriptors,
    Operand,
    Operands,
    Predicate,
    Register,
    TensorAddress,
)
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32, i64
from cass_ray.lift.lowering import tensor_memory
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.bulk_copy import by_one_lane
from cass_ray.lift.lowering.table import lowers

_FUNCTIONS = {"UTCHMMA": "halves", "UTCQMMA": "bytes", "UTCIMMA": "integers"}
_A_IN_MEMORY, _KEEPS, _OF_TWO_BLOCKS, _KEEPS_WEIGHTS = (1 << bit for bit in range(4))
"""As ``Flag`` in ``llvm/device/tensor_products.hip``."""
_MASK_WORDS = 4
"""Words of a mask of lanes, for a block of four warps."""
_SPARSE = 4
"""The bit of a descriptor."""
_COLLECTORS = frozenset({"A_KEEP", "A_REUSE", "B_KEEP", "B_REUSE"}) | {
    f"BUFFER{number}" for number in range(4)
}
"""What a factor is kept in for the next product, which is to have the same one."""


@dataclass(frozen=True)
class _Factors:
    """The operands of a product."""

    a: MatrixDescriptors | TensorAddress
    b: MatrixDescriptors
    sums: TensorAddress
    descriptor: InstructionDescriptor
    rest: Operands


def _factors(i: DecodedInstruction) -> _Factors:
    a, b, sums, metadata, descriptor = i.operands[:5].exactly(5)
    if (
        isinstance(a, MatrixDescriptors | TensorAddress)
        and isinstance(b, MatrixDescriptors)
        and isinstance(sums, TensorAddress)
        and isinstance(metadata, TensorAddress)
        and isinstance(descriptor, InstructionDescriptor)
        and _COLLECTORS.issuperset((*a.flags, *b.flags))
        and not sums.flags
    ):
        return _Factors(a, b, sums, descriptor, i.operands[5:])
    raise i.unknown("a product of another shape")


@dataclass(frozen=True)
class _Options:
    """What comes behind the descriptor."""

    mask: Register | None
    """The first register of the lanes that keep their sums."""
    scales: TensorAddress | None
    """Two registers: where the scales of A are, and those of B."""
    keeps: Predicate
    scale: int


def _options(i: DecodedInstruction, rest: Operands) -> _Options:
    left: list[Operand] = list(rest)
    mask = left[0] if left and isinstance(left[0], Register) else None
    if mask is not None:
        del left[0]
        if i.has("WS"):
            raise i.unknown("columns of which the factors are zero")
    scales = left[0] if left and isinstance(left[0], TensorAddress) else None
    if scales is not None:
        del left[0]
    keeps = left.pop(0) if left else None
    if not isinstance(keeps, Predicate):
        raise i.unknown("nothing says whether there are sums")
    scale = left.pop(0) if left else Immediate("0x0")
    if not isinstance(scale, Immediate) or left:
        raise i.unknown("an operand behind the predicate")
    return _Options(mask, scales, keeps, scale.integer)


@lowers("UTC{H,Q,I}MMA{,.2CTA,.WS}", has_effect=True)
def multiply(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Halves and TF32, numbers of eight bits and fewer, or integers of eight bits."""
    factors = _factors(i)
    options = _options(i, factors.rest)
    descriptor = ctx.register(factors.descriptor.register)
    if descriptor.number is not None and descriptor.number & _SPARSE:
        raise i.unknown("a sparse matrix")
    if options.scales is not None:
        _multiply_scaled(ctx, i, factors, options)
        return
    is_pair = i.has("2CTA")
    if is_pair and not ctx.environment.in_cluster:
        tensor_memory.traps(ctx)
        return
    with by_one_lane(ctx):
        own = tensor_memory.own_block(ctx)
        blocks = tensor_memory.blocks_of_pair(ctx) if is_pair else [own, own]
        ctx.ir.call_void(
            f"{SUPPORT_PREFIX}tensor_multiply_{_FUNCTIONS[i.opcode]}",
            descriptor,
            _flags(ctx, i, factors, options),
            tensor_memory.address_in(ctx, i, factors.sums),
            *_places(ctx, i, factors, options),
            *(state for state, _ in blocks),
            *(shift for _, shift in blocks),
            *_mask(ctx, options, 2 * _MASK_WORDS if is_pair else _MASK_WORDS),
        )


@lowers("UTCOMMA{,.4X}", has_effect=True)
def multiply_fours(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Numbers of four bits; each 32 of a row have a scale, or with 4X each 16."""
    factors = _factors(i)
    _multiply_scaled(ctx, i, factors, _options(i, factors.rest))


def _multiply_scaled(
    ctx: LoweringContext, i: DecodedInstruction, factors: _Factors, options: _Options
) -> None:
    scales = options.scales
    if scales is None or scales.offset or scales.flags or len(scales.terms) != 1:
        raise i.unknown("no scales of blocks of factors")
    if i.opcode == "UTCHMMA" or i.opcode == "UTCIMMA" or options.mask or options.scale:
        raise i.unknown("scales of blocks of such factors")
    if i.has("2CTA") or i.has("WS"):
        raise i.unknown("scales of blocks of factors of two blocks, or with kept weights")
    name = "bytes"
    if i.opcode == "UTCOMMA":
        name = "fours_by_sixteen" if i.has("4X") else "fours"
    with by_one_lane(ctx):
        in_memory, _, *matrices = _places(ctx, i, factors, options)
        ctx.ir.call_void(
            f"{SUPPORT_PREFIX}tensor_multiply_scaled_{name}",
            ctx.register(factors.descriptor.register),
            _flags(ctx, i, factors, options),
            tensor_memory.address_in(ctx, i, factors.sums),
            in_memory,
            ctx.register(scales.terms[0]),
            ctx.register(scales.terms[0].following(1)),
            *matrices,
            *tensor_memory.own_block(ctx),
        )


def _flags(
    ctx: LoweringContext, i: DecodedInstruction, factors: _Factors, options: _Options
) -> Value:
    flags = {
        _A_IN_MEMORY: isinstance(factors.a, TensorAddress),
        _OF_TWO_BLOCKS: i.has("2CTA"),
        _KEEPS_WEIGHTS: i.has("WS"),
    }
    fixed = i32(sum(flag for flag, is_set in flags.items() if is_set))
    keeps = ctx.select(ctx.predicate(options.keeps), i32(_KEEPS), i32(0))
    return ctx.ir.op("or", fixed, keeps)


def _places(
    ctx: LoweringContext, i: DecodedInstruction, factors: _Factors, options: _Options
) -> list[Value]:
    """Where A is in tensor memory, what sums are scaled by, and the descriptors of matrices."""
    in_memory, of_a = i32(0), i64(0)
    if isinstance(factors.a, TensorAddress):
        in_memory = tensor_memory.address_in(ctx, i, factors.a)
    else:
        of_a = ctx.wide(factors.a.first)
    return [in_memory, i32(options.scale), of_a, ctx.wide(factors.b.first)]


def _mask(ctx: LoweringContext, options: _Options, words: int) -> list[Value]:
    first = options.mask
    words_of_mask = (
        [ctx.register(first.following(n)) for n in range(words)] if first is not None else []
    )
    return [*words_of_mask, *[i32(0)] * (2 * _MASK_WORDS - len(words_of_mask))]
