"""The engine's C interface, for tests and the coverage report."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from cass_ray.emulator.build import engine_library

INSTRUCTION_SETS = ("gfx11", "gfx90a", "gfx942", "gfx12", "gfx950")
"""The engine's number for each is its place."""


class Machine(ctypes.Structure):
    """Registers and LDS of one wave; see ``engine/interface/interface.cpp``."""

    _fields_ = (
        ("scalar", ctypes.c_uint32 * 128),
        ("scc", ctypes.c_uint32),
        ("mode", ctypes.c_uint32),
        ("vector", (ctypes.c_uint32 * 64) * 512),
        ("lds", ctypes.c_uint8 * 65536),
        ("wide", ctypes.c_uint32),
        ("fault", ctypes.c_uint32),
        ("set", ctypes.c_uint32),
    )


State = Literal["unsupported", "graphics", "covered", "ignored"]
"""From the worst to the best; ``ignored`` are hints and waits: nothing to do where instructions
complete in order."""


@dataclass(frozen=True)
class OpcodeSupport:
    """One opcode of one format."""

    mnemonic: str
    encoding: str
    state: State


class Engine:
    """The engine library, loaded once per path."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._coverage = library.cass_emulator_coverage
        self._coverage.restype = ctypes.c_size_t
        self._coverage.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
        self._decode = library.cass_emulator_decode
        self._decode.restype = ctypes.c_uint
        self._decode.argtypes = [
            ctypes.c_uint,
            ctypes.POINTER(ctypes.c_uint32),
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self._execute = library.cass_emulator_execute
        self._execute.restype = ctypes.c_bool
        self._execute.argtypes = [
            ctypes.POINTER(ctypes.c_uint32),
            ctypes.c_size_t,
            ctypes.POINTER(Machine),
        ]
        self._memory = library.cass_emulator_memory
        self._memory.restype = ctypes.c_void_p
        self._memory.argtypes = [ctypes.c_size_t]
        self._describe = library.cass_emulator_describe
        self._describe.restype = ctypes.c_void_p
        self._describe.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._release = library.cass_emulator_release
        self._release.argtypes = [ctypes.c_void_p]
        library.cass_emulator_level.restype = ctypes.c_char_p
        self.level: str = library.cass_emulator_level().decode()

    def coverage(self, instruction_set: str = "gfx11") -> list[OpcodeSupport]:
        """Every opcode of the engine's table of an instruction set."""
        number = INSTRUCTION_SETS.index(instruction_set)
        size = self._coverage(number, None, 0) + 1
        buffer = ctypes.create_string_buffer(size)
        self._coverage(number, buffer, size)
        lines = (line.split() for line in buffer.value.decode().splitlines())
        return [
            OpcodeSupport(mnemonic, encoding, cast(State, state))
            for mnemonic, encoding, state in lines
        ]

    def decode(
        self, words: Sequence[int], instruction_set: str = "gfx11"
    ) -> tuple[str, int] | None:
        """Text and size in bytes of the instruction that ``words`` start with; None if none."""
        array = (ctypes.c_uint32 * len(words))(*words)
        buffer = ctypes.create_string_buffer(512)
        number = INSTRUCTION_SETS.index(instruction_set)
        size = self._decode(number, array, len(words), buffer, len(buffer))
        return (buffer.value.decode(), size) if size else None

    def describe(self, data: bytes) -> str:
        """JSON that describes the code object, or the offload bundle's gfx11 one, in ``data``."""
        address = self._describe(data, len(data))
        try:
            return ctypes.string_at(address).decode()
        finally:
            self._release(address)

    def memory(self, content: bytes) -> ctypes.Array[ctypes.c_char]:
        """``content`` where instructions can use it; stays until the end of the process."""
        address = self._memory(len(content))
        if not address:
            raise MemoryError("no device memory")
        memory = (ctypes.c_char * len(content)).from_address(address)
        memory.raw = content
        return memory

    def execute(self, words: Sequence[int], machine: Machine) -> bool:
        """Run ``words``, which end in ``s_endpgm``, on ``machine``, which gets the result.

        False if an instruction is not supported. A fault is in ``machine.fault``.
        """
        array = (ctypes.c_uint32 * len(words))(*words)
        return bool(self._execute(array, len(words), ctypes.byref(machine)))


@functools.cache
def load_engine() -> Engine:
    """The engine of this source tree, built if needed."""
    return Engine(engine_library())
