"""Stores and reductions in shared memory of a cluster, whose bytes a barrier object counts.

PTX: ``st.async`` and ``red.async``. They are complete when they are issued, and what arrives on
their completion does so then.
"""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Register
from cass_ray.lift.llvm.builder import Value, i32
from cass_ray.lift.lowering.clusters import place_in_lds
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.mbarrier import complete_transactions
from cass_ray.lift.lowering.table import lowers

_SHARED = "ptr addrspace(3)"
_OPERATIONS = {
    "ADD": "add",
    "MIN": "min",
    "MAX": "max",
    "INC": "uinc_wrap",
    "DEC": "udec_wrap",
    "AND": "and",
    "OR": "or",
    "XOR": "xor",
}


def _places(ctx: LoweringContext, i: DecodedInstruction) -> tuple[Value, Value]:
    """Where data and barrier are in LDS: two addresses in a pair of registers."""
    target = i.operands[0]
    if not isinstance(target, Address) or target.offset or len(target.terms) != 1:
        raise i.unknown("an address that is no pair of registers")
    first = target.terms[0]
    words = ctx.register(first), ctx.register(first.following(1))
    place, barrier = (place_in_lds(ctx, word) for word in words)
    return place, barrier


def _source(i: DecodedInstruction) -> Register:
    _, source = i.operands.exactly(2)
    if not isinstance(source, Register) or source.negated or source.absolute or source.suffixes:
        raise i.unknown("a stored value that is no plain register")
    return source


@lowers("STAS{,.64,.128}", has_effect=True)
def store(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Store one, two or four words."""
    place, barrier = _places(ctx, i)
    source = _source(i)
    count = int(i.one_of("64", "128", default="32")) // 32
    words = [ctx.register(source.following(n)) for n in range(count)]
    value = words[0] if count == 1 else ctx.ir.vector(words)
    ctx.ir.store(value, ctx.ir.cast("inttoptr", place, _SHARED), 4 * count, volatile=True)
    complete_transactions(ctx, barrier, i32(4 * count))


@lowers(
    "REDAS.ADD{,.S32,.64}", "REDAS.{MIN,MAX}{,.S32}", "REDAS.{INC,DEC,AND,OR,XOR}", has_effect=True
)
def reduce(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Combine an integer with the one that is there."""
    place, barrier = _places(ctx, i)
    source = _source(i)
    name = i.one_of(*_OPERATIONS)
    operation = _OPERATIONS[name]
    if name in ("MIN", "MAX") and not i.has("S32"):
        operation = f"u{operation}"
    value = ctx.wide(source) if i.has("64") else ctx.register(source)
    pointer = ctx.ir.cast("inttoptr", place, _SHARED)
    ctx.ir.result(
        value.type, f'atomicrmw {operation} {pointer}, {value} syncscope("workgroup") monotonic'
    )
    complete_transactions(ctx, barrier, i32(8 if i.has("64") else 4))
