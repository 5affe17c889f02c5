"""Run faulty CUDA programs on an Nvidia GPU: which inputs of a task tell them from the right one?

Needs Python 3.10, nvcc and a GPU; nothing else of this project.
``python3 run_mutants.py FOLDER --output mutants.json`` with the FOLDER made by ``prepare_mutants``.
Programs run unsandboxed: they are this project's own, with one small fault each.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

BUILD_SECONDS = 120
RUN_SECONDS = 10
OUTPUT_BYTES = 1 << 18

Json = dict[str, Any]


def run(command: list[str], seconds: float, cwd: Path) -> tuple[int | None, bytes]:
    """Status (None after the time limit) and standard output."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        try:
            output, _ = child.communicate(timeout=seconds)
            return child.returncode, output
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return None, b""


class Host:
    """nvcc and the programs; ``work`` holds the builds."""

    def __init__(self, folder: Path, work: Path, nvcc: str, architecture: str) -> None:
        self.folder, self.work = folder, work
        language = ["-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda"]
        self.command = [nvcc, *language, f"-arch={architecture}", "-w"]
        self.disassembler = str(Path(nvcc).with_name("cuobjdump"))

    def build(self, task: Json, main: str, text: str) -> Path | None:
        """The executable of ``task`` with ``text`` as its main file."""
        place = Path(tempfile.mkdtemp(dir=self.work))
        shutil.copytree(self.folder / task["name"], place / "tree")
        (place / "tree" / main).write_text(text)
        command = [*self.command, main, "-o", str(place / "program")]
        status, _ = run(command, BUILD_SECONDS, place / "tree")
        shutil.rmtree(place / "tree")
        return place / "program" if status == 0 else None

    def device_code(self, program: Path) -> str:
        """A digest of the SASS in ``program``."""
        _, listing = run([self.disassembler, "-sass", str(program)], BUILD_SECONDS, self.work)
        return hashlib.sha256(listing).hexdigest()

    def judge(self, task: Json, mutant: Json) -> Json:
        """What became of ``mutant``: the first run that differs, or none."""
        found = {name: mutant[name] for name in ("fault", "line", "change")}
        program = self.build(task, task["main"], mutant["text"])
        if program is None:
            return {**found, "fate": "not_built"}
        for number, arguments in enumerate(task["arguments"]):
            status, output = run([str(program), *arguments], RUN_SECONDS, self.work)
            if status != task["statuses"][number]:
                return {**found, "fate": "run", "arguments": arguments, "status": status}
            if hashlib.sha256(output).hexdigest() != task["outputs"][number]:
                text = output[:OUTPUT_BYTES].decode("utf-8", "replace")
                return {**found, "fate": "output", "arguments": arguments, "stdout": text}
        same = mutant["in_device_code"] and self.device_code(program) == task["device_code"]
        program.unlink()
        return {**found, "fate": "same_code" if same else "survived"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what prepare_mutants made")
    parser.add_argument("--output", type=Path, default=Path("mutants.json"))
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=540, help="start nothing after so long")
    given = parser.parse_args()
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    tasks: list[Json] = json.loads((given.folder / "mutants.json").read_text())
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        host = Host(given.folder.resolve(), Path(name), nvcc, given.architecture)

        def original(task: Json) -> None:
            text = (given.folder / task["name"] / task["main"]).read_text()
            program = host.build(task, task["main"], text)
            if program is None:
                sys.exit(f"{task['name']} does not build")
            task["device_code"] = host.device_code(program)

        def one(pair: tuple[Json, Json]) -> Json | None:
            if time.monotonic() - started > given.seconds:
                return None
            return host.judge(*pair)

        pairs = [(task, mutant) for task in tasks for mutant in task["mutants"]]
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(original, tasks))
            print(f"{len(tasks)} programs in {time.monotonic() - started:.0f} s", flush=True)
            results: dict[str, list[Json]] = {task["name"]: [] for task in tasks}
            for (task, _), found in zip(pairs, pool.map(one, pairs), strict=True):
                if found is not None:
                    results[task["name"]].append(found)
    done = sum(map(len, results.values()))
    print(f"{done} of {len(pairs)} mutants in {time.monotonic() - started:.0f} s", flush=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    _, device = run(query, 60, given.folder)
    made = {"device": device.decode().strip(), "command": host.command, "tasks": results}
    given.output.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
