"""Code objects of every form; damaged and foreign ones are refused, never followed."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_ray.emulator.code_object import CodeObjectError, describe, find_device_binaries
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.elf import read_sections

pytestmark = pytest.mark.amd


_ASSEMBLY = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.amdhsa_code_object_version {version}
.text
.globl scale
.p2align 8
.type scale,@function
scale:
  s_load_b64 s[0:1], s[0:1], 0x0
  s_endpgm
.size scale, .-scale
.rodata
.p2align 6
.amdhsa_kernel scale
  .amdhsa_group_segment_fixed_size 256
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 4
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: scale
    .symbol: scale.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 16
    .wavefront_size: 32
    .sgpr_count: 4
    .vgpr_count: 3
    .max_flat_workgroup_size: 128
    .args:
      - {{.name: data, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: factor, .offset: 8, .size: 4, .value_kind: by_value}}
      - {{.offset: 16, .size: 4, .value_kind: hidden_block_count_x}}
...
.end_amdgpu_metadata
.data
.globl table
.type table,@object
table:
  .quad table
.size table, 8
"""


def assemble_code_object(folder: Path, assembly: str, architecture: str = "gfx1100") -> bytes:
    """A linked code object."""
    return link_code_object(folder, [assembly], architecture)


def link_code_object(folder: Path, assemblies: list[str], architecture: str = "gfx1100") -> bytes:
    """A code object of several assembly files."""
    clang, linked = find_clang(), folder / "a.co"
    options = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-x", "assembler", "-c"]
    objects = []
    for index, assembly in enumerate(assemblies):
        source, unlinked = folder / f"{index}.s", folder / f"{index}.o"
        source.write_text(assembly)
        subprocess.run([clang.clang, *options, source, "-o", unlinked], check=True)
        objects.append(unlinked)
    subprocess.run([clang.linker, "-shared", *objects, "-o", linked], check=True)
    return linked.read_bytes()


def _build(folder: Path, version: int = 5) -> bytes:
    return assemble_code_object(folder, _ASSEMBLY.format(version=version))


@pytest.fixture(scope="module")
def code_object(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return _build(tmp_path_factory.mktemp("co"))


# Code for an MI200: no wave of 32 lanes, and the accumulator registers have an offset.
MI200 = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.amdhsa_code_object_version 5
.text
.globl scale
.type scale,@function
scale:
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel scale
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 4
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
"""


# Arguments in SGPRs from the start. Older firmware begins 256 bytes earlier, where code that loads
# them is: here a store of 1, so that running it is seen.
PRELOADING = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.macro older_firmware name
.globl \\name
.p2align 8
.type \\name,@function
\\name:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[8:9]
  s_endpgm
  .p2align 8
.endm
.macro described name, length, offset
.amdhsa_kernel \\name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length \\length
  .amdhsa_user_sgpr_kernarg_preload_offset \\offset
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 10
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.endm
.text
older_firmware from_the_start
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, s4
  v_lshl_add_u32 v2, s5, 1, v2
  global_store_dword v1, v2, s[2:3]
  s_endpgm
older_firmware behind
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, s2
  v_lshl_add_u32 v2, s3, 1, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm
.rodata
.p2align 6
described from_the_start, 4, 0
described behind, 2, 2
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: from_the_start
    .symbol: from_the_start.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 10
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: a, .offset: 8, .size: 4, .value_kind: by_value}
      - {.name: b, .offset: 12, .size: 4, .value_kind: by_value}
  - .name: behind
    .symbol: behind.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 10
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: a, .offset: 8, .size: 4, .value_kind: by_value}
      - {.name: b, .offset: 12, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
"""


# A workgroup asks for 4 bytes of LDS; one lane counts how many bytes hold what it writes.
LDS_UNIT = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl written_bytes
.p2align 8
.type written_bytes,@function
written_bytes:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 1
again:
  ds_write_b32 v1, v2
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s4, v3
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 found
  v_add_u32_e32 v1, 4, v1
  s_branch again
found:
  v_mov_b32_e32 v2, 0
  global_store_dword v2, v1, s[8:9]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel written_bytes
  .amdhsa_group_segment_fixed_size 4
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 10
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: written_bytes
    .symbol: written_bytes.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 10
    .vgpr_count: 4
    .max_flat_workgroup_size: 64
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
"""


def test_code_of_an_mi200_is_read(tmp_path: Path) -> None:
    assert describe(assemble_code_object(tmp_path, MI200, "gfx90a")).target == "gfx90a"


def test_more_preloaded_arguments_than_registers_are_refused(tmp_path: Path) -> None:
    """16 SGPRs can be filled before a kernel starts; the assembler knows that as well."""
    code = bytearray(assemble_code_object(tmp_path, PRELOADING, "gfx942"))
    assert {kernel.name for kernel in describe(bytes(code)).kernels} == {"from_the_start", "behind"}
    descriptors = next(item.data for item in read_sections(bytes(code)) if item.name == ".rodata")
    length = code.index(descriptors) + 58  # bits 0 to 6 of a half word
    assert code[length] == 4
    code[length] = 15
    with pytest.raises(CodeObjectError, match="more than 16 user SGPRs"):
        describe(bytes(code))


def _bundle(code_object: bytes, *targets: str) -> bytes:
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", max(len(targets), 1))
    for target in targets or ("gfx1100",):
        name = f"hipv4-amdgcn-amd-amdhsa--{target}".encode()
        header += struct.pack("<QQQ", 4096, len(code_object), len(name)) + name
    return header.ljust(4096, b"\0") + code_object


@pytest.mark.parametrize("version", [4, 5, 6])
def test_kernels_and_arguments(tmp_path: Path, version: int) -> None:
    described = describe(_build(tmp_path, version))
    assert (described.target, described.version) == ("gfx1100", version)
    assert described.variables == {"table": 8}
    (kernel,) = described.kernels
    assert (kernel.name, kernel.kernarg_size, kernel.wave_size) == ("scale", 24, 32)
    assert (kernel.lds_size, kernel.private_size) == (256, 16)
    assert kernel.max_flat_workgroup_size == 128
    found = [(item.name, item.offset, item.size, item.hidden) for item in kernel.arguments]
    assert found == [("data", 0, 8, False), ("factor", 8, 4, False), ("", 16, 4, True)]


def test_kernels_that_were_assembled_one_by_one(tmp_path: Path) -> None:
    """As in rocBLAS's: the linker leaves the metadata note of each."""
    one = _ASSEMBLY.format(version=5)
    other = one.replace("scale", "shift").replace("table", "other_table")
    described = describe(link_code_object(tmp_path, [one, other]))
    assert [kernel.name for kernel in described.kernels] == ["scale", "shift"]


def test_offload_bundles(code_object: bytes) -> None:
    assert describe(_bundle(code_object)) == describe(code_object)
    with pytest.raises(CodeObjectError, match="gfx906"):
        describe(_bundle(code_object, "gfx906"))


def for_machine(code_object: bytes, machine: int) -> bytes:
    """The code object as one of another target: EF_AMDGPU_MACH of its header."""
    changed = bytearray(code_object)
    changed[48] = machine
    return bytes(changed)


@pytest.mark.parametrize(
    ("architecture", "machine", "target"),
    [
        ("gfx1100", 0x54, "gfx11-generic"),
        ("gfx1201", 0x59, "gfx12-generic"),
        ("gfx942", 0x5F, "gfx9-4-generic"),
    ],
)
def test_generic_targets(tmp_path: Path, architecture: str, machine: int, target: str) -> None:
    text = MI200 if architecture == "gfx942" else _ASSEMBLY.format(version=5)
    for name in ("gfx90a", "gfx1100"):
        text = text.replace(f"--{name}", f"--{architecture}")
    code = assemble_code_object(tmp_path, text, architecture)
    generic = for_machine(code, machine)
    assert describe(generic).target == target
    assert describe(_bundle(generic, "gfx906", target)).kernels == describe(code).kernels


def test_host_executable(code_object: bytes, tmp_path: Path) -> None:
    (tmp_path / "bundle").write_bytes(_bundle(code_object))
    assembly = '.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "bundle"\n'
    (tmp_path / "host.s").write_text(assembly)
    compiler = shutil.which("clang-19") or shutil.which("clang")
    assert compiler
    subprocess.run([compiler, "-c", "host.s", "-o", "host.o"], cwd=tmp_path, check=True)
    host = (tmp_path / "host.o").read_bytes()
    assert len(find_device_binaries(host)) == 1
    assert describe(host) == describe(code_object)


def test_foreign_files_are_named(code_object: bytes) -> None:
    gfx1030 = 0x36  # EF_AMDGPU_MACH in e_flags
    with pytest.raises(CodeObjectError, match="gfx1030"):
        describe(code_object[:48] + bytes([gfx1030]) + code_object[49:])
    with pytest.raises(CodeObjectError, match="neither an ELF file nor an offload bundle"):
        describe(b"hello")
    with pytest.raises(CodeObjectError, match="machine type 62"):
        describe(b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + b"\x3e\0" + bytes(100))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damaged_files_never_crash(code_object: bytes, data: st.DataObject) -> None:
    damaged = bytearray(code_object[: data.draw(st.integers(0, len(code_object)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if damaged:
            at = data.draw(st.integers(0, len(damaged) - 1))
            damaged[at] = data.draw(st.integers(0, 255))
    try:
        describe(bytes(damaged))
    except CodeObjectError as error:
        assert str(error)
