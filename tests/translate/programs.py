"""Run CUDA programs of tests: translated by ``rules``, compiled for gfx1100, executed on the CPU.

All checks of one test module are one program: it is built once, and each check is a block of
``name: values`` lines of its output.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from cass_ray.rdna3.build import runtime_library
from cass_ray.rdna3.execution import RunOptions, build, execute
from cass_ray.rdna3.sources import Sources, translated
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.registry import make_translator

MAIN = PurePosixPath("program.cu")


def output_of(source: str, cache: Path | None = None) -> dict[str, str]:
    """The ``name: values`` lines that the translated ``source`` prints; fails if it does."""
    sources = translated(Sources(MAIN, {str(MAIN): source.encode()}), make_translator("rules"))
    errors = [item.format(str(MAIN)) for item in sources.findings if item.severity == "error"]
    assert not errors, "\n".join(errors)
    runtime = runtime_library()
    program = build(sources, find_amd(), runtime, cache=cache)
    done = execute(program, (), runtime, RunOptions(seconds=60.0))
    assert done.ok, f"{done.outcome} {done.returncode}\n{done.stdout_text}\n{done.stderr_text}"
    lines = (line.partition(": ") for line in done.stdout_text.splitlines())
    return {name: values.strip() for name, _, values in lines}
