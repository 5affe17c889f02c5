"""Textures and surfaces: image instructions on the descriptors that HIP's objects point to.

SASS names a texture by the low word of its handle, in a constant bank or in a uniform register. A
HIP object is the address of an image descriptor of eight words, the type and order of its channels,
and the sampler's four words (``HIP_SAMPLER_OBJECT_OFFSET_DWORD``).
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Immediate, Name, Operand, Register
from cass_ray.lift.llvm.builder import FALSE, Value, float_bits, i32, i64
from cass_ray.lift.llvm.notes import INVARIANT
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.memory import address_of
from cass_ray.lift.lowering.table import lowers

TEXTURE_OPCODES = frozenset({"TEX", "TLD", "TLD4", "TXD", "TXQ", "SULD", "SUST", "SURED", "SUATOM"})
"""Instructions that name a texture or surface by its handle."""

_SAMPLER_OFFSET = 48
_CHANNEL_TYPE_OFFSET, _CHANNEL_ORDER_OFFSET = 32, 36
_TYPE_OFFSET, _TYPE_SHIFT, _TYPE_1D = 12, 28, 8
"""Where a descriptor says how many dimensions an image has (RDNA3 ISA, 10.5)."""
_DEPTH_OFFSET, _DEPTH_MASK = 16, 0x1FFF
"""Where it says which layer is the last one; HIP's arrays have at most 8192."""
_LAST_LAYER = 0xFFFF
_FACES = 6
_HALF = 0x3F000000
_ALL = 15
_TEXEL = "<4 x float>"


@dataclass(frozen=True)
class TextureShape:
    """A dimension as SASS and as LLVM's intrinsics name it."""

    name: str
    axes: int
    layered: bool = False
    cube: bool = False

    @property
    def words(self) -> int:
        return self.axes + self.layered


_SHAPES = {
    "1D": TextureShape("1d", 1),
    "2D": TextureShape("2d", 2),
    "3D": TextureShape("3d", 3),
    "ARRAY_1D": TextureShape("1darray", 1, layered=True),
    "ARRAY_2D": TextureShape("2darray", 2, layered=True),
    "1D_ARRAY": TextureShape("1darray", 1, layered=True),
    "2D_ARRAY": TextureShape("2darray", 2, layered=True),
    "CUBE": TextureShape("2darray", 3, cube=True),
    "ARRAY_CUBE": TextureShape("2darray", 3, layered=True, cube=True),
}


def _handle(
    ctx: LoweringContext, i: DecodedInstruction, first: Operand, second: Operand | None = None
) -> Value:
    """The address of the descriptor: of a word of a constant bank, or in a register."""
    if isinstance(first, Immediate) and isinstance(second, Immediate):
        bank, offset = first.integer, 4 * second.integer
        low, high = (ctx.banks.word(bank, offset + 4 * n) for n in range(2))
        return ctx.ir.cast("inttoptr", ctx.ir.pair(low, high), "ptr addrspace(4)")
    if not isinstance(first, Register) or getattr(second, "integer", 0) != 0:
        raise i.unknown("a handle of an unknown shape")
    return _pointer(ctx, i, ctx.register(first))


def _pointer(ctx: LoweringContext, i: DecodedInstruction, low: Value) -> Value:
    """The address whose low word SASS has."""
    high = ctx.handles.above(low)
    if high is None:
        raise i.unknown("a handle that no load and no parameter gave")
    return ctx.ir.cast("inttoptr", ctx.ir.pair(low, high), "ptr addrspace(4)")


def _descriptor(ctx: LoweringContext, place: Value, words: int, offset: int = 0) -> Value:
    return ctx.ir.load(f"<{words} x i32>", ctx.ir.offset(place, i64(offset)), 4, note=INVARIANT)


def _shape(i: DecodedInstruction, modifiers: tuple[str, ...]) -> tuple[TextureShape, int]:
    """The dimension among the operands, and its place."""
    for place, operand in enumerate(i.operands):
        if isinstance(operand, Name) and operand.text in modifiers:
            return _SHAPES[operand.text], place
    raise i.unknown("a dimension that has no counterpart")


@dataclass(frozen=True)
class TextureAccess:
    """What a texture instruction names: coordinates, words after them, the object, the mask."""

    shape: TextureShape
    coordinates: list[Value]
    extra: list[Value]
    place: Value
    mask: Operand | None


def _access(
    ctx: LoweringContext,
    i: DecodedInstruction,
    modifiers: tuple[str, ...],
    extra: int,
    bindless: bool,
) -> TextureAccess:
    """Read the operands between the two targets and the mask.

    Two registers hold the words. Where the handle is in a register (.B), the second begins with it,
    and the first has the coordinates; else .SCR splits all words: at most two in the second one.
    Without .SCR the first has the coordinates, the second the rest. A uniform register with the
    handle is followed by a zero before sm_100.
    """
    shape, place = _shape(i, modifiers)
    rest, sources = i.operands[place + 1 :], i.operands[2:place]
    handle = () if bindless else sources[-1 if _handle_ends(i, place) else -2 :]
    registers = sources[: len(sources) - len(handle)]
    total = shape.words + extra
    if len(rest) > 1 or (total > 4 and i.has("SCR")):
        raise i.unknown("operands that no such texture has")
    in_first = shape.words
    if i.has("SCR") and not bindless:
        in_first = total if len(registers) == 1 else max(min(total - 1, 2), 1)
    first, second = registers[0], registers[-1]
    if not (isinstance(first, Register) and isinstance(second, Register)) or len(registers) > 2:
        raise i.unknown("coordinates that are no registers")
    later = [ctx.register(second.following(n)) for n in range(total - in_first + bindless)]
    words = [ctx.register(first.following(n)) for n in range(in_first)] + later[bindless:]
    handle_value = _pointer(ctx, i, later[0]) if bindless else _handle(ctx, i, *handle)
    return TextureAccess(
        shape, words[: shape.words], words[shape.words :], handle_value, (*rest, None)[0]
    )


def _handle_ends(i: DecodedInstruction, place: int) -> bool:
    """Whether a uniform register with the handle is the last operand before the dimension."""
    last = i.operands[place - 1]
    return isinstance(last, Register) and last.file == "UR"


def _write_texel(
    ctx: LoweringContext, i: DecodedInstruction, texel: Value, mask: Operand | None
) -> None:
    """Components that the mask names: the first two from the second target on, then the others."""
    if mask is not None and not isinstance(mask, Immediate):
        raise i.unknown("a mask of components that is no literal")
    components = mask.integer if mask is not None else _ALL
    later, earlier = i.operands[0], i.operands[1]
    if not (isinstance(later, Register) and isinstance(earlier, Register)):
        raise i.unknown("a target that is no register")
    words = [ctx.ir.cast("bitcast", ctx.ir.element(texel, n, "float"), "i32") for n in range(4)]
    for low, high in zip(words[::2], words[1::2], strict=True):
        ctx.handles.set_above(low, high)  # textures have handles in them, too: two words each
    chosen = [word for n, word in enumerate(words) if components >> n & 1]
    for count, word in enumerate(chosen):
        target = earlier.following(count) if count < 2 else later.following(count - 2)
        ctx.write(target, word)


_SAMPLED = ("1D", "2D", "3D", "ARRAY_1D", "ARRAY_2D", "CUBE", "ARRAY_CUBE")


@lowers("TEX{,.SCR}{,.B}{,.LL,.LZ}{,.NODEP}", has_effect=True)
def sample(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Filter texels around a place; the level of detail is a word after the coordinates.

    Where the program names none, which is the base level, ptxas asks for level -32, and for sm_120
    without a level.
    """
    has_level = i.has("LL")
    if not (has_level or i.has("LZ") or _handle_ends(i, _shape(i, _SAMPLED)[1])):
        raise i.unknown("a level of detail that the instruction does not name")
    access = _access(ctx, i, _SAMPLED, int(has_level), bindless=i.has("B"))
    numbers = _on_a_cube(ctx, access) if access.shape.cube else _coordinates(ctx, access)
    if access.shape.name == "2d":
        numbers[1] = _row(ctx, access.place, numbers[1], float_bits(_HALF))
    numbers += [ctx.ir.cast("bitcast", level, "float") for level in access.extra]
    name = f"llvm.amdgcn.image.sample.{'l' if has_level else 'lz'}.{access.shape.name}.v4f32.f32"
    _write_texel(ctx, i, _sampled(ctx, access, name, i32(_ALL), numbers), access.mask)


def _row(ctx: LoweringContext, place: Value, number: Value, in_one_row: Value) -> Value:
    """The second coordinate, or its change: ptxas samples textures of one dimension as of two.

    Nvidia's unit ignores the second there; here it is ``in_one_row``, the middle of the one row.
    """
    word = ctx.ir.load("i32", ctx.ir.offset(place, i64(_TYPE_OFFSET)), 4, note=INVARIANT)
    has_one_row = ctx.ir.icmp("eq", ctx.ir.op("lshr", word, i32(_TYPE_SHIFT)), i32(_TYPE_1D))
    return ctx.select(has_one_row, in_one_row, number)


def _sampled(
    ctx: LoweringContext, access: TextureAccess, name: str, mask: Value, numbers: list[Value]
) -> Value:
    image = _descriptor(ctx, access.place, 8)
    sampler = _descriptor(ctx, access.place, 4, _SAMPLER_OFFSET)
    return ctx.ir.call(_TEXEL, name, mask, *numbers, image, sampler, FALSE, i32(0), i32(0))


def _coordinates(ctx: LoweringContext, access: TextureAccess) -> list[Value]:
    """Numbers in the order of the intrinsics: SASS has the layer, an integer, in front."""
    words = access.coordinates
    if not access.shape.layered:
        return [ctx.ir.cast("bitcast", word, "float") for word in words]
    layer = ctx.ir.cast("uitofp", _layer(ctx, access), "float")
    return [*(ctx.ir.cast("bitcast", word, "float") for word in words[1:]), layer]


def _layer(ctx: LoweringContext, access: TextureAccess) -> Value:
    return ctx.ir.op("and", access.coordinates[0], i32(_LAST_LAYER))


def _on_a_cube(ctx: LoweringContext, access: TextureAccess) -> list[Value]:
    """The place on a face, and the face as a layer: HIP has no cube maps, but arrays of layers.

    AMD's instructions choose the face as an H200 does: of magnitudes that are equal, z goes before
    y, and y before x. In SASS the greatest has been made 1, so that the others are within the face.
    """
    x, y, z = (ctx.ir.cast("bitcast", word, "float") for word in access.coordinates[-3:])
    face, across, down = (
        ctx.ir.call("float", f"llvm.amdgcn.cube{name}", x, y, z) for name in ("id", "sc", "tc")
    )
    half = float_bits(_HALF)
    s, t = (ctx.ir.call("float", "llvm.fma.f32", part, half, half) for part in (across, down))
    if not access.shape.layered:
        return [s, t, face]
    word = ctx.ir.load("i32", ctx.ir.offset(access.place, i64(_DEPTH_OFFSET)), 4, note=INVARIANT)
    last = ctx.ir.op("and", word, i32(_DEPTH_MASK))
    cubes = ctx.ir.op("udiv", ctx.ir.op("add", last, i32(1)), i32(_FACES))
    cube = ctx.ir.call("i32", "llvm.umin.i32", _layer(ctx, access), ctx.ir.op("sub", cubes, i32(1)))
    first = ctx.ir.cast("uitofp", ctx.ir.op("mul", cube, i32(_FACES)), "float")
    return [s, t, ctx.ir.result("float", f"fadd {first}, {face.name}")]


@lowers("TLD{,.SCR}{,.B}.LZ{,.NODEP}", has_effect=True)
def fetch(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A texel of linear memory, as ``tex1Dfetch`` reads it; CUDA reads no other by index."""
    access = _access(ctx, i, ("1D",), 0, bindless=i.has("B"))
    buffer = _descriptor(ctx, access.place, 4)
    name = "llvm.amdgcn.struct.buffer.load.format.v4f32"
    texel = ctx.ir.call(_TEXEL, name, buffer, access.coordinates[0], i32(0), i32(0), i32(0))
    _write_texel(ctx, i, texel, access.mask)


_WITH_GRADIENTS = ("1D", "2D", "ARRAY_1D", "ARRAY_2D")


@lowers("TXD{,.B}{,.NODEP}", has_effect=True)
def sample_by_gradients(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Filter texels around a place; how it changes from pixel to pixel chooses the level of detail.

    The first register has the handle (.B), the coordinates and then, other than in TEX, the layer;
    the second the changes of each coordinate along x and along y.
    """
    shape, at = _shape(i, _WITH_GRADIENTS)
    rest, sources = i.operands[at + 1 :], i.operands[2:at]
    first, second, handle = sources[0], sources[1], sources[2:]
    bindless = i.has("B")
    if not isinstance(first, Register) or not isinstance(second, Register):
        raise i.unknown("coordinates that are no registers")
    if len(rest) > 1 or len(handle) > 2 or bindless != (not handle):
        raise i.unknown("operands that no such texture has")
    words = [ctx.register(first.following(n)) for n in range(shape.words + bindless)]
    place = _pointer(ctx, i, words.pop(0)) if bindless else _handle(ctx, i, *handle)
    if shape.layered:  # where TEX has it
        words.insert(0, words.pop())
    access = TextureAccess(shape, words, [], place, (*rest, None)[0])
    numbers = _coordinates(ctx, access)
    changes = [
        ctx.ir.cast("bitcast", ctx.register(second.following(n)), "float")
        for n in range(2 * shape.axes)
    ]
    if shape.name == "2d":
        numbers[1] = _row(ctx, place, numbers[1], float_bits(_HALF))
        changes[2:] = [_row(ctx, place, change, float_bits(0)) for change in changes[2:]]
    name = f"llvm.amdgcn.image.sample.d.{shape.name}.v4f32.f32.f32"
    numbers = [*changes[::2], *changes[1::2], *numbers]
    _write_texel(ctx, i, _sampled(ctx, access, name, i32(_ALL), numbers), access.mask)


_COMPONENTS = ("R", "G", "B", "A")


@lowers("TLD4{,.SCR}.{R,G,B,A}{,.B}{,.NODEP}", has_effect=True)
def gather(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One component of the four texels that filtering would use."""
    component, *more = (m for m in i.modifiers if m != "SCR")
    access = _access(ctx, i, ("2D",), 0, bindless="B" in more)
    mask = i32(1 << _COMPONENTS.index(component))
    name = "llvm.amdgcn.image.gather4.lz.2d.v4f32.f32"
    texels = _sampled(ctx, access, name, mask, _coordinates(ctx, access))
    _write_texel(ctx, i, texels, access.mask)


# Surfaces: bytes as they are, through a descriptor whose format is integers of the texel's size.
_RAW_FORMATS = {
    1: 5,
    2: 11,
    4: 20,
    8: 48,
    16: 61,
}  # {8,16,32,32_32,32_32_32_32}_UINT, RDNA3 ISA 9.7
_FORMAT_MASK = 0xFF
_SELECT_ALL = 4 | 5 << 3 | 6 << 6 | 7 << 9  # X, Y, Z, W to themselves
_SELECT_MASK = 0xFFF
_CHANNEL_SIZES, _CHANNEL_COUNTS = 0x99245744, 0xAA0040
"""Two bits each: the binary logarithms of a channel's bytes by HSA channel type, and of the number
of channels by HSA channel order."""


def _surface(
    ctx: LoweringContext, i: DecodedInstruction, sources: list[Operand], size: int
) -> Value:
    """The descriptor of a surface whose texels have ``size`` bytes.

    CUDA reads texels as bytes; an image instruction converts them by the descriptor's format, so
    that another one is put in. Where texels have another size, null is read: a fault.
    """
    if len(sources) not in (1, 2):
        raise i.unknown("a handle of an unknown shape")
    place = _handle(ctx, i, *sources)
    kinds = [
        ctx.ir.load("i32", ctx.ir.offset(place, i64(offset)), 4, note=INVARIANT)
        for offset in (_CHANNEL_TYPE_OFFSET, _CHANNEL_ORDER_OFFSET)
    ]
    logarithm = i32(0)
    for kind, sizes in zip(kinds, (_CHANNEL_SIZES, _CHANNEL_COUNTS), strict=True):
        bits = ctx.ir.op(
            "lshr", i32(sizes), ctx.ir.op("and", ctx.ir.op("shl", kind, i32(1)), i32(31))
        )
        logarithm = ctx.ir.op("add", logarithm, ctx.ir.op("and", bits, i32(3)))
    fits = ctx.ir.icmp("eq", logarithm, i32(size.bit_length() - 1))
    place = ctx.select(fits, place, Value(place.type, "null"))
    image = _descriptor(ctx, place, 8)
    shift = ctx.environment.target.image_format_shift
    assert shift is not None
    for index, cleared, put in (
        (1, _FORMAT_MASK << shift, _RAW_FORMATS[size] << shift),
        (3, _SELECT_MASK, _SELECT_ALL),
    ):
        other_bits = ctx.ir.op("and", ctx.ir.element(image, index, "i32"), i32(~cleared))
        word = ctx.ir.op("or", other_bits, i32(put))
        image = ctx.ir.result(image.type, f"insertelement {image}, {word}, i32 {index}")
    return image


def _surface_size(i: DecodedInstruction) -> int:
    return {"U8": 1, "U16": 2, "64": 8, "128": 16}.get(i.one_of("U8", "U16", "64", "128"), 4)


def _texel_place(
    ctx: LoweringContext, i: DecodedInstruction, shape: TextureShape, size: int
) -> list[Value]:
    """Indices: SASS has bytes along x, and the layer last."""
    address = address_of(i)
    if len(address.terms) != 1 or address.offset:
        raise i.unknown("coordinates that are no register")
    first = address.terms[0]
    words = [ctx.register(first.following(n) if n else first) for n in range(shape.words)]
    return [ctx.ir.op("lshr", words[0], i32(size.bit_length() - 1)), *words[1:]]


def _nearest_place(
    ctx: LoweringContext, shape: TextureShape, size: int, place: list[Value], image: Value
) -> list[Value]:
    """Indices of the texel of the surface that is nearest to ``place``, which may be outside.

    Of a layer that there is not, the last.
    """
    kind = f"llvm.amdgcn.image.getresinfo.{shape.name}.v4f32.i32"
    sizes = ctx.ir.call(_TEXEL, kind, i32(_ALL), i32(0), image, i32(0), i32(0))
    # A byte's place has a sign, which the shift to a texel's has taken away.
    shift = i32(size.bit_length() - 1)
    signed = [ctx.ir.op("ashr", ctx.ir.op("shl", place[0], shift), shift), *place[1:]]
    nearest = []
    for number, index in enumerate(signed):
        count = ctx.ir.cast("bitcast", ctx.ir.element(sizes, number, "float"), "i32")
        last = ctx.ir.op("sub", count, i32(1))
        is_layer = shape.layered and number == shape.axes
        least = index if is_layer else ctx.ir.call("i32", "llvm.smax.i32", index, i32(0))
        lesser = "llvm.umin.i32" if is_layer else "llvm.smin.i32"
        nearest.append(ctx.ir.call("i32", lesser, least, last))
    return nearest


_FORM_OF_SURFACES = "{1D,2D,3D,1D_ARRAY,2D_ARRAY}{,.U8,.U16,.64,.128}.STRONG.{SM,CTA}{,.TRAP,.IGN}"


def _is_clamped(i: DecodedInstruction) -> bool:
    """PTX's ``.clamp``: nothing is said of places outside; ``.trap`` and ``.zero`` are named."""
    return not (i.has("TRAP") or i.has("IGN"))


@lowers(f"SULD.D.BA.{_FORM_OF_SURFACES}", has_effect=True)
def load_texel(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The bytes of a texel; outside the surface, where CUDA ends the program or reads zeros, 0."""
    shape, size = _SHAPES[i.modifiers[2]], _surface_size(i)
    place = _texel_place(ctx, i, shape, size)
    image = _surface(ctx, i, [o for o in i.operands[1:] if not isinstance(o, Address)], size)
    if _is_clamped(i):
        place = _nearest_place(ctx, shape, size, place, image)
    arguments = [i32(_ALL), *place, image, i32(0), i32(0)]
    texel = ctx.ir.call(_TEXEL, f"llvm.amdgcn.image.load.{shape.name}.v4f32.i32", *arguments)
    target = i.operands[0]
    if not isinstance(target, Register):
        raise i.unknown("a target that is no register")
    for number in range(max(size // 4, 1)):
        ctx.write(target.following(number), ctx.ir.element(texel, number, "float"))


@lowers(f"SUST.D.BA.{_FORM_OF_SURFACES}", has_effect=True)
def store_texel(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Write the bytes of a texel; nothing outside the surface."""
    shape, size = _SHAPES[i.modifiers[2]], _surface_size(i)
    place = _texel_place(ctx, i, shape, size)
    at = i.operands.index(address_of(i))
    source = i.operands[at + 1]
    if not isinstance(source, Register):
        raise i.unknown("a value that is no register")
    image = _surface(ctx, i, list(i.operands[at + 2 :]), size)
    words = [ctx.register(source.following(n) if n else source) for n in range(max(size // 4, 1))]
    if size < 4:  # the low bytes: image instructions store the greatest number of a format instead
        words[0] = ctx.ir.op("and", words[0], i32((1 << 8 * size) - 1))
    words += [i32(0)] * (4 - len(words))
    texel = ctx.ir.vector([ctx.ir.cast("bitcast", word, "float") for word in words])
    if _is_clamped(i):
        place = _nearest_place(ctx, shape, size, place, image)
    arguments = [texel, i32(_ALL), *place, image, i32(0), i32(0)]
    ctx.ir.call_void(f"llvm.amdgcn.image.store.{shape.name}.v4f32.i32", *arguments)
