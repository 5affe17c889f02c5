"""Programs of ``cass run`` and ``cass run-binary``: what they can write, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.cache import default_directory
from cass_ray.emulator import execution
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port import running
from cass_ray.port.executable import Executable
from cass_ray.port.running import PortedExecutable
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Completed

FOLDER_BYTES = 1 << 20

Run = Callable[..., Completed]

FILL = """
for file in 1 2 3 4; do head -c 600000 /dev/zero > $file 2>/dev/null || echo full; done
echo $(cat 1 2 3 4 | wc -c)
"""
COUNTERS = """
for file in "$CASS_EMULATOR_COUNTERS" /cass/state/counters.json /cass/shared/counters.json; do
  echo '{"kernels": []}' > "$file"
done 2>/dev/null
for file in /proc/self/fd/*; do echo '{"kernels": []}' > "$file"; done 2>/dev/null
"""


@pytest.fixture(params=["cass run", "cass run-binary"])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a shell script as the program; the CUDA runtime of a port is not needed for it."""
    folder = tmp_path / "program"
    folder.mkdir()
    program = folder / "program"
    try:
        library = runtime_library()
    except (ToolMissing, BuildFailed) as error:
        pytest.skip(str(error))
    monkeypatch.setattr(running, "shim_library", lambda *_: library)

    def execute(script: str, options: RunOptions | None = None) -> Completed:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        options = options or RunOptions(seconds=20, file_bytes=FOLDER_BYTES)
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


def test_nothing_is_written_beside_the_folder(run: Run, sandbox: None, tmp_path: Path) -> None:
    script = "for at in / /cass /cass/state /usr /dev; do echo x > $at/more && echo wrote; done"
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
    (inputs / "deep").mkdir()
    script = (
        "cat data; for name in data new deep/new; do echo x >> $name && echo $name; done; rm data"
    )
    done = run(script, RunOptions(seconds=20, inputs=inputs))
    assert done.stdout == b"givennew\n"
    assert sorted(path.name for path in inputs.rglob("*")) == ["data", "deep"]
    assert (inputs / "data").read_text() == "given"


@pytest.mark.parametrize("isolated", [True, False], ids=["", "without a sandbox"])
def test_no_program_writes_the_counters(
    run: Run, isolated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the device process's; this program has not used the device."""
    if isolated and not isolation.available():
        pytest.skip(isolation.problem())
    if not isolated:
        monkeypatch.setattr(isolation, "available", lambda: False)
        monkeypatch.setenv(isolation.ALLOW_UNISOLATED, "1")
    counters = tmp_path / "counters.json"
    run(COUNTERS, RunOptions(seconds=20, counters=counters))
    assert not counters.exists()
