"""What a child process may see: a bubblewrap sandbox built from a short list of paths.

The sandbox has no network, its own process, user and IPC name spaces, no capabilities, a private
``/tmp`` in memory, a minimal ``/dev`` and nothing of ``/proc``, ``/home``, ``/root`` or most of
``/etc``. Visible are the system's programs and libraries (read-only) and the paths that a
:class:`View` names.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.temporary import temporary_prefix

ALLOW_UNISOLATED = "CASS_ALLOW_UNISOLATED"
"""Environment variable; ``1`` permits running without a sandbox where none can be made."""

SYSTEM_PATHS = (
    Path("/usr"),
    Path("/bin"),
    Path("/sbin"),
    Path("/lib"),
    Path("/lib32"),
    Path("/lib64"),
    Path("/libx32"),
    Path("/etc/alternatives"),  # Debian's g++, clang and ld are links through here
    Path("/etc/ld.so.cache"),
    Path("/etc/ld.so.conf"),
    Path("/etc/ld.so.conf.d"),
)

SHARED_MEMORY_BYTES = 64 << 20
"""Size of the sandbox's ``/dev/shm``."""

PRIVATE_FOLDER_BYTES = 1 << 30
"""Free memory in ``/dev/shm`` from which private folders are kept there."""

# Process 1 of the sandbox. It waits for the command, so that the CPU time of every descendant is
# in bubblewrap's rusage (bubblewrap leaves its own init unreaped), and keeps the command from being
# process 1 itself, which ignores signals such as SIGABRT. The shell's own "Segmentation fault" must
# not get into the command's stderr.
_INIT = 'exec 3>&2 2>/dev/null; ({}exec "$@" 2>&3 3>&-); s=$?; {}exit $s'

_CONFINEMENT = (
    "--unshare-all",
    "--unshare-user",  # --unshare-all only tries
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--new-session",  # a signal to its own process group stays inside
    "--as-pid-1",
)


class IsolationUnavailableError(RuntimeError):
    """Bubblewrap is missing or may not make name spaces here; the message says what to do."""


@dataclass(frozen=True)
class Mount:
    """A host path that the sandboxed process sees at another, absolute path."""

    source: Path
    target: Path
    writable: bool = False


@dataclass(frozen=True)
class Identity:
    """Whose machine and account a sandboxed process takes its own for."""

    hostname: str = "sandbox"
    user: int = 1000
    """Of the group, too."""


OURS = Identity()


@dataclass(frozen=True)
class View:
    """What a sandboxed process sees beside the system's programs and libraries.

    ``read_only`` and ``writable`` keep their paths; ``mounts`` puts a path elsewhere, so that
    results do not depend on where the host keeps it. ``devices`` are device nodes.
    ``temporary_bytes`` bounds ``/tmp``, which lives in memory and goes with the process.
    ``process_filesystem`` mounts a ``/proc`` that shows the sandbox's own processes only.
    ``device_access`` relaxes the filter of system calls for GPU drivers. With ``refuses_sockets``
    a socket of a network cannot be made; without it, who tries is ended.
    ``system`` may be narrowed for programs that need less than ``/usr``; ``arguments`` are further
    bubblewrap arguments. ``at_end`` are the shell's words for when the command has ended; what
    they write to file 3 is the command's standard error.
    """

    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[Path, ...] = ()
    temporary_bytes: int = 1 << 30
    process_filesystem: bool = False
    device_access: bool = False
    refuses_sockets: bool = False
    system: tuple[Path, ...] = SYSTEM_PATHS
    arguments: tuple[str, ...] = ()
    identity: Identity = OURS
    at_end: str = ""

    def inside(self, path: Path) -> Path:
        """Where a process with this view sees the host's ``path``."""
        if not isolates():
            return path
        for mount in self.mounts:
            if path.is_relative_to(mount.source):
                return mount.target / path.relative_to(mount.source)
        return path

    def outside(self, path: Path) -> Path:
        """The host's path of what a process with this view sees at ``path``."""
        if not isolates():
            return path
        for mount in self.mounts:
            if path.is_relative_to(mount.target):
                return mount.source / path.relative_to(mount.target)
        return path


def command_line(
    argv: Sequence[str],
    view: View | None,
    cwd: Path,
    call_filter: int | None = None,
    *,
    limits: str = "",
) -> list[str]:
    """The command line that runs ``argv`` with ``view`` in ``cwd`` (a host path that it shows).

    ``call_filter`` is the open file of a filter of system calls; ``limits`` are the shell's words
    that set limits in the sandbox, before the command takes the shell's place.

    From the sandbox the exit status comes back as it is, death by signal ``n`` as ``128 + n``.
    Without a view, and where :func:`isolates` says so, it is ``argv``.
    """
    if view is None or not isolates():
        return list(argv)
    filtering = () if call_filter is None else ("--seccomp", str(call_filter))
    start = ("--chdir", str(view.inside(cwd)), "--")
    return [*_sandbox(view), *filtering, *start, *_init(limits, view.at_end), *argv]


def _init(limits: str = "", at_end: str = "") -> tuple[str, ...]:
    return ("/bin/sh", "-c", _INIT.format(limits, at_end), "sh")


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A :func:`new_private_folder` that is removed at the end."""
    folder = new_private_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_private_folder() -> Path:
    """A new folder for this user alone, in memory if there is room."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free >= PRIVATE_FOLDER_BYTES
    usable = roomy and os.access(memory, os.W_OK)
    prefix = temporary_prefix("private")
    return Path(tempfile.mkdtemp(prefix=prefix, dir=memory if usable else None)).resolve()


def isolates() -> bool:
    """Whether child processes get a sandbox.

    Raises :class:`IsolationUnavailableError` where none can be made and ``CASS_ALLOW_UNISOLATED=1``
    is not set.
    """
    if available():
        return True
    if os.environ.get(ALLOW_UNISOLATED) == "1":
        return False
    raise IsolationUnavailableError(
        f"no sandbox for untrusted code: {problem()}\n"
        "Install bubblewrap (apt-get install bubblewrap) and allow unprivileged user name spaces:"
        " sysctl kernel.unprivileged_userns_clone=1; on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0; in Docker --security-opt"
        " seccomp=unconfined --security-opt apparmor=unconfined --security-opt"
        " systempaths=unconfined.\n"
        f"For sources that you trust, {ALLOW_UNISOLATED}=1 compiles under resource limits alone."
    )


def available() -> bool:
    """Whether bubblewrap works here."""
    return not problem()


@functools.cache
def problem() -> str:
    """Why bubblewrap does not work here, in words; empty where it does (probed once)."""
    if not shutil.which("bwrap"):
        return "bubblewrap (bwrap) is not installed"
    probe = subprocess.run(
        [*_sandbox(View()), "--", *_init(), "/bin/true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if probe.returncode == 0 else f"bubblewrap failed: {probe.stderr.strip()}"


def _sandbox(view: View) -> list[str]:
    """Bubblewrap and its arguments for ``view``; every tmpfs is bounded or made read-only."""
    arguments = ["bwrap", *_CONFINEMENT, "--hostname", view.identity.hostname]
    user = str(view.identity.user)
    arguments += ["--uid", user, "--gid", user, *_system_arguments(view.system)]
    arguments += ["--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    for device in view.devices:
        arguments += ["--dev-bind", str(device), str(device)]
    arguments += ["--remount-ro", "/dev"]
    if view.process_filesystem:
        # Below /proc/sys the owner of files is the real root, whom the sandbox of a root process
        # is: kernel.core_pattern could be written.
        arguments += ["--proc", "/proc", "--remount-ro", "/proc"]
    arguments += ["--size", str(view.temporary_bytes), "--tmpfs", "/tmp"]
    for path in view.read_only:
        arguments += ["--ro-bind", str(path), str(path)]
    for path in view.writable:
        arguments += ["--bind", str(path), str(path)]
    for mount in view.mounts:
        kind = "--bind" if mount.writable else "--ro-bind"
        arguments += [kind, str(mount.source), str(mount.target)]
    return [*arguments, *view.arguments, "--remount-ro", "/"]


@functools.cache
def _system_arguments(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Read-only binds of those ``paths`` that exist; symbolic links such as /bin stay links."""
    arguments: list[str] = []
    for path in paths:
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            arguments += ["--ro-bind", str(path), str(path)]
    return tuple(arguments)
