"""``cass_ray.verify_port``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.evidence.exploits import source_findings
from cass_ray.execute.originals import measure_original, reference_backends
from cass_ray.execute.sides import as_hip, usable_targets, wavefronts_on
from cass_ray.execute.verify import Policy, PortVerification, verify
from cass_ray.toolchain.unit import Unit


def verify_port(
    original: Path | str,
    port: Path | str | None = None,
    *,
    inputs: Sequence[Sequence[str]] = ((),),
    backend: str | None = None,
    reference_backend: str | None = None,
    order_free: bool = False,
    architecture: str | None = None,
) -> PortVerification:
    """Run a port and its original on the same inputs and compare what they print.

    ``inputs`` are the arguments of each run; ``port`` is by default the original, translated by
    the rules. ``backend`` is where the port runs, ``reference_backend`` where the original does:
    by default an Nvidia GPU; where there is none, nvcc's machine code of the original runs, lifted;
    where that cannot be done either, the original translated by the rules, which is not
    independent of a port by the rules. ``reference_kind``, ``independent`` and ``passed_over`` of
    the result say which it was and why. With ``order_free`` the lines may come in any order.
    ``architecture`` is the processor that the port is compiled for and runs as.

    Raises:
        CompileFailure: one of them does not compile.
        ToolMissing: a backend cannot be used here; the message says why.
        ValueError: there is no such backend, or it does not run code for that processor.
        OSError: a file cannot be read.
    """
    how = Comparison(inputs, backend, reference_backend, order_free)
    asked = [architecture] if architecture else []
    (result,) = compare_programs(original, port, how, asked).values()
    return result


@dataclass(frozen=True)
class Comparison:
    """What :func:`verify_port` takes beside the programs, under the same names."""

    inputs: Sequence[Sequence[str]] = ((),)
    backend: str | None = None
    reference_backend: str | None = None
    order_free: bool = False


def compare_programs(
    original: Path | str,
    port: Path | str | None,
    how: Comparison,
    architectures: Sequence[str] = (),
) -> dict[str, PortVerification]:
    """As :func:`verify_port`, the same port on each of ``architectures``; by architecture.

    The original runs once. Where it can only run translated, that is as the first of them: let
    that be one whose wavefronts are as wide as CUDA's warps. Without a ``port`` the original is
    translated once, to be right on all. Without architectures the backend's own, called by the
    backend's name.
    """
    ours = usable_targets(how.backend, architectures)
    theirs = reference_backends(how.reference_backend, ours[0])
    source = Path(original).resolve()
    reference = gather(Unit(source.parent, PurePosixPath(source.name)))
    target = Path(port).resolve() if port is not None else source
    program = gather(Unit(target.parent, PurePosixPath(target.name)))
    candidate = as_hip(program, wavefronts_on(ours))
    texts = [content.decode("utf-8", "replace") for content in reference.files.values()]
    inputs = [Inputs(tuple(each)) for each in how.inputs]
    made = measure_original(reference, theirs, inputs)
    findings = source_findings(candidate.files, reference.files)
    results = {}
    for name, engine in zip(architectures or [ours[0].name], ours, strict=True):
        policy = Policy(
            tolerance=tolerance_for(texts),
            order_free=how.order_free,
            counters=not engine.real_gpu,
            check=not engine.real_gpu,
        )
        results[name] = verify(made, engine.build(candidate), engine, policy, findings=findings)
    return results
