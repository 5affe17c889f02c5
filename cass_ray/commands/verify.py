"""``cass verify`` and ``cass verify-selftest``: is a port right, and is the verifier?"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cass_ray.architectures import AMD_ARCHITECTURES, wavefronts_of
from cass_ray.commands.program_arguments import ProgramCommand, arguments_wanted, left_over
from cass_ray.commands.program_options import (
    FILES_MIB,
    MEMORY_GIB,
    FileSize,
    InputFiles,
    Memory,
    StandardInput,
    arguments_of,
    bounds_of,
    existing,
    exit_codes,
    standard_input,
)
from cass_ray.commands.waiting import SLOW_SECONDS, waiting
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.backends.registry import BACKENDS, make_backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.programs import has_main
from cass_ray.execute.references import TRANSLATION
from cass_ray.execute.verification import PortVerification
from cass_ray.exit_codes import EXIT_CANNOT_TELL, EXIT_DONE, EXIT_FAILED
from cass_ray.public.verifying import Comparison, by_second_compiler, compare_programs
from cass_ray.toolchain.archive.library_targets import without_code
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.rules.widths import width_findings
from cass_ray.verbosity import next_step, verbose

if TYPE_CHECKING:
    from cass_ray.execute.selftest.selftest import SelfTest

app = typer.Typer(add_completion=False, rich_markup_mode=None)
selftest_app = typer.Typer(add_completion=False, rich_markup_mode=None)


_DRIVER = """\
driver     there is no main: a generated one launches the kernels on both sides; its arguments are
           elements, threads in a block, blocks (0: as many as needed), seed"""


@app.command("verify", cls=ProgramCommand)
def verify_port(
    reference: Annotated[Path, typer.Argument(help="The program that is right: .cu or .hip.")],
    candidate: Annotated[
        Path | None,
        typer.Argument(help="The port (.hip). [default: REFERENCE, translated by the rules]"),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Option("--with", help="Arguments of one run, as one text; may be repeated."),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help=f"Where the port runs: {', '.join(BACKENDS)}.")
    ] = None,
    reference_backend: Annotated[
        str | None,
        typer.Option(
            help="Where the original runs. [default: nvidia, else lifted, else as the port]"
        ),
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(help="Processor that the port is for, as gfx1100; may be repeated."),
    ] = None,
    inputs: InputFiles = None,
    stdin: StandardInput = None,
    memory: Memory = MEMORY_GIB,
    file_size: FileSize = FILES_MIB,
    order_free: Annotated[
        bool, typer.Option(help="Lines may come in any order (atomics decide it).")
    ] = False,
    second_compiler: Annotated[
        bool,
        typer.Option(
            "--second-compiler", help="Judge it again with device code that another LLVM made."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all evidence.")] = False,
) -> None:
    """Run a port and its reference on the same inputs and compare what they print.

    The verdict is a grade: verified; agrees, independence not shown; cannot tell; differs. A port
    is verified if both programs agree under the same changes of inputs, results and device memory.

    Without an Nvidia GPU cass lifts nvcc's machine code of the original and runs it on the CPU. No
    translator of source takes part. If that fails, cass translates the original and runs it where
    the port runs: a check against the rules' translation only. The output says which and why.

    --with gives arguments, --inputs files and --stdin standard input, the last two to each run.
    With several --arch the port runs as each: `--arch gfx1100 --arch gfx942` finds what is right
    on wavefronts of 32 lanes only. --second-compiler compiles the port with another LLVM, too. A
    port that is right with one of them only has undefined behaviour, or a compiler has a fault.

    Files without a main function get the same generated one on both sides. It launches each kernel
    whose parameters can be generated, on several sizes (--with: elements, threads in a block,
    blocks, seed).

    Exit codes: 0 verified, 1 differs or one does not compile, 2 usage, 3 a tool is missing, 4 they
    agree without evidence, or nothing can be told.
    """
    what = "compiling and running both sides"
    with exit_codes(), waiting(what, slow_seconds=SLOW_SECONDS) as say:
        if candidate and arguments and not (candidate.suffix or candidate.exists()):
            raise typer.BadParameter(left_over([str(candidate)], arguments))
        programs = existing(reference), existing(candidate) if candidate else None
        _warn_of_libraries(candidate or reference, arch or [])
        driven = not has_main([reference.read_text(errors="replace")])
        how = Comparison(
            inputs=[arguments_of(text) for text in arguments or [""]],
            backend=backend,
            reference_backend=reference_backend,
            order_free=order_free,
            stdin=standard_input(stdin),
            folder=inputs,
            bounds=bounds_of(memory, file_size),
            in_projects=True,
            second_compiler=second_compiler,
            say=say,
        )
        results = compare_programs(*programs, how, list(dict.fromkeys(arch or [])))
    typer.echo(_as_json(results) if as_json else _report(results))
    if driven and not as_json:
        typer.echo(_DRIVER)
    if candidate is not None and not as_json:
        _advise(candidate, results)
    status = _exit_code(results)
    if not as_json:
        _go_on(reference, candidate, status, results, arguments or [])
    raise typer.Exit(status)


def _go_on(
    reference: Path,
    candidate: Path | None,
    status: int,
    results: Mapping[str, PortVerification],
    arguments: list[str],
) -> None:
    """Say what to do next after a verdict."""
    port, original = shlex.quote(str(candidate or reference)), shlex.quote(str(reference))
    kinds = {each.reference_kind for each in results.values()}
    problem = next((each.problem for each in results.values() if each.problem), "")
    text = reference.read_text(errors="replace")
    wanted = arguments_wanted(problem, [text], arguments) if problem else ""
    if wanted:
        programs = shlex.join(map(str, [reference, candidate] if candidate else [reference]))
        next_step(f'cass verify {programs} --with "ARGUMENTS"    # {wanted}')
    elif status == EXIT_FAILED:
        next_step(f"cass run {port} --check    # reports memory errors and races")
    elif status == EXIT_CANNOT_TELL and kinds == {TRANSLATION}:
        next_step("run this where an Nvidia GPU is: the original runs there")
    elif any(run.by_chance for each in results.values() for run in each.runs):
        next_step(f"cass run {port} --check    # reports races; what is drawn needs a seed")
    elif status == EXIT_CANNOT_TELL:
        next_step("give inputs that the program reads: --with ARGUMENTS, --inputs FOLDER")
    elif candidate is not None:
        next_step(f"cass parity {original} {port}    # compares what both cost")


@selftest_app.command("verify-selftest")
def selftest(
    programs: Annotated[
        int, typer.Option(min=1, help="How many shipped programs, spread over the corpus.")
    ] = 12,
    per_fault: Annotated[
        int, typer.Option(min=1, help="Mutants of each kind of fault for each program.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Draws other mutants.")] = 0,
    part: Annotated[
        str,
        typer.Option(metavar="K/N", help="Each N-th of these programs from K on: K is 0 to N - 1."),
    ] = "0/1",
    lifted: Annotated[
        bool,
        typer.Option(
            "--lifted",
            help="Compare with the original's machine code, lifted; not with itself.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every mutant.")] = False,
) -> None:
    """Plant faults in correct programs and report how many the verifier catches.

    Exit codes: 0 no false alarm, 1 a correct program did not pass, 3 a tool is missing.
    """
    # They take long to import, and a verdict on a port needs none of them.
    from cass_ray.execute.selftest.selftest import run_selftest, summarize
    from cass_ray.execute.shipped import shipped_subjects
    from cass_ray.translate.engines.registry import make_translator

    of_part = _part(part)
    with exit_codes(), waiting("planting faults") as say:
        engine = Rdna3Backend(threads=1)
        if problem := engine.problem():
            raise ToolMissing("The backend rdna3", "", problem)
        originals = make_backend("lifted", threads=1) if lifted else None
        if originals is not None and (problem := originals.problem()):
            raise ToolMissing("The backend lifted", "", problem)
        subjects = list(shipped_subjects(make_translator()))
        chosen = subjects[:: max(1, len(subjects) // programs)][:programs]
        chosen = chosen[of_part]
        results = []
        for subject, unchanged, mutants in run_selftest(
            chosen, engine, per_fault=per_fault, seed=seed, originals=originals
        ):
            results.append((subject, unchanged, mutants))
            say(f"{len(results)} of {len(chosen)} programs")
            if not as_json:
                typer.echo(f"{subject.name}: {len(mutants)} mutants", err=True)
        outcome = summarize(results)
    if as_json:
        typer.echo(json.dumps(_selftest_object(outcome), indent=2))
    else:
        typer.echo(_selftest_table(outcome))
    raise typer.Exit(EXIT_FAILED if outcome.false_alarms else 0)


def _part(text: str) -> slice:
    """Every N-th from K on. Raises ``typer.BadParameter`` unless ``text`` is such a K/N."""
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and int(number) < int(parts)):
        raise typer.BadParameter(f"{text} is no K/N with K from 0 to N - 1", param_hint="--part")
    return slice(int(number), None, int(parts))


def agree(original: Path, port: Path) -> bool:
    """Whether ``port`` prints what ``original`` prints; the report goes to standard error.

    Raises what :func:`cass_ray.commands.program_options.exit_codes` turns into an exit code.
    """
    results = compare_programs(original, port, Comparison(in_projects=True))
    typer.echo(_report(results), err=True)
    return not _first_difference(results)


def _warn_of_libraries(port: Path, targets: list[str]) -> None:
    """CUDA's names, too: the rules give each the library of ROCm that has its name."""
    text = port.read_text(errors="replace")
    hip = re.sub(r"\bcu(blas|rand|sparse|solver)(?=[A-Z])", r"hip\1", text)
    if warning := without_code([hip], targets):
        typer.echo(f"cass verify: {warning}", err=True)


def _exit_code(results: Mapping[str, PortVerification]) -> int:
    if _first_difference(results):
        return EXIT_FAILED
    return EXIT_DONE if all(each.passed for each in results.values()) else EXIT_CANNOT_TELL


def _first_difference(results: Mapping[str, PortVerification]) -> str:
    """The first target that fails and why; empty where none does.

    What checking mode finds on one target alone is a difference too: LDS that nobody wrote there
    is zero on the CPU and anything on a card. Found on all of them, the original may have it.
    """
    if said := _compilers_disagree(results):
        return said
    for name, result in results.items():
        if result.grade is Grade.DIFFERS:
            return f"{name}: {result.reason}"
    clean = [name for name, result in results.items() if not result.device_faults]
    for name, result in results.items():
        if clean and result.device_faults:
            return f"{name}: {result.device_faults[0]}\n(nothing of it on {', '.join(clean)})"
    return ""


def _compilers_disagree(results: Mapping[str, PortVerification]) -> str:
    """Where a port is right by one compiler and wrong by the other, and how; else empty."""
    for name, first in results.items():
        second = results.get(by_second_compiler(name))
        if second is None or first.agrees == second.agrees:
            continue
        right, wrong = (first, second) if first.agrees else (second, first)
        return (
            f"{name}: compilers disagree: right as {right.candidate}, wrong as {wrong.candidate}:"
            f" {wrong.reason}"
        )
    return ""


def _advise(port: Path, results: Mapping[str, PortVerification]) -> None:
    """Say what of ``port`` is right on 32 lanes only, where targets with 64 are among them."""
    targets = [name for name in results if name in AMD_ARCHITECTURES]
    if _first_difference(results) and 64 in wavefronts_of(targets):
        for finding in width_findings(port.read_text(errors="replace"), str(port)):
            typer.echo(finding.format(str(port)))


def _as_json(results: Mapping[str, PortVerification]) -> str:
    """One target's evidence as it is; of several an object with one for each."""
    if len(results) == 1:
        return next(iter(results.values())).model_dump_json(indent=2)
    difference = _first_difference(results)
    evidence = {name: result.model_dump(mode="json") for name, result in results.items()}
    whole = {"passed": not difference, "first_difference": difference, "architectures": evidence}
    return json.dumps(whole, indent=2)


def _report(results: Mapping[str, PortVerification]) -> str:
    if len(results) == 1:
        return _describe(next(iter(results.values())))
    difference = _first_difference(results)
    names = ", ".join(results)
    grades = dict.fromkeys(result.grade.value for result in results.values())
    first = f"first difference: {difference}" if difference else f"{'; '.join(grades)}: {names}"
    return "\n\n".join([first, *(f"{name}: {_describe(each)}" for name, each in results.items())])


def _describe(result: PortVerification) -> str:
    """The verdict, then what speaks against the port; all evidence under ``--verbose``."""
    lines = [_verdict(result)]
    translated = result.reference_kind == TRANSLATION
    if translated or verbose():
        lines += [f"           not {_first_line(each)}" for each in result.passed_over]
    if translated:
        lines.append("           so this compares with the rules' translation, not with CUDA")
    if verbose():
        lines.append(f"reference  {result.reference_kind} ({result.reference})")
        lines.append(f"candidate  {result.candidate}")
        lines.append(f"tolerance  {result.tolerance}")
    for run in result.runs:
        if verbose() or not (run.numeric or run.difference in lines[0]):
            other = "differs" if result.grade is Grade.DIFFERS else "no verdict"
            verdict = "exact" if run.exact else "numeric" if run.numeric else other
            error = f", max error {run.max_error:.2g}" if run.floats else ""
            lines.append(f"{verdict:<10} {run.given}{error} {run.difference}".rstrip())
    if result.generated and verbose():
        lines.append(f"generated  {result.generated}")
    lines += [f"finding    {finding.exploit}: {finding.message}" for finding in result.findings]
    lines += [f"check      {fault}" for fault in result.device_faults]
    if result.coverage.kernels and verbose():
        lines.append(f"coverage   {result.coverage.share:.0%} of the device code that was launched")
    return "\n".join(lines)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _verdict(result: PortVerification) -> str:
    """The grade with what it rests on, and what keeps it from being the best one."""
    if result.grade is Grade.DIFFERS:
        return f"differs: {result.reason}"
    alone = sum(bool(run.kernel) for run in result.runs)
    parts = [result.reference_kind, _counted(len(result.runs) - alone, "input")]
    parts.append(_counted(result.perturbations, "perturbation"))
    if result.coverage.kernels:
        parts.append(f"coverage {result.coverage.share:.0%}")
    if alone:
        parts.append(f"kernels alone {_counted(alone, 'launch', 'launches')}")
    graded = f"{result.grade} ({', '.join(parts)})"
    return graded if result.passed else f"{graded}: {result.weakness}"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _selftest_table(outcome: SelfTest) -> str:
    fates = ["numeric", "exact", "run", "check", "finding", "survived"]
    fates += ["equivalent", "same_code", "not_built"]
    lines = ["fault".ljust(24) + "".join(fate.rjust(11) for fate in fates) + "    caught"]
    for mutated, counts in sorted(outcome.table().items()):
        numbers = "".join(str(counts.get(fate, 0)).rjust(11) for fate in fates)
        counted = sum(counts.get(fate, 0) for fate in fates[:6])
        share = 1 - counts.get("survived", 0) / counted if counted else 1.0
        lines.append(f"{mutated:<24}{numbers}{share:>10.0%}")
    lines.append(f"{outcome.kill_rate():.1%} of the mutants caught, {outcome.programs} programs,")
    lines[-1] += f" {len(outcome.false_alarms)} false alarms"
    for mutant in outcome.mutants:
        if mutant.fate.value == "survived":
            place = f"{mutant.program}:{mutant.line}"
            lines.append(f"survived: {place}: {mutant.fault}: {mutant.change}")
        elif mutant.fate.value == "equivalent":
            place = f"{mutant.program}:{mutant.line}"
            lines.append(f"equivalent: {place}: {mutant.change}: {mutant.reason}")
    lines += [f"false alarm: {name}: {why}" for name, why in outcome.false_alarms.items()]
    return "\n".join(lines)


def _selftest_object(outcome: SelfTest) -> dict[str, object]:
    return {
        "kill_rate": outcome.kill_rate(),
        "false_alarms": len(outcome.false_alarms),
        "false_alarm_programs": outcome.false_alarms,
        "programs": outcome.programs,
        "by_kind": outcome.table(),
        "mutants": [mutant.model_dump(mode="json") for mutant in outcome.mutants],
    }
