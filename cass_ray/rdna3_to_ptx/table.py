"""The table of RDNA3 instructions: mnemonic without encoding suffix -> what writes its PTX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.operands import Rdna3Operand, parse
from cass_ray.rdna3_to_ptx.wave import Wave

_FAMILIES = ("scalar", "vector", "arithmetic", "memory", "lanes")


@dataclass(frozen=True)
class Rdna3Instruction:
    """``operands`` as written; ``modifiers`` such as ``offset`` by name."""

    mnemonic: str
    operands: tuple[str, ...]
    modifiers: dict[str, str]
    text: str

    def __getitem__(self, index: int) -> Rdna3Operand:
        if index >= len(self.operands):
            raise UnknownInstruction(self.text, "too few operands")
        return parse(self.operands[index])

    def number(self, modifier: str) -> int:
        """The value of ``offset:12``; 0 without the modifier."""
        return int(self.modifiers.get(modifier, "0") or "1", 0)

    def allow(self, *names: str) -> None:
        """Raises :class:`UnknownInstruction` for modifiers beside these."""
        for name in self.modifiers:
            if name not in names:
                raise UnknownInstruction(self.text, f"modifier {name}")


Translation = Callable[[Wave, Rdna3Instruction], None]
_table: dict[str, Translation] = {}


def translates(*patterns: str) -> Callable[[Translation], Translation]:
    """Enter a function for the mnemonics of ``patterns`` ({alternatives,in,braces})."""

    def enter(translation: Translation) -> Translation:
        for pattern in patterns:
            for mnemonic in expand(pattern):
                if mnemonic in _table:
                    raise ValueError(f"{mnemonic} is in the table twice")
                _table[mnemonic] = translation
        return translation

    return enter


def table() -> dict[str, Translation]:
    """Mnemonic without encoding suffix -> what writes its PTX, of all families."""
    for family in _FAMILIES:
        import_module(f"cass_ray.rdna3_to_ptx.{family}")
    return _table
