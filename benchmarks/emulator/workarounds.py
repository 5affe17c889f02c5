"""What the flags against miscompilations cost: instructions executed, with and without them.

``python -m benchmarks.emulator.workarounds [--only PART]`` compiles each shipped program for
gfx1100 both ways; where the device code differs it runs both and compares the engine's counts.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import fields
from pathlib import Path

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated


class PlainToolchain(AmdToolchain):
    """The same compiler without the flags."""

    @property
    def workarounds(self) -> tuple[str, ...]:
        return ()


class PlainBackend(Rdna3Backend):
    """The CPU backend, compiling without the flags."""

    @property
    def toolchain(self) -> AmdToolchain:
        found = find_amd()
        return PlainToolchain(**{each.name: getattr(found, each.name) for each in fields(found)})


def executed(sources: Sources, backend: Rdna3Backend) -> int:
    """Instructions of all kernels, by wave."""
    execution = backend.run(backend.build(sources), mode=RunMode(counters=True))
    return sum(int(kernel["instructions"]) for kernel in execution.counters["kernels"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="programs whose path contains this")
    given = parser.parse_args()
    usual, plain = Rdna3Backend(), PlainBackend()
    with tempfile.TemporaryDirectory(prefix="cass-workarounds-") as name:
        programs = shipped_sources(Path(name))
    compared, different, totals = 0, 0, [0, 0]
    for path, (_, cuda) in programs.items():
        if given.only not in path or path.startswith("repositories/rejects"):
            continue
        try:
            sources = translated(cuda, make_translator())
            same = usual.compile(sources).device == plain.compile(sources).device
        except CompileFailure as failure:
            print(f"{path}: {failure}", flush=True)
            continue
        compared += 1
        if same:
            continue
        different += 1
        counts = [executed(sources, plain), executed(sources, usual)]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        print(f"{path}: {counts[0]} -> {counts[1]} ({counts[1] / counts[0]:.4f})", flush=True)
    print(f"{compared} programs, {different} with other code: {totals[0]} -> {totals[1]}")


if __name__ == "__main__":
    main()
