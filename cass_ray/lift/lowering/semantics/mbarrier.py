"""Barrier objects in shared memory: PTX's ``mbarrier``, C++'s ``cuda::barrier``.

PTX calls their 64 bits opaque, but ptxas' code writes them when it initializes one, and reads phase
and pending count from them and from the tokens that arrivals give. So they are laid out as that
code has them (``llvm/device/mbarrier.hip``): on sm_80 to sm_89 by counters of 30 and 31 bits that
ordinary instructions of shared memory change too, from sm_90 on by fields that only ``SYNCS``
touches. Copies to shared memory are complete when they are issued, so that what arrives on their
completion does so at once.
"""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Operands, Predicate, Register
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.memory import address_of, cluster_pointer, shared_pointer
from cass_ray.lift.lowering.table import lowers

_FIRST_WITH_TRANSACTIONS = 90
_PHASE = 0x80000000
_ACQUIRE = 'fence syncscope("workgroup") acquire'


def _place(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """Where the barrier is in LDS, as a word; it may be another block's."""
    return ctx.ir.cast("ptrtoint", cluster_pointer(ctx, i, address_of(i)), "i32")


def _has_transactions(ctx: LoweringContext) -> bool:
    return ctx.environment.kernel.architecture >= _FIRST_WITH_TRANSACTIONS


def _around_address(i: DecodedInstruction) -> tuple[Operands, Operands]:
    place = i.operands.index(address_of(i))
    return i.operands[:place], i.operands[place + 1 :]


def arrive(
    ctx: LoweringContext,
    place: Value,
    arrivals: Value,
    transactions: Value,
    dropped: Value,
) -> Value:
    """Arrive at a barrier of sm_90's layout; the state before is the result.

    ``transactions`` are added to what is expected, or taken off where they are negative;
    ``dropped`` no longer take part.
    """
    name = f"{SUPPORT_PREFIX}mbarrier_arrive"
    return ctx.ir.call("i64", name, place, arrivals, transactions, dropped)


def complete_transactions(ctx: LoweringContext, place: Value, count: Value) -> None:
    """Take bytes that have arrived off what the barrier at ``place`` waits for."""
    arrive(ctx, place, i32(0), ctx.ir.op("sub", i32(0), count), i32(0))


@lowers("ATOMS.ARRIVE.64", has_effect=True)
def arrive_at_words(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One thread arrives at a barrier of sm_80's layout; the state before is the token."""
    if _has_transactions(ctx):
        raise i.unknown("a barrier of sm_80 on a later machine")
    (target,) = _around_address(i)[0].exactly(1)
    ctx.write_wide(target, _arrive_at_words(ctx, i))


def _arrive_at_words(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    return ctx.ir.call("i64", f"{SUPPORT_PREFIX}mbarrier_arrive_words", _place(ctx, i))


@lowers("ARRIVES.LDGSTSBAR.64{,.TRANSCNT,.ARVCNT}", has_effect=True)
def arrive_after_copies(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Arrive when the thread's copies are complete, as they are.

    From sm_90 on what was announced before is one transaction, or nothing was and it is an arrival.
    """
    if i.has("TRANSCNT") or i.has("ARVCNT"):
        count, transactions = (1, 0) if i.has("ARVCNT") else (0, -1)
        arrive(ctx, _place(ctx, i), i32(count), i32(transactions), i32(0))
    elif _has_transactions(ctx):
        raise i.unknown("a barrier of sm_80 on a later machine")
    else:
        _arrive_at_words(ctx, i)


@lowers("SYNCS.EXCH.64", has_effect=True)
def initialize(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Write a barrier's 64 bits."""
    before, after = _around_address(i)
    (old,), (new,) = before.exactly(1), after.exactly(1)
    if not isinstance(old, Register) or not old.is_zero:
        raise i.unknown("a barrier's old contents")
    pointer = shared_pointer(ctx, i, address_of(i))
    ctx.ir.line(f"store atomic volatile {ctx.wide(new)}, {pointer} monotonic, align 8")


_COUNTS = ("A1T0", "ART0", "A0T1", "A0TR", "A0TX")
"""Arrivals and transactions: R the operand, X the operand taken off; A1TR has no name."""


@lowers(
    "SYNCS.ARRIVE.TRANS64{,.RED}{,.A1T0,.ART0,.A0T1,.A0TR,.A0TX}",
    "SYNCS.ARRIVE.TRANS64.OPTOUT{,.A1T0,.ART0}",
    "SYNCS.ARRIVE.TRANS64.TMASK{,.OPTOUT}.ART0",
    has_effect=True,
)
def arrive_with_transactions(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Arrivals and transactions at once; the state before is the token.

    OPTOUT: the arrivals are the thread's last. TMASK: the low word is the mask of lanes that share
    the high word, for each to count those below it; here each lane has a state of its own.
    """
    before, after = _around_address(i)
    (target,), (operand,) = before.exactly(1), after.exactly(1)
    counts = i.one_of(*_COUNTS, default="A1TR")
    count = ctx.integer(operand)
    arrivals = {"1": i32(1), "R": count, "0": i32(0)}[counts[1]]
    transactions = {
        "0": lambda: i32(0),
        "1": lambda: i32(1),
        "R": lambda: count,
        "X": lambda: ctx.ir.op("sub", i32(0), count),
    }[counts[3]]()
    dropped = arrivals if i.has("OPTOUT") else i32(0)
    old = arrive(ctx, _place(ctx, i), arrivals, transactions, dropped)
    if i.has("TMASK"):
        ctx.write_words(target, [i32(0), ctx.ir.high(old)])
    else:
        ctx.write_wide(target, old)


@lowers("SYNCS.PHASECHK.TRANS64{,.TRYWAIT}", has_effect=True)
def test_phase(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Whether the phase of a token, or of a parity in the same bit, is over."""
    before, after = _around_address(i)
    (verdict,), (token,) = before.exactly(1), after.exactly(1)
    high = ctx.ir.offset(shared_pointer(ctx, i, address_of(i)), i32(4))
    now = ctx.ir.result("i32", f"load atomic volatile i32, {high} monotonic, align 4")
    ctx.ir.line(_ACQUIRE)
    changed = ctx.ir.op("and", ctx.ir.op("xor", now, ctx.integer(token)), i32(_PHASE))
    ctx.write_predicate(verdict, ctx.ir.icmp("ne", changed, i32(0)))


@lowers("SYNCS.CCTL.{IV,IVALL}")
def invalidate(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The memory is no barrier any more; IVALL: ordinary stores have initialized barriers.

    From sm_100 on, lanes that initialize barriers each store 64 bits; for sm_90 they take turns
    with SYNCS.EXCH.64. No second copy of barriers is kept here.
    """
    del ctx, i


_SPARE = {"Rpc.LO": "RpcLo", "Rpc.HI": "RpcHi"}
"""A register that code between the lanes of a warp keeps a token in."""


@lowers("RPCMOV.32")
def move_spare(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Move to or from a half of the register Rpc."""
    target, source = i.operands.exactly(2)
    value = (
        ctx.registers.read(_spare(i, source), "i32")
        if not isinstance(source, Register)
        else ctx.register(source)
    )
    if isinstance(target, Register):
        ctx.write(target, value)
    else:
        ctx.registers.write(_spare(i, target), value)


def _spare(i: DecodedInstruction, operand: Operand) -> str:
    name = getattr(operand, "text", "")
    if isinstance(operand, Predicate) or name not in _SPARE:
        raise i.unknown("no half of Rpc")
    return _SPARE[name]
