"""The sandbox: what a child sees, and what happens where there is none."""

from __future__ import annotations

import errno
import signal
import socket
from pathlib import Path

import pytest

from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.isolation import (
    ALLOW_UNISOLATED,
    IsolationUnavailableError,
    Mount,
    View,
    private_folder,
)
from cass_ray.toolchain.sandbox.process import Completed, run

needs_sandbox = pytest.mark.skipif(not isolation.available(), reason=isolation.problem())


def shell(script: str, view: View, cwd: Path = Path("/")) -> Completed:
    return run(["/bin/sh", "-c", script], cwd=cwd, view=view)


@needs_sandbox
def test_files_outside_the_view_do_not_exist(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    completed = shell(f"cat /etc/passwd {tmp_path}/secret /proc/1/environ; ls /home /root", View())
    assert completed.stdout == b""
    assert completed.stderr.count(b"No such file or directory") == 5


@needs_sandbox
def test_read_only_and_writable_paths(tmp_path: Path) -> None:
    fixed, open_ = tmp_path / "fixed", tmp_path / "open"
    fixed.mkdir()
    open_.mkdir()
    (fixed / "file").write_text("content")
    view = View(read_only=(fixed,), writable=(open_,))
    completed = shell(f"cat {fixed}/file; touch {fixed}/new; echo made > {open_}/new", view)
    assert completed.stdout == b"content"
    assert b"Read-only file system" in completed.stderr
    assert (open_ / "new").read_text() == "made\n"
    assert not (fixed / "new").exists()


@needs_sandbox
def test_the_system_is_read_only() -> None:
    places = "/ /usr /usr/bin /dev"
    script = f"for d in {places}; do touch $d/cass-test && echo written $d; done"
    assert shell(script, View()).stdout == b""


@needs_sandbox
def test_a_mount_moves_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/file").write_text("here")
    view = View(mounts=(Mount(tmp_path, Path("/cass/source")),))
    completed = shell(f"pwd; cat file; ls {tmp_path}", view, cwd=tmp_path / "deep")
    assert completed.stdout == b"/cass/source/deep\nhere"
    assert view.inside(tmp_path / "deep") == Path("/cass/source/deep")
    assert view.outside(Path("/cass/source/deep")) == tmp_path / "deep"


@needs_sandbox
def test_the_temporary_folder_is_bounded_and_private() -> None:
    fill = "head -c 2000000 /dev/zero > /tmp/file; wc -c < /tmp/file"
    completed = shell(fill, View(temporary_bytes=1 << 20))
    assert b"No space left on device" in completed.stderr
    assert int(completed.stdout) <= 1 << 20
    assert shell("ls -A /tmp", View()).stdout == b""


@needs_sandbox
def test_there_is_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
        completed = run(["/bin/bash", "-c", script], cwd=Path("/"), view=View())
    assert completed.signal == signal.SIGSYS  # the call itself, before any connection


@needs_sandbox
def test_only_own_processes_are_visible() -> None:
    view = View(process_filesystem=True)
    completed = shell("ls -d /proc/[0-9]* | wc -l; grep CapEff /proc/self/status", view)
    count, capabilities = completed.stdout_text.splitlines()
    assert int(count) <= 6
    assert capabilities.split()[1] == "0" * 16


@needs_sandbox
def test_the_user_is_nobody_special() -> None:
    assert shell("id -u; id -g; hostname", View()).stdout == b"1000\n1000\nsandbox\n"


def test_without_a_sandbox_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "problem", lambda: "bubblewrap (bwrap) is not installed")
    monkeypatch.delenv(ALLOW_UNISOLATED, raising=False)
    with pytest.raises(IsolationUnavailableError, match="apt-get install bubblewrap"):
        run(["true"], cwd=Path("/"), view=View())


def test_without_a_sandbox_on_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(isolation, "problem", lambda: "not allowed here")
    monkeypatch.setenv(ALLOW_UNISOLATED, "1")
    view = View(mounts=(Mount(tmp_path, Path("/cass/source")),))
    assert shell("pwd", view, cwd=tmp_path).stdout_text.strip() == str(tmp_path)
    assert view.inside(tmp_path) == tmp_path


def test_a_private_folder_is_private_and_temporary() -> None:
    with private_folder() as folder:
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "file").write_text("x")
    assert not folder.exists()


@needs_sandbox
def test_sockets_of_networks_can_be_refused() -> None:
    ask = "import socket\ntry:\n socket.socket()\nexcept OSError as error:\n print(error.errno)"
    shown = shell(f"/usr/bin/python3 -c '{ask}'", View(refuses_sockets=True))
    assert shown.stdout == f"{errno.EAFNOSUPPORT}\n".encode()
    assert shell(f"/usr/bin/python3 -c '{ask}'", View()).returncode == 128 + signal.SIGSYS
