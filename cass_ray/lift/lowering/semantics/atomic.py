"""Atomic operations on global, generic and shared memory."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Address, Operand, Predicate, Register
from cass_ray.lift.llvm.builder import TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import Thread
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


def _scope(i: Instruction) -> str:
    if i.opcode == "ATOMS":
        return 'syncscope("workgroup") '
    return scope_of(i)


def _operands(i: Instruction) -> tuple[Operand, list[Operand]]:
    """The register for the old value (RZ for none), and the operands after the address."""
    before, after = _around_address(i)
    registers = [operand for operand in before if isinstance(operand, Register)]
    return (registers[0] if registers else Register("R", None)), after


def _around_address(i: Instruction) -> tuple[list[Operand], list[Operand]]:
    place = next(n for n, operand in enumerate(i.operands) if isinstance(operand, Address))
    return list(i.operands[:place]), list(i.operands[place + 1 :])


def _report_done(t: Thread, i: Instruction) -> None:
    """A predicate result is false where the address is of shared or local memory.

    Code that does the operation by other means follows there; here it is done for every address.
    """
    for operand in _around_address(i)[0]:
        if isinstance(operand, Predicate):
            t.write_predicate(operand, TRUE)


def _is_wide(i: Instruction) -> bool:
    return any(i.has(m) for m in ("64", "S64", "U64"))


def _value(t: Thread, operand: Operand, kind: str) -> Value:
    wide = kind in ("i64", "double")
    value = t.wide(operand) if wide else t.integer(operand)
    return value if value.type == kind else t.cast("bitcast", value, kind)


def _write(t: Thread, target: Operand, value: Value) -> None:
    if value.type in ("i64", "double"):
        t.write_wide(target, value)
    elif value.type.startswith("<"):
        t.write(target, t.result("i32", f"bitcast {value} to i32"))
    else:
        t.write(target, value)


def _modify(t: Thread, i: Instruction, operation: str, kind: str) -> None:
    target, rest = _operands(i)
    place = pointer(t, i, address_of(i))
    if kind.startswith("<"):
        value = t.result(kind, f"bitcast {t.bits(rest[0])} to {kind}")
    else:
        value = _value(t, rest[0], kind)
    if kind == "float" and i.has("FTZ"):
        value = flush(t, value)
    old = t.result(kind, f"atomicrmw {operation} {place}, {value} {_scope(i)}monotonic")
    _write(t, target, old)
    _report_done(t, i)


@lowers(
    f"{{ATOMG,ATOM,RED,REDG}}.E.{_INTEGER}{_STRONG}",
    "ATOMS.{ADD,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.U64,.S64}",
    has_effect=True,
)
def integer_operation(t: Thread, i: Instruction) -> None:
    """Read, change and write an integer."""
    operation = _OPERATIONS[i.one_of(*_OPERATIONS)]
    _modify(t, i, operation, "i64" if _is_wide(i) else "i32")


@lowers(
    f"{{ATOMG,ATOM,RED,REDG}}.E.{_ORDERED}{_STRONG}",
    "ATOMS.{MIN,MAX}{,.S32,.64,.U64,.S64}",
    has_effect=True,
)
def minimum_or_maximum(t: Thread, i: Instruction) -> None:
    """Minimum or maximum, unsigned unless the modifiers say otherwise."""
    name = "min" if i.has("MIN") else "max"
    sign = "" if i.has("S32") or i.has("S64") else "u"
    _modify(t, i, sign + name, "i64" if _is_wide(i) else "i32")


@lowers(f"{{ATOMG,ATOM,RED,REDG}}.E.{_FLOATS}{_STRONG}", has_effect=True)
def float_add(t: Thread, i: Instruction) -> None:
    """Add a number, or two halves.

    Nvidia flushes denormal numbers, the one in memory and the sum too; here only the one added.
    """
    if i.has("F64"):
        kind = "double"
    elif i.has("F32"):
        kind = "float"
    else:
        kind = "<2 x bfloat>" if i.has("BF16x2") or i.has("BF16_V2") else "<2 x half>"
    _modify(t, i, "fadd", kind)


@lowers(f"{{ATOMG,ATOM,RED,REDG}}.E.ADD.{{F32x2,F32x4}}.FTZ.RN{_STRONG}", has_effect=True)
def float_add_each(t: Thread, i: Instruction) -> None:
    """Add two or four numbers; each by itself, as Nvidia's manual says."""
    target, rest = _operands(i)
    source = rest[0]
    if not isinstance(source, Register) or not isinstance(target, Register):
        raise i.unknown("operands that are no registers")
    place = pointer(t, i, address_of(i))
    count = 4 if i.has("F32x4") else 2
    numbers = [flush(t, t.cast("bitcast", t.bits(source, n), "float")) for n in range(count)]
    for number, value in enumerate(numbers):
        part = t.offset(place, i64(4 * number))
        old = t.result("float", f"atomicrmw fadd {part}, {value} {_scope(i)}monotonic")
        if not target.is_zero:
            t.write(target.following(number), old)
    _report_done(t, i)


@lowers(f"{{ATOMG,ATOM}}.E.CAS{{,.64}}{_STRONG}", "ATOMS.CAS{,.64}", has_effect=True)
def compare_and_swap(t: Thread, i: Instruction) -> None:
    """Write the second value where the first is found; the old value is the result."""
    target, _ = _operands(i)
    _write(t, target, t.result("i64" if i.has("64") else "i32", _exchange(t, i, 0)))
    _report_done(t, i)


@lowers("ATOMS.CAST.SPIN{,.64}", has_effect=True)
def compare_and_swap_succeeded(t: Thread, i: Instruction) -> None:
    """Compare and swap in a loop; the result, as wide as the data, is 1 where it wrote."""
    target, _ = _operands(i)
    swapped = t.result("i1", _exchange(t, i, 1))
    if i.has("64"):
        t.write_wide(target, t.cast("zext", swapped, "i64"))
    else:
        t.write(target, t.cast("zext", swapped, "i32"))


def _exchange(t: Thread, i: Instruction, part: int) -> str:
    _, rest = _operands(i)
    kind = "i64" if i.has("64") else "i32"
    expected, desired = (_value(t, operand, kind) for operand in rest[:2])
    place = pointer(t, i, address_of(i))
    pair_type = f"{{ {kind}, i1 }}"
    scope = _scope(i)
    pair = t.result(pair_type, f"cmpxchg {place}, {expected}, {desired} {scope}monotonic monotonic")
    return f"extractvalue {pair}, {part}"


@lowers("ATOMS.POPC.INC.32", has_effect=True)
def count_threads(t: Thread, i: Instruction) -> None:
    """Each thread adds one; ptxas emits it where nobody wants the old value."""
    target, rest = _operands(i)
    if rest or not (isinstance(target, Register) and target.is_zero):
        raise i.unknown("a result of a counting increment")
    place = pointer(t, i, address_of(i))
    t.result("i32", f"atomicrmw add {place}, {i32(1)} {_scope(i)}monotonic")
