"""Which of LLVM's instructions the engine runs: the list behind ``cass emulator coverage``.

The instructions are those that LLVM's disassembler accepts for an instruction set
(:mod:`cass_ray.emulator.isa.probe`), not the engine's own tables; an instruction that the
tables lack counts as unsupported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from cass_ray.architectures import emulated_architectures, known_architecture
from cass_ray.emulator.engine_interface import Engine, State, load_engine
from cass_ray.emulator.isa.probe import Probed, probe

GRAPHICS = ("VINTERP", "LDSDIR", "EXP")
"""Formats that only graphics shaders use."""


@dataclass(frozen=True)
class MeasuredInstruction:
    """One mnemonic of one format and its state."""

    mnemonic: str
    encoding: str
    state: State


@dataclass(frozen=True)
class EmulatorCoverage:
    """All instructions, and the share of mnemonics by state."""

    instructions: tuple[MeasuredInstruction, ...]

    def states(self) -> Counter[str]:
        """Number of mnemonics by state; a mnemonic of several formats counts by its worst."""
        order = get_args(State)
        worst: dict[str, State] = {}
        for item in self.instructions:
            state = worst.get(item.mnemonic, item.state)
            worst[item.mnemonic] = min(state, item.state, key=order.index)
        return Counter(worst.values())

    def listed(self, state: State | None = None) -> list[MeasuredInstruction]:
        """Return instructions by format and mnemonic, those of ``state`` alone if it is given."""
        chosen = (item for item in self.instructions if state in (None, item.state))
        return sorted(chosen, key=lambda item: (item.encoding, item.mnemonic))

    def of(self, mnemonics: Iterable[str]) -> dict[str, str]:
        """State by mnemonic for those that occur somewhere, e.g. in compiler output."""
        states = {item.mnemonic: item.state for item in self.instructions}
        return {name: states.get(name, "unsupported") for name in mnemonics}


def instruction_set_of(architecture: str) -> str:
    """The engine's instruction set for a processor. Raises :class:`ValueError` for others."""
    known_architecture(architecture, emulated_architectures())
    family = architecture[:5]
    return family if family in ("gfx11", "gfx12") else architecture


def measure(
    instruction_set: str = "gfx11",
    engine: Engine | None = None,
    probed: list[Probed] | None = None,
) -> EmulatorCoverage:
    """Compare LLVM's instructions with the engine's handlers.

    Raises :class:`FileNotFoundError` without ``llvm-mc``, and what building the engine raises.
    """
    engine = engine or load_engine()
    supported = engine.coverage(instruction_set)
    states = {(item.mnemonic, item.encoding): item.state for item in supported}
    instructions = []
    for item in probed if probed is not None else probe(instruction_set):
        name = item.mnemonic.replace("v_dual_", "v_")
        state = states.get((name, item.encoding))
        if state is None and item.encoding == "VOP3SD":
            # Also reached by the other reading of the same bits.
            state = states.get((name, "VOP3"))
        if state is None and item.encoding == "VOP3":
            state = states.get((name, "VOP3SD"))
        if item.encoding in GRAPHICS:
            state = "graphics"
        instructions.append(
            MeasuredInstruction(item.mnemonic, item.encoding, state or "unsupported")
        )
    return EmulatorCoverage(tuple(instructions))
