"""One SASS instruction, decoded: mnemonic, guard and parsed operands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cass_ray.assembly import sass
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend import operands
from cass_ray.lift.frontend.operands import Operands, Predicate

_SPACED = frozenset({"BRX", "BRXU", "JMX", "CALL", "RET"})
"""Instructions whose operands are a register and a place with no comma between."""

_JUMP_TABLE = re.compile(r" \((\.L_\d+(?:, \.L_\d+)*)\)$")


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """``@P0 IADD3.X R2, …``; ``targets`` are the labels of an indirect branch."""

    address: int
    text: str
    mnemonic: str
    guard: Predicate | None
    operands: Operands
    targets: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    """The operands as nvdisasm prints them."""
    opcode: str = field(init=False)
    """The mnemonic up to the first dot."""
    modifiers: tuple[str, ...] = field(init=False)
    """The parts of the mnemonic after the opcode."""

    def __post_init__(self) -> None:
        opcode, *modifiers = self.mnemonic.split(".")
        object.__setattr__(self, "opcode", opcode)
        object.__setattr__(self, "modifiers", tuple(modifiers))

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def one_of(self, *choices: str, default: str = "") -> str:
        """The first of ``choices`` that is a modifier."""
        for choice in choices:
            if choice in self.modifiers:
                return choice
        return default

    def allow_only(self, *modifiers: str) -> None:
        """Raise :class:`UnknownForm` for a modifier that is not among ``modifiers``."""
        for modifier in self.modifiers:
            if modifier not in modifiers:
                raise self.unknown(f"modifier {modifier}")

    def unknown(self, reason: str) -> UnknownForm:
        return UnknownForm(self.text, reason, address=self.address)


def decode(instruction: sass.SassInstruction) -> DecodedInstruction:
    """Parse the operands of ``instruction``. Raises :class:`UnknownForm`."""
    targets: tuple[str, ...] = ()
    if table := _JUMP_TABLE.search(instruction.text):
        targets = tuple(table[1].split(", "))
        instruction = instruction._replace(text=instruction.text[: table.start()])
    guard = instruction.predicate
    parsed = operands.parse(guard[1:]) if guard else None
    if parsed is not None and not isinstance(parsed, Predicate):
        raise UnknownForm(instruction.text, f"guard {guard}", address=instruction.address)
    if parsed is not None and parsed.index is None and not parsed.inverted:
        parsed = None
    printed = instruction.operands
    if instruction.opcode in _SPACED:
        printed = tuple(word for operand in printed for word in operand.split())
    return DecodedInstruction(
        instruction.address,
        instruction.text,
        instruction.mnemonic,
        parsed,
        Operands(map(operands.parse, printed)),
        targets,
        printed,
    )
