"""Adversarial programs in the sandbox: bounded, isolated, told apart, and nothing left of them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import execute
from cass_ray.toolchain.sandbox import control_group, isolation
from cass_ray.toolchain.sandbox.executable import (
    INPUT_ENTRIES,
    Bounds,
    Exposure,
    SandboxRun,
    SandboxVerdict,
    run_sandboxed,
)

pytestmark = pytest.mark.skipif(not isolation.available(), reason=isolation.problem())

SMALL = Bounds(wall_seconds=20, cpu_seconds=5)


def shell(script: str, bounds: Bounds = SMALL, exposure: Exposure | None = None) -> SandboxRun:
    arguments = ["-c", script]
    return run_sandboxed(Path("/bin/sh"), arguments, bounds=bounds, exposure=exposure or Exposure())


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Compiles a C program; returns its executable."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_c(name: str, body: str, includes: str = "") -> Path:
        executable = folder / name
        # Every program is started by the same name, and its processes are looked for by their own.
        named = f'prctl(PR_SET_NAME, "{name}");'
        head = f"#define _GNU_SOURCE\n{includes}\n#include <sys/prctl.h>\n"
        source = f"{head}int main(void) {{ {named} {body} }}\n"
        command = ["gcc", "-x", "c", "-o", str(executable), "-", "-lpthread"]
        subprocess.run(command, input=source, text=True, check=True)
        return executable

    return compile_c


def processes_named(name: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "comm").read_text().strip() == name[:15]:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_verdicts() -> None:
    assert shell("exit 0").verdict is SandboxVerdict.OK
    ended = shell("echo out; echo err >&2; exit 7")
    assert (ended.verdict, ended.status) == (SandboxVerdict.EXIT, 7)
    assert (ended.stdout, ended.stderr) == (b"out\n", b"err\n")
    ended = shell("kill -SEGV $$")
    assert (ended.verdict, ended.status) == (SandboxVerdict.SIGNAL, 139)


def test_time_limits() -> None:
    assert shell("sleep 60", Bounds(wall_seconds=0.3)).verdict is SandboxVerdict.TIME_LIMIT
    spin = "trap '' TERM INT; while :; do :; done"
    assert shell(spin, Bounds(cpu_seconds=0.3)).verdict is SandboxVerdict.TIME_LIMIT


def test_endless_output_is_cut() -> None:
    ended = shell("while :; do echo 0123456789012345678901234567890123456789; done",
                  Bounds(output_bytes=1 << 20))  # fmt: skip
    assert ended.verdict is SandboxVerdict.OUTPUT_LIMIT
    assert len(ended.stdout) <= 1 << 20


def test_hundred_gigabytes_into_a_file_stop_at_the_folders_size() -> None:
    ended = shell("head -c 100G /dev/zero > big; wc -c < big", Bounds(folder_bytes=8 << 20))
    assert int(ended.stdout.split()[-1]) <= 8 << 20


def test_many_files_stop_at_the_folders_size() -> None:
    script = "for i in $(seq 64); do head -c 1048576 /dev/zero > f$i || exit 9; done"
    assert shell(script, Bounds(folder_bytes=8 << 20)).status == 9


def test_memory_limit(compiled) -> None:  # type: ignore[no-untyped-def]
    body = "for (;;) memset(malloc(1 << 20), 1, 1 << 20);"
    program = compiled("cass_hog", body, "#include <stdlib.h>\n#include <string.h>")
    ended = run_sandboxed(program, bounds=Bounds(memory_bytes=256 << 20))
    assert ended.verdict is SandboxVerdict.MEMORY_LIMIT
    assert ended.peak_memory_bytes > 200 << 20


def test_fork_bomb_is_stopped_and_leaves_nothing(compiled) -> None:  # type: ignore[no-untyped-def]
    # Every child forks on, as a bomb does; a shared counter ends it at 2000 should all limits fail.
    body = """
      atomic_int* made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      for (;;) if (atomic_fetch_add(made, 1) > 2000) pause(); else if (fork() < 0) usleep(1000);
    """
    includes = "#include <stdatomic.h>\n#include <sys/mman.h>\n#include <unistd.h>"
    program = compiled("cass_bomb", body, includes)
    ended = run_sandboxed(program, bounds=Bounds(processes=32, wall_seconds=20))
    assert ended.verdict is SandboxVerdict.MEMORY_LIMIT
    assert processes_named("cass_bomb") == []


@pytest.mark.skipif(control_group.pids_parent() is None, reason="no control groups here")
def test_the_kernel_refuses_tasks_beyond_the_limit(compiled) -> None:  # type: ignore[no-untyped-def]
    body = """
      int made = 0;
      for (int i = 0; i < 900; ++i) { int child = fork(); if (!child) pause(); made += child > 0; }
      printf("%d\\n", made); return 0;
    """
    program = compiled("cass_forks", body, "#include <stdio.h>\n#include <unistd.h>")
    ended = run_sandboxed(program, bounds=Bounds(processes=10))
    if ended.ok:  # the watch may be quicker than the program
        assert 0 < int(ended.stdout) < 600


def test_a_child_does_not_survive_its_parent(compiled) -> None:  # type: ignore[no-untyped-def]
    body = "if (fork() == 0) { setsid(); signal(SIGTERM, SIG_IGN); for (;;) pause(); } return 0;"
    program = compiled("cass_orphan", body, "#include <unistd.h>\n#include <signal.h>")
    assert run_sandboxed(program).verdict is SandboxVerdict.OK
    assert processes_named("cass_orphan") == []


def test_host_files_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    script = f"cat /etc/passwd /etc/shadow {tmp_path}/secret; ls /root /home /var /opt"
    assert shell(script).stdout == b""


def test_nothing_can_be_written_outside_the_private_folder() -> None:
    script = "for d in / /usr /usr/bin /dev /cass /etc /lib; do echo x > $d/cass_x && echo $d; done"
    assert shell(script).stdout == b""
    assert shell("echo x > here; cat here; pwd").stdout == b"x\n/cass/work\n"


def test_processes_and_environment_of_the_host_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASS_TEST_SECRET", "hunter2")
    script = "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ls -d /proc/[0-9]* | wc -l"
    output = shell(script).stdout.decode()
    assert "hunter2" not in output
    assert int(output.split()[-1]) < 10
    assert shell(f"kill -9 {os.getpid()} 2>/dev/null || echo no").stdout == b"no\n"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("socket", "socket(AF_INET, SOCK_STREAM, 0)"),
        ("ptrace", "ptrace(PTRACE_TRACEME, 0, 0, 0)"),
        ("unshare", "unshare(CLONE_NEWUSER)"),
        ("clone", "syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)"),
        ("mount", 'mount("none", "/tmp", "tmpfs", 0, 0)'),
        ("keyctl", "syscall(SYS_keyctl, 0, 0)"),
        ("bpf", "syscall(SYS_bpf, 0, 0, 0)"),
    ],
)
def test_forbidden_calls_are_violations(compiled, name: str, call: str) -> None:  # type: ignore[no-untyped-def]
    includes = "".join(
        f"#include <{header}>\n"
        for header in ("sched.h", "signal.h", "sys/mount.h", "sys/ptrace.h", "sys/socket.h",
                       "sys/syscall.h", "unistd.h")
    )  # fmt: skip
    program = compiled(f"cass_{name}", f"return {call} < 0 ? 1 : 0;", includes)
    assert run_sandboxed(program).verdict is SandboxVerdict.VIOLATION


def test_io_uring_is_not_there(compiled) -> None:  # type: ignore[no-untyped-def]
    body = "return syscall(SYS_io_uring_setup, 1, 0) == -1 && errno == ENOSYS ? 7 : 0;"
    includes = "#include <errno.h>\n#include <sys/syscall.h>\n#include <unistd.h>"
    assert run_sandboxed(compiled("cass_io_uring", body, includes)).status == 7


def test_threads_and_local_sockets_work(compiled) -> None:  # type: ignore[no-untyped-def]
    body = """
      pthread_t threads[4]; int pair[2];
      for (int i = 0; i < 4; ++i) if (pthread_create(&threads[i], 0, work, 0)) return 1;
      for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
      return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    """
    includes = "#include <pthread.h>\n#include <sys/socket.h>\nvoid* work(void* p) { return p; }"
    assert run_sandboxed(compiled("cass_threads", body, includes)).ok


def test_no_network_even_where_sockets_are_allowed(compiled) -> None:  # type: ignore[no-untyped-def]
    listener = socket.create_server(("127.0.0.1", 0))
    accepted: list[object] = []

    def accept() -> None:
        try:
            accepted.append(listener.accept())
        except OSError:
            return

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    port = listener.getsockname()[1]
    body = f"""
      int s = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in a = {{.sin_family = AF_INET, .sin_port = htons({port}),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
      return connect(s, (struct sockaddr*)&a, sizeof a) ? 3 : 0;
    """
    includes = "#include <arpa/inet.h>\n#include <netinet/in.h>\n#include <sys/socket.h>"
    program = compiled("cass_connect", body, includes)
    ended = run_sandboxed(program, exposure=Exposure(device_access=True))
    listener.close()
    thread.join(timeout=5)
    assert (ended.verdict, ended.status) == (SandboxVerdict.EXIT, 3)
    assert accepted == []


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A file, a folder with one, a link inside and one that leads out."""
    folder = tmp_path / "inputs"
    (folder / "deep").mkdir(parents=True)
    (folder / "data").write_text("given\n")
    (folder / "deep" / "more").write_text("deeper\n")
    (folder / "inside").symlink_to("deep/more")
    (tmp_path / "secret").write_text("secret\n")
    (folder / "outside").symlink_to(tmp_path / "secret")
    return folder


def test_inputs_are_found_and_stay_as_they_are(inputs: Path) -> None:
    script = (
        "cat data deep/more inside; cat outside; echo x > data; rm -f data; echo y > new; cat new"
    )
    ended = run_sandboxed(Path("/bin/sh"), ["-c", script], bounds=SMALL, inputs=inputs)
    assert ended.stdout == b"given\ndeeper\ndeeper\ny\n"
    assert (inputs / "data").read_text() == "given\n"
    assert not (inputs / "new").exists()


def test_files_that_it_leaves_come_back(inputs: Path) -> None:
    script = (
        "mkdir sub; echo a > 'sub/one file'; printf b > two; ln -s two three; echo >&2 said; exit 3"
    )
    ended = run_sandboxed(Path("/bin/sh"), ["-c", script], bounds=SMALL, inputs=inputs)
    assert dict(ended.files) == {"sub/one file": b"a\n", "two": b"b"}
    assert (ended.stderr, ended.status) == (b"said\n", 3)


def test_what_is_too_large_to_come_back_is_left_out() -> None:
    script = "head -c 600000 /dev/zero > a; head -c 600000 /dev/zero > b; echo >&2 said; kill -9 $$"
    ended = run_sandboxed(Path("/bin/sh"), ["-c", script], bounds=SMALL)
    assert list(ended.files) == ["a"] and len(ended.files["a"]) == 600_000
    assert (ended.stderr, ended.status) == (b"said\n", 137)


def test_inputs_without_a_sandbox_are_copies(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "available", lambda: False)
    monkeypatch.setenv(isolation.ALLOW_UNISOLATED, "1")
    script = "cat data deep/more inside; echo x > data; rm -r deep; cat data"
    ended = run_sandboxed(Path("/bin/sh"), ["-c", script], bounds=SMALL, inputs=inputs)
    assert ended.stdout == b"given\ndeeper\ndeeper\nx\n"
    assert (inputs / "data").read_text() == "given\n"
    assert (inputs / "deep" / "more").exists()


def test_too_many_inputs_are_refused_with_a_way_out(tmp_path: Path) -> None:
    for number in range(INPUT_ENTRIES + 1):
        (tmp_path / str(number)).touch()
    with pytest.raises(ValueError, match="put them into a folder inside of it"):
        run_sandboxed(Path("/bin/true"), inputs=tmp_path)


def test_shared_file_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    exposure = Exposure(shared_files={Path("/cass/shared/file"): file})
    assert shell("echo hello > /cass/shared/file; rm /cass/shared/file", exposure=exposure).status
    assert file.read_text() == "hello\n"


def test_parallel_runs_do_not_mix() -> None:
    results: dict[int, bytes] = {}

    def work(number: int) -> None:
        results[number] = shell(f"echo {number} > f; sleep 0.05; cat f").stdout

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n".encode() for number in range(6)}


def test_a_run_after_a_killed_one_starts_clean() -> None:
    shell("echo x > left; sleep 60", Bounds(wall_seconds=0.2))
    assert shell("ls").stdout == b""


def test_a_program_does_not_see_where_it_is_kept(tmp_path: Path) -> None:
    """An original and its port, and the judge and anybody else, keep them in other places."""
    said = []
    for name in ("lifted", "rdna3"):
        place = tmp_path / name / "9c1f"
        place.parent.mkdir()
        shutil.copy("/bin/sh", place)
        script = 'echo "$0"; ls -l /proc/$$/exe | sed "s/.*->//"; ls /cass; cat /proc/$$/cmdline'
        said.append(run_sandboxed(place, ["-c", script], bounds=SMALL).stdout)
    assert said[0] == said[1]
    assert str(tmp_path).encode() not in said[0]
    assert said[0].startswith(b"/cass/program\n /cass/program\n")


@pytest.mark.amd
def test_process_1_looks_the_same_to_a_judged_program_and_to_a_users() -> None:
    script = "tr '\\0' ' ' < /proc/1/cmdline"
    judged = run_sandboxed(Path("/bin/sh"), ["-c", script]).stdout
    users = execute(Path("/bin/sh"), ["-c", script], runtime_library()).stdout
    # Beside the user's program runs the device process, which counts.
    words = [
        re.sub(rb"ulimit -p \d+", b"", re.sub(rb"[0-9a-f]{32}", b"MARK", each))
        for each in (judged, users)
    ]
    assert words[0] == words[1]
    assert b"printf MARK" in words[0]


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (1, SandboxVerdict.EXIT),
        (128, SandboxVerdict.EXIT),
        (139, SandboxVerdict.SIGNAL),  # 128 and SIGSEGV, as shells say it
        (192, SandboxVerdict.SIGNAL),  # the last signal is 64
        (193, SandboxVerdict.EXIT),
        (255, SandboxVerdict.EXIT),  # exit(-1)
    ],
)
def test_there_are_statuses_above_those_of_signals(status: int, verdict: SandboxVerdict) -> None:
    ended = shell(f"exit {status}")
    assert (ended.verdict, ended.status) == (verdict, status)
