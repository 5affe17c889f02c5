"""The HIP API without kernels: each C++ program checks one part and prints what is not so."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from cass_ray.toolchain.amd.toolchain import AmdToolchain
from tests.emulator.hip_runtime.conftest import RunProgram

pytestmark = pytest.mark.amd


@pytest.mark.parametrize(
    "name",
    ["memory", "streams", "errors", "properties", "graphs", "ranges", "at_the_end"],
)
def test_program_finds_all_as_expected(run_program: RunProgram, name: str) -> None:
    completed = run_program(f"{name}.cpp")
    assert completed.stdout_text == "all as expected\n", completed.stderr_text
    assert completed.ok


def test_an_entry_point_that_is_not_there_says_so_once(run_program: RunProgram) -> None:
    said = run_program("errors.cpp").stderr_text
    assert said.count("hipIpcGetMemHandle is not supported") == 1


@pytest.fixture(scope="module")
def error_table(run_program: RunProgram) -> dict[str, tuple[int, str]]:
    """What the runtime answers: name -> (code, text)."""
    lines = run_program("errors.cpp", ["table"]).stdout_text.splitlines()
    rows = [line.split("\t") for line in lines]
    return {name: (int(code), text) for code, name, text in rows}


def test_every_error_of_the_header_has_its_name(
    error_table: dict[str, tuple[int, str]], toolchain: AmdToolchain
) -> None:
    header = (toolchain.rocm_path / "include/hip/hip_runtime_api.h").read_text()
    enumeration = header[header.index("typedef enum __HIP_NODISCARD") :]
    enumeration = enumeration[: enumeration.index("} hipError_t")]
    enumeration = re.sub(r"///.*|//.*", "", enumeration)
    codes = {name: int(code) for name, code in re.findall(r"(hip\w+)\s*=\s*(\d+)", enumeration)}
    aliases = {  # deprecated second names of the same codes
        "hipErrorMemoryAllocation",
        "hipErrorInitializationError",
        "hipErrorMapBufferObjectFailed",
        "hipErrorInvalidResourceHandle",
    }
    expected = {name: code for name, code in codes.items() if name not in aliases}
    answered = {name: code for name, (code, _) in error_table.items() if name != "hipErrorTbd"}
    assert answered == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [  # AMD's documentation of hipGetErrorString and programs' printed output
        ("hipSuccess", "no error"),
        ("hipErrorOutOfMemory", "out of memory"),
        ("hipErrorInvalidValue", "invalid argument"),
        ("hipErrorInvalidDevice", "invalid device ordinal"),
        ("hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"),
        ("hipErrorLaunchFailure", "unspecified launch failure"),
        ("hipErrorIllegalAddress", "an illegal memory access was encountered"),
        ("hipErrorNotSupported", "operation not supported"),
        ("hipErrorUnknown", "unknown error"),
    ],
)
def test_texts_of_errors(error_table: dict[str, tuple[int, str]], name: str, text: str) -> None:
    assert error_table[name][1] == text


def test_every_entry_point_of_the_headers_is_exported(
    toolchain: AmdToolchain, library: Path
) -> None:
    header = (toolchain.rocm_path / "include/hip/amd_detail/hip_api_trace.hpp").read_text()
    names = set(re.findall(r"\(\*t_(\w+)\)", header))
    exported = _dynamic_symbols(library)
    assert len(names) > 450
    assert names - exported == set()
    assert {name for name in exported if not re.match(r"(__)?hip|roctx", name)} == {
        "_ZN8hip_impl8hip_initEv"
    } & exported


def _dynamic_symbols(library: Path) -> set[str]:
    """Names that a shared library defines, read from its ELF tables."""
    data = library.read_bytes()
    section_offset, count = (
        struct.unpack_from("<Q", data, 40)[0],
        struct.unpack_from("<H", data, 60)[0],
    )
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, section_offset + 64 * i) for i in range(count)
    ]
    symbols = next(section for section in sections if section[1] == 11)  # SHT_DYNSYM
    names = sections[symbols[6]][4]
    found = set()
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", data, at)
        if section != 0:
            found.add(data[names + name : data.index(b"\0", names + name)].decode())
    return found
