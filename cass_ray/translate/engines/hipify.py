"""HIPIFY's own programs as engines, when they are installed (ROCm ships them).

``hipify-perl`` rewrites by patterns; ``hipify-clang`` compiles the file and needs a CUDA
installation. Both see one file, in an empty folder.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import cached_property
from pathlib import Path

from cass_ray.toolchain.errors import ToolMissing
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
        with tempfile.TemporaryDirectory(prefix="cass-hipify-") as folder:
            done = run(self._command("--version"), cwd=Path(folder), env=_ENVIRONMENT)
        return " ".join((done.stdout_text or done.stderr_text).split())[:200] or "unknown"

    def _command(self, *arguments: str) -> list[str]:
        return [str(self._program), *arguments]

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file by running the program once.

        Raises:
            TranslatorError: it failed or ran over its limits; the message is its own.
        """
        with tempfile.TemporaryDirectory(prefix="cass-hipify-") as folder:
            path = Path(folder) / (Path(filename).name or "source.cu")
            path.write_bytes(source.encode("utf-8", "surrogateescape"))
            output = path.with_name(path.name + ".hipified")
            if self._name == "hipify-perl":
                command = self._command("-quiet-warnings", path.name)
            else:
                command = self._command(
                    path.name, "-o", output.name, "--skip-excluded-preprocessor-conditional-blocks"
                )
            done = run(command, cwd=Path(folder), limits=_LIMITS, env=_ENVIRONMENT)
            self._check(done, filename)
            if self._name == "hipify-perl":
                text = done.stdout.decode("utf-8", "surrogateescape")
            else:
                text = output.read_bytes().decode("utf-8", "surrogateescape")
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
