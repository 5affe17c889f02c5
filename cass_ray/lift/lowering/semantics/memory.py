"""Loads and stores: global, generic, shared, local and constant memory."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Address, Constant, Operand, Predicate, Register
from cass_ray.lift.llvm.builder import TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.environment import INVARIANT
from cass_ray.lift.lowering.table import lowers

_CACHING = "{,.EF,.EL,.LU,.EU,.NA}{,.LTC64B,.LTC128B,.LTC256B}"
_SIZES = "{,.U8,.S8,.U16,.S16,.64,.128}"
_ORDER = "{,.CONSTANT,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS}{,.PRIVATE}"
_ORDER_OF_STORES = "{,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS}{,.PRIVATE}"
_SCALES = {"X1": 0, "X2": 1, "X4": 2, "X8": 3, "X16": 4, "X32": 5, "X64": 6}
_SCOPES = {"CTA": "workgroup", "SM": "workgroup", "GPU": "agent", "SYS": ""}


def address_of(i: Instruction) -> Address:
    """The one address among the operands."""
    found = [operand for operand in i.operands if isinstance(operand, Address)]
    if len(found) != 1:
        raise i.unknown("not exactly one address")
    return found[0]


def wide_pointer(t: Thread, i: Instruction, address: Address, space: int) -> Value:
    """A pointer into global (1) or generic (0) memory."""
    total: Value | None = None
    for term in address.terms:
        if term.suffixes in (("64",), ()):
            value = t.pair(t.register(term), t.register(term.following(1)))
        elif term.suffixes == ("U32",):
            value = t.cast("zext", t.register(term), "i64")
        else:
            raise i.unknown(f"an address of 32 bits ({term.name})")
        total = value if total is None else t.op("add", total, value)
    kind = "ptr" if space == 0 else f"ptr addrspace({space})"
    if total is None:
        return t.cast("inttoptr", i64(address.offset), kind)
    return t.offset(t.cast("inttoptr", total, kind), i64(address.offset))


def narrow_address(t: Thread, i: Instruction, address: Address) -> Value:
    """A 32-bit address without its literal part."""
    total = i32(0)
    for term in address.terms:
        value = t.register(term)
        for suffix in term.suffixes:
            if suffix not in _SCALES:
                raise i.unknown(f"an address scaled by {suffix}")
            value = t.op("shl", value, i32(_SCALES[suffix]))
        total = t.op("add", total, value)
    return total


def shared_pointer(t: Thread, i: Instruction, address: Address) -> Value:
    """A pointer into LDS."""
    base = narrow_address(t, i, address)
    shift = address.offset + t.environment.shared_shift
    if base.number is not None:
        return t.cast("inttoptr", i32(base.number + shift), "ptr addrspace(3)")
    pointer = t.cast("inttoptr", base, "ptr addrspace(3)")
    return t.offset(pointer, i32(shift))


def local_pointer(t: Thread, i: Instruction, address: Address) -> Value:
    """A pointer into the thread's frame."""
    distance = t.op("add", narrow_address(t, i, address), i32(address.offset))
    return t.offset(Value("ptr addrspace(5)", "%frame"), distance)


def pointer(t: Thread, i: Instruction, address: Address) -> Value:
    """The pointer that a load or store of this opcode uses."""
    opcode = i.opcode
    if opcode in ("LDS", "STS", "ATOMS"):
        return shared_pointer(t, i, address)
    if opcode in ("LDL", "STL"):
        return local_pointer(t, i, address)
    return wide_pointer(t, i, address, 0 if opcode in ("LD", "ST", "ATOM") else 1)


def scope_of(i: Instruction) -> str:
    """LLVM's ``syncscope("…")`` of a strong access, with a space; empty for the whole system."""
    scope = _SCOPES[i.one_of(*_SCOPES, default="SYS")]
    return f'syncscope("{scope}") ' if scope else ""


def _size(i: Instruction) -> str:
    return i.one_of("U8", "S8", "U16", "S16", "64", "128", default="32")


def _check_plain(i: Instruction) -> None:
    """Predicate operands other than true are not understood."""
    for operand in i.operands:
        if isinstance(operand, Predicate) and (operand.index is not None or operand.inverted):
            raise i.unknown("a predicate operand")


def _read(t: Thread, i: Instruction, kind: str, place: Value, align: int) -> Value:
    if i.has("STRONG") and align <= 8:
        scalar = f"i{8 * align}"
        value = t.result(
            scalar, f"load atomic volatile {scalar}, {place} {scope_of(i)}monotonic, align {align}"
        )
        return value if kind == scalar else t.result(kind, f"bitcast {value} to {kind}")
    note = INVARIANT if i.has("CONSTANT") else ""
    return t.load(kind, place, align, volatile=i.has("STRONG"), note=note)


@lowers(
    f"LDG.E{_CACHING}{_SIZES}{_ORDER}",
    f"LDG.E{_SIZES}{_CACHING}{_ORDER}",
    f"LD.E{_CACHING}{_SIZES}{_ORDER}",
    "LDS{,.U}{,.U8,.S8,.U16,.S16,.64,.128}",
    "LDL{,.LU,.EF,.EL}{,.U8,.S8,.U16,.S16,.64,.128}",
    "LDL{.U8,.S8,.U16,.S16,.64,.128}{.LU,.EF,.EL}",
    has_effect=True,
    repeats=True,
)
def load(t: Thread, i: Instruction) -> None:
    """Load one, two or four words, or a byte or half that is extended."""
    _check_plain(i)
    if i.has("U") and _size(i) != "32":
        raise i.unknown("an unaligned access of this size")
    place, size, target = pointer(t, i, address_of(i)), _size(i), i.operands[0]
    if size in ("64", "128"):
        count = int(size) // 32
        vector = _read(t, i, f"<{count} x i32>", place, int(size) // 8)
        words = [t.element(vector, number, "i32") for number in range(count)]
        for low, high in zip(words[::2], words[1::2], strict=True):
            t.upper_words[low.name] = high
        t.write_words(target, words)
    elif size == "32":
        word = _read(t, i, "i32", place, 4)
        if t.environment.uses_handles:
            t.upper_words[word.name] = t.load("i32", t.offset(place, i64(4)), 4)
        t.write(target, word)
    else:
        bits = int(size[1:])
        value = _read(t, i, f"i{bits}", place, bits // 8)
        t.write(target, t.cast("sext" if size[0] == "S" else "zext", value, "i32"))


@lowers(
    f"STG.E{_CACHING}{_SIZES}{_ORDER_OF_STORES}",
    f"STG.E{_SIZES}{_CACHING}{_ORDER_OF_STORES}",
    f"ST.E{_CACHING}{_SIZES}{_ORDER_OF_STORES}",
    "STS{,.U8,.S8,.U16,.S16,.64,.128}",
    "STL{,.LU,.EF,.EL}{,.U8,.S8,.U16,.S16,.64,.128}",
    has_effect=True,
    repeats=True,
)
def store(t: Thread, i: Instruction) -> None:
    """Store one, two or four words, or the low byte or half of one."""
    _check_plain(i)
    place, size, source = pointer(t, i, address_of(i)), _size(i), i.operands[-1]
    if not isinstance(source, Register):
        raise i.unknown("a stored value that is no register")
    if size in ("64", "128"):
        words = [t.register(source.following(n)) for n in range(int(size) // 32)]
        value, align = t.vector(words), int(size) // 8
    else:
        bits = 32 if size == "32" else int(size[1:])
        value, align = t.cast("trunc", t.bits(source), f"i{bits}"), bits // 8
    if i.has("STRONG") and align <= 8:
        scalar = f"i{8 * align}"
        if value.type != scalar:
            value = t.result(scalar, f"bitcast {value} to {scalar}")
        t.line(f"store atomic volatile {value}, {place} {scope_of(i)}monotonic, align {align}")
    else:
        t.store(value, place, align, volatile=i.has("STRONG"))
    if i.opcode == "STS":
        # SASS has no volatile for shared memory: keep what follows behind this store.
        t.line('fence syncscope("singlethread") acq_rel')


@lowers("LDC{,.64,.128,.U8,.S8,.U16,.S16}", "ULDC{,.64,.128,.U8,.S8,.U16,.S16}", "LDC.E{,.64}")
def load_constant(t: Thread, i: Instruction) -> None:
    """Load from a constant bank."""
    target, source = i.operands
    if not isinstance(source, Constant) or i.has("E"):
        raise i.unknown("not a constant bank")
    size = _size(i)
    if size in ("32", "64", "128"):
        count = int(size) // 32
        t.write_words(target, [t.bits(source, number) for number in range(count)])
        return
    t.write(target, _narrow_constant(t, i, source, size))


def _narrow_constant(t: Thread, i: Instruction, source: Constant, size: str) -> Value:
    bits = int(size[1:])
    base = t.environment.kernel.parameter_base
    if source.bank == 0 and source.offset < base:
        if source.index is not None:
            raise i.unknown("an indexed driver constant")
        whole = t.bits(Constant(0, source.offset & ~3))
        moved = t.op("lshr", whole, i32(8 * (source.offset & 3)))
        value = t.cast("trunc", moved, f"i{bits}")
    else:
        place = t.environment.pointer(t, source.bank, source.offset, t.constant_index(source))
        value = t.load(f"i{bits}", place, 1 if bits == 8 else 2, note=INVARIANT)
    return t.cast("sext" if size[0] == "S" else "zext", value, "i32")


@lowers("LDGSTS.E{,.BYPASS}{,.LTC64B,.LTC128B,.LTC256B}{,.64,.128}", has_effect=True)
def copy_to_shared(t: Thread, i: Instruction) -> None:
    """Copy from global to shared memory; it is complete at once.

    Where a last predicate is false, zeros are written and nothing is read.
    """
    places = [operand for operand in i.operands if isinstance(operand, Address)]
    if len(places) != 2:
        raise i.unknown("not two addresses")
    count = int(_size(i)) // 32
    kind = f"<{count} x i32>"
    source, target = wide_pointer(t, i, places[1], 1), shared_pointer(t, i, places[0])
    conditions = [t.predicate(o) for o in i.operands if isinstance(o, Predicate)]
    if len(conditions) > 1:
        raise i.unknown("more than one predicate")
    if conditions and conditions[0] != TRUE:
        with t.skipped_unless(conditions[0]):
            t.store(t.load(kind, source, 4 * count), target, 4 * count)
        with t.skipped_unless(t.invert(conditions[0])):
            t.store(Value(kind, "zeroinitializer"), target, 4 * count)
    else:
        t.store(t.load(kind, source, 4 * count), target, 4 * count)
    t.line('fence syncscope("singlethread") acq_rel')


@lowers("QSPC.E.{S,L,G}")
def query_space(t: Thread, i: Instruction) -> None:
    """Whether a generic address is in shared, local or global memory."""
    predicates = [o for o in i.operands if isinstance(o, Predicate)]
    place = wide_pointer(t, i, address_of(i), 0)
    in_shared = t.call("i1", "llvm.amdgcn.is.shared", place)
    in_private = t.call("i1", "llvm.amdgcn.is.private", place)
    if i.has("S"):
        answer = in_shared
    elif i.has("L"):
        answer = in_private
    else:
        answer = t.invert(t.either(in_shared, in_private))
    t.write_predicate(predicates[0], answer)
    registers: list[Operand] = [o for o in i.operands if isinstance(o, Register) and not o.is_zero]
    if registers:
        raise i.unknown("a register result")
