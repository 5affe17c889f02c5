from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly import rdna3
from tests.assembly.samples import DATA, read

TEXT = read("kernels.gfx1100.s")


def test_rendering_gives_the_text_back() -> None:
    assert rdna3.parse(TEXT).render() == TEXT
    assert rdna3.normalize(TEXT) == TEXT


@given(st.text(alphabet=st.sampled_from("sv_0:.;/\"' \t\r\n,[]()#=@amdgpu_metadata")))
def test_rendering_gives_any_text_back(text: str) -> None:
    assert rdna3.parse(text).render() == text


def test_kernels_with_their_metadata() -> None:
    kernels = rdna3.parse(TEXT).kernels
    assert list(kernels) == rdna3.kernel_names(TEXT)
    assert "_Z9integratefi" not in kernels
    scale = kernels["_Z5scaleIdEvPT_S0_i"]
    visible = [argument for argument in scale.arguments if not argument.is_hidden]
    # void scale(double *x, double factor, int n): offsets and sizes of the C ABI
    assert [(a.offset, a.size, a.value_kind) for a in visible] == [
        (0, 8, "global_buffer"),
        (8, 8, "by_value"),
        (16, 4, "by_value"),
    ]
    assert visible[0].address_space == "global"
    assert scale.wavefront_size == 32
    exchange = kernels["_Z8exchangePi"]
    assert exchange.lds_bytes == 256 * 4
    assert exchange.scratch_bytes == 0


def test_register_counts_are_those_of_the_compilers_remarks() -> None:
    module = rdna3.parse(TEXT)
    remarks = re.findall(r"; Kernel info:\n; codeLen.*\n; NumSgprs: \d+\n; NumVgprs: (\d+)", TEXT)
    assert [kernel.vgprs for kernel in module.kernels.values()] == [int(n) for n in remarks]


def test_functions_and_target() -> None:
    module = rdna3.parse(TEXT)
    assert module.target == "gfx1100"
    assert set(module.functions) == {"_Z9integratefi", *module.kernels}
    assert not module.functions["_Z9integratefi"].is_kernel
    integrate = module.functions["_Z9integratefi"]
    body = [line.mnemonic for line in module.instructions(integrate)]
    assert body[0] == "s_waitcnt"
    assert body[-1] == "s_setpc_b64"
    branches = [
        line.operands[0]
        for line in module.instructions(integrate)
        if line.mnemonic.startswith("s_cbranch")
    ]
    assert branches
    assert set(branches) <= set(module.labels(integrate))


def test_device_variables() -> None:
    variables = rdna3.parse(TEXT).variables
    assert variables["weights"].size == 16 * 4
    assert variables["counter"].size == 4
    assert "choose" not in variables


def test_line_parts() -> None:
    lines = rdna3.parse(
        ".LBB0_1: s_load_b64 s[2:3], s[0:1], 0x0 ; kernel argument\n"
        '\t.ascii "a;b, c" ; text\n'
        "\tv_dual_mov_b32 v2, s1 :: v_dual_add_f32 v1, s0, v1\n"
        "\tlimit = 3\n"
        "; %bb.1:\n"
        "_Z1fv:\n"
    ).lines
    load, text, dual, assignment, comment, label = lines
    assert (load.label, load.mnemonic) == (".LBB0_1", "s_load_b64")
    assert load.operands == ("s[2:3]", "s[0:1]", "0x0")
    assert load.comment == "kernel argument"
    assert text.operands == ('"a;b, c"',)
    assert dual.mnemonics == ("v_dual_mov_b32", "v_dual_add_f32")
    assert assignment.kind is rdna3.Rdna3LineKind.DIRECTIVE
    assert comment.kind is rdna3.Rdna3LineKind.BLANK
    assert (label.kind, label.label) == (rdna3.Rdna3LineKind.LABEL, "_Z1fv")


directives = st.sampled_from(
    [
        ".type",
        ".size",
        ".section",
        ".amdhsa_kernel",
        ".amdgcn_target",
        ".comm",
        ".globl",
        "f:",
        ".text",
    ]
)
operands = st.sampled_from(["", " f", " f,@function", " f,@object", " f, 4", ' "x', " f, .-f"])


@given(st.lists(st.builds("{}{}".format, directives, operands)))
def test_malformed_directives_raise_nothing(lines: list[str]) -> None:
    module = rdna3.parse("\n".join(lines))
    assert set(module.kernels) <= {"", "f", '"x"', '"x'}
    for function in module.functions.values():
        assert module.lines[function.lines.start].label == function.name
    assert set(module.variables) <= {"f"}
    assert module.target in ("", "f", "x", "f,@function")


def test_metadata_of_another_shape_is_named() -> None:
    text = "\t.amdgpu_metadata\n---\namdhsa.kernels: 3\n\t.end_amdgpu_metadata\n"
    with pytest.raises(ValueError, match=r"not a list of mappings"):
        _ = rdna3.parse(text).kernels


def test_metadata_that_is_no_yaml_is_named() -> None:
    module = rdna3.parse("\t.amdgpu_metadata\n---\na: [1\n\t.end_amdgpu_metadata\n")
    with pytest.raises(ValueError, match=r"amdgpu_metadata is not YAML"):
        _ = module.metadata


def llvm_tool(name: str) -> str:
    # An older one, without a version in its name, may be on the PATH and does not know gfx11.
    for major in (19, 20, 18):
        if found := shutil.which(f"{name}-{major}"):
            return found
    pytest.skip(f"no {name} of LLVM 18 or newer")


@pytest.mark.amd
def test_instructions_are_those_that_the_assembler_encodes(tmp_path: Path) -> None:
    module = rdna3.parse(TEXT)
    source, code = tmp_path / "rendered.s", tmp_path / "rendered.o"
    source.write_text(module.render(), encoding="utf-8")
    assembler = [llvm_tool("llvm-mc"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100"]
    subprocess.run([*assembler, "-filetype=obj", "-o", code, source], check=True)
    original = tmp_path / "original.o"
    golden = DATA / "kernels.gfx1100.s"
    subprocess.run([*assembler, "-filetype=obj", "-o", original, golden], check=True)
    assert code.read_bytes() == original.read_bytes()
    printed = subprocess.run(
        [llvm_tool("llvm-objdump"), "-d", "--no-show-raw-insn", code],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name, function in module.functions.items():
        body = printed.split(f"<{name}>:\n")[1].split("\n\n")[0].splitlines()
        encoded = [line.split()[0] for line in body if line.strip()]
        written = [line.mnemonic for line in module.instructions(function)]
        # the assembler may print the encoding suffix that the compiler left out
        assert len(encoded) >= len(written)
        for text, from_code in zip(written, encoded, strict=False):
            assert from_code.startswith(text)
