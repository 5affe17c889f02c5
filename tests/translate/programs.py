"""Run CUDA programs of tests: translated by ``rules``, compiled for gfx1100, executed on the CPU.

All checks of one test module are one program: it is built once, and each check is a block of
``name: values`` lines of its output.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import DEFAULT_OPTIMIZATION, RunOptions, build, execute
from cass_ray.toolchain.amd.bundle import bundle
from cass_ray.toolchain.amd.link import embedding
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, code_flags
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program

MAIN = PurePosixPath("program.cu")


def output_of(
    source: str,
    headers: Path | None = None,
    architecture: str = DEFAULT_AMD_ARCHITECTURE,
    optimization: str = DEFAULT_OPTIMIZATION,
) -> dict[str, str]:
    """The ``name: values`` lines that the translated ``source`` prints; fails if it does.

    ``headers`` is a folder of a library's headers, on the include path as they are.
    """
    original = Sources(MAIN, {str(MAIN): source.encode()})
    translation = translate_program(original, make_translator("rules"))
    errors = [item.format(str(MAIN)) for item in translation.findings if item.severity == "error"]
    assert not errors, "\n".join(errors)
    sources = translation.sources
    if headers is not None:
        found = [path for path in headers.rglob("*") if path.is_file()]
        files = {f"headers/{path.relative_to(headers)}": path.read_bytes() for path in found}
        place = (PurePosixPath("headers"),)
        sources = replace(sources, files={**sources.files, **files}, include_directories=place)
    runtime = runtime_library()
    toolchain = find_amd(architectures=(architecture,))
    program = build(
        sources, toolchain, runtime, architecture=architecture, optimization=optimization
    )
    return _lines(program, runtime)


def output_on_wavefronts_of_64(source: str, folder: Path) -> dict[str, str]:
    """As :func:`output_of`, compiled for wavefronts of 64 lanes, as CDNA has.

    Compiled as on a machine with ROCm: against HIP's own headers alone. They refuse RDNA with
    wavefronts of 64 lanes, which the hardware has; that line is taken out.
    """
    hip = make_translator("rules").translate(source, filename=str(MAIN)).source
    (folder / "program.hip").write_text(hip)
    amd, runtime = find_amd(), runtime_library()
    header = Path("include/hip/hip_runtime.h")
    (folder / header).parent.mkdir(parents=True)
    text = (amd.rocm_path / header).read_text()
    (folder / header).write_text(text.replace("#error HIP is not supported", "// HIP"))
    clang: list[str | Path] = [amd.clang, f"--ld-path={amd.linker}"]
    common = [*clang, *code_flags(DEFAULT_ARCHITECTURE, "-O2"), "-mwavefrontsize64", "-w"]
    common += ["-I", folder / "include", f"--rocm-path={amd.rocm_path}", folder / "program.hip"]
    device, host = folder / "device.co", folder / "host.s"
    _run([*common, "--cuda-device-only", "--no-gpu-bundle-output", "-o", device])
    assert b".wavefront_size\x40" in device.read_bytes()  # 64 in MessagePack
    _run([*common, "--cuda-host-only", "-S", "-o", host])
    (folder / "device.hipfb").write_bytes(bundle({DEFAULT_ARCHITECTURE: device.read_bytes()}))
    embedded = folder / "embedded.s"
    embedded.write_text(embedding(host.read_text(), str(folder / "device.hipfb")))
    program = folder / "program"
    link: list[str | Path] = [
        runtime,
        f"-Wl,-rpath,{runtime.parent}",
        "-pthread",
        "-lm",
        "-o",
        program,
    ]
    _run([*clang, host, embedded, *link])
    return _lines(program, runtime)


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _lines(program: Path, runtime: Path) -> dict[str, str]:
    done = execute(program, (), runtime, RunOptions(seconds=60.0))
    assert done.ok, f"{done.outcome} {done.returncode}\n{done.stdout_text}\n{done.stderr_text}"
    lines = (line.partition(": ") for line in done.stdout_text.splitlines())
    return {name: values.strip() for name, _, values in lines}
