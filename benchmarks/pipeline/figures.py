"""The figures as they are kept: one JSON file, one Markdown page made from it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.measure.accounting import Cost
from benchmarks.measure.machine import MeasuredMachine
from benchmarks.measure.tools import PYTHON_TOOLS, UNATTRIBUTED, tool_of


class _Figures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(_Figures):
    """What was run on what."""

    command: str
    machine: MeasuredMachine


class BuildFigures(_Figures):
    """One build. ``tools`` are CPU seconds by tool; ``method`` is how the sum was counted."""

    rows: int
    pairs: int
    cpu_seconds: float
    wall_seconds: float
    method: str
    tools: dict[str, float]
    note: str = ""

    @property
    def compiler_seconds(self) -> float:
        """CPU seconds of compilers, disassemblers and their sandboxes, most of which are short, so
        that the ends of processes are theirs."""
        return sum(seconds for tool, seconds in self.tools.items() if tool not in PYTHON_TOOLS)

    @property
    def cpu_seconds_per_pair(self) -> float:
        """CPU seconds for each kept pair."""
        return self.cpu_seconds / self.pairs


class Comparison(_Figures):
    """The paper's way, our first build and our second on the same input."""

    corpus: str
    architectures: list[str]
    setting: Setting
    paper: BuildFigures
    cold: BuildFigures
    warm: BuildFigures
    only_paper: list[str]
    """Programs that only the paper's way kept."""
    only_ours: dict[str, str]
    """Programs that only we kept -> the step that failed the paper's way."""
    variants: int = 1
    """Variants of each program that ours built; the paper's way had one."""

    @property
    def gain(self) -> float:
        """How many times fewer CPU seconds a pair costs us on a first build."""
        return self.paper.cpu_seconds_per_pair / self.cold.cpu_seconds_per_pair

    @property
    def most_gain(self) -> float:
        """:attr:`gain`, were all free that is no compiler."""
        return self.paper.cpu_seconds_per_pair / (self.cold.compiler_seconds / self.cold.pairs)

    @property
    def gain_again(self) -> float:
        """The same for a re-run on unchanged input, against the paper's way."""
        return self.paper.cpu_seconds_per_pair / self.warm.cpu_seconds_per_pair


class RayOverhead(_Figures):
    """What Ray costs on a long build, and how busy it keeps the compilers."""

    setting: Setting
    build: BuildFigures
    slots: int
    busy_share: float
    mean_running: float
    window_seconds: float
    library_seconds: float
    """CPU seconds of Python that the same rows cost in a plain loop without Ray."""
    python_seconds: float
    """CPU seconds of everything that is no compiler: driver, actors and Ray's daemons."""

    @property
    def ray_seconds(self) -> float:
        return self.python_seconds - self.library_seconds

    @property
    def ray_share(self) -> float:
        return self.ray_seconds / self.build.cpu_seconds


class MemoryUse(_Figures):
    """Driver and object store together, in MiB."""

    setting: Setting
    rows: int
    pairs: int
    peak_mib: float
    peak_driver_mib: float
    peak_object_store_mib: float
    growth_bytes_per_row: float
    projected_rows: int
    projected_mib: float
    curve: list[tuple[float, float, float]]
    """(seconds, driver MiB, object store MiB), thinned out."""


class Results(_Figures):
    """All that was measured."""

    note: str = ""
    """What a reader has to know of all figures, in Markdown; written by hand, kept by runs."""
    comparisons: list[Comparison] = Field(default_factory=list)
    ray_overhead: RayOverhead | None = None
    memory: MemoryUse | None = None

    def comparison(self, corpus: str, architectures: list[str]) -> Comparison:
        """The one that there is. Raises ``ValueError``."""
        for each in self.comparisons:
            if (each.corpus, each.architectures) == (corpus, architectures):
                return each
        raise ValueError(f"{corpus}, {' + '.join(architectures)}: not measured yet")

    def with_comparison(self, new: Comparison) -> Results:
        """These results with ``new`` in the place of an earlier run of the same comparison."""
        key = (new.corpus, new.architectures)
        others = [c for c in self.comparisons if (c.corpus, c.architectures) != key]
        return self.model_copy(update={"comparisons": [*others, new]})


def figures(cost: Cost, rows: int, pairs: int, note: str = "") -> BuildFigures:
    """The figures of a measured build."""
    tools = cost.by(tool_of)
    if tools:
        tools[UNATTRIBUTED] = cost.cpu_seconds - sum(tools.values())
    return BuildFigures(
        rows=rows,
        pairs=pairs,
        cpu_seconds=round(cost.cpu_seconds, 3),
        wall_seconds=round(cost.wall_seconds, 2),
        method=cost.method,
        tools={tool: round(seconds, 3) for tool, seconds in tools.items()},
        note=note,
    )
