"""Loads and stores: global, generic, shared, local and constant memory."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import (
    Address,
    Constant,
    Operand,
    Operands,
    Predicate,
    Register,
)
from cass_ray.lift.llvm.builder import TRUE, Value, i32, i64
from cass_ray.lift.llvm.notes import INVARIANT
from cass_ray.lift.lowering import clusters
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.table import lowers

_SHARED = "ptr addrspace(3)"
_CACHING = "{,.EF,.EL,.LU,.EU,.NA}{,.LTC64B,.LTC128B,.LTC256B}"
_FOUR_WORDS = 16
_SIZES = "{,.U8,.S8,.U16,.S16,.64,.128}"
_ORDER = "{,.CONSTANT,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS}{,.PRIVATE}"
_ORDER_OF_STORES = "{,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS}{,.PRIVATE}"
_SCALES = {"X1": 0, "X2": 1, "X4": 2, "X8": 3, "X16": 4, "X32": 5, "X64": 6}
_SCOPES = {"CTA": "workgroup", "SM": "workgroup", "GPU": "agent", "SYS": ""}


def address_of(i: DecodedInstruction) -> Address:
    """The one address among the operands."""
    addresses = [operand for operand in i.operands if isinstance(operand, Address)]
    if len(addresses) != 1:
        raise i.unknown("not exactly one address")
    return addresses[0]


def wide_pointer(
    ctx: LoweringContext, i: DecodedInstruction, address: Address, space: int
) -> Value:
    """A pointer into global (1) or generic (0) memory."""
    total: Value | None = None
    for term in address.terms:
        if term.suffixes in (("64",), ()):
            value = ctx.ir.pair(ctx.register(term), ctx.register(term.following(1)))
        elif term.suffixes == ("U32",):
            value = ctx.ir.cast("zext", ctx.register(term), "i64")
        else:
            raise i.unknown(f"an address of 32 bits ({term.name})")
        total = value if total is None else ctx.ir.op("add", total, value)
    kind = "ptr" if space == 0 else f"ptr addrspace({space})"
    if space == 0 and ctx.environment.in_cluster:
        whole = ctx.ir.op("add", total or i64(0), i64(address.offset))
        return ctx.ir.cast("inttoptr", clusters.place_of_generic(ctx, whole), kind)
    if total is None:
        return ctx.ir.cast("inttoptr", i64(address.offset), kind)
    return ctx.ir.offset(ctx.ir.cast("inttoptr", total, kind), i64(address.offset))


def narrow_address(ctx: LoweringContext, i: DecodedInstruction, address: Address) -> Value:
    """A 32-bit address without its literal part."""
    total = i32(0)
    for term in address.terms:
        value = ctx.register(term)
        for suffix in term.suffixes:
            if suffix not in _SCALES:
                raise i.unknown(f"an address scaled by {suffix}")
            value = ctx.ir.op("shl", value, i32(_SCALES[suffix]))
        total = ctx.ir.op("add", total, value)
    return total


def shared_pointer(ctx: LoweringContext, i: DecodedInstruction, address: Address) -> Value:
    """A pointer into LDS (address space 3), moved by what is in front of the kernel's own."""
    base = narrow_address(ctx, i, address)
    if ctx.environment.in_cluster:
        has_rank = base.number is None
        moved = clusters.own_shift(ctx) if has_rank else clusters.offset_shift(ctx)
        moved = ctx.ir.op("add", base, moved)
        return ctx.ir.offset(ctx.ir.cast("inttoptr", moved, _SHARED), i32(address.offset))
    shift = address.offset + ctx.environment.shared_shift
    if base.number is not None:
        return ctx.ir.cast("inttoptr", i32(base.number + shift), _SHARED)
    pointer = ctx.ir.cast("inttoptr", base, _SHARED)
    return ctx.ir.offset(pointer, i32(shift))


def cluster_pointer(ctx: LoweringContext, i: DecodedInstruction, address: Address) -> Value:
    """A pointer into LDS for an address that may be in another block of the cluster."""
    if not ctx.environment.in_cluster:
        return shared_pointer(ctx, i, address)
    whole = ctx.ir.op("add", narrow_address(ctx, i, address), i32(address.offset))
    return ctx.ir.cast("inttoptr", clusters.place_in_lds(ctx, whole), _SHARED)


def local_pointer(ctx: LoweringContext, i: DecodedInstruction, address: Address) -> Value:
    """A pointer into the thread's frame."""
    distance = ctx.ir.op("add", narrow_address(ctx, i, address), i32(address.offset))
    return ctx.ir.offset(Value("ptr addrspace(5)", "%frame"), distance)


def pointer(ctx: LoweringContext, i: DecodedInstruction, address: Address) -> Value:
    """The pointer that a load or store of this opcode uses."""
    opcode = i.opcode
    if opcode in ("LDS", "STS", "ATOMS"):
        return shared_pointer(ctx, i, address)
    if opcode in ("LDL", "STL"):
        return local_pointer(ctx, i, address)
    return wide_pointer(ctx, i, address, 0 if opcode in ("LD", "ST", "ATOM") else 1)


def scope_of(i: DecodedInstruction) -> str:
    """LLVM's ``syncscope("…")`` of a strong access, with a space; empty for the whole system."""
    scope = _SCOPES[i.one_of(*_SCOPES, default="SYS")]
    return f'syncscope("{scope}") ' if scope else ""


def _size(i: DecodedInstruction) -> str:
    return i.one_of("U8", "S8", "U16", "S16", "64", "128", default="32")


def _check_plain(i: DecodedInstruction) -> None:
    """Predicate operands other than true are not understood."""
    for operand in i.operands:
        if isinstance(operand, Predicate) and (operand.index is not None or operand.inverted):
            raise i.unknown("a predicate operand")


def _read(
    ctx: LoweringContext, i: DecodedInstruction, kind: str, place: Value, align: int
) -> Value:
    if i.has("STRONG") and align <= 8:
        scalar = f"i{8 * align}"
        value = ctx.ir.result(
            scalar, f"load atomic volatile {scalar}, {place} {scope_of(i)}monotonic, align {align}"
        )
        return value if kind == scalar else ctx.ir.result(kind, f"bitcast {value} to {kind}")
    if i.has("U"):
        # Of shared memory ptxas does not say that the address is aligned; of global memory it marks
        # addresses that it finds to be one for the warp, and alignment is not relied on either.
        align = 1
    note = INVARIANT if i.has("CONSTANT") else ""
    return ctx.ir.load(kind, place, align, volatile=i.has("STRONG"), note=note)


@lowers(
    f"LDG.E{_CACHING}{_SIZES}{_ORDER}",
    f"LDG.E{_SIZES}{_CACHING}{_ORDER}",
    f"LD.E{_CACHING}{_SIZES}{_ORDER}",
    f"{{LDG,LD}}.E{_CACHING}{_SIZES}{{,.CONSTANT}}.SYS",
    "LDG.E.U{,.64,.128}{,.CONSTANT}.SYS",
    "LDS{,.U}{,.U8,.S8,.U16,.S16,.64,.128}",
    "LDL{,.LU,.EF,.EL}{,.U8,.S8,.U16,.S16,.64,.128}",
    "LDL{.U8,.S8,.U16,.S16,.64,.128}{.LU,.EF,.EL}",
    has_effect=True,
    repeats=True,
)
def load(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Load one, two or four words, or a byte or half that is extended."""
    _check_plain(i)
    _load(ctx, i)
    if i.opcode == "LDS" and ctx.environment.keeps_shared_loads:
        ctx.ir.line('fence syncscope("workgroup") acquire')


def _load(ctx: LoweringContext, i: DecodedInstruction) -> None:
    place, size, target = pointer(ctx, i, address_of(i)), _size(i), i.operands[0]
    if size in ("64", "128"):
        count = int(size) // 32
        vector = _read(ctx, i, f"<{count} x i32>", place, int(size) // 8)
        words = [ctx.ir.element(vector, number, "i32") for number in range(count)]
        for low, high in zip(words[::2], words[1::2], strict=True):
            ctx.handles.set_above(low, high)
        ctx.write_words(target, words)
    elif size == "32":
        word = _read(ctx, i, "i32", place, 4)
        if ctx.handles.tracked:
            above = ctx.ir.load("i32", ctx.ir.offset(place, i64(4)), 4)
            ctx.handles.set_above(word, above)
        ctx.write(target, word)
    else:
        bits = int(size[1:])
        value = _read(ctx, i, f"i{bits}", place, bits // 8)
        ctx.write(target, ctx.ir.cast("sext" if size[0] == "S" else "zext", value, "i32"))


@lowers(
    f"STG.E{_CACHING}{_SIZES}{_ORDER_OF_STORES}",
    f"STG.E{_SIZES}{_CACHING}{_ORDER_OF_STORES}",
    f"ST.E{_CACHING}{_SIZES}{_ORDER_OF_STORES}",
    f"{{STG,ST}}.E{_CACHING}{_SIZES}.SYS",
    "STS{,.U8,.S8,.U16,.S16,.64,.128}",
    "STL{,.LU,.EF,.EL}{,.U8,.S8,.U16,.S16,.64,.128}",
    has_effect=True,
    repeats=True,
)
def store(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Store one, two or four words, or the low byte or half of one."""
    _check_plain(i)
    place, size, source = pointer(ctx, i, address_of(i)), _size(i), i.operands[-1]
    if not isinstance(source, Register):
        raise i.unknown("a stored value that is no register")
    if size in ("64", "128"):
        words = [ctx.register(source.following(n)) for n in range(int(size) // 32)]
        value, align = ctx.ir.vector(words), int(size) // 8
    else:
        bits = 32 if size == "32" else int(size[1:])
        value, align = ctx.ir.cast("trunc", ctx.bits(source), f"i{bits}"), bits // 8
    if i.has("STRONG") and align <= 8:
        scalar = f"i{8 * align}"
        if value.type != scalar:
            value = ctx.ir.result(scalar, f"bitcast {value} to {scalar}")
        ctx.ir.line(f"store atomic volatile {value}, {place} {scope_of(i)}monotonic, align {align}")
    else:
        ctx.ir.store(value, place, align, volatile=i.has("STRONG"))
    if i.opcode == "STS":
        # SASS has no volatile for shared memory: keep what follows behind this store.
        ctx.ir.line('fence syncscope("singlethread") acq_rel')


@lowers(f"LDG.E{_CACHING}.ENL2.256{_ORDER}", has_effect=True)
def load_eight(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Eight words: the first four to the registers of the second operand."""
    last, first, _ = i.operands.exactly(3)
    place = pointer(ctx, i, address_of(i))
    for target, start in ((first, 0), (last, _FOUR_WORDS)):
        vector = _read(ctx, i, "<4 x i32>", ctx.ir.offset(place, i64(start)), _FOUR_WORDS)
        words = [ctx.ir.element(vector, number, "i32") for number in range(4)]
        for low, high in zip(words[::2], words[1::2], strict=True):
            ctx.handles.set_above(low, high)
        ctx.write_words(target, words)


@lowers(f"STG.E{_CACHING}.ENL2.256{_ORDER_OF_STORES}", has_effect=True)
def store_eight(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Eight words: the first four from the registers of the first operand behind the address."""
    _, first, last = i.operands.exactly(3)
    place = pointer(ctx, i, address_of(i))
    for source, start in ((first, 0), (last, _FOUR_WORDS)):
        if not isinstance(source, Register):
            raise i.unknown("a stored value that is no register")
        vector = ctx.ir.vector([ctx.register(source.following(n)) for n in range(4)])
        target = ctx.ir.offset(place, i64(start))
        ctx.ir.store(vector, target, _FOUR_WORDS, volatile=i.has("STRONG"))


@lowers(
    "LDC{,.64,.128,.U8,.S8,.U16,.S16}", "{ULDC,LDCU}{,.64,.128,.U8,.S8,.U16,.S16}", "LDC.E{,.64}"
)
def load_constant(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Load one, two or four words of a constant bank, or a byte or half that is extended."""
    target, source = i.operands.exactly(2)
    if not isinstance(source, Constant) or i.has("E"):
        raise i.unknown("not a constant bank")
    size = _size(i)
    if size in ("32", "64", "128"):
        count = int(size) // 32
        ctx.write_words(target, [ctx.bits(source, number) for number in range(count)])
        return
    ctx.write(target, _narrow_constant(ctx, i, source, size))


def _narrow_constant(
    ctx: LoweringContext, i: DecodedInstruction, source: Constant, size: str
) -> Value:
    bits = int(size[1:])
    base = ctx.environment.kernel.parameter_base
    if source.bank == 0 and source.offset < base:
        if source.index is not None:
            raise i.unknown("an indexed driver constant")
        whole = ctx.bits(Constant(0, source.offset & ~3))
        moved = ctx.ir.op("lshr", whole, i32(8 * (source.offset & 3)))
        value = ctx.ir.cast("trunc", moved, f"i{bits}")
    else:
        place = ctx.banks.pointer(source.bank, source.offset, ctx.constant_index(source))
        value = ctx.ir.load(f"i{bits}", place, 1 if bits == 8 else 2, note=INVARIANT)
    return ctx.ir.cast("sext" if size[0] == "S" else "zext", value, "i32")


@lowers("LDGSTS.E{,.BYPASS}{,.LTC64B,.LTC128B,.LTC256B}{,.64,.128}", has_effect=True)
def copy_to_shared(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy from global to shared memory; it is complete at once.

    Where a last predicate is false, zeros are written and nothing is read.
    """
    places = [operand for operand in i.operands if isinstance(operand, Address)]
    if len(places) != 2:
        raise i.unknown("not two addresses")
    count = int(_size(i)) // 32
    kind = f"<{count} x i32>"
    source, target = wide_pointer(ctx, i, places[1], 1), shared_pointer(ctx, i, places[0])
    conditions = [ctx.predicate(o) for o in i.operands if isinstance(o, Predicate)]
    if len(conditions) > 1:
        raise i.unknown("more than one predicate")
    if conditions and conditions[0] != TRUE:
        with ctx.registers.skipped_unless(conditions[0]):
            ctx.ir.store(ctx.ir.load(kind, source, 4 * count), target, 4 * count)
        with ctx.registers.skipped_unless(ctx.ir.invert(conditions[0])):
            ctx.ir.store(Value(kind, "zeroinitializer"), target, 4 * count)
    else:
        ctx.ir.store(ctx.ir.load(kind, source, 4 * count), target, 4 * count)
    ctx.ir.line('fence syncscope("singlethread") acq_rel')


@lowers("QSPC.E.{S,L,G,D}")
def query_space(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Whether a generic address is in shared, local or global memory; D: in a cluster's shared."""
    predicates = Operands(o for o in i.operands if isinstance(o, Predicate))
    place = wide_pointer(ctx, i, address_of(i), 0)
    in_shared = ctx.ir.call("i1", "llvm.amdgcn.is.shared", place)
    in_private = ctx.ir.call("i1", "llvm.amdgcn.is.private", place)
    if i.has("S"):
        answer = ctx.ir.both(in_shared, clusters.is_of_own_block(ctx, place))
    elif i.has("D"):
        answer = in_shared
    elif i.has("L"):
        answer = in_private
    else:
        answer = ctx.ir.invert(ctx.ir.either(in_shared, in_private))
    ctx.write_predicate(predicates[0], answer)
    registers: list[Operand] = [o for o in i.operands if isinstance(o, Register) and not o.is_zero]
    if registers:
        raise i.unknown("a register result")
