"""Tests of the phases of barriers in shared memory, and the loops that wait by them.

Where two warps of a wave are scheduled one after the other
(``lowering.scheduling.warp_scheduler``), such a loop gives the turn to the other warp, which it may
wait for. From there on lanes of one warp would no longer wait for each other at the loop's end: so
they leave it together, when each of them may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.analysis.opcodes import tests_phase
from cass_ray.lift.convergence.spin_loops import waiting_loops
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register

_PHASE_BIT = "0x80000000"


@dataclass(frozen=True)
class PhaseWaits:
    """Where phases are tested in a kernel whose warps are scheduled."""

    polls: frozenset[CodePlace] = frozenset()
    """Instructions of waiting loops that read a phase: the turn ends before each."""
    verdicts: dict[CodePlace, bool] = field(default_factory=dict)
    """Instructions that say whether a phase is over, and whether they are in such a loop."""


@dataclass(frozen=True)
class PhaseTest:
    """``read`` reads a barrier's phase, ``verdict`` sets a predicate; often one instruction."""

    read: CodePlace
    verdict: CodePlace


def phase_waits(graph: KernelGraph) -> PhaseWaits:
    """Where the kernel waits for phases; empty where no loop does."""
    tests = [test for block in graph.blocks.values() for test in _phase_tests(block, graph)]
    waiting = {place for loop in graph.get(waiting_loops) for place in loop}
    polls = frozenset(test.read for test in tests if test.read in waiting)
    if not polls:
        return PhaseWaits()
    return PhaseWaits(polls, {test.verdict: test.read in waiting for test in tests})


def _phase_tests(block: LivenessBlock, graph: KernelGraph) -> Iterator[PhaseTest]:
    """Tests of phases in a basic block.

    Up to sm_89 ptxas loads a barrier's high word and compares its highest bit with a token's, or
    tests that bit alone.
    """
    loaded: dict[str, CodePlace] = {}
    for place, access in block.accesses:
        instruction = graph.at(place)
        if tests_phase(instruction):
            yield PhaseTest(place, place)
        word = _compared_word(instruction)
        if word in loaded:
            yield PhaseTest(loaded[word], place)
        for name in access.writes:
            loaded.pop(name, None)
        if instruction.mnemonic == "LDS":
            loaded.update(dict.fromkeys(access.writes, place))


def _compared_word(i: DecodedInstruction) -> str:
    """The register whose highest bit decides about a predicate."""
    if i.mnemonic != "LOP3.LUT" or not isinstance(i.operands[0], Predicate):
        return ""
    target, register, literal = i.operands[1:4].exactly(3)
    if not isinstance(target, Register) or not target.is_zero:
        return ""
    is_bit = isinstance(literal, Immediate) and literal.text == _PHASE_BIT
    return register.name if is_bit and isinstance(register, Register) else ""
