"""Loops that wait for another thread: nothing changes in them but memory.

Two warps in one wave of 64 lanes go on together, so that a warp that has left such a loop would
wait for the other one, which may wait for it. Kernels with such loops schedule their warps one
after the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.loops import carried, loops
from cass_ray.lift.analysis.opcodes import tests_phase, uses_words
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Register

_ATOMIC = frozenset({"ATOM", "ATOMG", "ATOMS", "UTCATOMSWS"})
_LOADS = frozenset({"LD", "LDG", "LDS"})


def waiting_loops(graph: KernelGraph) -> list[list[CodePlace]]:
    """Instructions of each loop that may wait for what another thread writes."""
    return list(_waiting_loops(graph))


def _waiting_loops(graph: KernelGraph) -> Iterator[list[CodePlace]]:
    for header, loop in graph.get(loops):
        places = list(graph.instructions(loop))
        body = [graph.at(place) for place in places]
        if _may_wait(body) and (
            any(i.opcode == "NANOSLEEP" for i in body) or not carried(graph.blocks, header, loop)
        ):
            yield places


def must_keep_loads(graph: KernelGraph) -> bool:
    """Whether loads of shared memory have to stay where they are: some wait for another warp."""
    instructions = graph.all_instructions
    if not any(i.opcode == "LDS" for i in instructions):
        return False
    return any(map(uses_words, instructions)) or polls_shared(graph)


def spin_loads(graph: KernelGraph) -> frozenset[CodePlace]:
    """Loads of global memory in loops that wait for what they load, and do not pause themselves.

    Nvidia's scheduler lets other warps go on; on AMD such loops pause (``__ockl_grid_sync``).
    """
    if not any(map(_is_strong_load, graph.all_instructions)):
        return frozenset()
    loads: set[CodePlace] = set()
    for places in graph.get(waiting_loops):
        body = {place: graph.at(place) for place in places}
        if not any(i.opcode == "NANOSLEEP" or i.opcode in _ATOMIC for i in body.values()):
            loads |= {place for place, i in body.items() if _is_strong_load(i)}
    return frozenset(loads)


def polls_shared(graph: KernelGraph) -> bool:
    """Whether a loop loads one word of shared memory again and again, as one that waits does.

    SASS does not say that such a load is volatile.
    """
    for _, loop in graph.get(loops):
        accesses = [each for block in loop for each in graph.blocks[block].accesses]
        if any(graph.at(place).opcode == "BAR" for place, _ in accesses):
            continue
        written = frozenset[str]().union(*(access.writes for _, access in accesses))
        for place, access in accesses:
            if graph.at(place).opcode == "LDS" and not access.reads & written:
                return True
    return False


def _is_strong_load(i: DecodedInstruction) -> bool:
    """Whether it loads what others may write meanwhile, and says so."""
    return i.opcode in _LOADS and i.has("STRONG")


def _may_wait(body: list[DecodedInstruction]) -> bool:
    """Whether the loop reads what others write, and others do not come around with it."""
    if any(i.opcode == "BAR" for i in body) or _tries_again(body):
        return False
    if any(map(tests_phase, body)):
        return True
    if any(i.opcode in _ATOMIC or _is_strong_load(i) for i in body):
        return True
    # Variables of code that is not optimized are in the stack: nothing can be said of its loops.
    return any(i.opcode in _LOADS for i in body) and not any(i.opcode == "STL" for i in body)


def _tries_again(body: list[DecodedInstruction]) -> bool:
    """Whether it swaps what it has loaded for something else: where that fails, another did so."""
    loaded = {
        operand.name
        for i in body
        if i.opcode in _LOADS
        for operand in i.operands[:1]
        if isinstance(operand, Register)
    }
    return any(_expected(i) in loaded for i in body if i.has("CAS") or i.has("CAST"))


def _expected(i: DecodedInstruction) -> str:
    """The register with what a compare and swap expects; empty where that is a literal."""
    place = next((n for n, each in enumerate(i.operands) if isinstance(each, Address)), -1)
    following = i.operands[place + 1 :]
    return following[0].name if following and isinstance(following[0], Register) else ""
