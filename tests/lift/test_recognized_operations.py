"""Divisions and square roots that ptxas writes in two ways: found whole, and then exact."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.lift import lift_cubin, names_for_host
from cass_ray.lift.analysis import ieee_idioms
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import build
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from tests.lift.test_programs import run

_ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
_PROGRAM = Unit(Path(__file__).parent / "programs", PurePosixPath("whole_operations.cu"))
_OPERATIONS = [
    f"{name}.{kind}" for name in ("division", "reciprocal", "root") for kind in ("f32", "f64")
]

# nvcc 13.0, sm_80: __fsqrt_rn(R4), with ptxas' subroutine.
ROOT = """\
    /*0000*/ LDG.E R4, [R2.64] ;
    /*0010*/ IADD3 R0, R4, -0xd000000, RZ ;
    /*0020*/ MUFU.RSQ R5, R4 ;
    /*0030*/ ISETP.GT.U32.AND P0, PT, R0, 0x727fffff, PT ;
    /*0040*/ @!P0 BRA `(.L_1) ;
    /*0050*/ MOV R8, 0x70 ;
    /*0060*/ CALL.REL.NOINC `(.L_4) ;
    /*0070*/ MOV R5, R0 ;
    /*0080*/ BRA `(.L_2) ;
.L_1:
    /*0090*/ FMUL.FTZ R7, R4, R5 ;
    /*00a0*/ FMUL.FTZ R5, R5, 0.5 ;
    /*00b0*/ FFMA R6, -R7, R7, R4 ;
    /*00c0*/ FFMA R5, R6, R5, R7 ;
.L_2:
    /*00d0*/ STG.E [R2.64], R5 ;
    /*00e0*/ EXIT ;
.L_4:
    /*00f0*/ LOP3.LUT P0, RZ, R4, 0x7fffffff, RZ, 0xc0, !PT ;
    /*0100*/ @!P0 MOV R0, R4 ;
    /*0110*/ @!P0 BRA `(.L_3) ;
    /*0120*/ FSETP.GEU.FTZ.AND P0, PT, R4, RZ, PT ;
    /*0130*/ @!P0 MOV R0, 0x7fffffff ;
    /*0140*/ @!P0 BRA `(.L_3) ;
    /*0150*/ FSETP.GTU.FTZ.AND P0, PT, |R4|, +INF , PT ;
    /*0160*/ @P0 FADD.FTZ R0, R4, 1 ;
    /*0170*/ @P0 BRA `(.L_3) ;
    /*0180*/ FSETP.NEU.FTZ.AND P0, PT, |R4|, +INF , PT ;
    /*0190*/ @P0 FFMA R9, R4, 1.84467440737095516160e+19, RZ ;
    /*01a0*/ @P0 MUFU.RSQ R0, R9 ;
    /*01b0*/ @P0 FMUL.FTZ R6, R9, R0 ;
    /*01c0*/ @P0 FMUL.FTZ R10, R0, 0.5 ;
    /*01d0*/ @!P0 MOV R0, R4 ;
    /*01e0*/ @P0 FADD.FTZ R7, -R6, -RZ ;
    /*01f0*/ @P0 FFMA R7, R6, R7, R9 ;
    /*0200*/ @P0 FFMA R7, R7, R10, R6 ;
    /*0210*/ @P0 FMUL.FTZ R0, R7, 2.3283064365386962891e-10 ;
.L_3:
    /*0220*/ HFMA2.MMA R9, -RZ, RZ, 0, 0 ;
    /*0230*/ RET.REL.NODEC R8 `(_Z1kPf) ;
"""


def lifted(listing: str) -> str:
    text = f".target sm_80\n\nFunction : _Z1kPf\n{listing}"
    made = build(cubin_of(text), text, target=lift_target("gfx1100"))
    assert not made.failures
    return made.text


def is_whole(listing: str) -> bool:
    made = lifted(listing)
    assert ("llvm.amdgcn.rsq" in made or "v_rsq_f32" in made) == ("div_scale" not in made)
    return "call float @llvm.sqrt.f32" in made


def test_a_root_is_found_with_its_slow_path() -> None:
    assert is_whole(ROOT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The order of instructions, copies, registers and the kind of a comparison do not matter.
        ("FMUL.FTZ R7, R4, R5", "FMUL.FTZ R7, R5, R4"),
        ("FFMA R6, -R7, R7, R4", "FFMA R6, R7, -R7, R4"),
        ("MOV R5, R0", "IMAD.MOV.U32 R5, RZ, RZ, R0"),
        ("FSETP.GEU.FTZ.AND P0, PT, R4, RZ, PT", "FSETP.LT.FTZ.AND PT, P0, R4, RZ, PT"),
        ("IADD3 R0, R4, -0xd000000, RZ", "VIADD R0, R4, 0xf3000000"),
    ],
)
def test_other_spellings_are_the_same(old: str, new: str) -> None:
    assert old in ROOT
    assert is_whole(ROOT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0x727fffff", "0x737fffff"),
        ("-0xd000000", "-0xe000000"),
        ("GT.U32", "GT"),
        ("@!P0 BRA `(.L_1)", "@P0 BRA `(.L_1)"),
        ("MUFU.RSQ R5, R4", "MUFU.RCP R5, R4"),
        ("FMUL.FTZ R5, R5, 0.5", "FMUL.FTZ R5, R5, 0.25"),
        ("FFMA R6, -R7, R7, R4", "FFMA R6, R7, R7, R4"),
        ("FFMA R5, R6, R5, R7", "FFMA.RZ R5, R6, R5, R7"),
        ("FFMA R5, R6, R5, R7", "FFMA.FTZ R5, R6, R5, R7"),
        ("MOV R5, R0", "MOV R5, R4"),
        ("2.3283064365386962891e-10", "2.3283064365386962891e-11"),
        ("@!P0 MOV R0, 0x7fffffff", "@!P0 MOV R0, 0x7ffffffe"),
        ("FADD.FTZ R0, R4, 1", "FADD.FTZ R0, R4, 2"),
        ("FFMA R7, R7, R10, R6", "FFMA R7, R7, R10, R7"),
        ("GEU.FTZ", "GEU"),
        # What else the subroutine changes is read behind it.
        ("STG.E [R2.64], R5", "STG.E [R2.64+0x4], R6 ;\n    /*00d8*/ STG.E [R2.64], R5"),
    ],
)
def test_anything_else_is_lifted_as_it_stands(old: str, new: str) -> None:
    assert old in ROOT
    assert not is_whole(ROOT.replace(old, new, 1))


@pytest.mark.nvidia
@pytest.mark.parametrize("architecture", _ARCHITECTURES)
def test_each_operation_of_nvcc_is_found(
    architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    search = ieee_idioms.recognized_operations

    def noted(*arguments: object) -> object:
        operations = search(*arguments)  # type: ignore[arg-type]
        found.extend(each.name for each in operations.values())
        return operations

    monkeypatch.setattr("cass_ray.lift.lowering.flow.control_flow.recognized_operations", noted)
    cubin = find_nvidia().compile(_PROGRAM, (architecture,)).cubins[architecture]
    made = lift_cubin(cubin, "gfx1100")
    assert not made.failures
    assert sorted(found) == _OPERATIONS


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_each_is_the_processors(
    target: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100,000 results of each architecture, and ptxas' own steps lifted, beside the host's."""
    if not whole:
        monkeypatch.setattr(ieee_idioms, "OPERATIONS", {})
    sources = translated(gather(_PROGRAM), make_translator())
    host = find_amd().compile(sources.write(tmp_path / "hip"), target, optimization="-O3")
    for architecture in ("sm_80", "sm_120"):
        cubin = find_nvidia().compile(_PROGRAM, (architecture,)).cubins[architecture]
        made = lift_cubin(
            cubin, target, names=names_for_host(Cubin.parse(cubin), host.device_assembly)
        )
        assert ("call double @llvm.sqrt.f64" in made.llvm_ir) == whole
        lines = run(host.host_assembly, made.assembly, tmp_path / architecture, target).splitlines()
        results = [line for line in lines if line.endswith("wrong")]
        assert len(results) == 10
        assert all(line.endswith(": 0 of 20000 wrong") for line in results), results
