"""Programs that ``cass run`` and ``cass port`` run: what they can write, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.cache import default_directory
from cass_ray.emulator import execution
from cass_ray.emulator.execution import RunOptions
from cass_ray.port import running
from cass_ray.port.executable import Executable
from cass_ray.port.running import PortedExecutable
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Completed

SECRET = "a secret of this machine"
FOLDER_BYTES = 1 << 20

Run = Callable[..., Completed]

FILL = """
for file in 1 2 3 4; do head -c 600000 /dev/zero > $file 2>/dev/null || echo full; done
echo $(cat 1 2 3 4 | wc -c)
"""
COUNTERS = {
    "a link to a file of the host": 'rm -f "$F"; ln -s SECRET "$F"',
    "a link moved over it": 'ln -s SECRET link; mv -f link "$F"',
    "a hard link to a file of the host": 'rm -f "$F"; ln SECRET "$F"',
    "a pipe that never ends": 'rm -f "$F"; mkfifo "$F"',
    "a folder": 'rm -f "$F"; mkdir "$F"',
    "40 MB": 'head -c 40000000 /dev/zero > "$F"',
    "none": 'rm -f "$F"',
}


@pytest.fixture(params=["cass run", "cass port"])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a shell script as the program; the CUDA runtime of a port is not needed for it."""
    folder = tmp_path / "program"
    folder.mkdir()
    program = folder / "program"
    library = folder / "library.so"
    library.touch()
    monkeypatch.setattr(running, "shim_library", lambda *_: library)
    monkeypatch.setattr(execution, "FOLDER_BYTES", FOLDER_BYTES, raising=False)

    def execute(script: str, options: RunOptions | None = None) -> Completed:
        program.write_text(f'#!/bin/sh\nF="$CASS_RDNA3_COUNTERS"\n{script}\n')
        program.chmod(0o755)
        options = options or RunOptions(seconds=20)
        if request.param == "cass run":
            return execution.execute(program, [], library, options)
        ported = PortedExecutable(Executable(program, 13, (), ()), ())
        return running.execute(ported, [], library, options)

    return execute


@pytest.fixture
def sandbox() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())


def test_the_working_folder_has_a_bound(run: Run, sandbox: None) -> None:
    done = run(FILL)
    assert done.ok
    lines = done.stdout_text.split()
    assert lines[:-1] == ["full"] * 3
    assert 0 < int(lines[-1]) <= FOLDER_BYTES


def test_nothing_is_written_beside_the_counters(run: Run, sandbox: None, tmp_path: Path) -> None:
    script = (
        'for at in "$(dirname "$F")" / /cass /usr /dev; do echo x > $at/more && echo wrote; done'
    )
    done = run(script, RunOptions(seconds=20, counters=tmp_path / "counters"))
    assert done.stdout == b""


def test_files_of_the_program_do_not_outlive_it(run: Run, sandbox: None) -> None:
    assert run("echo kept > file; cat file").stdout == b"kept\n"
    assert run("cat * 2>&1; ls -A").stdout_text.endswith("No such file or directory\n")
    assert not list(default_directory().joinpath("empty").iterdir())


def test_inputs_are_not_changed(run: Run, sandbox: None, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "data").write_text("given")
    script = "cat data; echo more >> data && echo wrote; echo x > new && echo wrote; rm data"
    done = run(script, RunOptions(seconds=20, inputs=inputs))
    assert done.stdout == b"given"
    assert [path.name for path in inputs.iterdir()] == ["data"]
    assert (inputs / "data").read_text() == "given"


@pytest.mark.parametrize("isolated", [True, False], ids=["", "without a sandbox"])
@pytest.mark.parametrize("attack", COUNTERS)
def test_counters_that_are_something_else(
    run: Run, attack: str, isolated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isolated and not isolation.available():
        pytest.skip(isolation.problem())
    if not isolated:
        monkeypatch.setattr(isolation, "available", lambda: False)
        monkeypatch.setenv(isolation.ALLOW_UNISOLATED, "1")
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    counters = tmp_path / "counters.json"
    script = COUNTERS[attack].replace("SECRET", str(secret))
    run(script, RunOptions(seconds=20, counters=counters))
    assert not counters.exists()


def test_honest_counters_come_back(run: Run, sandbox: None, tmp_path: Path) -> None:
    counters = tmp_path / "counters.json"
    run("""printf '{"kernels": []}' > "$F" """, RunOptions(seconds=20, counters=counters))
    assert counters.read_text() == '{"kernels": []}'
