"""What a compiler is given, and why it failed in the words of the data set."""

from __future__ import annotations

import posixpath
import re
import shlex
import signal
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.dataset.row import Reason, clip_diagnostic
from cass_ray.printable import printable_text
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, ProcessOutcome

_READ_AS_OPTIONS = ("@", "-")


@dataclass(frozen=True)
class Unit:
    """One translation unit. ``root`` is all that its compilation sees beside the toolchain.

    ``main`` and ``include_directories`` are relative to ``root``; ``definitions`` are ``NAME`` or
    ``NAME=VALUE``. ``forced`` are headers included before the source, as ``-include`` does.
    ``standard`` is that of C++ as its name is written, ``c++20``: C++17 where it is empty.
    ``system_directories`` are folders of this machine with headers that the unit takes for granted:
    searched after all others, and shown to compilers alone; ``before_toolchain`` are searched
    before the toolchain's own. Raises :class:`CompileFailure` for a name that compilers take for
    options: ``@NAME`` is a file of further arguments, which may load a plugin.
    """

    root: Path
    main: PurePosixPath
    include_directories: tuple[PurePosixPath, ...] = ()
    definitions: tuple[str, ...] = ()
    system_directories: tuple[Path, ...] = ()
    forced: tuple[str, ...] = ()
    standard: str = ""
    before_toolchain: tuple[Path, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    """Files of the tree that compilers see with another text: (path, text)."""

    def __post_init__(self) -> None:
        for path in (self.main, *self.include_directories, *self.forced):
            if escapes(str(path)):
                raise ValueError(f"{path} leads out of the source tree")
            if str(path).startswith(_READ_AS_OPTIONS):
                raise CompileFailure(
                    Reason.FORBIDDEN_INCLUDE,
                    f"{path}: compilers read a name that begins with @ or - as options: rename it",
                    "cass-ray",
                )

    @property
    def source(self) -> Path:
        return self.root / self.main

    @property
    def outside_directories(self) -> tuple[Path, ...]:
        """Folders of this machine that a compilation must see beside the tree."""
        return (*self.system_directories, *self.before_toolchain)

    def preprocessor_arguments(self) -> list[str]:
        """``-I``, ``-D`` and ``-include`` arguments for a compiler that runs in ``root``.

        A folder with a header of the C library's name (``common/math.h``) is behind the system's:
        the toolkit's own ``<math.h>`` is not the tree's, which a file beside it finds.
        """
        return [
            *(word for folder in self.include_directories for word in self._search_of(folder)),
            *(f"-I{directory}" for directory in self.before_toolchain),
            *(f"-D{definition}" for definition in self.definitions),
            *(word for folder in self.system_directories for word in ("-idirafter", str(folder))),
            *(word for header in self.forced for word in ("-include", header)),
        ]

    def _search_of(self, folder: PurePosixPath) -> tuple[str, ...]:
        place = self.root / folder
        if any((place / name).is_file() for name in _OF_THE_C_LIBRARY):
            return ("-idirafter", str(folder))
        return (f"-I{folder}",)

    def nvcc_arguments(self) -> list[str]:
        """:meth:`preprocessor_arguments` for nvcc's driver.

        It knows no ``-idirafter`` and hands it to the host compiler, whose preprocessor is the one
        that reads the sources.
        """
        result: list[str] = []
        words = iter(self.preprocessor_arguments())
        for word in words:
            if word == "-idirafter":
                # nvcc divides the word at commas, and a shell reads what is left.
                escaped = shlex.quote(next(words)).replace(",", "\\,")
                result += ["-Xcompiler", word, "-Xcompiler", escaped]
            else:
                result.append(word)
        return result


_OF_THE_C_LIBRARY = (
    *("assert.h", "ctype.h", "errno.h", "float.h", "limits.h", "math.h", "memory.h", "setjmp.h"),
    *("signal.h", "stdarg.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h"),
)


class CompileFailure(Exception):
    """A unit did not compile. ``diagnostic`` is the message of ``tool``."""

    def __init__(self, reason: Reason, diagnostic: str, tool: str) -> None:
        super().__init__(reason, diagnostic, tool)
        self.reason = reason
        self.diagnostic = diagnostic
        self.tool = tool

    def __str__(self) -> str:
        return f"{self.tool}: {self.reason.value}: {self.diagnostic}"


_LIMITS = {
    ProcessOutcome.TIME_LIMIT: Reason.TIME_LIMIT,
    ProcessOutcome.MEMORY_LIMIT: Reason.MEMORY_LIMIT,
    ProcessOutcome.OUTPUT_LIMIT: Reason.OUTPUT_LIMIT,
}

_FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that no program gets for what it does itself: SIGKILL is the kernel's, out of memory."""

_OUT_OF_MEMORY = re.compile(
    r"std::bad_alloc|out of memory|memory exhausted|cannot allocate memory",
    re.IGNORECASE,
)
_OUT_OF_ROOM = re.compile(r"File too large|No space left on device|file size limit", re.IGNORECASE)
_OUT_OF_TIME = re.compile(r"CPU time limit exceeded", re.IGNORECASE)
_KILLED = re.compile(
    r"\bdied due to signal (?:1|2|9|15)\b|\bended by signal (?:1|2|9|15)\b"
    r"|(?:Killed|Terminated|Hangup|Interrupt) signal terminated program"
    r"|unable to execute command: (?:Killed|Terminated|Hangup|Interrupt)",
    re.IGNORECASE,
)
_CRASH = re.compile(
    r"internal (compiler )?error|Assertion [`'].*' failed|PLEASE submit a bug report"
    r"|(frontend|compiler|nvcc error *:.*) (command failed due to signal|died due to signal)"
    r"|Segmentation fault|Stack dump:|unable to execute command: (Aborted|Segmentation)",
    re.IGNORECASE,
)

# What is said of the program and shows its text, whatever words stand in that: errors with a place
# (those that end the compiler at once aside), lines of source and the marks below them.
_OF_THE_PROGRAM = re.compile(
    r"^(?:[^\n]*?(?::\d+:\d+|:\d+|\(\d+\)): (?:(?:error|warning|remark|note)(?: #[\w-]+)?:"
    r"|[^\n]*#error directive)[^\n]*|[ \t][^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)

# Each names the file that could not be opened (`path`) and, where the tool tells, the file that
# asked for it (`by`): GCC and its assembler, clang, clang's assembler, EDG (cudafe++, cicc).
_UNOPENED = (
    re.compile(
        r"(?:^|\n)(?P<by>[^\s:]+):\d+(?::\d+)?: fatal error: (?P<path>.+?): "
        r"(?:No such file or directory|Permission denied|Is a directory|Too many levels)"
    ),
    re.compile(r"(?:^|\n)(?P<by>[^\s:]+):\d+(?::\d+)?: Error: file not found: (?P<path>\S+)"),
    re.compile(r"(?:^|\n)(?P<by>[^\s:]+):\d+:\d+: fatal error: '(?P<path>[^']+)' file not found"),
    re.compile(r"(?:^|\n)(?P<by>[^\s:]+):\d+:\d+: fatal error: cannot open file '(?P<path>[^']+)'"),
    re.compile(r"(?P<by>)[Cc]ould not find (?:incbin|include) file ['\"](?P<path>[^'\"]+)['\"]"),
    re.compile(
        r"(?:^|\n)(?P<by>[^\s(]+)\(\d+\): (?:catastrophic )?error(?: #\d+)?: "
        r"(?:cannot|could not) open source file \"(?P<path>[^\"]+)\""
    ),
)

# A directive of the assembler that reads a file, in assembly text or in an asm statement.
_ASSEMBLER_READ = re.compile(r"\.(?:incbin|include)[ \t]+\\?\"(?P<path>[^\"\\\n]+)")


def classify(completed: Completed, unit: Unit, tool: str = "") -> CompileFailure:
    """Why the compiler run ``completed`` of ``unit`` failed.

    A header that cannot be opened is ``FORBIDDEN_INCLUDE`` if its path is absolute or leads out of
    the source tree, else ``MISSING_HEADER``. The diagnostic is the tool's own message.
    """
    text = completed.stderr_text.strip() or completed.stdout_text.strip()
    text_of_failure = printable_text(clip_diagnostic(text, DIAGNOSTIC_LENGTH)) or _ending(completed)
    return CompileFailure(_reason(completed, text, unit), text_of_failure, tool)


DIAGNOSTIC_LENGTH = 64 << 10
"""Characters of a compiler's message that are kept."""


def result_of(tool: str, path: Path) -> bytes:
    """The file that the sandboxed ``tool`` made.

    Raises :class:`CompileFailure` where it left something else there: a compiler that runs code of
    its input may link to a file that only we can read.
    """
    content = read_written(path, COMPILE_LIMITS.file_bytes)
    if content is None:
        message = f"{tool} left no readable file {path.name}"
        raise CompileFailure(Reason.COMPILE_ERROR, message, tool)
    return content


def forbidden_read(assembly: str, unit: Unit) -> str:
    """The first file outside the source tree that ``assembly`` tells the assembler to read, if any.

    Compilers pass ``asm(".incbin …")`` through to their assembly output unopened. This gives the
    usual spelling a reason of its own; what keeps the file from being read, in every spelling, is
    that the sandbox does not show it.
    """
    for match in _ASSEMBLER_READ.finditer(assembly):
        if _is_forbidden(match["path"], str(unit.main)):
            return match["path"]
    return ""


def _reason(completed: Completed, text: str, unit: Unit) -> Reason:
    if completed.outcome in _LIMITS:
        return _LIMITS[completed.outcome]
    for pattern in _UNOPENED:
        if match := pattern.search(text):
            forbidden = _is_forbidden(match["path"], match["by"] or str(unit.main))
            return Reason.FORBIDDEN_INCLUDE if forbidden else Reason.MISSING_HEADER
    said = _OF_THE_PROGRAM.sub("", text)
    for limit, reason in (
        (_OUT_OF_MEMORY, Reason.MEMORY_LIMIT),
        (_OUT_OF_ROOM, Reason.OUTPUT_LIMIT),
        (_OUT_OF_TIME, Reason.TIME_LIMIT),
    ):
        if limit.search(said):
            return reason
    if completed.signal in _FROM_OUTSIDE or says_killed(text):
        return Reason.COMPILER_KILLED
    if completed.outcome is ProcessOutcome.SIGNAL or _CRASH.search(said):
        return Reason.COMPILER_CRASHED
    if completed.outcome is ProcessOutcome.NOT_FOUND:
        return Reason.INTERNAL_ERROR
    return Reason.COMPILE_ERROR


def says_killed(diagnostic: str) -> bool:
    """Whether a compiler driver says that a signal from outside ended one of its programs."""
    return _KILLED.search(_OF_THE_PROGRAM.sub("", diagnostic)) is not None


def unopened_file(diagnostic: str) -> str:
    """The file that a compiler says it could not open; empty where it says nothing of the kind."""
    for pattern in _UNOPENED:
        if match := pattern.search(diagnostic):
            return match["path"]
    return ""


def unopened_files(log: str) -> list[str]:
    """All files that compilers say they could not open, each once."""
    paths = (match["path"] for pattern in _UNOPENED for match in pattern.finditer(log))
    return list(dict.fromkeys(paths))


def _is_forbidden(path: str, included_by: str) -> bool:
    """Whether ``path``, named in the file ``included_by`` of the tree, lies outside the tree."""
    if posixpath.isabs(path):
        return True
    directory = "" if posixpath.isabs(included_by) else posixpath.dirname(included_by)
    return escapes(posixpath.join(directory, path))


def escapes(path: str) -> bool:
    """Whether ``path``, relative to a tree, leads out of it."""
    normal = posixpath.normpath(path)
    return posixpath.isabs(normal) or normal == ".." or normal.startswith("../")


def _ending(completed: Completed) -> str:
    if completed.signal:
        return f"ended by signal {completed.signal}, without a message"
    return (
        f"ended with status {completed.returncode} ({completed.outcome.value}), without a message"
    )
