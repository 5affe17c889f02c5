"""Run programs of the tests on an Nvidia GPU and record what each of them says.

``python -m tests.port.run_on_gpu --build FOLDER`` compiles them here. On the host with the GPU,
which needs nothing but Python 3.10 and the driver, ``python3 FOLDER/run_on_gpu.py FOLDER`` writes
``on_gpu.json``. Most say what is wrong, and are silent where all is right; those of ``tests/lift``
print their results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROGRAMS = {
    "textures": "sm_90",
    "texture_edges": "sm_90",
    "barriers": "sm_90",
    "bulk_reductions": "sm_90",
    "block_reductions": "sm_90",
    "cluster_barriers": "sm_90",
    "cluster_shared": "sm_90",
    "pixels": "sm_90a",
    "tensor_maps": "sm_90a",
    "mask_groups": "sm_90",
    "flags": "sm_90",
    "memory": "sm_90",
    "harvested": "sm_90",
    "small_matrices": "sm_90",
    "requests": "sm_90",
    "own_pace": "sm_90",
    "exchanges": "sm_90",
    "uniform_halves": "sm_90",
    "shared_subroutines": "sm_90",
}
"""Program -> architecture that it is compiled for."""
FOLDERS = ("port/programs", "lift/programs")
RECORD = Path(__file__).with_name("on_gpu.json")
IN_PARTS = ("tensor_maps",)
"""Programs that take the number of a part: a part that faults ends the process."""
_NO_SUCH_PART, _MOST_PARTS = 77, 1000
_SECONDS = 60
_CHARACTERS = 30_000


def build(folder: Path) -> None:
    """Executables, a list of their sources' digests, and this file."""
    from cass_ray.toolchain.locate import find_nvidia

    folder.mkdir(parents=True, exist_ok=True)
    nvcc, digests = find_nvidia().nvcc, {}
    for name, architecture in PROGRAMS.items():
        source = source_of(name)
        command = [nvcc, "-std=c++17", f"-arch={architecture}", source, "-o", folder / name]
        subprocess.run(command, check=True)
        digests[name] = source_digest(source)
    (folder / "programs.json").write_text(json.dumps(digests))
    shutil.copy2(__file__, folder / Path(__file__).name)


def source_of(program: str) -> Path:
    """The file of a program, in whichever folder it lies."""
    places = (Path(__file__).parents[1] / each / f"{program}.cu" for each in FOLDERS)
    return next(place for place in places if place.exists())


def source_digest(source: Path) -> str:
    """By which a stored result is known to be of the program as it is."""
    return hashlib.sha256(source.read_bytes()).hexdigest()[:12]


def run(command: list[str]) -> dict[str, Any]:
    """What a process leaves; -1 as its exit code where it does not end."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            # Otherwise a kernel's first launch waits for all that is under way.
            env=os.environ | {"CUDA_MODULE_LOADING": "EAGER"},
        )
    except subprocess.TimeoutExpired:
        return {"code": -1, "output": "", "errors": f"no end after {_SECONDS} s"}
    except OSError as error:
        return {"code": -1, "output": "", "errors": str(error)}
    return {
        "code": done.returncode,
        "output": done.stdout[-_CHARACTERS:],
        "errors": done.stderr[-1000:],
    }


def parts(program: str) -> list[dict[str, Any]]:
    """What each part of a program leaves."""
    found = []
    for number in range(_MOST_PARTS):
        made = run([program, str(number)])
        if made["code"] == _NO_SUCH_PART:
            break
        found.append(made)
    return found


def record(folder: Path) -> dict[str, Any]:
    """Of every program of the folder."""
    programs = {}
    for name, digest in json.loads((folder / "programs.json").read_text()).items():
        program = str((folder / name).resolve())
        (folder / name).chmod(0o755)
        made = {"parts": parts(program)} if name in IN_PARTS else run([program])
        programs[name] = {"source": digest, **made}
        print(name, made.get("code", f"{len(made.get('parts', ()))} parts"), flush=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device, _, driver = run(query)["output"].partition("\n")[0].partition(", ")
    collected = time.strftime("%Y-%m-%d", time.gmtime())
    return {"device": device, "driver": driver, "collected": collected, "programs": programs}


def recorded() -> dict[str, dict[str, Any]]:
    """What is stored of each program."""
    programs: dict[str, dict[str, Any]] = json.loads(RECORD.read_text())["programs"]
    return programs


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", action="store_true", help="compile the programs into the folder")
    parser.add_argument("--output", type=Path, default=Path("on_gpu.json"))
    given = parser.parse_args()
    if given.build:
        build(given.folder)
        return
    given.output.write_text(json.dumps(record(given.folder), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
