"""Whether two warps can go on together, as they do in one wave of 64 lanes."""

from __future__ import annotations

from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import counts_threads
from cass_ray.lift.analysis.parting import Graph, InstructionAt, barriers_part_warps
from cass_ray.lift.analysis.phase_waits import PhaseWaits
from cass_ray.lift.analysis.polling import flag_in_shared, waiting_loops
from cass_ray.lift.errors import UnknownForm


def must_take_turns(
    blocks: Graph, entry: CodePlace, instruction_at: InstructionAt, waits: PhaseWaits
) -> bool:
    """Whether one warp could wait for the other for ever, or come to a barrier without it.

    ``waits``: for which phases of barriers the kernel waits. Raises :class:`UnknownForm` where
    turns would not help: where one may wait for a word that the other one writes without a barrier.
    """
    loops = list(waiting_loops(blocks, entry, instruction_at))
    for places in loops:
        load = flag_in_shared([instruction_at(place) for place in places])
        if load is not None and not waits.polls.intersection(places):
            reason = "a loop that waits for another warp of its block, which may share its wave"
            raise UnknownForm(load.text, reason, entry[0], load.address)
    if loops:
        return True
    reached = (instruction_at(place) for block in blocks.values() for place, _ in block.accesses)
    return any(map(counts_threads, reached)) or barriers_part_warps(blocks, entry, instruction_at)
