"""Where the code of a large part is cut, so that LLVM gets functions of bounded size.

Several of LLVM's passes take quadratic time in the blocks of a function. The blocks of a part that
has many are put in topological order and cut into pieces. A loop stays whole if a piece has room
for it. Else it is entered by its header, the edges back to that are set aside, and what remains is
ordered likewise: its pieces are run again and again, until the lane is in none of them. Threads of
a warp that come to one piece by several ways enter it together, as they come together in LLVM's own
order of blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from cass_ray.lift.analysis.call_places import CallPlace, part_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.part_flow import entry_of
from cass_ray.lift.graphs import components

MOST_UNCUT = 1_500
"""Blocks of LLVM of a part that is not cut."""
MOST_IN_PIECE = 400
"""Blocks of LLVM of a piece, where single blocks of SASS and ways out of it have no more."""
_DEEPEST = 40
"""Loops inside each other that are cut: each is searched for those in it."""

Successors = Mapping[CallPlace, Iterable[CallPlace]]


@dataclass
class Cut:
    """The pieces of a part. A place's number is its position in the order of all."""

    numbers: dict[CallPlace, int] = field(default_factory=dict)
    pieces: list[range] = field(default_factory=list)
    """Numbers of places."""
    loops: list[range] = field(default_factory=list)
    """Pieces that are repeated; inner loops before outer ones."""
    _piece: dict[CallPlace, int] = field(default_factory=dict)
    _atom: dict[CallPlace, int] = field(default_factory=dict)
    _headers: set[CallPlace] = field(default_factory=set)
    """Of loops that are cut."""

    def piece_of(self, place: CallPlace) -> int:
        """The piece that ``place`` is in."""
        return self._piece[place]

    def stays(self, source: CallPlace, target: CallPlace) -> bool:
        """Whether the way from one place to another stays in its piece.

        A way back to the header of a loop that is cut does not, even where that is in the same.
        """
        if self._piece[source] != self._piece[target]:
            return False
        before, after = self._atom[source], self._atom[target]
        return before < after or (before == after and target not in self._headers)

    def add(self, atoms: list[list[CallPlace]], headers: Iterable[CallPlace]) -> None:
        """One more piece, of loops and single places."""
        first = len(self.numbers)
        for number, atom in enumerate(atoms, first):
            for place in atom:
                self._atom[place] = number
                self._piece[place] = len(self.pieces)
                self.numbers[place] = len(self.numbers)
        self._headers.update(headers)
        self.pieces.append(range(first, len(self.numbers)))


def large_parts(
    successors: Mapping[CallPlace, Iterable[CallPlace]], weights: Mapping[CodePlace, int]
) -> dict[CodePlace | None, list[CallPlace]]:
    """The blocks of each function, or of the kernel (None), that has more than :data:`MOST_UNCUT`.

    ``weights``: blocks of LLVM of each block.
    """
    places: dict[CodePlace | None, list[CallPlace]] = defaultdict(list)
    for place in successors:
        places[part_of(place[0])].append(place)
    return {
        part: found
        for part, found in places.items()
        if sum(weights[place[1:]] for place in found) > MOST_UNCUT
    }


def cuts_of_large_parts(
    successors: Mapping[CallPlace, Iterable[CallPlace]],
    weights: Mapping[CodePlace, int],
    entry: CallPlace,
) -> dict[CodePlace | None, Cut]:
    """How the parts of a kernel that begins at ``entry`` are cut, where they are."""
    cuts: dict[CodePlace | None, Cut] = {}
    for part, places in large_parts(successors, weights).items():
        within = frozenset(places)
        own = {place: [n for n in successors[place] if n in within] for place in places}
        of_places = {place: weights[place[1:]] for place in places}
        found = cut(own, of_places, entry if part is None else entry_of(part))
        if found is not None:
            cuts[part] = found
    return cuts


def cut(successors: Successors, weights: Mapping[CallPlace, int], entry: CallPlace) -> Cut | None:
    """The pieces of the part that begins at ``entry``.

    ``weights``: blocks of LLVM of each place. None where loops are nested too deep.
    """
    try:
        return _Cutter(successors, weights).cut(entry)
    except _TooDeep:
        return None


class _TooDeep(Exception):
    pass


class _Cutter:
    def __init__(self, successors: Successors, weights: Mapping[CallPlace, int]) -> None:
        order = {place: number for number, place in enumerate(successors)}
        self._weights = weights
        # Those that the walk came to first are to be first here, too.
        self._successors = {
            place: sorted(set(following), key=order.__getitem__, reverse=True)
            for place, following in successors.items()
        }
        self._cut = Cut()

    def cut(self, entry: CallPlace) -> Cut:
        self._sequence(self._successors.keys(), [entry], 0)
        return self._cut

    def _sequence(self, inside: Iterable[CallPlace], entries: list[CallPlace], depth: int) -> None:
        """Pieces for all that ``entries`` reach ``inside``."""
        if depth > _DEEPEST:
            raise _TooDeep
        within = frozenset(inside)
        found = list(components(self._successors, within, entries))
        together: list[list[CallPlace]] = []
        for component in reversed(found):
            if len(component) == 1 or self._weight(component) <= MOST_IN_PIECE:
                together.append(component)
                continue
            self._pack(together, ())
            together = []
            first, header = len(self._cut.pieces), component[0]
            self._pack([[header]], [header])
            rest = frozenset(component) - {header}
            self._sequence(rest, [n for n in self._successors[header] if n in rest], depth + 1)
            self._cut.loops.append(range(first, len(self._cut.pieces)))
        self._pack(together, ())

    def _weight(self, places: Iterable[CallPlace]) -> int:
        return sum(self._weights[place] for place in places)

    def _pack(self, atoms: list[list[CallPlace]], headers: Iterable[CallPlace]) -> None:
        start = 0
        while start < len(atoms):
            end = start + self._most_apart(atoms, start)
            self._cut.add(atoms[start:end], headers)
            start = end

    def _most_apart(self, atoms: list[list[CallPlace]], start: int) -> int:
        """How many from ``start`` on make a piece that few ways lead out of.

        One that is at least half full, where single atoms are not larger than that.
        """
        best, fewest = 0, 0
        count = 0
        for weight, count, ways in self._growing(islice(atoms, start, None)):
            if best and weight > MOST_IN_PIECE:
                return best
            if not best or 2 * weight <= MOST_IN_PIECE or ways <= fewest:
                best, fewest = count, ways
        return count

    def _growing(self, atoms: Iterable[list[CallPlace]]) -> Iterator[tuple[int, int, int]]:
        """Weight, number and ways out of ever more atoms."""
        weight = 0
        ahead: set[CallPlace] = set()
        for count, atom in enumerate(atoms, 1):
            weight += self._weight(atom)
            for place in atom:
                ahead.update(self._successors[place])
            ahead.difference_update(atom)
            yield weight, count, len(ahead)
