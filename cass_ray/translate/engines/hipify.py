"""HIPIFY's own programs as engines, when they are installed (ROCm ships them).

``hipify-perl`` rewrites by patterns; ``hipify-clang`` compiles the file and needs a CUDA
installation. Both run in the sandbox and see one file, in an empty folder.
"""

from __future__ import annotations

import re
import shutil
from functools import cached_property
from pathlib import Path

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import Completed, Limits, ProcessOutcome, run
from cass_ray.translate.protocol import (
    NO_CONTEXT,
    Context,
    Counts,
    Finding,
    Severity,
    Translation,
    TranslatorError,
)

ENGINES = ("hipify-perl", "hipify-clang")

_PLACES = (Path("/opt/rocm/bin"), Path("/usr/bin"))
_LIMITS = Limits(cpu_seconds=120.0, wall_seconds=240.0, memory_bytes=4 << 30)
_SOURCE, _OUTPUT = "source.cu", "source.cu.hipified"
"""Never the name that the source came with: ``@x.cu`` is a file of arguments to clang."""

_SKIPPING = "--skip-excluded-preprocessor-conditional-blocks"
_WARNING = re.compile(
    r"^.*?:(?P<line>\d+)(?::(?P<column>\d+))?:?\s*(?:(?P<kind>warning|error):)?\s*(?P<message>.*)$"
)
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/opt/rocm/bin",
    # hipify-perl reads and writes bytes; the locale only decides on its messages.
    "LC_ALL": "C",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
}


def find(name: str) -> Path:
    """The program ``name`` on PATH or below /opt/rocm.

    Raises:
        ToolMissing: it is not installed.
    """
    found = shutil.which(name)
    candidates = [Path(found)] if found else []
    candidates += [folder / name for folder in _PLACES]
    for path in candidates:
        if path.is_file():
            return path
    raise ToolMissing(
        name,
        f"Install ROCm's hipify package, or put {name} on PATH; the engine `rules` needs neither.",
        tried=", ".join(["PATH", *(str(folder) for folder in _PLACES)]),
    )


class HipifyTranslator:
    """One of HIPIFY's programs behind the ``Translator`` protocol."""

    def __init__(self, name: str, program: Path | None = None) -> None:
        if name not in ENGINES:
            raise ValueError(f"{name} is not one of {', '.join(ENGINES)}")
        self._name = name
        self._program = program or find(name)

    @property
    def name(self) -> str:
        """``hipify-perl`` or ``hipify-clang``."""
        return self._name

    @cached_property
    def version(self) -> str:
        """What the program says of itself, on one line."""
        with private_folder() as folder:
            done = self._run(folder, "--version")
        return " ".join((done.stdout_text or done.stderr_text).split())[:200] or "unknown"

    def _run(self, folder: Path, *arguments: str) -> Completed:
        """The program in ``folder``, where it may write."""
        own = self._program.parent if self._name == "hipify-perl" else self._program.parent.parent
        shown = (own, own.resolve(), self._program.resolve().parent)
        outside = tuple(dict.fromkeys(path for path in shown if not path.is_relative_to("/usr")))
        view = View(read_only=outside, writable=(folder,))
        command = [str(self._program), *arguments]
        return run(command, cwd=folder, limits=_LIMITS, env=_ENVIRONMENT, view=view)

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file by running the program once.

        Raises:
            TranslatorError: it failed or ran over its limits; the message is its own.
        """
        with private_folder() as folder:
            (folder / _SOURCE).write_bytes(source.encode("utf-8", "surrogateescape"))
            if self._name == "hipify-perl":
                done = self._run(folder, "-quiet-warnings", _SOURCE)
            else:
                done = self._run(folder, _SOURCE, "-o", _OUTPUT, _SKIPPING)
            self._check(done, filename)
            written: bytes | None = done.stdout
            if self._name == "hipify-clang":
                written = read_written(folder / _OUTPUT, _LIMITS.file_bytes)
        if written is None:
            raise TranslatorError(f"{self._name} wrote nothing for {filename or 'the source'}")
        text = written.decode("utf-8", "surrogateescape")
        return Translation(text, _findings(done.stderr_text), Counts())

    def _check(self, done: Completed, filename: str) -> None:
        if done.outcome is ProcessOutcome.OK:
            return
        message = done.stderr_text.strip() or done.outcome.value
        raise TranslatorError(f"{self._name} failed on {filename or 'the source'}: {message}")


def _findings(messages: str) -> tuple[Finding, ...]:
    found = []
    for line in messages.splitlines():
        match = _WARNING.match(line)
        if match:
            severity = Severity.ERROR if match["kind"] == "error" else Severity.WARNING
            column = int(match["column"] or 0)
            found.append(Finding(int(match["line"]), column, "", severity, match["message"]))
    return tuple(found)
