from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly import host
from cass_ray.assembly.host import Registration
from tests.assembly.samples import read

SAMPLES = ["launch.cuda.s", "launch.hip.s"]


@pytest.mark.parametrize("name", SAMPLES)
def test_rendering_gives_the_text_back(name: str) -> None:
    assert host.parse(read(name)).render() == read(name)


@given(st.text(alphabet=st.sampled_from('abc:.#"$%(), \t\r\n')))
def test_rendering_gives_any_text_back(text: str) -> None:
    assert host.parse(text).render() == text


@given(
    st.lists(
        st.sampled_from(
            [
                "# x",
                "\tmovl $1, %eax # one",
                '\t.string "a # b" # c',
                "main:",
                "\t.cfi_endproc",
                "",
                '\t.ident "#"',
            ]
        )
    )
)
def test_normalize_is_idempotent(lines: list[str]) -> None:
    once = host.normalize("\n".join(lines), keep_comments=False)
    assert host.normalize(once, keep_comments=False) == once


def test_functions_of_gcc_and_clang() -> None:
    cuda = host.parse(read("launch.cuda.s"))
    hip = host.parse(read("launch.hip.s"))
    for module, launch in (
        (cuda, "__cudaPushCallConfiguration"),
        (hip, "__hipPushCallConfiguration"),
    ):
        calls = {
            line.operands[0].removesuffix("@PLT")
            for line in module.instructions(module.functions["main"])
            if line.mnemonic in ("call", "callq")
        }
        assert {"puts", launch} <= calls
        assert module.variables["counter" if module is hip else "_ZL7counter"].size == 4


def test_registration_symbols_of_cuda() -> None:
    found = host.parse(read("launch.cuda.s")).registration
    roles: dict[Registration, list[str]] = {role: [] for role in Registration}
    for symbol, role in found.items():
        roles[role].append(symbol)
    assert roles[Registration.CONSTRUCTOR] == ["_ZL24__sti____cudaRegisterAllv"]
    assert roles[Registration.DESTRUCTOR] == ["_ZL26__cudaUnregisterBinaryUtilv"]
    assert {"fatbinData", "_ZL15__fatDeviceText"} <= set(roles[Registration.DEVICE_BINARY])
    assert {"__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar"} <= set(
        roles[Registration.RUNTIME]
    )
    assert any("__device_stub__Z5counti" in name for name in roles[Registration.LAUNCH_STUB])
    assert not {"main", "_Z5counti", "puts"} & set(found)


def test_registration_symbols_of_hip() -> None:
    found = host.parse(read("launch.hip.s")).registration
    assert found["__hip_module_ctor"] is Registration.CONSTRUCTOR
    assert found["__hip_module_dtor"] is Registration.DESTRUCTOR
    assert found["__hip_fatbin_wrapper"] is Registration.DEVICE_BINARY
    assert found["__hip_gpubin_handle_"] is Registration.DEVICE_BINARY
    assert found["__hipRegisterFunction"] is Registration.RUNTIME
    assert found["_Z20__device_stub__counti"] is Registration.LAUNCH_STUB
    assert "main" not in found


def test_normalize_drops_bookkeeping_and_keeps_strings() -> None:
    text = host.normalize(read("launch.hip.s"), keep_comments=False)
    assert ".cfi_" not in text
    assert ".ident" not in text
    assert ".addrsig" not in text
    assert '.asciz\t"# not a comment"' in text
    assert "# @main" not in text
    assert ".cfi_startproc" in host.normalize(read("launch.hip.s"), keep_unwind=True)


def test_line_parts() -> None:
    lines = host.parse(
        "\tlock addl $1, 8(%rax,%rbx,4) # bump\n.L3:\tmovq counter(%rip), %rax\n\t.set a, b\n"
    ).lines
    assert lines[0].mnemonic == "lock addl"
    assert lines[0].operands == ("$1", "8(%rax,%rbx,4)")
    assert (lines[1].label, lines[1].mnemonic) == (".L3", "movq")
    assert lines[2].kind is host.HostLineKind.DIRECTIVE


@pytest.mark.amd
@pytest.mark.parametrize("name", SAMPLES)
def test_normal_form_assembles_to_the_same_code(name: str, tmp_path: Path) -> None:
    assembler = shutil.which("llvm-mc-19") or shutil.which("llvm-mc")
    copier = shutil.which("llvm-objcopy-19") or shutil.which("llvm-objcopy")
    if assembler is None or copier is None:
        pytest.skip("LLVM's assembler not found")
    code: list[bytes] = []
    for text in (read(name), host.normalize(read(name), keep_comments=False)):
        source, compiled, section = (tmp_path / f"x.{kind}" for kind in ("s", "o", "text"))
        source.write_text(text, encoding="utf-8")
        subprocess.run(
            [assembler, "-triple=x86_64", "-filetype=obj", "-o", compiled, source], check=True
        )
        copy = ["-O", "binary", "-j", ".text*", "-j", ".rodata*", "-j", ".data*"]
        subprocess.run([copier, *copy, compiled, section], check=True)
        code.append(section.read_bytes())
    assert code[0] == code[1]
    assert len(code[0]) > 100
