"""What lifted programs print beside what their originals print on an Nvidia GPU.

``python -m benchmarks.lift.programs --outputs FOLDER ...`` keeps what each program printed on the
CPU backend, as clang's build and lifted. Then, on a machine with nvcc and a GPU,

    python -m benchmarks.lift.hardware run FOLDER SOURCES OUT.json --arch sm_90 --jobs 3

compiles the originals below SOURCES and runs each twice, and ``... compare FOLDER OUT.json ...``
judges the lifted programs by that. ``run`` needs Python's own library only. ``time()`` stands
still, as in the programs' runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.lift.printed import Printed, read, text_of

_FLAGS = ("-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda", "-O3", "-w")
_FIXED_TIME = """\
#include <time.h>
time_t time(time_t *out) {
  if (out) *out = 1000000000;
  return 1000000000;
}
"""
_COMPILE_SECONDS = 180


@dataclass(frozen=True)
class OnGpu:
    """An original on the GPU. ``failure`` says why there are no outputs, or not all."""

    program: str
    outputs: list[list[str]]
    failure: str = ""


def run_original(program: Printed, sources: Path, architecture: str, seconds: float,
                 fixed_time: Path) -> OnGpu:  # fmt: skip
    """Compile one program and run it twice with each argument list."""
    outputs: list[list[str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        includes = [f"-I{sources / each}" for each in program.includes]
        source, made = sources / program.main, folder / "program"
        command: list[str | Path] = [
            "nvcc",
            *_FLAGS,
            f"-arch={architecture}",
            *includes,
            source,
            "-o",
            made,
        ]
        try:
            _checked(command, folder, _COMPILE_SECONDS)
            for arguments in program.arguments:
                call: list[str | Path] = [made, *arguments]
                texts = [_checked(call, folder, seconds, fixed_time) for _ in range(2)]
                outputs.append(list(dict.fromkeys(text.replace(name, "") for text in texts)))
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", b"") or b""
            return OnGpu(program.program, outputs, f"{error} {text_of(said)}"[-300:])
    return OnGpu(program.program, outputs)


def _checked(command: list[str | Path], folder: Path, seconds: float,
             preloaded: Path | None = None) -> str:  # fmt: skip
    environment = dict(os.environ)
    if preloaded:
        environment["LD_PRELOAD"] = str(preloaded)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=seconds, check=True)  # fmt: skip
    return text_of(done.stdout)


def run(given: argparse.Namespace) -> None:
    """Run what OUT does not have; it is whole after each program."""
    rows: list[OnGpu] = []
    if given.out.exists():
        rows = [OnGpu(**row) for row in json.loads(given.out.read_text())]
    known = {row.program for row in rows}
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(given.jobs) as pool:
        source, library = Path(name, "fixed_time.c"), Path(name, "fixed_time.so")
        source.write_text(_FIXED_TIME)
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)

        def one(program: Printed) -> OnGpu:
            sources = given.sources.resolve()
            return run_original(program, sources, given.arch, given.seconds, library)

        for made in pool.map(one, [p for p in read(given.folder) if p.program not in known]):
            rows.append(made)
            part = given.out.with_suffix(".part")
            part.write_text(json.dumps([asdict(row) for row in rows]))
            part.replace(given.out)
            print(made.program, made.failure or "runs", flush=True)


def compare(given: argparse.Namespace) -> None:
    """A line for each lifted program that prints something else, and the sums."""
    from benchmarks.lift.programs import judge_text

    on_gpu = {row["program"]: OnGpu(**row) for row in json.loads(given.out.read_text())}
    sums: Counter[tuple[str, str]] = Counter()
    for program in read(given.folder):
        original = on_gpu.get(program.program)
        if original is None or original.failure:
            sums["", "no output of a GPU"] += 1
            continue
        for architecture, outputs in sorted(program.lifted.items()):
            for k, output in enumerate(outputs):
                texts = tuple(text.encode("latin-1") for text in original.outputs[k])
                state, said = judge_text(output.encode("latin-1"), texts)
                by_clang = program.reference[k][0].encode("latin-1")
                if state == "differs" and judge_text(by_clang, texts)[0] == state:
                    state = "differs, as clang's build does"
                sums[architecture, state] += 1
                if state not in ("exact", "numeric"):
                    print(f"{state}: {program.program} {architecture}: {said[:160]}")
    for (architecture, state), count in sorted(sums.items()):
        print(architecture, state, count)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("sources", type=Path)
    running.add_argument("out", type=Path)
    running.add_argument("--arch", default="sm_90")
    running.add_argument("--jobs", type=int, default=1)
    running.add_argument("--seconds", type=float, default=30, help="of a run")
    running.set_defaults(do=run)
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("out", type=Path)
    comparing.set_defaults(do=compare)
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
