"""The table of opcode forms: exact mnemonic, with all its modifiers -> what it does.

A form that is not listed is an error. Families are written as patterns with alternatives in braces,
``ISETP.{LT,GE}{,.U32}.AND``, each of which is expanded into whole mnemonics when the module of the
family is imported: a modifier that nobody thought of can never be dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering.context import LoweringContext

Semantics = Callable[[LoweringContext, DecodedInstruction], None]


@dataclass(frozen=True, slots=True)
class OpcodeForm:
    """One mnemonic; ``has_effect``: a false guard must skip it, not only drop its results."""

    mnemonic: str
    semantics: Semantics
    has_effect: bool


_forms: dict[str, OpcodeForm] = {}


def lowers(
    *patterns: str, has_effect: bool = False, repeats: bool = False
) -> Callable[[Semantics], Semantics]:
    """Enter a function as what the mnemonics of ``patterns`` do.

    ``repeats``: the patterns may give a mnemonic several times. Raises ValueError where not, and
    for one that another function has.
    """

    def enter(semantics: Semantics) -> Semantics:
        for pattern in patterns:
            for mnemonic in expand(pattern):
                earlier = _forms.get(mnemonic)
                if earlier is not None and not (repeats and earlier.semantics is semantics):
                    raise ValueError(f"{mnemonic} is in the table twice")
                _forms[mnemonic] = OpcodeForm(mnemonic, semantics, has_effect)
        return semantics

    return enter


def entered() -> Mapping[str, OpcodeForm]:
    """Forms of the modules that are imported; all of them are in ``families.forms``."""
    return MappingProxyType(_forms)
