"""Run the prepared opcode forms on an Nvidia GPU and record what each of them computes.

``python3 collect_vectors.py FOLDER --output opcode_vectors.json.xz`` with the FOLDER made by
``prepare_vectors``. Needs Python 3.10, the driver's libcuda and, where the folder has no cubins,
ptxas; nothing else of this project. Every form runs twice, so that results that vary from run to run show.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import lzma
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import recipes  # type: ignore[import-not-found]  # it lies beside this file

Json = dict[str, Any]
WORKER_SECONDS = 40


class CudaError(Exception):
    """A call of the driver failed."""


class Driver:
    """The few calls of the CUDA driver that running a kernel needs."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or b'?').decode()} ({status})")

    def allocate(self, size: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def load(self, cubin: bytes) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def launch(
        self, module: ctypes.c_void_p, name: str, grid: list[int], arguments: list[Any]
    ) -> None:
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p) for argument in arguments)
        )
        self.call("cuLaunchKernel", function, *grid, 0, None, pointers, None)
        self.call("cuCtxSynchronize")


def work(folder: Path, cubin: Path, names: list[str]) -> None:
    """Run forms of one cubin; a line of JSON for each on standard output."""
    plan: Json = json.loads((folder / "plan.json").read_text())["forms"]
    driver = Driver()
    module = driver.load(cubin.read_bytes())
    size_in, size_out = (
        recipes.LANES * size for size in (recipes.INPUT_BYTES, recipes.OUTPUT_BYTES)
    )
    source, target = driver.allocate(size_in), driver.allocate(size_out)
    memory = ctypes.create_string_buffer(size_out)
    for name in names:
        form = plan[name]
        given = recipes.inputs(tuple(form["operands"]))
        found = []
        try:
            for _ in range(2):
                driver.call("cuMemcpyHtoD_v2", source, given, ctypes.c_size_t(size_in))
                driver.call(
                    "cuMemsetD8_v2", target, ctypes.c_ubyte(recipes.FILL), ctypes.c_size_t(size_out)
                )
                arguments = [source, target, *map(ctypes.c_uint64, recipes.PARAMETERS)]
                driver.launch(module, name, form["grid"], arguments)
                driver.call("cuMemcpyDtoH_v2", memory, target, ctypes.c_size_t(size_out))
                found.append(memory.raw)
        except CudaError as error:
            print(json.dumps({"name": name, "error": str(error)}), flush=True)
            sys.exit(0)  # the context is lost
        print(json.dumps({"name": name, **record(form, found)}), flush=True)


def record(form: Json, found: list[bytes]) -> Json:
    """The stored form of a result."""
    first, second = (recipes.slots(memory, form["words"]) for memory in found)
    stored = recipes.STORED_APPROXIMATE if form["ulp"] else form["kept"]
    made: Json = {
        "ptx": form["ptx"],
        "lanes": b"".join(first[:stored]).hex(),
        "checksums": [] if form["ulp"] else recipes.checksums(first, stored, form["floats"]),
    }
    if first != second:
        made["varies"] = sum(one != other for one, other in zip(first, second, strict=True))
    return made


def run_module(folder: Path, cubin: Path, names: list[str]) -> Iterator[Json]:
    """Results of the forms of one cubin; a process that dies is followed by another."""
    pending = list(names)
    while pending:
        command = [sys.executable, __file__, str(folder), "--worker", str(cubin)]
        command += ["--names", ",".join(pending)]
        message = ""
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=WORKER_SECONDS
            )
            output, message = done.stdout, done.stderr[-300:]
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode()
            message = f"no end after {WORKER_SECONDS} s"
        lines = [json.loads(line) for line in output.splitlines()]
        if not lines:
            lines = [{"name": pending[0], "error": message or "no output"}]
        yield from lines
        pending = pending[len(lines) :]


def assemble(ptxas: str, architecture: str, source: Path) -> tuple[Path, str]:
    """The cubin of a module, which may be there, and what ptxas says where it refuses."""
    cubin = source.with_suffix(".cubin")
    if cubin.exists():
        return cubin, ""
    command = [ptxas, f"-arch={architecture}", str(source), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return cubin, "" if done.returncode == 0 else done.stderr + done.stdout


def output_of(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def collect(given: argparse.Namespace) -> Json:
    started = time.monotonic()
    plan = json.loads((given.folder / "plan.json").read_text())
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    sources = [given.folder / f"{name}.ptx" for name in plan["modules"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda path: assemble(ptxas, given.architecture, path), sources))
    print(f"assembled {len(made)} modules in {time.monotonic() - started:.0f} s", flush=True)
    for cubin, message in made:
        if message:
            print(f"{cubin.name}: {message[:800]}")
    ready = [(cubin, plan["modules"][cubin.stem]) for cubin, message in made if not message]
    with ThreadPoolExecutor(given.at_once) as pool:
        runs = pool.map(lambda item: list(run_module(given.folder, *item)), ready)
        results = {item.pop("name"): item for run in runs for item in run}
    print(f"ran {len(results)} forms in {time.monotonic() - started:.0f} s", flush=True)
    for name, item in results.items():
        if "error" in item or "varies" in item:
            print(name, item.get("error") or f"{item['varies']} lanes vary from run to run")
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device, _, driver = output_of(query).splitlines()[0].partition(", ")
    return {
        "format": 1,
        "device": device,
        "driver": driver,
        "ptxas": plan["ptxas"]
        or next(line for line in output_of([ptxas, "--version"]).splitlines() if "release" in line),
        "command": f"ptxas -arch={given.architecture} MODULE.ptx",
        "collected": time.strftime("%Y-%m-%d", time.gmtime()),
        "forms": dict(sorted(results.items())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what prepare_vectors made")
    parser.add_argument("--output", type=Path, default=Path("opcode_vectors.json.xz"))
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--at-once", type=int, default=6, help="processes on the GPU at once")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--names", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.folder, given.worker, given.names.split(","))
        return
    text = json.dumps(collect(given), separators=(",", ":"))
    given.output.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{given.output}: {given.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
