"""Binary files that anybody may have made: cubins, executables, fat binaries, bundles."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend import cubin as attributes
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.fatbin import containers
from cass_ray.toolchain.amd.bundle import bundle, unbundle
from cass_ray.toolchain.elf import DamagedFile, read_sections
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_EMPTY_NAME = 17
"""Where the header has a zero byte."""


def elf(sections: list[tuple[int, int, int, int]], body: bytes = b"", names: int = 0) -> bytes:
    """An ELF file with sections of (kind, offset, size, link), whose table follows the header."""
    identification = b"\x7fELF\x02\x01".ljust(16, b"\0")
    count = len(sections)
    head = _HEADER.pack(identification, 2, 190, 1, 0, 0, 64, 0, 64, 56, 0, 64, count, names)
    table = b"".join(
        _SECTION.pack(0, kind, 0, 0, offset, size, link, 0, 1, 0)
        for kind, offset, size, link in sections
    )
    return head + table + body


DAMAGED = {
    "nothing": b"",
    "only a magic number": b"\x7fELF\x02\x01",
    "a section beyond 2^63": elf([(1, 1 << 63, 8, 0)]),
    "a section that ends beyond 2^64": elf([(1, (1 << 64) - 1, (1 << 64) - 1, 0)]),
    "a section behind the end": elf([(1, 1000, 8, 0)]),
    "names in a section that is not there": elf([(1, 0, 8, 0)], names=7),
    "a table behind the end": elf([(1, 0, 1, 0)])[:70],
    "sections that overlap": elf([(1, 0, 2000, 0)] * 1000),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_elf_files_are_refused(name: str) -> None:
    with pytest.raises(DamagedFile):
        read_sections(DAMAGED[name])
    with pytest.raises(CubinError):
        Cubin.parse(DAMAGED[name])


def test_a_region_that_two_sections_name_is_read_for_both() -> None:
    body = bytes(range(200)) * 4  # as ptxas -g for sm_120: .debug_info and .nv.merc.debug_info
    sections = read_sections(elf([(1, 64 + 2 * 64, len(body), 0)] * 2, body))
    assert [section.data for section in sections] == [body, body]


def test_a_cubin_without_symbols_is_refused() -> None:
    with pytest.raises(CubinError, match="no table of symbols"):
        Cubin.parse(elf([(1, _EMPTY_NAME, 1, 0)]))


def test_a_cubin_whose_symbols_have_no_names_is_refused() -> None:
    with pytest.raises(CubinError, match="without names"):
        Cubin.parse(elf([(2, _EMPTY_NAME, 1, 9)]))


def test_a_symbol_in_no_section_is_refused() -> None:
    symbol = struct.pack("<IBBHQQ", 0, 2, 0, 44, 0, 0)
    sections = [(2, 64 + 2 * 64, len(symbol), 1), (3, 64 + 2 * 64 + len(symbol), 1, 0)]
    with pytest.raises(CubinError, match="not there"):
        Cubin.parse(elf(sections, symbol + b"\0"))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_change_of_a_cubin_is_read_or_refused(data: st.DataObject) -> None:
    name = b"\0.text.k\0.nv.info.k\0k\0"
    symbol = struct.pack("<IBBHQQ", 20, 0x12, 0x10, 1, 0, 16)
    info = struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18)
    parts = [b"", bytes(16), symbol, name, info]
    kinds = [0, 1, 2, 3, 0x70000000]
    place, sections = 64 + 64 * len(parts), []
    for kind, part in zip(kinds, parts, strict=True):
        sections.append((kind, place, len(part), 3))
        place += len(part)
    file = bytearray(elf(sections, b"".join(parts), names=3))
    for _ in range(data.draw(st.integers(0, 6))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    try:
        cubin = Cubin.parse(bytes(file[: data.draw(st.integers(0, len(file)))]))
        for kernel in attributes.kernel_names(cubin):
            attributes.kernel_info(cubin, kernel)
        attributes.referred_symbols(cubin)
        attributes.subroutines(cubin)
    except (CubinError, LiftError) as error:
        assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_no_crash(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    program = tmp_path_factory.mktemp("any") / "program"
    for start in (b"", b"\x7fELF\x02\x01", struct.pack("<IHH", 0xBA55ED50, 1, 16)):
        program.write_bytes(start + data)
        with pytest.raises(PortError):
            read_executable(program)
        try:
            list(containers(start + data))
        except PortError as error:
            assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_change_of_a_bundle_is_read_or_refused(data: st.DataObject) -> None:
    made = bytearray(bundle({"gfx1100": b"code", "gfx942": b"more code"}))
    for _ in range(data.draw(st.integers(0, 6))):
        made[data.draw(st.integers(0, 250))] = data.draw(st.integers(0, 255))
    try:
        unbundle(bytes(made))
    except ValueError as error:
        assert str(error)


def test_whole_files_are_read() -> None:
    """The interpreter's own file, as any linker makes them."""
    names = {section.name for section in read_sections(Path("/bin/true").read_bytes())}
    assert {".text", ".dynstr", ".rodata"} <= names


def test_a_bundle_whose_entries_overlap_is_refused() -> None:
    """A few kilobytes that name one region a hundred times must not become a hundred of it."""
    entries = [f"hipv4-amdgcn-amd-amdhsa--gfx{number}".encode() for number in range(100)]
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    header += b"".join(struct.pack("<QQQ", 0, 4096, len(name)) + name for name in entries)
    with pytest.raises(ValueError, match="overlap"):
        unbundle(header.ljust(8192, b"\0"))
