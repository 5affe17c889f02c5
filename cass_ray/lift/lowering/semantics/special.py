"""Special registers, the special function unit, and instructions that need no code here."""

from __future__ import annotations

from cass_ray.lift.frontend.driver_words import CLUSTER_SIZE
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Name, Operand
from cass_ray.lift.llvm.builder import Value, float_bits, i32, i64
from cass_ray.lift.lowering import float_constants
from cass_ray.lift.lowering.cluster_launch import RANK
from cass_ray.lift.lowering.clusters import block_id, thread_id
from cass_ray.lift.lowering.context import LoweringContext, float64_bits
from cass_ray.lift.lowering.lanes import lane
from cass_ray.lift.lowering.semantics.float32 import flush, in_mode
from cass_ray.lift.lowering.table import lowers

_IDS = {
    "SR_TID.X": (thread_id, 0),
    "SR_TID.Y": (thread_id, 1),
    "SR_TID.Z": (thread_id, 2),
    "SR_CTAID.X": (block_id, 0),
    "SR_CTAID.Y": (block_id, 1),
    "SR_CTAID.Z": (block_id, 2),
}
_ZEROS = ("SRZ", "SR_VIRTID", "SR_VIRTUALSMID", "SR_LMEMHIOFF")
"""SR_VIRTID and SR_VIRTUALSMID: ``%warpid`` and ``%smid``, which may change while a thread runs.
SR_LMEMHIOFF: the least address of the stack, with which code of ``-G`` compares its stack pointer;
the stack starts at 0 here."""


def special_register(ctx: LoweringContext, i: DecodedInstruction, operand: Operand) -> Value:
    """The value of a 32-bit special register. Raises :class:`UnknownForm` for others."""
    name = operand.text if isinstance(operand, Name) else ""
    if name in _IDS:
        number_of, axis = _IDS[name]
        return number_of(ctx, axis)
    if name in _ZEROS:
        return i32(0)
    if name == "SR_CgaCtaId":
        return RANK if ctx.environment.in_cluster else i32(0)
    if name == "SR_CgaSize":
        return i32(CLUSTER_SIZE)
    if name == "SR_LANEID":
        return lane(ctx)
    if name.startswith("SR_NTID."):
        return ctx.banks.block_size("XYZ".index(name[-1]))
    if name.startswith("SR_NCTAID."):
        return ctx.banks.grid_size("XYZ".index(name[-1]))
    if name == "SR_TID":
        x, y, z = (thread_id(ctx, axis) for axis in range(3))
        packed = ctx.ir.op("or", x, ctx.ir.op("shl", y, i32(16)))
        return ctx.ir.op("or", packed, ctx.ir.op("shl", z, i32(26)))
    if name.endswith("MASK"):
        return _lane_mask(ctx, i, name)
    if name in ("SR_SWINLO", "SR_SWINHI"):
        return ctx.banks.shared_window(is_high=name.endswith("HI"))
    if name in ("SR_CLOCKLO", "SR_GLOBALTIMERLO"):
        return ctx.ir.low(clock(ctx, name))
    if name in ("SR_CLOCKHI", "SR_GLOBALTIMERHI"):
        return ctx.ir.high(clock(ctx, name))
    raise i.unknown(f"special register {name or operand}")


def _lane_mask(ctx: LoweringContext, i: DecodedInstruction, name: str) -> Value:
    bit = ctx.ir.op("shl", i32(1), lane(ctx))
    below = ctx.ir.op("sub", bit, i32(1))
    masks = {
        "SR_EQMASK": lambda: bit,
        "SR_LTMASK": lambda: below,
        "SR_LEMASK": lambda: ctx.ir.op("or", bit, below),
        "SR_GEMASK": lambda: ctx.ir.invert(below),
        "SR_GTMASK": lambda: ctx.ir.invert(ctx.ir.op("or", bit, below)),
    }
    if name not in masks:
        raise i.unknown(f"special register {name}")
    return masks[name]()


_NANOSECONDS_OF_A_TICK = 10


def clock(ctx: LoweringContext, name: str) -> Value:
    """A counter of 64 bits: the shader clock, or nanoseconds for the global timer.

    AMD's constant clock has 100 MHz. It stands for the shader's where that one has so few bits that
    a loop which waits for a difference would not end.
    """
    is_timer = "GLOBALTIMER" in name
    step = _NANOSECONDS_OF_A_TICK if is_timer else ctx.environment.target.cycles_of_a_tick
    if step is None:
        return ctx.ir.call("i64", "llvm.readcyclecounter")
    return ctx.ir.op("mul", ctx.ir.call("i64", "llvm.readsteadycounter"), i64(step))


@lowers("S2R", "S2UR", has_effect=True)
def read_special(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Read a special register of 32 bits into a register, uniform or not."""
    ctx.write(i.operands[0], special_register(ctx, i, i.operands[1]))


@lowers("CS2R{,.32}", "CS2UR{,.32}", has_effect=True)
def read_counter(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Read a special register of 64 bits; SRZ is zero."""
    target, source = i.operands.exactly(2)
    name = source.text if isinstance(source, Name) else ""
    if i.has("32"):
        ctx.write(target, special_register(ctx, i, source))
    elif name == "SRZ":
        ctx.write_wide(target, i64(0))
    elif name in ("SR_CLOCKLO", "SR_GLOBALTIMERLO"):
        ctx.write_wide(target, clock(ctx, name))
    else:
        raise i.unknown(f"special register {name} of 64 bits")


_FUNCTIONS = {
    "RCP": "v_rcp_f32",
    "RSQ": "v_rsq_f32",
    "SQRT": "v_sqrt_f32",
    "EX2": "v_exp_f32",
    "LG2": "v_log_f32",
    "SIN": "v_sin_f32",
    "COS": "v_cos_f32",
}
_INTRINSICS = {
    "RCP": "llvm.amdgcn.rcp.f32",
    "RSQ": "llvm.amdgcn.rsq.f32",
    "SQRT": "llvm.amdgcn.sqrt.f32",
    "EX2": "llvm.amdgcn.exp2.f32",
    "LG2": "llvm.amdgcn.log.f32",
    "SIN": "llvm.amdgcn.sin.f32",
    "COS": "llvm.amdgcn.cos.f32",
}
_TURNS_LIMIT = float_bits(0x43800000)  # 256: v_sin_f32 and v_cos_f32 give no sine beyond


@lowers("MUFU.{RCP,RSQ,SQRT,EX2,LG2,SIN,COS}")
def special_function(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One instruction on either machine, to about one unit in the last place; angles in turns.

    Nvidia's unit takes denormal numbers as zeros and gives none; programs scale around it.
    """
    value = ctx.float32(i.operands[1])
    name, bits = i.modifiers[0], value.single_bits
    if name == "EX2" and bits is not None:
        power = float_constants.power_of_two(bits)
        if power is not None:
            ctx.write(i.operands[0], float_bits(power))
            return
    if name in ("SIN", "COS"):
        magnitude = ctx.ir.call("float", "llvm.fabs.f32", value)
        fraction = ctx.ir.call("float", "llvm.amdgcn.fract.f32", value)
        value = ctx.select(ctx.ir.fcmp("ole", magnitude, _TURNS_LIMIT), value, fraction)
    if name == "SIN":
        value = flush(ctx, value)
    is_normal = ctx.floats.is_normal(value)
    if not (ctx.environment.flushes_denormals or is_normal):
        result = in_mode(ctx, _FUNCTIONS[name], "float", [value], flush=True)
    elif name == "RCP" and not is_normal:  # LLVM folds that of a constant as IEEE 754 has it
        result = flush(ctx, ctx.ir.call("float", _INTRINSICS[name], flush(ctx, value)))
    else:
        result = ctx.ir.call("float", _INTRINSICS[name], value)
    ctx.write(i.operands[0], result)


_SMALL = float_bits(0x3D000000)  # 1/32: below it the series is closer
_THIRD = float_bits(0xBEAAAAAB)  # -1/3


@lowers("MUFU.TANH")
def hyperbolic_tangent(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The hyperbolic tangent, to about eleven bits on Nvidia's unit."""
    ctx.write(i.operands[0], _tanh(ctx, ctx.float32(i.operands[1])))


def _tanh(ctx: LoweringContext, value: Value) -> Value:
    """1 - 2 / (e^2x + 1), and x - x^3 / 3 near zero."""
    doubled = ctx.ir.op("fmul", value, float_bits(0x4038AA3B))  # 2 log2(e)
    power = ctx.ir.call("float", "llvm.amdgcn.exp2.f32", doubled)
    one = float_bits(0x3F800000)
    inverse = ctx.ir.call("float", "llvm.amdgcn.rcp.f32", ctx.ir.op("fadd", power, one))
    far = ctx.ir.op("fadd", one, ctx.ir.op("fmul", float_bits(0xC0000000), inverse))
    square = ctx.ir.op("fmul", value, value)
    factor = ctx.ir.call("float", "llvm.fma.f32", square, _THIRD, one)
    near = ctx.ir.op("fmul", value, factor)
    is_small = ctx.ir.fcmp("olt", ctx.ir.call("float", "llvm.fabs.f32", value), _SMALL)
    return ctx.select(is_small, near, far)


@lowers("MUFU.{EX2,TANH}.{F16,BF16}")
def half_function(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compute in single precision and round to half precision."""
    kind = "bfloat" if i.has("BF16") else "half"
    value = ctx.ir.cast("fpext", ctx.half(i.operands[1], kind), "float")
    result = ctx.ir.call("float", _INTRINSICS["EX2"], value) if i.has("EX2") else _tanh(ctx, value)
    half = ctx.ir.cast("bitcast", ctx.ir.cast("fptrunc", result, kind), "i16")
    ctx.write(i.operands[0], ctx.ir.cast("zext", half, "i32"))


@lowers("MUFU.{RCP64H,RSQ64H}")
def double_estimate(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """High word of an estimate for the double with this high word; Newton's steps follow."""
    operand = i.operands[1]
    if isinstance(operand, Immediate):
        word = i32(float64_bits(operand) >> 32)
        value = ctx.ir.cast("bitcast", ctx.ir.pair(i32(0), word), "double")
    else:
        value = ctx.float64_from_high_word(operand, flush=True)
    name = "llvm.amdgcn.rcp.f64" if i.has("RCP64H") else "llvm.amdgcn.rsq.f64"
    estimate = ctx.ir.call("double", name, value)
    ctx.write(i.operands[0], ctx.ir.high(ctx.ir.cast("bitcast", estimate, "i64")))


@lowers(
    "NOP",
    "YIELD",
    "PMTRIG",
    "ENDCOLLECTIVE",
    "DEPBAR{,.LE,.GE}",
    "LDGDEPBAR",
    "ERRBAR",
    "CCTL{,.E}.{IVALL,PF1,PF2,PF1.5,DV,RS,IV,WB}",
    "CCTLL.IVALL",
    "CCTLT.IVALL",
    "PREFETCH",
    "CGAERRBAR",
    "FENCE.VIEW.ASYNC.{S,G}",
    "ACQBULK",
    "PREEXIT",
    "UTMACMDFLUSH",
    "UBLKPF.L2",
    "UVIRTCOUNT.DEALLOC.SMPOOL",
)
def nothing(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Convergence, caches, prefetch and copies in flight: nothing to do where memory is coherent.

    Threads that reconverge in SASS do so at the same places in LLVM's code, and LDGSTS has copied
    when it is over.
    """
    del ctx, i


@lowers("LEPC")
def code_address(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The number of this place in the code, or of a label."""
    ctx.write_wide(i.operands[0], ctx.code_address(i))


@lowers("NANOSLEEP{,.SYNCS,.WARP}", has_effect=True)
def sleep(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Let other waves run; how long is not kept, for nothing can depend on it."""
    del i
    ctx.ir.call_void("llvm.amdgcn.s.sleep", i32(1))
