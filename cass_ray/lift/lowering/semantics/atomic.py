"""Atomic operations on global, generic and shared memory."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Operands, Predicate, Register
from cass_ray.lift.llvm.builder import TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.float32 import flush
from cass_ray.lift.lowering.semantics.memory import address_of, pointer, scope_of
from cass_ray.lift.lowering.table import lowers

_OPERATIONS = {
    "ADD": "add",
    "AND": "and",
    "OR": "or",
    "XOR": "xor",
    "EXCH": "xchg",
    "INC": "uinc_wrap",
    "DEC": "udec_wrap",
}
_INTEGER = "{ADD,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.S64,.U64}"
_ORDERED = "{MIN,MAX}{,.S32,.64,.S64,.U64}"
_FLOATS = "ADD.{F32.FTZ.RN,F32.RN,F64.RN,F16x2.RN,BF16x2.RN,F16_V2.RN,BF16_V2.RN}"
_STRONG = "{,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS}"


def _scope(i: DecodedInstruction) -> str:
    if i.opcode == "ATOMS":
        return 'syncscope("workgroup") '
    return scope_of(i)


def _operands(i: DecodedInstruction) -> tuple[Operand, Operands]:
    """The register for the old value (RZ for none), and the operands after the address."""
    before, after = _around_address(i)
    registers = [operand for operand in before if isinstance(operand, Register)]
    return (registers[0] if registers else Register("R", None)), after


def _around_address(i: DecodedInstruction) -> tuple[Operands, Operands]:
    place = i.operands.index(address_of(i))
    return i.operands[:place], i.operands[place + 1 :]


def _report_done(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A predicate result is false where the address is of shared or local memory.

    Code that does the operation by other means follows there; here it is done for every address.
    """
    for operand in _around_address(i)[0]:
        if isinstance(operand, Predicate):
            ctx.write_predicate(operand, TRUE)


def _is_wide(i: DecodedInstruction) -> bool:
    return any(i.has(m) for m in ("64", "S64", "U64"))


def _value(ctx: LoweringContext, operand: Operand, kind: str) -> Value:
    wide = kind in ("i64", "double")
    value = ctx.wide(operand) if wide else ctx.integer(operand)
    return value if value.type == kind else ctx.ir.cast("bitcast", value, kind)


def _write(ctx: LoweringContext, target: Operand, value: Value) -> None:
    if value.type in ("i64", "double"):
        ctx.write_wide(target, value)
    elif value.type.startswith("<"):
        ctx.write(target, ctx.ir.result("i32", f"bitcast {value} to i32"))
    else:
        ctx.write(target, value)


def _modify(ctx: LoweringContext, i: DecodedInstruction, operation: str, kind: str) -> None:
    target, rest = _operands(i)
    place = pointer(ctx, i, address_of(i))
    if kind.startswith("<"):
        value = ctx.ir.result(kind, f"bitcast {ctx.bits(rest[0])} to {kind}")
    else:
        value = _value(ctx, rest[0], kind)
    if kind == "float" and i.has("FTZ"):
        value = flush(ctx, value)
    old = ctx.ir.result(kind, f"atomicrmw {operation} {place}, {value} {_scope(i)}monotonic")
    _write(ctx, target, old)
    _report_done(ctx, i)


@lowers(
    f"{{ATOMG,ATOM,RED,REDG}}.E.{_INTEGER}{_STRONG}",
    "ATOMS.{ADD,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.U64,.S64}",
    has_effect=True,
)
def integer_operation(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Read, change and write an integer."""
    operation = _OPERATIONS[i.one_of(*_OPERATIONS)]
    _modify(ctx, i, operation, "i64" if _is_wide(i) else "i32")


@lowers(
    f"{{ATOMG,ATOM,RED,REDG}}.E.{_ORDERED}{_STRONG}",
    "ATOMS.{MIN,MAX}{,.S32,.64,.U64,.S64}",
    has_effect=True,
)
def minimum_or_maximum(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum, unsigned unless the modifiers say otherwise."""
    name = "min" if i.has("MIN") else "max"
    sign = "" if i.has("S32") or i.has("S64") else "u"
    _modify(ctx, i, sign + name, "i64" if _is_wide(i) else "i32")


@lowers(f"{{ATOMG,ATOM,RED,REDG}}.E.{_FLOATS}{_STRONG}", has_effect=True)
def float_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Add a number, or two halves.

    Nvidia flushes denormal numbers, the one in memory and the sum too; here only the one added.
    """
    if i.has("F64"):
        kind = "double"
    elif i.has("F32"):
        kind = "float"
    else:
        kind = "<2 x bfloat>" if i.has("BF16x2") or i.has("BF16_V2") else "<2 x half>"
    _modify(ctx, i, "fadd", kind)


@lowers(f"{{ATOMG,ATOM,RED,REDG}}.E.ADD.{{F32x2,F32x4}}.FTZ.RN{_STRONG}", has_effect=True)
def float_add_each(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Add two or four numbers; each by itself, as Nvidia's manual says."""
    target, rest = _operands(i)
    source = rest[0]
    if not isinstance(source, Register) or not isinstance(target, Register):
        raise i.unknown("operands that are no registers")
    place = pointer(ctx, i, address_of(i))
    count = 4 if i.has("F32x4") else 2
    numbers = [
        flush(ctx, ctx.ir.cast("bitcast", ctx.bits(source, n), "float")) for n in range(count)
    ]
    for number, value in enumerate(numbers):
        part = ctx.ir.offset(place, i64(4 * number))
        old = ctx.ir.result("float", f"atomicrmw fadd {part}, {value} {_scope(i)}monotonic")
        if not target.is_zero:
            ctx.write(target.following(number), old)
    _report_done(ctx, i)


@lowers(f"{{ATOMG,ATOM}}.E.CAS{{,.64}}{_STRONG}", "ATOMS.CAS{,.64}", has_effect=True)
def compare_and_swap(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Write the second value where the first is found; the old value is the result."""
    target, _ = _operands(i)
    _write(ctx, target, ctx.ir.result("i64" if i.has("64") else "i32", _exchange(ctx, i, 0)))
    _report_done(ctx, i)


@lowers("{ATOMS,ATOM.E}.CAST.SPIN{,.64}", has_effect=True)
def compare_and_swap_succeeded(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare and swap in a loop; the result, as wide as the data, is 1 where it wrote.

    From sm_100 on a predicate says so in shared memory.
    """
    target, _ = _operands(i)
    swapped = ctx.ir.result("i1", _exchange(ctx, i, 1))
    for operand in _around_address(i)[0]:
        if isinstance(operand, Predicate):
            if i.opcode != "ATOMS" and operand.index is not None:
                raise i.unknown("a predicate result")
            ctx.write_predicate(operand, swapped)
    if i.has("64"):
        ctx.write_wide(target, ctx.ir.cast("zext", swapped, "i64"))
    else:
        ctx.write(target, ctx.ir.cast("zext", swapped, "i32"))


def _exchange(ctx: LoweringContext, i: DecodedInstruction, part: int) -> str:
    _, rest = _operands(i)
    kind = "i64" if i.has("64") else "i32"
    expected, desired = (_value(ctx, operand, kind) for operand in rest[:2].exactly(2))
    place = pointer(ctx, i, address_of(i))
    pair_type = f"{{ {kind}, i1 }}"
    scope = _scope(i)
    pair = ctx.ir.result(
        pair_type, f"cmpxchg {place}, {expected}, {desired} {scope}monotonic monotonic"
    )
    return f"extractvalue {pair}, {part}"


@lowers("ATOMS.POPC.INC.32", has_effect=True)
def count_threads(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Each thread adds one; ptxas emits it where nobody wants the old value."""
    target, rest = _operands(i)
    if rest or not (isinstance(target, Register) and target.is_zero):
        raise i.unknown("a result of a counting increment")
    place = pointer(ctx, i, address_of(i))
    ctx.ir.result("i32", f"atomicrmw add {place}, {i32(1)} {_scope(i)}monotonic")
