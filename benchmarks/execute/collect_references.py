"""Run the prepared programs on an Nvidia GPU and record what every program prints.

Needs Python 3.10, nvcc with its host compiler, gcc and a GPU; nothing else of this project. Each
program is built twice, from its CUDA source and from its HIP translation through HIP's headers for
Nvidia, and runs twice with every argument list, so that output that varies from run to run shows.

``python3 collect_references.py FOLDER --output references.json`` with the FOLDER made by
``prepare_references``. Programs run unsandboxed: they are this project's own.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = 2
BUILD_SECONDS = 240
RUN_SECONDS = 60
OUTPUT_BYTES = 1 << 20
RECORD = struct.Struct("<QQ3I3IQ464s")  # launch_recorder.c
BACKENDS = {"cuda": "nvidia", "hip": "hip-on-nvidia"}

Json = dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """How a child process ended; ``status`` is None after a time-out."""

    status: int | None
    stdout: bytes
    stderr: bytes
    seconds: float

    @property
    def message(self) -> str:
        """What it said, standard error first."""
        return text(self.stderr + self.stdout).strip() or f"ended with {self.status}"


def say(line: str) -> None:
    print(line, flush=True)


def text(data: bytes) -> str:
    return data[:OUTPUT_BYTES].decode("utf-8", "replace")


def run(
    command: list[str], seconds: float, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Ended:
    """Run to the end or the time limit; its process group is ended then."""
    started = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = child.communicate(timeout=seconds)
            status: int | None = child.returncode
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            stdout, stderr = child.communicate()
            status = None
    return Ended(status, stdout, stderr, time.monotonic() - started)


def errors_first(message: str) -> str:
    """A compiler's message with its errors before its warnings; what is long is cut at the end."""
    return "\n".join(sorted(message.splitlines(), key=lambda line: "error" not in line))


@dataclass(frozen=True)
class ReferenceJob:
    """One side of one program; ``executable`` is where it is built."""

    program: Json
    side: str
    executable: Path

    @property
    def unit(self) -> Json:
        """Folder, main file and options for the compiler."""
        unit: Json = self.program[self.side]
        return unit


class Builder:
    """nvcc with this project's flags, for one architecture."""

    def __init__(self, nvcc: str, architecture: str, hip_options: list[str], folder: Path) -> None:
        self.folder = folder
        language = ["-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda"]
        self.command = [nvcc, *language, "-Xcompiler", "-Os", f"-arch={architecture}"]
        self.command += ["-cudart", "shared"]  # for the launch recorder
        self.hip_options = ["-x", "cu", *map(self._placed, hip_options)]

    def _placed(self, option: str) -> str:
        path = self.folder / option
        return str(path) if not option.startswith("-") and path.exists() else option

    def build(self, task: ReferenceJob) -> str:
        """The failed compiler's message, or an empty text."""
        options = self.hip_options if task.side == "hip" else []
        arguments = [*task.unit["options"], task.unit["main"], "-o", str(task.executable)]
        folder = self.folder / task.unit["folder"]
        ended = run([*self.command, *options, *arguments], BUILD_SECONDS, cwd=folder)
        return "" if ended.status == 0 else errors_first(ended.message)


class Runner:
    """Runs executables with the launch recorder preloaded."""

    def __init__(self, nvcc: str, recorder: Path) -> None:
        home = Path(nvcc).resolve().parent.parent
        folders = [home / name for name in ("lib64", "lib", "targets/x86_64-linux/lib")]
        libraries = [str(folder) for folder in folders if folder.is_dir()]
        libraries += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
        kept = ("PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {
            "LC_ALL": "C",
            "LD_LIBRARY_PATH": ":".join(libraries),
            "LD_PRELOAD": str(recorder),
        }

    def record(self, executable: Path, arguments: list[str]) -> Json:
        """What RUNS runs did: the first in full, the others where they differ."""
        runs = [self._once(executable, arguments) for _ in range(RUNS)]
        first, launches = runs[0]
        made: Json = {
            "arguments": arguments,
            "status": first.status,
            "stdout": text(first.stdout),
            "stdout_sha256": hashlib.sha256(first.stdout).hexdigest(),
            "seconds": round(min(ended.seconds for ended, _ in runs), 3),
            "launches": launches,
        }
        if first.stderr:
            made["stderr"] = text(first.stderr)[:2000]
        others = [text(ended.stdout) for ended, _ in runs if ended.stdout != first.stdout]
        if others:
            made["other_stdout"] = others
        if any(ended.status != first.status for ended, _ in runs):
            made["statuses"] = [ended.status for ended, _ in runs]
        return made

    def _once(self, executable: Path, arguments: list[str]) -> tuple[Ended, list[Any]]:
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "launches"
            environment = {**self.environment, "CASS_LAUNCH_RECORD": str(record)}
            command = [str(executable), *arguments]
            return run(command, RUN_SECONDS, Path(folder), environment), read_launches(record)


def read_launches(path: Path) -> list[Any]:
    """``[kernel, grid, block, shared bytes, count]`` in the order of first launches."""
    found = []
    for record in RECORD.iter_unpack(path.read_bytes() if path.exists() else b""):
        count, shared, *sizes, _, name = record
        if count:
            kernel = name.rstrip(b"\0").decode("utf-8", "replace")
            found.append([kernel, sizes[:3], sizes[3:], shared, count])
    return found


def build_recorder(folder: Path, work: Path) -> Path:
    library = work / "launch_recorder.so"
    source = folder / "launch_recorder.c"
    command = ["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"]
    ended = run(command, BUILD_SECONDS)
    if ended.status != 0:
        sys.exit(f"{' '.join(command)}: {ended.message}")
    return library


def device_facts() -> Json:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    ended = run(query, 60)
    if ended.status != 0:
        sys.exit(f"no Nvidia GPU to run on: {ended.message}")
    name, driver, memory = (part.strip() for part in text(ended.stdout).splitlines()[0].split(","))
    return {"device": name, "driver": driver, "memory": memory}


def version_line(command: list[str], word: str) -> str:
    lines = text(run(command, 60).stdout).splitlines()
    return next((line.strip() for line in lines if word in line), "")


def collect(given: argparse.Namespace, work: Path) -> Json:
    """Build everything, then run everything; what is written to the output file."""
    folder = given.folder.resolve()
    plan = json.loads((folder / "plan.json").read_text())
    nvcc = shutil.which(given.nvcc) or "/usr/local/cuda/bin/nvcc"
    facts = {} if given.build_only else device_facts()
    first, step = map(int, given.shard.split("/"))
    chosen = plan["programs"][first::step]
    programs = [item for item in chosen if given.only in item["path"]]
    tasks = [
        ReferenceJob(item, side, work / f"{side}-{item['path'].replace('/', '_')}")
        for item in programs
        for side in BACKENDS
    ]
    builder = Builder(nvcc, given.architecture, plan["hip_options"], folder)
    started = time.monotonic()
    with ThreadPoolExecutor(given.jobs) as pool:
        messages = list(pool.map(builder.build, tasks))
    say(f"built {messages.count('')} of {len(tasks)} in {time.monotonic() - started:.0f} s")
    runner = Runner(nvcc, build_recorder(folder, work))

    def run_all(task: ReferenceJob, message: str) -> Json:
        if message:
            return {"build_error": message[:4000]}
        lists = [] if given.build_only else task.program["arguments"]
        return {"runs": [runner.record(task.executable, arguments) for arguments in lists]}

    started = time.monotonic()
    with ThreadPoolExecutor(given.at_once) as pool:
        outcomes = list(pool.map(run_all, tasks, messages))
    say(f"ran them in {time.monotonic() - started:.0f} s")
    kept = ("path", "id", "hip_id")
    results: list[Json] = [{name: item[name] for name in kept} for item in programs]
    by_path = {result["path"]: result for result in results}
    for task, outcome in zip(tasks, outcomes, strict=True):
        by_path[task.program["path"]][BACKENDS[task.side]] = outcome
    flags = " ".join(["nvcc", *builder.command[1:]])
    return {
        "format": 1,
        **facts,
        "cuda": version_line([nvcc, "--version"], "release"),
        "host_compiler": version_line(["g++", "--version"], "g++"),
        "translator": plan["translator"],
        "collected": time.strftime("%Y-%m-%d", time.gmtime()),
        "command": " ".join(["python3", *map(os.path.basename, sys.argv[:2]), *sys.argv[2:]]),
        "build": {
            "nvidia": f"{flags} PROGRAM.cu",
            "hip-on-nvidia": f"{flags} -x cu {' '.join(plan['hip_options'])} PROGRAM.cu",
        },
        "runs_each": RUNS,
        "programs": results,
    }


def summarize(results: list[Json]) -> None:
    """Print what did not build, did not end well, varies, or differs between the two backends."""
    for backend in BACKENDS.values():
        failed = [item for item in results if "build_error" in item[backend]]
        runs = [(item["path"], made) for item in results for made in item[backend].get("runs", [])]
        bad = [(path, made) for path, made in runs if made["status"] != 0]
        varying = [(path, made) for path, made in runs if "other_stdout" in made]
        say(f"{backend}: {len(failed)} did not build; of {len(runs)} runs {len(bad)} failed, "
            f"{len(varying)} varied")  # fmt: skip
        for item in failed:
            say(f"  {item['path']}: {item[backend]['build_error'][:600]}")
        for path, made in bad:
            words = (made["stdout"] + made.get("stderr", ""))[-200:].strip()
            say(f"  {path} {made['arguments']}: status {made['status']}: {words}")
        for path, made in varying:
            say(f"  {path} {made['arguments']}: output varies from run to run")
    for item in results:
        left, right = (item[backend].get("runs", []) for backend in BACKENDS.values())
        for one, other in zip(left, right, strict=False):
            if one["stdout_sha256"] != other["stdout_sha256"]:
                say(f"  {item['path']} {one['arguments']}: the two backends print different things")


def compact(results: list[Json]) -> None:
    """Leave out of the HIP side what is the same on the CUDA side."""
    for item in results:
        left, right = (item[backend].get("runs", []) for backend in BACKENDS.values())
        for one, other in zip(left, right, strict=False):
            for name in ("stdout", "launches", "stderr"):
                if other.get(name) == one.get(name):
                    other.pop(name, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what prepare_references made")
    parser.add_argument("--output", type=Path, default=Path("references.json"))
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once")
    parser.add_argument("--at-once", type=int, default=4, help="programs on the GPU at once")
    parser.add_argument("--only", default="", help="programs whose path contains this")
    parser.add_argument(
        "--shard", default="0/1", help="I/N: every Nth program from the Ith on, counted from 0"
    )
    parser.add_argument("--build-only", action="store_true", help="try the builds, without a GPU")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="references-") as name:
        made = collect(given, Path(name))
    summarize(made["programs"])
    compact(made["programs"])
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
