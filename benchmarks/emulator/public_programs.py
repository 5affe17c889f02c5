"""Run HIP programs of public repositories, unchanged, on the CPU backend.

``python -m benchmarks.emulator.public_programs FOLDER ... [--markdown FILE]`` tries every file with
a ``main`` that names the HIP runtime, below each checked-out repository; what needs a library
(hipBLAS ...) or several source files is named as such. A program that checks itself counts as
verified when it ends with status 0 and says so, as wrong when it says the opposite; one that checks
nothing only as run. The code of the repositories is not part of this one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import CompileFailure, Unit

_MAIN = re.compile(r"^\s*(?:int|auto)\s+main\s*\(", re.MULTILINE)
_HIP = re.compile(r"hip/hip_(?:runtime|fp16|cooperative)|hip/hiprtc|hiprtc\.h|hipLaunchKernel")
_PASSED = re.compile(
    r"pass(?:ed|es)?\b|success|validation (?:was )?(?:ok|correct)|verif(?:y|ied|ication)\W+ok"
    r"|results? (?:are|is)? ?correct|no errors?|\b0 errors",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\bfail(?:ed|ure)?\b|mismatch|incorrect|validation error|wrong result|does not match",
    re.IGNORECASE,
)
_LIBRARY = re.compile(
    r"'((?:hip(?:blas|cub|fft|rand|solver|sparse)|roc|rccl|thrust|GL|vulkan|opencv|omp|mpi)"
    r"[^']*)' file not found"
)
_NO_INPUT = re.compile(
    r"^.*(?:usage:|argument|no such file|cannot open|could not open|failed to (?:load|open)"
    r"|file not found|run test as).*$",
    re.IGNORECASE | re.MULTILINE,
)
_ARGUMENTS = (("HIP-Examples-Applications/", ("-e",)),)
"""By the start of a program's path: what its suite passes to have it check itself."""

_FOLDERS = ("Common", "common", "include")
_MISSING_HEADER = re.compile(r"'([^']+)' file not found")


class PublicState(StrEnum):
    """How one program fared."""

    VERIFIED = "ran and verified"
    RAN = "ran, checks nothing"
    WRONG = "wrong"
    INSTRUCTION = "unsupported instruction"
    ENTRY_POINT = "unsupported API"
    LIBRARY = "needs a library"
    SEVERAL_FILES = "needs other files"
    ARGUMENTS = "needs arguments or input"
    COMPILATION = "does not compile"
    TIME = "time limit"
    ERROR = "error"


@dataclass(frozen=True)
class PublicResult:
    """One row; ``seconds``: wall time of the run alone, on a machine that others may use."""

    repository: str
    program: str
    state: PublicState
    seconds: float
    detail: str


def candidates(repository: Path) -> Iterator[Path]:
    """Files that hold a HIP program, by path."""
    for path in sorted(repository.rglob("*")):
        if path.suffix not in (".cpp", ".hip", ".cu", ".cc") or not path.is_file():
            continue
        source = path.read_text(errors="replace")
        if _MAIN.search(source) and _HIP.search(source):
            yield path


def judge(completed: Completed) -> tuple[PublicState, str]:
    """The state of a program that ran, with the line that says why."""
    output, errors = completed.stdout_text, completed.stderr_text
    for line in errors.splitlines():
        if "is not supported by the CPU backend" in line:
            return PublicState.ENTRY_POINT, line.strip()
        if "unsupported instruction" in line:
            return PublicState.INSTRUCTION, line.strip()
    text = output + errors
    if completed.outcome.value != "exited" and "time" in completed.outcome.value:
        return PublicState.TIME, completed.outcome.value
    if "time limit" in errors:
        return PublicState.TIME, "a kernel's"
    last = (text.strip().splitlines() or [completed.outcome.value])[-1]
    if not completed.ok and (match := _NO_INPUT.search(text)):
        return PublicState.ARGUMENTS, match[0].strip()
    failed = _FAILED.search(text)
    if completed.ok and not failed:
        return (PublicState.VERIFIED, "") if _PASSED.search(text) else (PublicState.RAN, last)
    if failed and "cass emulator:" not in errors:
        return PublicState.WRONG, failed[0] + ": " + last
    return PublicState.ERROR, last


def explain(failure: CompileFailure) -> tuple[PublicState, str]:
    text = str(failure)
    first = next((line for line in text.splitlines() if "error" in line), text.splitlines()[0])
    if match := _LIBRARY.search(text):
        return PublicState.LIBRARY, match[1]
    if match := _MISSING_HEADER.search(text):
        return PublicState.LIBRARY, match[1]
    if "undefined symbol" in text or "undefined reference" in text:
        return PublicState.SEVERAL_FILES, first.strip()
    return PublicState.COMPILATION, first.strip()


def include_folders(repository: Path, path: Path) -> tuple[PurePosixPath, ...]:
    """Where the repositories' build files look: the program's parents, and their ``Common``."""
    parents = path.relative_to(repository).parents
    named = (folder for parent in parents for folder in (parent, *(parent / n for n in _FOLDERS)))
    return tuple(
        PurePosixPath(folder.as_posix()) for folder in named if (repository / folder).is_dir()
    )


def attempt(
    repository: Path, path: Path, toolchain: AmdToolchain, library: Path, seconds: float
) -> PublicResult:
    name = str(path.relative_to(repository))
    unit = Unit(
        repository, PurePosixPath(name), include_directories=include_folders(repository, path)
    )
    try:
        executable = build(gather(unit), toolchain, library)
    except CompileFailure as failure:
        state, detail = explain(failure)
        return PublicResult(repository.name, name, state, 0.0, detail[:160])
    started = time.monotonic()
    options = RunOptions(seconds=seconds, inputs=path.parent, compiler=toolchain)
    arguments = next((each for start, each in _ARGUMENTS if name.startswith(start)), ())
    completed = execute(executable, arguments, library, options)
    state, detail = judge(completed)
    taken = round(time.monotonic() - started, 2)
    return PublicResult(repository.name, name, state, taken, detail[:160])


def markdown(results: list[PublicResult]) -> str:
    """Totals, then a row for each program."""
    counts = Counter(result.state for result in results)
    lines = ["# HIP programs of public repositories on the CPU backend", ""]
    lines += ["Written by `python -m benchmarks.emulator.public_programs`.", ""]
    lines += ["| state | programs |", "|---|---|"]
    lines += [f"| {state} | {counts[state]} |" for state in PublicState if counts[state]]
    lines += [f"| all | {len(results)} |", ""]
    lines += ["| repository | program | state | detail |", "|---|---|---|---|"]
    for result in results:
        detail = result.detail.replace("|", "\\|")
        lines.append(f"| {result.repository} | {result.program} | {result.state} | {detail} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print a row for each program; 0 when none is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="checked-out repositories")
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a program")
    parser.add_argument("--only", default="", help="part of the programs' paths")
    parser.add_argument("--skip", default="", help="regular expression of paths to leave out")
    options = parser.parse_args(arguments)
    toolchain, library = find_amd(), runtime_library()
    programs = [
        (folder.resolve(), path)
        for folder in options.folders
        for path in candidates(folder.resolve())
        if options.only in str(path)
        and not (options.skip and re.search(options.skip, str(path.relative_to(folder.resolve()))))
    ]

    def one(program: tuple[Path, Path]) -> PublicResult:
        result = attempt(*program, toolchain, library, options.seconds)
        print(
            f"{result.state:26} {result.seconds:7.2f} s  {result.program:70} {result.detail[:100]}",
            flush=True,
        )
        return result

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, programs))
    counts = Counter(result.state for result in results)
    print(", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
    if options.markdown:
        options.markdown.write_text(markdown(results))
    if options.json:
        rows = [asdict(result) for result in results]
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if counts[PublicState.WRONG] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
