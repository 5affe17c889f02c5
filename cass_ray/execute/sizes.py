"""Sizes for a program that takes one and was given none.

Sizes that programs have by default often fill whole blocks: no thread then stands at the bound that
a kernel checks, and a port with another bound prints the same. So such a program runs on a size
that fills none, and on the smallest that it takes, too. Which sizes a program takes is not known:
one counts only if the original accepts it, launches kernels, prints something new, and does so in
checking mode without a race, an access out of bounds or a read of what nobody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend, Execution, Inputs, RunMode
from cass_ray.execute.chance import is_clean
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.inputs import argument_positions
from cass_ray.execute.references import ReferenceRuns, measure
from cass_ray.execute.said import said
from cass_ray.execute.targets import build_for
from cass_ray.toolchain.sandbox.executable import Bounds

_SIZES = ("1000", "100", "33"), ("1", "2")
"""The first of each that the program takes. Of the larger ones none is a multiple of 32; an image
of 1000 by 1000 is much for a CPU."""
_SECONDS = 5.0
"""A size on which the original takes longer is passed over."""


def with_size(
    original: Sources, measurement: ReferenceRuns, backends: Sequence[Backend], inputs: Inputs
) -> ReferenceRuns:
    """Return ``measurement`` with runs on sizes, where the original takes some.

    ``inputs`` has no arguments; ``measurement`` was made on one of ``backends``.
    """
    [backend] = [each for each in backends if each.name == measurement.backend]
    if backend.real_gpu or not measurement.whole or inputs.arguments:
        return measurement
    texts = [content.decode("utf-8", "replace") for content in original.files.values()]
    if not any(argument_positions(text).get(1) is False for text in texts):
        return measurement
    built = build_for(backend, original)
    for sizes in _SIZES:
        for size in sizes:
            asked = replace(inputs, arguments=(size,))
            outputs = [output for run in measurement.runs for output in run.outputs[:1]]
            done = backend.run(built, asked, RunMode(_bounds(), check=True))
            if _means_something(done, outputs):
                mode = RunMode(_bounds(), same_draws=measurement.runs[0].same_draws)
                clean = {} if mode.same_draws else {asked: done}
                runs = measure(backend, built, [asked], mode, differential=False, clean=clean).runs
                further = [replace(run, made_up=True) for run in runs if not run.problem]
                measurement = replace(measurement, runs=(*measurement.runs, *further))
                break
    return measurement


def _means_something(done: Execution, earlier: Sequence[bytes]) -> bool:
    new = not any(compare([each], said(done.ended)).numeric for each in earlier)
    return is_clean(done) and bool(done.launch_count) and new


def _bounds() -> Bounds:
    return Bounds(wall_seconds=_SECONDS)
