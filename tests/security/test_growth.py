"""No text of two or three tokens again and again makes the rules read it again and again."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.folders import REPOSITORY
from tests.security.growth import growing

BLANKS = re.compile(r"\s*\)?\s*=")
"""Where neither bracket nor sign follows, each way to share the blanks is tried."""


def grown(*options: str) -> str:
    command = [sys.executable, "-m", "tests.security.growth", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout


def test_pairs_and_triples_of_tokens() -> None:
    assert not grown()


@pytest.mark.slow
def test_all_pairs_of_tokens() -> None:
    assert not grown("--all")


def test_the_scan_sees_what_one_match_reads_again() -> None:
    assert [text for text, _ in growing([(" ",), ("x",)], BLANKS.match)] == [" "]
