"""``cass_ray.verify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cass_ray.architectures import architecture_named
from cass_ray.execute.backends.base import Backend, Inputs, RunMode
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.drivers.alone import kernels_alone, with_kernels_alone
from cass_ray.execute.drivers.driver import ARGUMENT_LISTS
from cass_ray.execute.drivers.generated import GeneratedRuns
from cass_ray.execute.drivers.pairs import driven_pair
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import depends_on_card, reference_backends, shown_as
from cass_ray.execute.port_verdict import JudgedPort, judge_port, measured_original
from cass_ray.execute.targets import as_hip, translated_port, usable_targets, wavefronts_on
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy
from cass_ray.public.gathering import gathered, gathered_port
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Block, Cells, Mark, View
from cass_ray.toolchain.sandbox.executable import Bounds


class VerifyResult(Renderable, PortVerification):
    """A port judged against its original, with the evidence, and what they are called."""

    original_name: str = ""
    port_name: str = ""

    def view(self) -> View:
        """The verdict first, then what it rests on."""
        said = f"{self.port_name} against {self.original_name}: "
        said += "the same" if self.passed else self.reason
        return View(said, Mark.GOOD if self.passed else Mark.BAD, list(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        runs = [
            (
                run.given,
                run.verdict.value,
                "exact" if run.exact else "within tolerance" if run.numeric else "different",
                f"{run.max_error:.3g}" if run.floats else "",
                run.difference,
            )
            for run in self.runs
        ]
        marks = [Mark.GOOD if run.numeric else Mark.BAD for run in self.runs]
        yield Cells("Runs", ("arguments", "ended", "output", "largest error", ""), runs, marks)
        remarks = [("finding", finding.message) for finding in self.findings]
        remarks += [("checking mode", fault) for fault in self.device_faults]
        remarks += [("checking mode, warning", warning) for warning in self.warnings]
        if remarks:
            yield Cells("Found", ("by", "what"), remarks, [Mark.WARNING] * len(remarks))
        yield Cells("Evidence", ("what", ""), list(self._evidence()))

    def _evidence(self) -> Iterator[tuple[str, str]]:
        made_by = "" if self.independent else ", not independent of a port by the rules"
        yield "reference", f"{self.reference_kind}{made_by} ({self.reference})"
        for why in self.passed_over:
            yield "passed over", why
        yield "port ran on", self.candidate
        if self.generated:
            yield "generated inputs", self.generated
        if self.observed_by:
            yield "observed by", self.observed_by
        yield "tolerance", self.tolerance
        if self.coverage.kernels:
            share = f"{self.coverage.share:.0%} of the instructions"
            yield "kernels' code that ran", f"{share} of {len(self.coverage.kernels)} kernel(s)"


def verify(
    original: Path | str,
    port: Path | str | None = None,
    *,
    inputs: Sequence[Sequence[str]] = ((),),
    backend: str | None = None,
    reference_backend: str | None = None,
    order_free: bool = False,
    arch: str | None = None,
    stdin: bytes = b"",
    files: Path | str | None = None,
    architecture: str | None = None,
) -> VerifyResult:
    """Run a port and its original on the same inputs and compare what they print.

    ``inputs`` are the arguments of each run; each gets ``stdin``, and finds what is in the folder
    ``files`` where it runs, read-only. ``port`` is by default the original, translated by the
    rules. ``backend`` is where the port runs, ``reference_backend`` where the original does: by
    default an Nvidia GPU; where there is none, nvcc's machine code of the original runs, lifted;
    where that cannot be done either, the original translated by the rules, which is not
    independent of a port by the rules. ``reference_kind``, ``independent`` and ``passed_over`` of
    the result say which it was and why. With ``order_free`` the lines may come in any order.
    ``arch`` is the card or processor that the port is compiled for and runs as; ``architecture``
    is its former name. Where the program
    takes no inputs, its kernels are launched on generated arguments too, on both sides:
    ``generated`` of the result says which.

    Raises:
        CompileFailure: one of them does not compile.
        ToolMissing: a backend cannot be used here; the message says why.
        ValueError: there is no such backend, or it does not run code for that processor.
        OSError: a file cannot be read.
    """
    folder = Path(files) if files is not None else None
    how = Comparison(inputs, backend, reference_backend, order_free, stdin, folder)
    if arch and architecture and architecture_named(arch) != architecture_named(architecture):
        raise ValueError(f"arch is {arch} and architecture, its former name, {architecture}")
    wanted = arch or architecture
    asked = [architecture_named(wanted)] if wanted else []
    (result,) = compare_programs(original, port, how, asked).values()
    names = Path(original).name, Path(port if port is not None else original).name
    return VerifyResult(**dict(result), original_name=names[0], port_name=names[1])


@dataclass(frozen=True)
class Comparison:
    """What :func:`verify` takes beside the programs, under the same names."""

    inputs: Sequence[Sequence[str]] = ((),)
    backend: str | None = None
    reference_backend: str | None = None
    order_free: bool = False
    stdin: bytes = b""
    folder: Path | None = None
    """``files`` of :func:`verify`."""
    bounds: Bounds = field(default_factory=Bounds)
    """Limits of each run."""
    in_projects: bool = False
    """Whether the original may include headers of the project that it lies in."""
    second_compiler: bool = False
    """Judge the port again with device code that another LLVM made."""
    say: Callable[[str], None] = lambda _: None
    """Is told what is done next, for who waits."""


def compare_programs(
    original: Path | str,
    port: Path | str | None,
    how: Comparison,
    architectures: Sequence[str] = (),
) -> dict[str, PortVerification]:
    """As :func:`verify`, the same port on each of ``architectures``; by architecture.

    The original runs once, with the properties of the first card, and again with those of a card on
    which the port differs, where it prints something else then. Where it can only run translated,
    that is as the first of them: let that be one whose wavefronts are as wide as CUDA's warps.
    Without a ``port`` the original is
    translated once, to be right on all. Without architectures the backend's own, called by the
    backend's name. With ``second_compiler`` each is followed by itself with device code by the
    second compiler, called :func:`by_second_compiler`. Files without ``main`` get the same
    generated driver on both sides; without ``inputs`` it makes up arguments of several sizes.
    """
    ours = [each.single_threaded() for each in usable_targets(how.backend, architectures)]
    asked = reference_backends(how.reference_backend, ours[0])
    theirs = [each.single_threaded() for each in asked]
    source = Path(original).resolve()
    reference = gathered(source, in_project=how.in_projects)
    program = reference if port is None else gathered_port(Path(port).resolve(), reference)
    texts = [content.decode("utf-8", "replace") for content in reference.files.values()]
    arguments = how.inputs
    driven = driven_pair(reference, program)
    if driven:
        reference, program = driven.original, driven.port
        arguments = arguments if any(arguments) else ARGUMENT_LISTS
    candidate = as_hip(program, wavefronts_on(ours))
    inputs = [Inputs(tuple(each), how.stdin, how.folder) for each in arguments]
    mode = RunMode(how.bounds)
    how.say("compiling the original, and running it with and without changes")
    original_runs = measured_original(reference, theirs, inputs, mode)
    generated: GeneratedRuns | str = ""
    if driven is None:
        how.say("launching the original's kernels alone")
        generated = kernels_alone(reference, candidate, original_runs, theirs)
    results = {}
    named = zip(architectures or [ours[0].name], ours, strict=True)
    for name, engine in _by_both(named) if how.second_compiler else named:
        policy = Policy(
            tolerance=tolerance_for(texts),
            bounds=how.bounds,
            order_free=how.order_free,
            counters=not engine.real_gpu,
            check=not engine.real_gpu,
        )
        how.say(f"compiling the port for {name}")
        built = engine.build(candidate)
        how.say(f"running the port as {name} with and without changes")
        another = translated_port(reference, candidate, engine)
        subject = JudgedPort(built, reference.files, candidate.files, another)
        result = judge_port(subject, original_runs, engine, policy)
        if result.grade is Grade.DIFFERS and depends_on_card(
            reference, original_runs, theirs, engine
        ):
            there = measured_original(reference, shown_as(theirs, engine), inputs, mode)
            result = judge_port(subject, there, engine, policy)
        results[name] = with_kernels_alone(result, reference, candidate, generated, engine, policy)
    return results


def by_second_compiler(name: str) -> str:
    """What the verdict is called on a port whose device code the second compiler made."""
    return f"{name}, second compiler"


def _by_both(engines: Iterable[tuple[str, Backend]]) -> Iterator[tuple[str, Backend]]:
    for name, engine in engines:
        yield name, engine
        if not isinstance(engine, HipBackend):
            raise ValueError(f"the backend {engine.name} is not one of AMD code")
        yield by_second_compiler(name), replace(engine, second_compiler=True)
