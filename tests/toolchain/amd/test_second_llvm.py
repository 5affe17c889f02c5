"""A second compiler for device code: our own clang as another, true or with a planted fault."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from cass_ray.commands.verify import app
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.amd.second_llvm import SECOND_CLANG_VARIABLE, find_codegen_clang
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.search_paths import SearchPaths
from cass_ray.toolchain.unit import Unit

pytestmark = pytest.mark.amd

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void flip(int* data) { data[threadIdx.x] ^= 5; }
int main() {
  int host[4] = {0, 1, 4, 7}, *device;
  hipMalloc(&device, sizeof host);
  hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice);
  flip<<<1, 4>>>(device);
  hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
  for (int value : host) std::printf("%d\\n", value);
}
"""


def planted(folder: Path, version: str, edit: str) -> Path:
    """A clang that says it is ``version``, and passes the code it makes through sed."""
    clang = find_clang().clang
    path = folder / "bin/clang"
    path.parent.mkdir()
    path.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "clang version {version}" && exit\n'
        f'case "$*" in *" ir "*) {clang} "$@" | sed "{edit}";; *) exec {clang} "$@";; esac\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "flip.hip"
    path.write_text(PROGRAM)
    return path


def verified(program: Path, *options: str) -> tuple[int, str]:
    arguments = [str(program), str(program), "--backend", "rdna3", "--second-compiler", *options]
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout


def test_the_same_by_both_compilers(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clang = planted(tmp_path, "91.0.0", "")
    monkeypatch.setenv(SECOND_CLANG_VARIABLE, str(clang))
    status, output = verified(program, "--arch", "gfx1100", "--arch", "gfx942", "--json")
    assert status == 0, output
    evidence = json.loads(output)["architectures"]
    assert list(evidence) == [
        "gfx1100",
        "gfx1100, second compiler",
        "gfx942",
        "gfx942, second compiler",
    ]
    assert all(each["exact"] for each in evidence.values())
    assert evidence["gfx942, second compiler"]["candidate"].endswith(
        "device code by LLVM 91.0.0, gfx942"
    )


def test_compilers_that_disagree_are_named(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clang = planted(tmp_path, "92.0.0", "s/v_xor_b32/v_or_b32/")
    monkeypatch.setenv(SECOND_CLANG_VARIABLE, str(clang))
    status, output = verified(program)
    assert status == 1, output
    [said] = [line for line in output.splitlines() if line.startswith("first difference")]
    assert "compilers disagree" in said
    assert "wrong as" in said.partition("LLVM 92.0.0")[0]
    assert "line 2: '5' instead of '4'" in said  # 1 | 5 and 1 ^ 5


def test_without_a_newer_clang_the_remedy_is_named(tmp_path: Path) -> None:
    clang = planted(tmp_path, "90.0.0", "")
    search_paths = SearchPaths(environment={SECOND_CLANG_VARIABLE: str(clang)})
    assert find_codegen_clang(89, search_paths).command == (str(clang),)
    with pytest.raises(ToolMissing, match="ziglang") as error:
        find_codegen_clang(90, search_paths)
    assert "clang 90.0.0 is not newer" in str(error.value)


def test_gfx950_by_a_clang_that_does_not_know_it(program: Path) -> None:
    """The IR is that of gfx942, the code gfx950's: packed conversions that only it has."""
    try:
        find_codegen_clang(19, SearchPaths())
    except ToolMissing as error:
        pytest.skip(str(error).splitlines()[0])
    toolchain = find_amd(architectures=("gfx950",))
    text = (
        "#include <hip/hip_runtime.h>\n"
        "#ifdef __gfx942__\n#error not gfx950\n#endif\n"
        # What rocPRIM's configurations and HIP's textures ask for.
        'static_assert(__builtin_strcmp(__amdgcn_processor__, "gfx950") == 0);\n'
        "#if !__gfx9_4_generic__ || !__HIP_NO_IMAGE_SUPPORT\n#error not of its kind\n#endif\n"
        "__global__ void pack(__bf16* out, const float* in) { out[threadIdx.x] ="
        " (__bf16)in[threadIdx.x]; }\n"
    )
    program.write_text(text)
    made = toolchain.compile_device(Unit(program.parent, PurePosixPath(program.name)), "gfx950")
    assert '.amdgcn_target "amdgcn-amd-amdhsa--gfx950"' in made.device_assembly
    assert "v_cvt_pk_bf16_f32" in made.device_assembly
