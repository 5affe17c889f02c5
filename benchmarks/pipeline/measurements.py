"""The three measurements of building the data set: against the paper, Ray's cost, memory."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import tools
from benchmarks.measure.accounting import CommandFailedError
from benchmarks.measure.memory import MemoryWatch, Sample, growth_per_row
from benchmarks.pipeline import contenders, corpus, plain_loop
from benchmarks.pipeline.contenders import Built
from benchmarks.pipeline.figures import (
    BuildFigures,
    Comparison,
    MemoryUse,
    RayOverhead,
    Setting,
    figures,
)
from cass_ray.pipeline.settings import BuildSettings

_PROJECTED_ROWS = 10_000
_FEWEST_ROWS = 500
_CURVE_POINTS = 200
_MIB = 1 << 20


def settings_for(
    sources: list[str], out: Path, architectures: list[str], **more: Any
) -> BuildSettings:
    """Settings of a build of ``sources`` into ``out``."""
    return BuildSettings(sources=sources, out=out, nvidia_architectures=architectures, **more)


def compare(
    name: str,
    architectures: list[str],
    work: Path,
    runs: int,
    setting: Setting,
    before: Comparison | None = None,
) -> Comparison:
    """Both ways over one corpus, one after the other, ``runs`` times; the median run counts.

    With ``before`` only ours is measured, beside the paper's way as it was then, on this machine.
    """
    if before is not None and before.setting.machine != setting.machine:
        raise ValueError("the paper's way was measured on another machine")
    sources = corpus.sources_of(name)
    cores = setting.machine.cores
    preparation = settings_for(sources, work / "unused", architectures)
    programs = corpus.staged_programs(preparation, work / "corpus")
    if not programs:
        raise ValueError(f"no program of {name} gets past the filters")
    if before is None:
        contenders.build_paper_way(programs[:1], preparation, work / "warm-up", cores)
    papers: list[Built] = []
    builds: list[tuple[Built, Built]] = []
    for number in range(runs):
        folder = work / f"run_{number}"
        if before is None:
            paper = contenders.build_paper_way(programs, preparation, folder / "paper", cores)
            papers.append(paper)
        settings = settings_for(sources, folder / "ours", architectures)
        builds.append(_cold_and_warm(settings, contenders.new_cache(folder / "cache")))
    cold, warm = (_median([build[way] for build in builds]) for way in range(2))
    if before is not None:
        ours = {"setting": setting, "cold": _figures(cold), "warm": _figures(warm)}
        return before.model_copy(update=ours)
    paper = _median(papers)
    names = {program.id: program.main for program in programs}
    return Comparison(
        corpus=name,
        architectures=architectures,
        setting=setting,
        paper=_figures(paper),
        cold=_figures(cold),
        warm=_figures(warm),
        only_paper=sorted(names[i] for i in paper.kept - cold.kept),
        only_ours={names[i]: paper.failed[i] for i in sorted(cold.kept - paper.kept)},
    )


def compare_variants(
    copies: int, architectures: list[str], work: Path, setting: Setting
) -> Comparison:
    """The paper's way on the shipped programs beside ours on ``copies`` variants of each.

    What ours starts once for a build is then shared by more pairs; nothing of the paper's way is,
    so that it is measured on one variant.
    """
    once, many = work / "once", work / "many"
    corpus.write_variants(corpus.SHIPPED_PROGRAMS, once, 1)
    corpus.write_variants(corpus.SHIPPED_PROGRAMS, many, copies)
    more = {"near_duplicates": {"enabled": False}}
    preparation = settings_for([f"local:{once}"], work / "unused", architectures, **more)
    programs = corpus.staged_programs(preparation, work / "corpus")
    contenders.build_paper_way(programs[:1], preparation, work / "warm-up", setting.machine.cores)
    paper = contenders.build_paper_way(programs, preparation, work / "paper", setting.machine.cores)
    settings = settings_for([f"local:{many}"], work / "ours", architectures, **more)
    cold, warm = _cold_and_warm(settings, contenders.new_cache(work / "cache"))
    return Comparison(
        corpus=f"{copies} variants of shipped",
        architectures=architectures,
        setting=setting,
        paper=_figures(paper),
        cold=_figures(cold),
        warm=_figures(warm),
        only_paper=[],
        only_ours={},
        variants=copies,
    )


def _cold_and_warm(settings: BuildSettings, cache: Path) -> tuple[Built, Built]:
    """Ours, then again on unchanged input; raises ValueError if that kept other programs."""
    cold, warm = (contenders.build_ours(settings, cache) for _ in range(2))
    if cold.kept != warm.kept:
        raise ValueError("a re-run on unchanged input kept other programs")
    return cold, warm


def _median(builds: list[Built]) -> Built:
    middle = statistics.median_low(build.cost.cpu_seconds for build in builds)
    return next(build for build in builds if build.cost.cpu_seconds == middle)


def _figures(built: Built) -> BuildFigures:
    return figures(built.cost, built.rows, len(built.kept), built.note)


def ray_overhead(name: str, rows: int, work: Path, setting: Setting) -> RayOverhead:
    """One build of at least ``rows`` variants of the programs in the folder ``name``.

    The library's own part is measured on one copy of the corpus and scaled by rows.
    """
    folder = corpus.SHIPPED_PROGRAMS if name == "shipped" else Path(name)
    once = corpus.write_variants(folder, work / "once", 1)
    corpus.write_variants(folder, work / "many", -(-rows // once))
    more = {"near_duplicates": {"enabled": False}, "slots": setting.machine.cores}
    plain = settings_for([f"local:{work / 'once'}"], work / "plain", ["sm_80"], **more)
    contenders.build_ours(plain, contenders.new_cache(work / "cache_plain"), job="plain_loop")
    library = json.loads((Path(plain.out) / plain_loop.RESULT).read_text())
    settings = settings_for([f"local:{work / 'many'}"], work / "ours", ["sm_80"], **more)
    built = contenders.build_ours(settings, contenders.new_cache(work / "cache"))
    processes = built.cost.processes
    if not processes:
        raise CommandFailedError("telling Ray's processes apart needs exit records: run as root")
    use = tools.slot_use(processes, setting.machine.cores)
    python = sum(p.cpu_seconds for p in processes if not tools.is_compiler(p))
    return RayOverhead(
        setting=setting,
        build=_figures(built),
        slots=use.slots,
        busy_share=use.busy_share,
        mean_running=use.mean_running,
        window_seconds=use.window_seconds,
        library_seconds=library["python_cpu_seconds"] / library["rows"] * built.rows,
        python_seconds=python,
    )


def memory_use(rows: int, work: Path, setting: Setting) -> MemoryUse:
    """Peak of driver and object store over a build of ``rows`` tiny programs, really compiled.

    The growth per row after the start is projected to 10,000 rows, which takes at least 500.
    """
    if rows < _FEWEST_ROWS:
        raise ValueError(f"{rows} rows end with the start-up: take at least {_FEWEST_ROWS}")
    corpus.write_tiny_programs(work / "tiny", rows)
    more = {"near_duplicates": {"enabled": False}}
    settings = settings_for([f"local:{work / 'tiny'}"], work / "ours", ["sm_80"], **more)
    watch = MemoryWatch("build_dataset.py")
    built = contenders.build_ours(settings, contenders.new_cache(work / "cache"), watch=watch)
    peak = max(sample.total for sample in watch.samples)
    growth = growth_per_row(watch.samples, built.rows)
    more_rows = max(0, _PROJECTED_ROWS - built.rows)
    return MemoryUse(
        setting=setting,
        rows=built.rows,
        pairs=len(built.kept),
        peak_mib=peak / _MIB,
        peak_driver_mib=max(sample.driver for sample in watch.samples) / _MIB,
        peak_object_store_mib=max(sample.object_store for sample in watch.samples) / _MIB,
        growth_bytes_per_row=growth,
        projected_rows=max(_PROJECTED_ROWS, built.rows),
        projected_mib=(peak + max(0.0, growth) * more_rows) / _MIB,
        curve=_curve(watch.samples),
    )


def _curve(samples: Sequence[Sample]) -> list[tuple[float, float, float]]:
    began = samples[0].seconds
    step = max(1, len(samples) // _CURVE_POINTS)
    return [
        (round(s.seconds - began, 1), round(s.driver / _MIB, 1), round(s.object_store / _MIB, 1))
        for s in samples[::step]
    ]
