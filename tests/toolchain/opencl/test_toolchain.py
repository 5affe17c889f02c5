"""OpenCL to machine code of both sides, and by a driver."""

from __future__ import annotations

import ctypes.util
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.lift.frontend.cubin import architecture
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.opencl.driver import OpenclDriver
from cass_ray.toolchain.opencl.locate import (
    LIBCLC_VARIABLE,
    find_opencl_amd,
    find_opencl_nvidia,
)
from cass_ray.toolchain.opencl.toolchain import STANDARD, OpenclAmd, OpenclNvidia
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS
from cass_ray.toolchain.unit import CompileFailure, Unit


def unit(folder: Path, body: str, parameters: str = "__global float *x") -> Unit:
    (folder / "k.cl").write_text(f"__kernel void k({parameters}) {{ {body} }}\n")
    return Unit(folder, PurePosixPath("k.cl"))


@pytest.fixture(scope="module")
def nvidia() -> OpenclNvidia:
    return find_opencl_nvidia()


@pytest.fixture(scope="module")
def amd() -> OpenclAmd:
    return find_opencl_amd()


@pytest.mark.nvidia
class TestNvidia:
    # Opcodes: CUDA Binary Utilities, instruction set of Ampere. MUFU is the special function unit.
    @pytest.mark.parametrize(
        ("expression", "instruction"),
        [
            ("native_exp(x[i])", "MUFU.EX2"),
            ("native_sin(x[i])", "MUFU.SIN"),
            ("native_log(x[i])", "MUFU.LG2"),
            ("rsqrt(x[i])", "MUFU.RSQ"),
            ("fma(x[i], x[i], 1.0f)", "FFMA"),
            ("as_float(atomic_add((__global int *)x + 1, 3))", "ATOMG"),
        ],
    )
    def test_built_ins_become_instructions(
        self, nvidia: OpenclNvidia, tmp_path: Path, expression: str, instruction: str
    ) -> None:
        made = nvidia.compile(
            unit(tmp_path, f"int i = get_global_id(0); x[i] = {expression};"), ["sm_80"]
        )
        (listing,) = nvidia.nvidia.disassemble([made.cubins["sm_80"]])
        assert instruction in listing
        assert "CALL" not in listing or instruction.startswith("MUFU.SIN")

    def test_every_architecture_and_ptx(self, nvidia: OpenclNvidia, tmp_path: Path) -> None:
        made = nvidia.compile(unit(tmp_path, "x[0] = 1;"), ["sm_80", "sm_89"], want_ptx=True)
        assert list(made.cubins) == ["sm_80", "sm_89"]
        assert ".target sm_89" in made.ptx["sm_89"]
        assert made.host_assembly == ""

    def test_a_processor_that_clang_does_not_know(
        self, nvidia: OpenclNvidia, tmp_path: Path
    ) -> None:
        """The PTX is for the last one before it; the machine code is its own (ELF flags)."""
        made = nvidia.compile(unit(tmp_path, "x[0] = 1;"), ["sm_88", "sm_120"], want_ptx=True)
        assert ".target sm_87" in made.ptx["sm_88"]
        assert ".target sm_90" in made.ptx["sm_120"]
        numbers = [architecture(Cubin.parse(made.cubins[name])) for name in made.cubins]
        assert numbers == [88, 120]

    @pytest.mark.parametrize(
        ("body", "reason", "message"),
        [
            ("x[0] = y;", Reason.COMPILE_ERROR, "undeclared identifier 'y'"),
            ("x[0] = missing_function(1);", Reason.COMPILE_ERROR, "missing_function"),
        ],
    )
    def test_errors_are_the_tools(
        self, nvidia: OpenclNvidia, tmp_path: Path, body: str, reason: Reason, message: str
    ) -> None:
        with pytest.raises(CompileFailure) as failure:
            nvidia.compile(unit(tmp_path, body), ["sm_80"])
        assert failure.value.reason is reason
        assert message in failure.value.diagnostic

    def test_a_file_outside_the_tree_is_not_read(
        self, nvidia: OpenclNvidia, tmp_path: Path
    ) -> None:
        (tmp_path / "k.cl").write_text('#include "/etc/passwd"\n__kernel void k() {}\n')
        with pytest.raises(CompileFailure) as failure:
            nvidia.compile(Unit(tmp_path, PurePosixPath("k.cl")), ["sm_80"])
        assert failure.value.reason is Reason.FORBIDDEN_INCLUDE

    def test_without_a_kernel(self, nvidia: OpenclNvidia, tmp_path: Path) -> None:
        (tmp_path / "k.cl").write_text("float f(float x) { return x; }\n")
        with pytest.raises(CompileFailure) as failure:
            nvidia.compile(Unit(tmp_path, PurePosixPath("k.cl")), ["sm_80"])
        assert failure.value.reason is Reason.NO_DEVICE_CODE

    def test_missing_libclc_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv(LIBCLC_VARIABLE, str(tmp_path))
        with pytest.raises(ToolMissing, match="libclc-19"):
            find_opencl_nvidia()


@pytest.mark.amd
class TestAmd:
    # Instructions: AMD, RDNA3 Instruction Set Architecture, chapter 16.
    @pytest.mark.parametrize(
        ("expression", "instruction"),
        [
            ("native_exp(x[i])", "v_exp_f32"),
            ("native_sin(x[i])", "v_sin_f32"),
            ("fma(x[i], x[i], 1.0f)", "v_fma"),
            ("as_float(atomic_add((__global int *)x + 1, 3))", "global_atomic_add_u32"),
        ],
    )
    def test_built_ins_become_instructions(
        self, amd: OpenclAmd, tmp_path: Path, expression: str, instruction: str
    ) -> None:
        body = f"int i = get_global_id(0); x[i] = {expression};"
        made = amd.compile(unit(tmp_path, body), "gfx1100")
        assert instruction in made.device_assembly
        assert "s_swappc" not in made.device_assembly
        assert amd.amd.assemble(made.device_assembly).startswith(b"\x7fELF")

    def test_errors_are_the_tools(self, amd: OpenclAmd, tmp_path: Path) -> None:
        with pytest.raises(CompileFailure, match="undeclared identifier 'y'"):
            amd.compile(unit(tmp_path, "x[0] = y;"), "gfx1100")


needs_pocl = pytest.mark.skipif(
    ctypes.util.find_library("OpenCL") is None or not Path("/etc/OpenCL/vendors/pocl.icd").exists(),
    reason="no OpenCL driver (pocl-opencl-icd) to call",
)


class TestDriver:
    def test_without_the_vendors_driver(self, tmp_path: Path) -> None:
        with pytest.raises(CompileFailure) as failure:
            OpenclDriver("Nobody").ptx(unit(tmp_path, "x[0] = 1;"), STANDARD, COMPILE_LIMITS)
        assert failure.value.reason is Reason.TOOL_MISSING

    @needs_pocl
    def test_the_drivers_log_comes_back(self, tmp_path: Path) -> None:
        with pytest.raises(CompileFailure) as failure:
            OpenclDriver("pocl").ptx(unit(tmp_path, "x[0] = y;"), STANDARD, COMPILE_LIMITS)
        assert failure.value.reason is Reason.COMPILE_ERROR
        assert "undeclared identifier 'y'" in failure.value.diagnostic

    @needs_pocl
    def test_a_driver_that_gives_no_ptx(self, tmp_path: Path) -> None:
        with pytest.raises(CompileFailure, match="gives no PTX"):
            OpenclDriver("pocl").ptx(unit(tmp_path, "x[0] = 1;"), STANDARD, COMPILE_LIMITS)
