"""Functions that an executable defines in place of the runtime's or the C library's.

Read from the symbols of the linked file, so that it does not matter how the source spells it: a
definition, an assembler label (``__asm__("hipMemcpy")``), a library that it brings.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from cass_ray.execute.evidence.exploits import Exploit, ExploitFinding
from cass_ray.toolchain.elf import BinaryReader, DamagedFile, ElfSection, read_sections

_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE, _DYNAMIC_SYMBOLS = 2, 11  # section types
_OBJECT, _FUNCTION, _UNTYPED, _INDIRECT = 1, 2, 0, 10  # symbol types
_UNDEFINED = 0

_HIP = re.compile(r"(?:hip|__hip)[A-Z]\w*")
_CUDA = re.compile(r"(?:cuda|__cuda)[A-Z]\w*")
"""Names of the interfaces; what compilers generate has a small letter or an underscore there."""

_LIBRARY = frozenset(
    {"clock_gettime", "gettimeofday", "clock", "time", "times", "getrusage", "nanosleep"}
    | {"read", "write", "pread", "pwrite", "readv", "writev", "close", "poll", "ppoll"}
    | {"sendmsg", "recvmsg", "send", "recv", "socketpair", "shutdown", "fwrite", "fflush"}
    | {"mmap", "munmap", "mremap", "mprotect", "msync", "getenv", "dlsym", "dladdr", "getpid"}
    | {"posix_spawn", "waitpid", "_exit", "on_exit"}
)
"""Clocks, and what the HIP runtime talks to the device process with."""


def replaced_functions(data: bytes) -> list[str]:
    """Names of functions that the ELF file ``data`` defines in place of a library's, sorted.

    Raises :class:`~cass_ray.toolchain.elf.DamagedFile`.
    """
    sections = read_sections(data)
    functions: set[str] = set()
    for section in sections:
        if section.kind in (_SYMBOL_TABLE, _DYNAMIC_SYMBOLS):
            functions |= _replaced(section, sections)
    return sorted(functions)


def interposition_findings(executable: Path) -> list[ExploitFinding]:
    """One finding for all functions that ``executable`` replaces."""
    try:
        names = replaced_functions(executable.read_bytes())
    except DamagedFile as error:
        message = f"its symbols cannot be read: {error}"
        return [ExploitFinding(exploit=Exploit.REPLACED_FUNCTION, message=message)]
    if not names:
        return []
    message = f"defines {', '.join(names[:5])} in place of the library's"
    return [ExploitFinding(exploit=Exploit.REPLACED_FUNCTION, message=message)]


def _replaced(table: ElfSection, sections: list[ElfSection]) -> set[str]:
    if table.link >= len(sections):
        raise DamagedFile("a symbol table without names")
    names = BinaryReader(sections[table.link].data)
    exported = table.kind == _DYNAMIC_SYMBOLS
    functions = set()
    for name, info, _, section, _, _ in BinaryReader(table.data).table(_SYMBOL):
        kind = info & 0xF
        if section == _UNDEFINED or kind not in (_FUNCTION, _OBJECT, _UNTYPED, _INDIRECT):
            continue
        text = names.text(name)
        # CUDA's headers define static functions of their own with such names.
        if _HIP.fullmatch(text) or text in _LIBRARY or (exported and _CUDA.fullmatch(text)):
            functions.add(text)
    return functions
