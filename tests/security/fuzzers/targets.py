"""What is fuzzed in Python: each target takes any bytes and lets only real bugs out.

A target catches what its reader documents for bad input, nothing else, and checks what its reader
promises of its result.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from cass_ray.assembly import rdna3, sass
from cass_ray.corpus.parsing.lexer import tokens
from cass_ray.corpus.reading.archives import unpack_archive
from cass_ray.corpus.reading.includes import scan_includes
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.emulator.code_object import find_device_binaries
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.drivers.driver import drivable_kernels
from cass_ray.execute.evidence.counters import coverage_of, parse_counters
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend import cubin as attributes
from cass_ray.lift.frontend.listing import cubin_of, is_listing
from cass_ray.llm.code_blocks import fences
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.fatbin import containers
from cass_ray.toolchain.amd.bundle import unbundle
from cass_ray.toolchain.elf import DamagedFile, read_header, read_sections
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError, merge
from cass_ray.translate.rules.engine import RulesTranslator

_LIMITS = ReadLimits(
    source_bytes=1 << 16,
    header_bytes=1 << 16,
    tree_files=64,
    tree_bytes=1 << 18,
    archive_members=256,
    archive_bytes=1 << 20,
)
_SCRATCH = "/dev/shm"
_RULES = RulesTranslator()


def elf(data: bytes) -> None:
    """Sections together hold no more than the file."""
    try:
        read_header(data)
        sections = read_sections(data)
    except DamagedFile:
        return
    assert sum(len(section.data) for section in sections) <= len(data)


def cubin(data: bytes) -> None:
    """All that is read of a cubin, and one with the code of two."""
    try:
        parsed = Cubin.parse(data)
    except CubinError:
        return
    for read in (
        attributes.variable_names,
        attributes.managed_names,
        attributes.subroutines,
        attributes.system_functions,
        attributes.referred_symbols,
    ):
        read(parsed)
    try:
        attributes.architecture(parsed)
        for name in attributes.kernel_names(parsed):
            attributes.kernel_info(parsed, name)
    except LiftError:
        pass
    try:
        merged = merge([parsed, parsed])
    except CubinError:
        return
    Cubin.parse(merged)


def containers_of_programs(data: bytes) -> None:
    """Executables, fat binaries and offload bundles; what is found is inside the file."""
    try:
        assert sum(len(each.data) for each in containers(data)) <= len(data)
    except PortError:
        pass
    try:
        assert sum(map(len, unbundle(data).values())) <= len(data)
    except ValueError:
        pass
    find_device_binaries(data)
    with tempfile.NamedTemporaryFile(dir=_SCRATCH) as file:
        file.write(data)
        file.flush()
        try:
            read_executable(Path(file.name))
        except PortError:
            pass


_ARCHIVES = (".tar", ".zip", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2")


def archive(data: bytes) -> None:
    """The first byte chooses the kind. What is unpacked is within the limits and in its folder."""
    if not data:
        return
    with tempfile.TemporaryDirectory(dir=_SCRATCH) as name:
        path = Path(name) / f"a{_ARCHIVES[data[0] % len(_ARCHIVES)]}"
        path.write_bytes(data[1:])
        unpacked = unpack_archive(path, Path(name) / "out", _LIMITS)
        total = 0
        for folder, _, files in os.walk(unpacked.root):
            for file in files:
                status = os.lstat(Path(folder) / file)
                total += status.st_size
        assert total <= _LIMITS.archive_bytes
        assert {each.name for each in Path(name).iterdir()} == {path.name, "out"}


def counters(data: bytes) -> None:
    """Counters that a program could have written."""
    coverage_of([parse_counters(data)])


def listing(data: bytes) -> None:
    """Assembly of all kinds, as text."""
    text = data.decode("utf-8", "replace")
    sass.parse(text)
    module = rdna3.parse(text)
    assert module.render() == text
    for part in ("functions", "kernels", "variables"):
        try:
            getattr(module, part)
        except ValueError:
            pass
    if is_listing(data):
        try:
            cubin_of(text)
        except LiftError:
            pass


def source(data: bytes) -> None:
    """Programs and answers of models, as text; tokens are the whole text."""
    text = data.decode("utf-8", "replace")
    list(tokens(text))
    drivable_kernels(text)
    list(scan_includes(text))
    list(fences(text))
    _RULES.translate(text, filename="a.cu")


def output(data: bytes) -> None:
    """What two runs print, compared: equal texts are equal."""
    middle = len(data) // 2
    compare([data[:middle]], data[middle:])
    assert compare([data], data).exact


TARGETS: dict[str, Callable[[bytes], None]] = {
    "elf": elf,
    "cubin": cubin,
    "containers": containers_of_programs,
    "archive": archive,
    "counters": counters,
    "listing": listing,
    "source": source,
    "output": output,
}
