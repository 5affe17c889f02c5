"""Regions of large functions to outline, so that LLVM gets functions of bounded size.

Several of LLVM's passes take quadratic time in the blocks of a function. The blocks of one
that has many are put in topological order and grouped into regions, each of which is outlined: it
becomes a function of LLVM. A loop stays whole if a region has room for it. Else it is entered by
its header, the edges back to that are set aside, and what remains is ordered likewise: its regions
are run again and again, until the lane is in none of them. Threads of a warp that come to one
region by several edges enter it together, as they come together in LLVM's own order of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from cass_ray.lift.analysis.kernel_graph import CallPlace, KernelGraph, entry_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.graphs import components

MOST_WITHOUT_OUTLINING = 1_500
"""Blocks of LLVM of a function of which nothing is outlined."""
MOST_IN_REGION = 400
"""Blocks of LLVM of a region, where single blocks of SASS and exits of it have no more."""
_DEEPEST = 40
"""Depth of nested loops that are outlined: each is searched for those in it."""

Successors = Mapping[CallPlace, Iterable[CallPlace]]


@dataclass
class Outline:
    """The regions of a function. A place's number is its position in the order of all."""

    numbers: dict[CallPlace, int] = field(default_factory=dict)
    regions: list[range] = field(default_factory=list)
    """Numbers of places."""
    loops: list[range] = field(default_factory=list)
    """Regions that are repeated; inner loops before outer ones."""
    _region: dict[CallPlace, int] = field(default_factory=dict)
    _atom: dict[CallPlace, int] = field(default_factory=dict)
    _headers: set[CallPlace] = field(default_factory=set)
    """Headers of the loops that are outlined in several regions."""

    def region_of(self, place: CallPlace) -> int:
        """The region that ``place`` is in."""
        return self._region[place]

    def stays(self, source: CallPlace, target: CallPlace) -> bool:
        """Whether the edge from one place to another stays in its region.

        A back edge to the header of a loop of several regions does not, even where that is in the
        same.
        """
        if self._region[source] != self._region[target]:
            return False
        before, after = self._atom[source], self._atom[target]
        return before < after or (before == after and target not in self._headers)

    def add(self, atoms: list[list[CallPlace]], headers: Iterable[CallPlace]) -> None:
        """Add a region of loops and single places."""
        first = len(self.numbers)
        for number, atom in enumerate(atoms, first):
            for place in atom:
                self._atom[place] = number
                self._region[place] = len(self.regions)
                self.numbers[place] = len(self.numbers)
        self._headers.update(headers)
        self.regions.append(range(first, len(self.numbers)))


def large_functions(graph: KernelGraph) -> dict[CodePlace | None, list[CallPlace]]:
    """The blocks of each function, or of the kernel (None), that has more than
    :data:`MOST_WITHOUT_OUTLINING`."""
    by_function = {function: graph.places(function) for function in (None, *graph.functions)}
    return {
        function: places
        for function, places in by_function.items()
        if sum(graph.weights[place[1:]] for place in places) > MOST_WITHOUT_OUTLINING
    }


def outlines_of_large_functions(graph: KernelGraph) -> dict[CodePlace | None, Outline]:
    """How the functions of a kernel are outlined, where they are."""
    outlines: dict[CodePlace | None, Outline] = {}
    for function, places in graph.get(large_functions).items():
        within = frozenset(places)
        own = {place: [n for n in graph.successors[place] if n in within] for place in places}
        weights = {place: graph.weights[place[1:]] for place in places}
        entry = ((), *graph.entry) if function is None else entry_of(function)
        regions = outline(own, weights, entry)
        if regions is not None:
            outlines[function] = regions
    return outlines


def outline(
    successors: Successors, weights: Mapping[CallPlace, int], entry: CallPlace
) -> Outline | None:
    """The regions of the function that begins at ``entry``.

    ``weights``: blocks of LLVM of each place. None where loops are nested too deep.
    """
    try:
        return _Outliner(successors, weights).outline(entry)
    except _TooDeep:
        return None


class _TooDeep(Exception):
    pass


class _Outliner:
    def __init__(self, successors: Successors, weights: Mapping[CallPlace, int]) -> None:
        order = {place: number for number, place in enumerate(successors)}
        self._weights = weights
        # Those that the walk came to first are to be first here, too.
        self._successors = {
            place: sorted(set(following), key=order.__getitem__, reverse=True)
            for place, following in successors.items()
        }
        self._outline = Outline()

    def outline(self, entry: CallPlace) -> Outline:
        self._sequence(self._successors.keys(), [entry], 0)
        return self._outline

    def _sequence(self, inside: Iterable[CallPlace], entries: list[CallPlace], depth: int) -> None:
        """Regions for all that ``entries`` reach ``inside``."""
        if depth > _DEEPEST:
            raise _TooDeep
        within = frozenset(inside)
        in_order = list(components(self._successors, within, entries))
        together: list[list[CallPlace]] = []
        for component in reversed(in_order):
            if len(component) == 1 or self._weight(component) <= MOST_IN_REGION:
                together.append(component)
                continue
            self._pack(together, ())
            together = []
            first, header = len(self._outline.regions), component[0]
            self._pack([[header]], [header])
            rest = frozenset(component) - {header}
            self._sequence(rest, [n for n in self._successors[header] if n in rest], depth + 1)
            self._outline.loops.append(range(first, len(self._outline.regions)))
        self._pack(together, ())

    def _weight(self, places: Iterable[CallPlace]) -> int:
        return sum(self._weights[place] for place in places)

    def _pack(self, atoms: list[list[CallPlace]], headers: Iterable[CallPlace]) -> None:
        start = 0
        while start < len(atoms):
            end = start + self._most_apart(atoms, start)
            self._outline.add(atoms[start:end], headers)
            start = end

    def _most_apart(self, atoms: list[list[CallPlace]], start: int) -> int:
        """How many from ``start`` on make a region with few exits.

        One that is at least half full, where single atoms are not larger than that.
        """
        best, fewest = 0, 0
        count = 0
        for weight, count, exits in self._growing(islice(atoms, start, None)):
            if best and weight > MOST_IN_REGION:
                return best
            if not best or 2 * weight <= MOST_IN_REGION or exits <= fewest:
                best, fewest = count, exits
        return count

    def _growing(self, atoms: Iterable[list[CallPlace]]) -> Iterator[tuple[int, int, int]]:
        """Weight, number and exits of ever more atoms."""
        weight = 0
        ahead: set[CallPlace] = set()
        for count, atom in enumerate(atoms, 1):
            weight += self._weight(atom)
            for place in atom:
                ahead.update(self._successors[place])
            ahead.difference_update(atom)
            yield weight, count, len(ahead)
