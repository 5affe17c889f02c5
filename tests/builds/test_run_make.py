"""Included makefiles that are missing: real make, on makefiles of our own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.builds.plans import plans

SCRIPT = Path(__file__).parents[2] / "cass_ray/builds/python/run_make.py"
SHOW = "\nall:\n\t@echo flags: $(FLAGS)\n"


def made(tree: Path, files: dict[str, str]) -> str:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    command = [sys.executable, str(SCRIPT), "-k", "-i", "USED=1"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    return done.stdout.rpartition("flags:")[2].strip()


@pytest.mark.parametrize(
    ("files", "flags"),
    [
        # A file for each machine: one that speaks of CUDA, and of no other vendor.
        ({"Makefile": f"HOST=$(shell echo here)\ninclude builds/host.$(HOST){SHOW}",
          "builds/host.amd-box": "FLAGS=-DHIP # not CUDA", "builds/host.summit": "FLAGS=-DCUDA",
          "builds/host.laptop": "FLAGS=-DNONE"}, "-DCUDA"),
        ({"Makefile": f"include make.inc{SHOW}", "make.inc.mac": "FLAGS=-DA",
          "make.inc.linux": "FLAGS=-DB"}, "-DB"),
        # The file that is included includes another one.
        ({"Makefile": f"include make.inc{SHOW}", "make.inc.linux": "include more\nFLAGS=$(MORE)",
          "more.template": "MORE=-DC"}, "-DC"),
        ({"Makefile": f"include nowhere/there.mk{SHOW}FLAGS=-DD$(USED)\n"}, "-DD1"),
        # What a rule makes, what is there, and what need not be there stay as they are.
        ({"Makefile": f"include made.mk{SHOW}made.mk:\n\techo FLAGS=-DE > made.mk\n",
          "made.mk.linux": "FLAGS=-DNONE"}, "-DE"),
        ({"Makefile": f"-include mine.mk{SHOW}", "mine.mk.linux": "FLAGS=-DNONE"}, ""),
        ({"Makefile": f"include a.mk{SHOW}", "a.mk": "FLAGS=-DF", "a.mk.cuda": "FLAGS=-DNONE"},
         "-DF"),
    ],
)  # fmt: skip
def test_an_included_makefile_that_is_missing(
    tmp_path: Path, files: dict[str, str], flags: str
) -> None:
    assert made(tmp_path, files) == flags


@pytest.mark.parametrize(("text", "alone"), [("include make.inc\n", False), ("all:\n", True)])
def test_makefiles_that_include_nothing_run_alone(tmp_path: Path, text: str, alone: bool) -> None:
    (tmp_path / "Makefile").write_text(text)
    (tmp_path / "a.cu").write_text("")
    (plan,) = plans(tmp_path)
    assert plan.commands[-1].startswith("make ") == alone
