"""Which old values of registers a guarded instruction must keep.

``@P0 LDG R4, …`` leaves R4 as it was where P0 is false. ptxas uses that rarely: mostly R4 is read
under @P0 only, and what it held before is dead. Knowing so saves a copy for each such instruction.

Per basic block backwards, each register is dead, needed under one guard only, or live; blocks are
joined by the usual data flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CodePlace = tuple[str, int]
"""A function and an address in it."""

Guard = tuple[str, bool]
"""A predicate's name, and whether it is inverted."""

_LIVE: Guard = ("", False)
"""The state of a register that may be read under any guard; a guard: under that one only."""


@dataclass
class RegisterAccess:
    """What one instruction does to registers and predicates."""

    guard: Guard | None
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


@dataclass
class LivenessBlock:
    """A basic block: its instructions, and where control goes; everything is live where unknown."""

    accesses: list[tuple[CodePlace, RegisterAccess]] = field(default_factory=list)
    successors: set[CodePlace] = field(default_factory=set)
    leaves_unknown: bool = False
    taken: tuple[Guard, CodePlace] | None = None
    """What a branch at its end depends on alone, and where it goes; None if that is not known."""


def unneeded_old_values(
    blocks: Mapping[CodePlace, LivenessBlock], live_in: Mapping[CodePlace, frozenset[str]]
) -> frozenset[tuple[CodePlace, str]]:
    """Instruction and register, where what the register held before is not needed.

    ``live_in``: :func:`live_at_starts`.
    """
    everything = _everything_read(blocks)
    unneeded: set[tuple[CodePlace, str]] = set()
    for block in blocks.values():
        _backwards(block, _live_out(block, live_in, everything), unneeded)
    return frozenset(unneeded)


def live_at_starts(
    blocks: Mapping[CodePlace, LivenessBlock],
) -> dict[CodePlace, frozenset[str]]:
    """Registers that may be read, after the start of each block, before they are written."""
    live_in: dict[CodePlace, frozenset[str]] = {place: frozenset() for place in blocks}
    everything = _everything_read(blocks)
    predecessors: dict[CodePlace, list[CodePlace]] = {place: [] for place in blocks}
    for place, block in blocks.items():
        for successor in block.successors:
            predecessors[successor].append(place)
    pending = list(blocks)
    queued = set(pending)
    while pending:
        place = pending.pop()
        queued.discard(place)
        block = blocks[place]
        live = frozenset(_backwards(block, _live_out(block, live_in, everything)))
        if live != live_in[place]:
            live_in[place] = live
            for previous in predecessors[place]:
                if previous not in queued:
                    queued.add(previous)
                    pending.append(previous)
    return live_in


def _everything_read(blocks: Mapping[CodePlace, LivenessBlock]) -> frozenset[str]:
    return frozenset(
        name for block in blocks.values() for _, access in block.accesses for name in access.reads
    )


def _live_out(
    block: LivenessBlock, live_in: Mapping[CodePlace, frozenset[str]], everything: frozenset[str]
) -> dict[str, Guard]:
    """States at the end of a block: what is read on one side of a branch is so under its guard."""
    if block.leaves_unknown:
        return dict.fromkeys(everything, _LIVE)
    if block.taken is None:
        successors = (live_in[place] for place in block.successors)
        return dict.fromkeys(frozenset[str]().union(*successors), _LIVE)
    guard, target = block.taken
    taken = live_in[target]
    others = (live_in[place] for place in block.successors - {target})
    other = frozenset[str]().union(*others)
    return {
        **dict.fromkeys(taken - other, guard),
        **dict.fromkeys(other - taken, (guard[0], not guard[1])),
        **dict.fromkeys(taken & other, _LIVE),
    }


def _backwards(
    block: LivenessBlock,
    live_out: Mapping[str, Guard],
    unneeded: set[tuple[CodePlace, str]] | None = None,
) -> dict[str, Guard]:
    """States at the start of a block: registers that are not dead."""
    states = dict(live_out)
    guards = {block.taken[0][0]} if block.taken else set[str]()
    """Predicates that registers may be needed under."""
    for place, access in reversed(block.accesses):
        guard = access.guard
        for name in access.writes:
            state = states.get(name)
            if guard is None or state is None or state == guard:
                states.pop(name, None)
                if guard is not None and unneeded is not None:
                    unneeded.add((place, name))
            elif state == _LIVE:  # where the guard holds, it is another value from here on
                states[name] = (guard[0], not guard[1])
        if not guards.isdisjoint(access.writes):
            for name, state in states.items():
                if state[0] in access.writes:  # before this, the guard was another value
                    states[name] = _LIVE
            guards -= access.writes
        if guard is None:
            for name in access.reads:
                states[name] = _LIVE
            continue
        for name in access.reads:
            _read(states, name, guard)
        states[guard[0]] = _LIVE
        guards.add(guard[0])
    return states


def _read(states: dict[str, Guard], name: str, guard: Guard) -> None:
    state = states.get(name)
    if state is not None and state != guard:
        states[name] = _LIVE
    elif state is None:
        states[name] = guard
