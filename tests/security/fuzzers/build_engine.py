"""Builds the engine's fuzzers: its sources, instrumented, with the sanitizers."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.emulator.build import SOURCES, compile_lines
from cass_ray.toolchain.amd.clang import find_clang

ENGINE_TARGETS = ("code_object", "code", "compressed")

_SANITIZERS = "address,undefined"
_FLAGS = ("-std=c++20", "-O1", "-g", "-pthread", "-ffp-contract=off", "-Wno-psabi")
_INSTRUMENTED = (
    f"-fsanitize=fuzzer-no-link,{_SANITIZERS}",
    "-fno-sanitize-recover=all",
)
# Handlers do not run here, and the sanitizer's gaps would break the table that the linker makes.
_HANDLERS = ("-DCASS_EMULATOR_LEVEL=portable",)


def build_engine_fuzzer(name: str, work: Path) -> Path:
    """The executable of one of :data:`ENGINE_TARGETS`, made below ``work`` if it is not there.

    Raises :class:`subprocess.CalledProcessError` with the compiler's message on stderr.
    """
    made = work / name / "fuzzer"
    if made.exists():
        return made
    objects = work / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    compiler = next(iter(compile_lines(default_directory()).values()))[0]

    def compiled(source: Path) -> Path:
        target = objects / f"{source.parent.name}-{source.stem}.o"
        if not target.exists():
            part = target.with_suffix(f".{name}.part")
            flags = _HANDLERS if source.parent.name == "instructions" else _INSTRUMENTED
            command = [compiler, *_FLAGS, *flags, "-c", str(source), "-o", str(part)]
            subprocess.run(command, check=True)
            part.replace(target)
        return target

    engine = SOURCES / "engine"
    sources = [*sorted(engine.glob("*.cpp")), *sorted((engine / "instructions").glob("*.cpp"))]
    sources.append(SOURCES / "hip_runtime" / "compressed_bundle.cpp")
    with ThreadPoolExecutor(2) as pool:
        made_objects = list(pool.map(compiled, sources))
    made.parent.mkdir(parents=True, exist_ok=True)
    harness = Path(__file__).with_name("engine.cpp")
    command = [compiler, *_FLAGS, f"-fsanitize=fuzzer,{_SANITIZERS}", f"-I{SOURCES}"]
    command.append(f"--ld-path={find_clang().linker}")
    command += [f"-DCASS_FUZZ_{name.upper()}", str(harness), *map(str, made_objects)]
    subprocess.run([*command, "-ldl", "-o", str(made)], check=True)
    return made
