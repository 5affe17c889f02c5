"""Twenty mistakes: each ends in a line of what is wrong and a line or clause of what to do."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAM = "#include <cuda_runtime.h>\nint main() { cudaFree(0); return 0; }\n"


@dataclass(frozen=True)
class Mistake:
    """What is typed in a folder of files, and what must be read."""

    name: str
    typed: tuple[str, ...]
    status: int
    what: str
    advice: str
    environment: dict[str, str] = field(default_factory=dict)


MISTAKES = [
    Mistake("missing file", ("translate", "no.cu"), 2, "no.cu does not exist", "give a CUDA file"),
    Mistake("folder in place of a file", ("verify", "folder"), 2, "folder is not a file", "--help"),
    Mistake("folder without -o", ("translate", "folder"), 2, "folder is a folder", "give -o OUT"),
    Mistake("binary", ("translate", "binary.cu"), 2, "binary.cu is not text", "give a CUDA file"),
    Mistake("binary, counted", ("check", "binary.cu"), 2, "binary.cu is not text", "give a CUDA"),
    Mistake("no source", ("run", "notes.md"), 2, "notes.md is none of", "--help"),
    Mistake("empty", ("check", "empty.cu"), 0, "no CUDA is there", "nothing to port"),
    Mistake("syntax error", ("translate", "wrong.cu"), 1, "does not parse: line 2", "next: mend"),
    Mistake(
        "unknown name", ("translate", "foo.cu", "-o", "f.hip"), 1, "cudaFooBar", "next: change"
    ),
    Mistake(
        "unknown card", ("run", "a.cu", "--arch", "mi300z"), 2, "mi300z", "did you mean `mi300"
    ),
    Mistake(
        "card too old", ("run", "a.cu", "--arch", "v100"), 2, "older than", "the oldest is sm_75"
    ),
    Mistake(
        "Nvidia's card",
        ("run", "a.cu", "--arch", "h100"),
        2,
        "made by Nvidia",
        "give a card or processor of AMD's: gfx1100",
    ),
    Mistake(
        "a card that is compiled for",
        ("project", ".", "--arch", "rx7600"),
        2,
        "gfx1102 (rx7600xt, rx7600, w7600, w7500) is compiled for, not run",
        "test as gfx1100",
    ),
    Mistake(
        "typo in an option", ("translate", "a.cu", "--enginee", "rules"), 2, "--enginee", "--engine"
    ),
    Mistake(
        "typo in a command", ("transalte", "a.cu"), 2, "transalte", "did you mean `translate`?"
    ),
    Mistake(
        "typo in an engine",
        ("translate", "a.cu", "--engine", "rulez"),
        2,
        "rulez",
        "did you mean rules",
    ),
    Mistake(
        "input = output",
        ("translate", "a.cu", "-o", "a.cu"),
        2,
        "the input itself",
        "give another output",
    ),
    Mistake(
        "a person's file",
        ("translate", "a.cu", "-o", "mine.hip"),
        2,
        "mine.hip is there",
        "--overwrite",
    ),
    Mistake(
        "output below a file",
        ("translate", "a.cu", "-o", "mine.hip/b.hip"),
        1,
        "mine.hip",
        "choose",
    ),
    Mistake(
        "no network",
        ("translate", "a.cu", "-o", "n.hip", "--server", "http://127.0.0.1:9"),
        1,
        "127.0.0.1:9",
        "cass serve",
    ),
    Mistake(
        "source without its kind",
        ("build-dataset", "--source", "folder", "--out", "o"),
        2,
        "'folder'",
        "local:folder",
    ),
    Mistake(
        "unknown setting",
        ("build-dataset", "--source", "shipped", "--out", "o", "--set", "sourcess=1"),
        2,
        "sourcess",
        "did you mean `sources`?",
    ),
    Mistake(
        "a setting without a value",
        ("serve", "--set", "port"),
        2,
        "--set port",
        "expected KEY=VALUE",
    ),
    Mistake(
        "a value in place of settings",
        ("synthesize", "--model", "m", "--out", "o", "--set", "chat=3"),
        2,
        "`chat`",
        "should be a valid dictionary",
    ),
    Mistake(
        "nothing to compare with",
        ("bench", "run", "--system", "rules", "--out", "o", "--compare", "earlier"),
        2,
        "earlier",
        "No such file",
    ),
    Mistake(
        "a folder that cannot be made",
        ("synthesize", "--model", "m", "--endpoint", "http://127.0.0.1:9", "--out", "/proc/x"),
        2,
        "/proc/x cannot be used",
        "give another path",
    ),
    Mistake(
        "a state that no instruction has",
        ("emulator", "coverage", "--state", "foo"),
        2,
        "foo",
        "unsupported",
    ),
    Mistake("no data set", ("inspect", "folder"), 2, "folder", "data set"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mistakes")
    (root / "folder").mkdir()
    (root / "a.cu").write_text(PROGRAM)
    (root / "foo.cu").write_text("int main() { cudaFooBar(1); return 0; }\n")
    (root / "wrong.cu").write_text("int main() {\n  cudaFree(0)\n  return 0;\n}\n")
    (root / "binary.cu").write_bytes(b"\x7fELF\0\0\1")
    (root / "empty.cu").write_text("")
    (root / "notes.md").write_text("# Notes\n")
    (root / "mine.hip").write_text("// by hand\n")
    return root


def cass(folder: Path, *typed: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cass_ray.cli", *typed],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **more,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_a_mistake_ends_in_what_and_what_to_do(folder: Path, mistake: Mistake) -> None:
    done = cass(folder, *mistake.typed)
    said = done.stdout + done.stderr
    assert done.returncode == mistake.status, said
    assert "Traceback" not in said
    assert mistake.what in said
    assert mistake.advice in said
    assert len(done.stderr.splitlines()) <= 8
    assert (folder / "mine.hip").read_text() == "// by hand\n"
    assert (folder / "a.cu").read_text() == PROGRAM


def test_a_file_size_limit_is_one_line(folder: Path) -> None:
    def little() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    done = cass(folder, "translate", "a.cu", "-o", "cut.hip", preexec_fn=little)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert "choose another disk" in done.stderr
    assert not (folder / "cut.hip").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_130_and_says_so(folder: Path, number: signal.Signals) -> None:
    code = (
        "import os, signal\n"
        "from cass_ray import cli\n"
        "from cass_ray.commands import translate_source\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"translate_source.make_translator = lambda name: os.kill(os.getpid(), {int(number)})\n"
        "import sys; sys.argv = ['cass', 'translate', 'a.cu', '-o', 'never.hip']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "never.hip").exists()


def test_a_missing_extra_is_named(folder: Path) -> None:
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('mcp', 'mcp_types'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from cass_ray import cli; sys.argv = ['cass', 'mcp', '--root', '.']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "pip install" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_that_cannot_be_written(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    done = cass(folder, "translate", "a.cu", "-o", "closed/a.hip")
    assert done.returncode in (1, 2)
    assert "closed" in done.stderr
    assert "choose" in done.stderr
