"""``cass_ray.verify_port``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.evidence.exploits import source_findings
from cass_ray.execute.references import measure
from cass_ray.execute.sides import as_hip, build_for, usable_backends
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
) -> PortVerification:
    """Run a port and its original on the same inputs and compare what they print.

    ``inputs`` are the arguments of each run; ``port`` is by default the original, translated by
    the rules. ``backend`` is where the port runs, ``reference_backend`` where the original does:
    an Nvidia GPU by default, and where there is none, the backend of the port with the original
    translated. That checks the port against the rules' translation, not against CUDA;
    ``reference`` of the result names what was compared with. With ``order_free`` the lines may
    come in any order.

    Raises:
        CompileFailure: one of them does not compile.
        ToolMissing: a backend cannot be used here; the message says why.
        ValueError: there is no such backend.
        OSError: a file cannot be read.
    """
    ours, theirs = usable_backends(backend, reference_backend)
    source = Path(original).resolve()
    reference = gather(Unit(source.parent, PurePosixPath(source.name)))
    target = Path(port).resolve() if port is not None else source
    candidate = as_hip(gather(Unit(target.parent, PurePosixPath(target.name))))
    texts = [content.decode("utf-8", "replace") for content in reference.files.values()]
    policy = Policy(
        tolerance=tolerance_for(texts),
        order_free=order_free,
        counters=not ours.real_gpu,
        check=not ours.real_gpu,
    )
    made = measure(theirs, build_for(theirs, reference), [Inputs(tuple(each)) for each in inputs])
    findings = source_findings(candidate.files, reference.files)
    return verify(made, ours.build(candidate), ours, policy, findings=findings)
