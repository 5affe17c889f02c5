"""Translate public CUDA programs, compile them for gfx1100, run them, ask their own checks.

``python -m benchmarks.translate.public --engine rules --engine hipify-perl --json OUT.json
NAME=CHECKOUT ...`` takes every ``.cu`` file that defines ``main`` and that nvcc accepts on its own.
Each engine's output is built by the same compiler against the same runtime and run on the CPU
backend, where it finds the files of its own folder. A program that checks its own result (it has a
message for a wrong one) is *right* when it ends with status 0 and prints no such message, nor one
about an error of the runtime; any other program only *runs*. Programs nobody can build here (nvcc
refuses them, or a library's headers are missing on the CUDA side too, or they are one part of a
program: no engine's output links) are counted and left out.

Programs are taken in the order of a digest of their paths, so that whatever was measured when
``--minutes`` were over is a sample that nobody chose. ``--including thrust/ --including cub/``
takes those that include a header from one of these folders. ``--resume`` keeps the rows that the
JSON file has; ``--markdown`` writes the table.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from cass_ray.cache import digest
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.process import Completed, ProcessOutcome
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.hipify import ENGINES as HIPIFY_ENGINES
from cass_ray.translate.engines.hipify import HipifyTranslator
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import Translator, TranslatorError

_MAIN = re.compile(r"\bmain\s*\(")
_WRONG = re.compile(
    r"do not match|don't match|not equal|mismatch|test failed|has errors|incorrect"
    r"|verification failed|\bFAIL(?:ED)?\b|wrong result",
    re.IGNORECASE,
)
"""What the programs print when their own check fails."""
_RUNTIME_ERROR = re.compile(r"^\s*(?:CUDA |HIP |GPU)?\s*error\s*:", re.IGNORECASE | re.MULTILINE)
_UNDEFINED = re.compile(r"undefined (?:symbol|reference)")
_SHARED_FOLDERS = ("Common", "common", "inc", "include")
"""At the top of a checkout: headers that its programs share."""
_NEEDS_INPUT = re.compile(r"\busage:|cannot open|no such file", re.IGNORECASE)
_BACKEND = re.compile(r"is not supported by the CPU backend|unsupported instruction")


class TranslationState(StrEnum):
    """How one program fared with one engine, from worst to best."""

    UNTRANSLATED = "engine failed"
    UNCOMPILED = "does not compile"
    PART = "is one part of a program"
    LIBRARY = "is linked with a library that is not installed"
    FAILED = "ends with an error"
    INPUT = "needs arguments or files"
    TIMEOUT = "over the time limit"
    BACKEND = "needs what the CPU backend lacks"
    WRONG = "its own check fails"
    RAN = "runs (has no check)"
    RIGHT = "runs and its check passes"

    @property
    def compiled(self) -> bool:
        """Whether there was something to run."""
        return self not in (
            TranslationState.UNTRANSLATED,
            TranslationState.UNCOMPILED,
            TranslationState.PART,
            TranslationState.LIBRARY,
        )


@dataclass(frozen=True)
class TranslationRow:
    """One program with one engine."""

    repository: str
    program: str
    engine: str
    state: str
    detail: str = ""


def candidates(checkout: Path, including: tuple[str, ...] = ()) -> Iterator[PurePosixPath]:
    """The ``.cu`` files below ``checkout`` that define ``main``, in an order of no meaning.

    With ``including`` those that include a header whose name starts so. Of copies the first one.
    """
    headers = "|".join(re.escape(start) for start in including)
    included = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*[<\"](?:{headers})", re.MULTILINE)
    paths = [
        PurePosixPath(path.relative_to(checkout))
        for path in checkout.rglob("*.cu")
        if path.is_file()
    ]
    seen = set()
    for path in sorted(paths, key=lambda path: digest([str(path)])):
        text = (checkout / path).read_text(encoding="utf-8", errors="replace")
        taken = not including or included.search(text)
        if taken and _MAIN.search(text) and text not in seen:
            seen.add(text)
            yield path


def folders(checkout: Path, program: PurePosixPath) -> tuple[PurePosixPath, ...]:
    """The include folders: the program's own and those that the checkout's programs share."""
    shared = (PurePosixPath(name) for name in _SHARED_FOLDERS)
    return (program.parent, *(folder for folder in shared if (checkout / folder).is_dir()))


def cuda_refusal(unit: Unit, toolchain: NvidiaToolchain) -> str:
    """Why nvcc does not compile ``unit``; nothing when it does."""
    try:
        toolchain.compile(unit)
    except CompileFailure as failure:
        return _first_error(failure.diagnostic)
    return ""


def judge(completed: Completed, *, checks_itself: bool) -> tuple[TranslationState, str]:
    """The state of a program that ran, and the words that decided it."""
    said = completed.stdout_text + completed.stderr_text
    if missing := _BACKEND.search(said):
        return TranslationState.BACKEND, _line_of(said, missing)
    if completed.outcome is ProcessOutcome.TIME_LIMIT or "time limit" in said:
        return TranslationState.TIMEOUT, completed.outcome.value
    if not completed.ok and (missing := _NEEDS_INPUT.search(said)):
        return TranslationState.INPUT, _line_of(said, missing)
    if not completed.ok:
        return (
            TranslationState.FAILED,
            f"{completed.outcome.value} {completed.returncode} {said[-200:]}",
        )
    if wrong := _WRONG.search(said):
        return TranslationState.WRONG, _line_of(said, wrong)
    if error := _RUNTIME_ERROR.search(said):
        return TranslationState.FAILED, _line_of(said, error)
    return (TranslationState.RIGHT if checks_itself else TranslationState.RAN), ""


@dataclass(frozen=True)
class EngineComparison:
    """The compiler, the runtime and the limits that all engines share."""

    toolchain: AmdToolchain
    runtime: Path
    options: RunOptions

    def measure(
        self, sources: Sources, translator: Translator, inputs: Path
    ) -> tuple[TranslationState, str]:
        """Translate, build and run one program, which finds the files of the folder ``inputs``."""
        text = "\n".join(item.decode("utf-8", "replace") for item in sources.files.values())
        try:
            hip = translated(sources, translator)
            program = build(hip, self.toolchain, self.runtime)
        except TranslatorError as error:
            return TranslationState.UNTRANSLATED, str(error)[:200]
        except ToolMissing as error:
            return TranslationState.LIBRARY, str(error)[:200]
        except CompileFailure as failure:
            undefined = _UNDEFINED.search(failure.diagnostic)
            state = TranslationState.PART if undefined else TranslationState.UNCOMPILED
            return state, _first_error(failure.diagnostic)
        completed = execute(program, (), self.runtime, replace(self.options, inputs=inputs))
        return judge(completed, checks_itself=bool(_WRONG.search(text)))


def _whole(rows: list[TranslationRow]) -> tuple[list[TranslationRow], Counter[str]]:
    """Rows of whole programs, and how many others there are.

    A file is a part of a program when the output of some engine compiles but misses functions, and
    that of none links.
    """
    states: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        states.setdefault((row.repository, row.program), set()).add(row.state)
    parts = {
        key
        for key, found in states.items()
        if TranslationState.PART.value in found
        and not any(TranslationState(state).compiled for state in found)
    }
    kept = [row for row in rows if (row.repository, row.program) not in parts]
    return kept, Counter(repository for repository, _ in parts)


def table(rows: list[TranslationRow], refused: Counter[str]) -> str:
    """Markdown: per repository and engine, then what failed with each engine."""
    rows, parts = _whole(rows)
    lines = [
        "| repository | engine | programs | compile | run | of those with a check: right | wrong |",
        "|---|---|---|---|---|---|---|",
    ]
    for repository, engine in sorted({(row.repository, row.engine) for row in rows}):
        own = [row for row in rows if (row.repository, row.engine) == (repository, engine)]
        states = Counter(TranslationState(row.state) for row in own)
        compiled = sum(count for state, count in states.items() if state.compiled)
        ran = (
            states[TranslationState.RAN]
            + states[TranslationState.RIGHT]
            + states[TranslationState.WRONG]
        )
        lines.append(
            f"| {repository} | {engine} | {len(own)} | {compiled} ({compiled / len(own):.1%})"
            f" | {ran} | {states[TranslationState.RIGHT]} | {states[TranslationState.WRONG]} |"
        )
    for repository, count in sorted(refused.items()):
        lines.append(f"\n{repository}: {count} programs left out, nvcc does not compile them.")
    for repository, count in sorted(parts.items()):
        lines.append(f"\n{repository}: {count} files left out, they are parts of a program.")
    lines += ["", "| engine | program | state | why |", "|---|---|---|---|"]
    for row in rows:
        if row.state not in (TranslationState.RAN, TranslationState.RIGHT):
            why = " ".join(row.detail.split()).replace("|", "\\|")[:160]
            lines.append(
                f"| {row.engine} | {row.repository}: {row.program} | {row.state} | {why} |"
            )
    return "\n".join(lines) + "\n"


def _first_error(diagnostic: str) -> str:
    found = re.search(r"error:.*", diagnostic)
    return (found.group() if found else diagnostic.strip()[-200:])[:200]


def _line_of(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    return text[start:].split("\n", 1)[0][:160]


def _engine(name: str, hipify: Path | None) -> Translator:
    if name in HIPIFY_ENGINES and hipify is not None:
        return HipifyTranslator(name, hipify)
    return make_translator(name)


def _interleaved(
    checkouts: dict[str, Path], including: tuple[str, ...]
) -> Iterator[tuple[str, PurePosixPath]]:
    """Programs of all checkouts, each checkout advancing at the same rate."""
    programs = []
    for name, checkout in checkouts.items():
        own = list(candidates(checkout, including))
        programs += [(index / len(own), name, program) for index, program in enumerate(own)]
    for _, name, program in sorted(programs):
        yield name, program


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="+", help="NAME=FOLDER")
    parser.add_argument("--engine", action="append", required=True)
    parser.add_argument("--including", action="append", default=[], help="start of a header's name")
    parser.add_argument("--hipify", type=Path, help="where hipify-perl is")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a program")
    parser.add_argument("--minutes", type=float, default=600.0, help="when to stop")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--resume", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Measure and write the results after every program."""
    arguments = _arguments()
    bench = EngineComparison(find_amd(), runtime_library(), RunOptions(seconds=arguments.seconds))
    engines = [_engine(name, arguments.hipify) for name in arguments.engine]
    resume = arguments.resume and arguments.json.exists()
    kept = json.loads(arguments.json.read_text()) if resume else {}
    refused: dict[str, dict[str, str]] = kept.get("refused", {})
    rows = [TranslationRow(**row) for row in kept.get("rows", [])]
    accepted: set[str] = set(kept.get("accepted", []))
    nvidia = find_nvidia()
    end = time.monotonic() + 60 * arguments.minutes
    checkouts = {
        name: Path(folder).resolve()
        for name, _, folder in (item.partition("=") for item in arguments.checkout)
    }
    for repository, program in _interleaved(checkouts, tuple(arguments.including)):
        if time.monotonic() > end:
            break
        key = f"{repository}:{program}"
        unit = Unit(checkouts[repository], program, folders(checkouts[repository], program))
        if str(program) in refused.get(repository, {}):
            continue
        why = "" if key in accepted else cuda_refusal(unit, nvidia)
        if why:
            refused.setdefault(repository, {})[str(program)] = why
        else:
            accepted.add(key)
        known = {(row.repository, row.program, row.engine) for row in rows}
        for engine in engines if not why else ():
            if (repository, str(program), engine.name) not in known:
                inputs = (unit.root / program).parent
                state, detail = bench.measure(gather(unit), engine, inputs)
                rows.append(
                    TranslationRow(repository, str(program), engine.name, state.value, detail)
                )
        document = {
            "accepted": sorted(accepted),
            "refused": refused,
            "rows": [asdict(row) for row in rows],
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    counts = Counter({name: len(programs) for name, programs in refused.items()})
    text = table(rows, counts)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text)


if __name__ == "__main__":
    main()
