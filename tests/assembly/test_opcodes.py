from __future__ import annotations

import pytest

from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.opcodes import (
    Category,
    InstructionSet,
    category,
    category_if_known,
    histogram,
)
from tests.assembly.host_assembly import mnemonics
from tests.assembly.samples import DATA, read

# What the vendors' manuals file the instructions under: CUDA Binary Utilities, "Instruction Set
# Reference"; AMD "RDNA3 Instruction Set Architecture"; Intel SDM volume 2.
EXPECTED = {
    InstructionSet.SASS: {
        Category.INTEGER: "IADD3 IMAD.WIDE LOP3.LUT SHF.L.U32 POPC"
        " FLO.U32 LEA.HI.X VIADD UIADD3 IABS",
        Category.FLOATING_POINT: "FADD FFMA.FTZ FMNMX DMUL DFMA"
        " HFMA2 HADD2.F32 HMMA.16816.F32 HGMMA FSEL",
        Category.SPECIAL_FUNCTION: "MUFU.RCP MUFU.EX2 MUFU.RSQ64H",
        Category.CONVERSION: "F2I.TRUNC.NTZ I2F.RP F2F.F64.F32 F2FP.BF16.PACK_AB FRND I2FP.F32.S32",
        Category.COMPARISON: "ISETP.GE.AND FSETP.NEU.AND DSETP.MAX.AND HSETP2"
        " PLOP3.LUT R2P P2R UISETP.GT",
        Category.MOVE: "MOV IMAD.MOV.U32 UMOV SEL PRMT S2R CS2R.32 S2UR",
        Category.MEMORY_GLOBAL: "LDG.E.128 STG.E LD.E ST.E.U8 LDGSTS.E.BYPASS.128",
        Category.MEMORY_SHARED: "LDS.U.64 STS LDSM.16.M88.4",
        Category.MEMORY_CONSTANT: "LDC.64 ULDC LDCU.128",
        Category.MEMORY_OTHER: "LDL.LU STL.64 TEX.SCR.LL TLD4 SULD.D.BA.2D SUST",
        Category.ATOMIC: "ATOM.E.ADD ATOMG.E.CAS ATOMS.ADD RED.E.ADD.STRONG.GPU REDG.E.ADD",
        Category.CONTROL_FLOW: "BRA BRX CALL.REL.NOINC RET.REL.NODEC EXIT"
        " BSSY BSYNC BREAK BMOV.32 YIELD",
        Category.SYNCHRONIZATION: "BAR.SYNC.DEFER_BLOCKING MEMBAR.SC.GPU DEPBAR.LE"
        " WARPSYNC ERRBAR LDGDEPBAR",
        Category.WARP: "SHFL.DOWN VOTE.ANY VOTEU.ANY MATCH.ALL REDUX.SUM",
        Category.OTHER: "NOP CCTL.IVALL",
    },
    InstructionSet.RDNA3: {
        Category.INTEGER: "v_add_nc_u32_e32 v_mul_lo_u32 s_add_i32"
        " s_lshl_b32 v_mad_u64_u32 v_bfe_u32",
        Category.FLOATING_POINT: "v_add_f32_e32 v_fma_f64"
        " v_pk_add_f16 v_dual_fmac_f32 v_div_scale_f32"
        " v_wmma_f32_16x16x16_f16 v_max_f32_e32 v_dot2_f32_f16 v_div_fixup_f32 v_ldexp_f32",
        Category.SPECIAL_FUNCTION: "v_rcp_f32_e32 v_sqrt_f32_e32 v_exp_f32_e32 v_rsq_f64_e32",
        Category.CONVERSION: "v_cvt_f32_u32_e32 v_cvt_pk_i16_f32 v_rndne_f32_e32 v_floor_f64_e32",
        Category.COMPARISON: "v_cmp_gt_i32_e32 v_cmpx_lt_f32_e64 s_cmp_eq_u32 s_and_saveexec_b32"
        " s_bitcmp1_b32 s_and_not1_wrexec_b32",
        Category.MOVE: "v_mov_b32_e32 v_dual_mov_b32 s_mov_b64"
        " v_cndmask_b32_e32 s_cselect_b32 v_perm_b32",
        Category.MEMORY_GLOBAL: "global_load_b128 global_store_b32 flat_load_b32 buffer_load_b32",
        Category.MEMORY_SHARED: "ds_load_b32 ds_store_2addr_b32 ds_load_u16",
        Category.MEMORY_CONSTANT: "s_load_b128 s_buffer_load_b32",
        Category.MEMORY_OTHER: "scratch_load_b32 image_sample image_load",
        Category.ATOMIC: "global_atomic_add_u32 ds_add_u32"
        " ds_cmpstore_rtn_b32 flat_atomic_cmpswap_b32"
        " ds_max_rtn_f32",
        Category.CONTROL_FLOW: "s_branch s_cbranch_execz s_endpgm s_setpc_b64 s_swappc_b64",
        Category.SYNCHRONIZATION: "s_barrier s_waitcnt s_waitcnt_vscnt buffer_gl0_inv",
        Category.WARP: "ds_bpermute_b32 v_readlane_b32"
        " v_permlanex16_b32 v_add_f32_dpp v_mbcnt_lo_u32_b32",
        Category.OTHER: "s_nop s_delay_alu s_clause s_sendmsg s_code_end",
    },
    InstructionSet.X86: {
        Category.INTEGER: "addq subl imulq leaq andl shrq popcntq xorl incl pxor paddd",
        Category.FLOATING_POINT: "addss mulsd divps vfmadd231sd xorps vaddpd subsd",
        Category.SPECIAL_FUNCTION: "sqrtsd rsqrtss fsin",
        Category.CONVERSION: "cvtsi2sdl cvttss2si cltq cqto vcvtps2pd roundsd",
        Category.COMPARISON: "cmpl testq sete setnbe ucomisd comiss btl",
        Category.MOVE: "movq movabsq movss movaps cmovne pushq popq xchgl leave shufps rep\tstosq",
        Category.ATOMIC: "lock\taddl cmpxchgl xaddq",
        Category.CONTROL_FLOW: "jmp jne call callq ret retq ud2",
        Category.SYNCHRONIZATION: "mfence pause",
        Category.OTHER: "nop endbr64 prefetcht0",
    },
}


@pytest.mark.parametrize("instruction_set", list(InstructionSet))
def test_mnemonics_fall_where_the_manuals_file_them(instruction_set: InstructionSet) -> None:
    wrong = {
        mnemonic: category(instruction_set, mnemonic.replace("\t", " "))
        for expected, mnemonics in EXPECTED[instruction_set].items()
        for mnemonic in mnemonics.split(" ")
        if category(instruction_set, mnemonic.replace("\t", " ")) is not expected
    }
    assert wrong == {}


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.sass")))
def test_all_sass_of_the_samples_is_known(name: str) -> None:
    mnemonics = [i.mnemonic for f in sass.parse(read(name)).functions for i in f.instructions]
    assert {m for m in mnemonics if category_if_known(InstructionSet.SASS, m) is None} == set()


def test_all_rdna3_and_x86_of_the_samples_is_known() -> None:
    rdna3_lines = rdna3.parse(read("kernels.gfx1100.s")).instructions()
    device = [mnemonic for line in rdna3_lines for mnemonic in line.mnemonics]
    assert {m for m in device if category_if_known(InstructionSet.RDNA3, m) is None} == set()
    for name in ("launch.cuda.s", "launch.hip.s"):
        host = set(mnemonics(read(name)))
        assert host
        assert {m for m in host if category_if_known(InstructionSet.X86, m) is None} == set()


def test_an_unknown_mnemonic_is_other() -> None:
    assert category_if_known(InstructionSet.SASS, "QUUX") is None
    assert category(InstructionSet.SASS, "QUUX") is Category.OTHER


def test_histogram_counts_both_halves_of_a_dual_issue() -> None:
    line = rdna3.parse("v_dual_mov_b32 v2, s1 :: v_dual_add_f32 v1, s0, v1\n").lines[0]
    counts = histogram(InstructionSet.RDNA3, line.mnemonics)
    assert counts == {Category.MOVE: 1, Category.FLOATING_POINT: 1}
