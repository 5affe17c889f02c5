"""Preprocessed CUDA programs, and preprocessing without the text of the runtime header.

nvcc puts ``cuda_runtime.h`` before every program, so that preprocessing a program of ten lines
writes sixty thousand. What the program's own lines become depends on the header's macros only, its
include guards among them. With those as a file of definitions g++ takes a fifth of the time.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from cass_ray.toolchain.nvidia.steps import (
    CompilerStep,
    CompilerWorkbench,
    NvccSteps,
    unit_arguments,
)
from cass_ray.toolchain.unit import Unit

STAND_IN = "cass_program.cu"
"""The name of every program's file in the text of a shared header."""

_FORCED_HEADER = "cuda_runtime.h"
_FORCED_INCLUDE = ("-include", _FORCED_HEADER)
_MACROS = "macros.h"
_LINE_MARKER = re.compile(rb'^# \d+ "(/[^"\n]+)"', re.MULTILINE)

# State of the preprocessor that is in no macro definition.
_BEYOND_MACROS = re.compile(rb"#\s*pragma\s+(?:once|push_macro)|__COUNTER__|__INCLUDE_LEVEL__")


@dataclass(frozen=True)
class PreprocessedProgram:
    """A preprocessed program: the runtime header's text and what follows it.

    The header has :data:`STAND_IN` for the name of the program's file.
    """

    header: bytes
    text: bytes

    def whole(self, source: str) -> bytes:
        """Both together, for the file ``source``."""
        return _first_line(source) + self.header.removeprefix(_first_line(STAND_IN)) + self.text


def preprocess(steps: NvccSteps, bench: CompilerWorkbench) -> PreprocessedProgram | None:
    """Run the preprocessor as nvcc does; leaves ``unit.cpp1.ii``.

    None where header and program cannot be told apart. Raises
    :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    arguments = unit_arguments(bench.unit)
    bench.run(steps.first("g++"), steps.environment, arguments)
    return split_header(bench.output("cpp1.ii", "g++"), str(bench.unit.main))


def split_header(text: bytes, source: str) -> PreprocessedProgram | None:
    """Split a preprocessed program; None where the runtime header's end is not to be found.

    ``source`` is the program's file as the compiler was given it. The header gets a stand-in for
    that name, so that it is the same for all programs.
    """
    header, start, rest = text.partition(f'\n# 1 "{source}"\n'.encode())
    if not start or not header.startswith(_first_line(source)):
        return None
    named = _first_line(STAND_IN) + header.removeprefix(_first_line(source)) + b"\n"
    return PreprocessedProgram(named, start[1:] + rest)


def _first_line(source: str) -> bytes:
    return f'# 0 "{source}"\n'.encode()


def may_change_header(unit: Unit) -> bool:
    """Whether ``unit`` may read another runtime header, or another text of it, than the toolkit's.

    The compiler looks into the tree first. A link that leads nowhere here may lead somewhere there.
    """
    own_header = os.path.lexists(unit.root / _FORCED_HEADER)
    return bool(
        unit.definitions
        or unit.include_directories
        or unit.outside_directories
        or unit.forced
        or unit.standard
        or own_header
    )


def header_macros(steps: NvccSteps, bench: CompilerWorkbench, header: bytes) -> bytes | None:
    """Definitions that stand for ``header``; None where it does more than define macros.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    files = {Path(match[1].decode()) for match in _LINE_MARKER.finditer(header)}
    if not all(path.is_file() for path in files):
        return None
    if any(_BEYOND_MACROS.search(path.read_bytes()) for path in files):
        return None
    with_header = _definitions(steps.first("g++"), steps, bench)
    own = set(_definitions(_without_header(steps.first("g++")), steps, bench))
    return b"".join(line for line in with_header if line not in own)


def preprocess_with_macros(
    steps: NvccSteps, bench: CompilerWorkbench, header: bytes, macros: bytes
) -> PreprocessedProgram | None:
    """The program behind ``header``, whose :func:`header_macros` are ``macros``.

    None where the unit :func:`may_change_header` or does not preprocess; :func:`preprocess` tells
    why.
    """
    unit = bench.unit
    if may_change_header(unit):
        return None
    bench.replace(_MACROS, macros)
    step = _without_header(steps.first("g++"))
    command = bench.command(step, ["-imacros", str(bench.inside(_MACROS))])
    if not bench.try_command(command, steps.environment).ok:
        return None
    program = split_header(bench.output("cpp1.ii", "g++"), str(unit.main))
    return PreprocessedProgram(header, program.text) if program is not None else None


def _without_header(step: CompilerStep) -> CompilerStep:
    """``step`` without the forced include of the runtime header."""
    words = step.arguments
    for index in range(len(words)):
        if words[index : index + 2] == _FORCED_INCLUDE:
            return CompilerStep(step.tool, words[:index] + words[index + 2 :])
    return step


def _definitions(step: CompilerStep, steps: NvccSteps, bench: CompilerWorkbench) -> list[bytes]:
    """The lines ``#define …`` at the end of an empty program."""
    bench.run(step, steps.environment, ["-dM"], source=os.devnull)
    return bench.output("cpp1.ii", "g++").splitlines(keepends=True)
