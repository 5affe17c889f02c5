"""A command that takes long says so on a terminal; elsewhere once, where it is told to."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

from cass_ray.commands.waiting import waiting

SHOW_CURSOR = "\x1b[?25h"


class Screen(io.StringIO):
    """Text, and who waits for a part of it is told."""

    def __init__(self, expected: str) -> None:
        super().__init__()
        self._expected = expected
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._expected in self.getvalue():
            self.seen.set()
        return written


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich shows no lines that change on a terminal that calls itself dumb."""
    monkeypatch.setenv("TERM", "xterm")


def terminal(screen: Screen) -> Console:
    return Console(file=screen, force_terminal=True, width=80)


def test_the_line_appears_says_what_is_new_and_goes() -> None:
    screen = Screen("2 of 3 [programs]")
    with waiting("writing", console=terminal(screen), silent_seconds=0) as say:
        say("2 of 3 [programs]\x1b[2J")
        assert screen.seen.wait(30)
    assert "\x1b[2J" not in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")  # the line is erased
    assert SHOW_CURSOR in screen.getvalue()


def test_a_short_command_shows_nothing() -> None:
    screen = Screen("compiling")
    with waiting("compiling", console=terminal(screen), silent_seconds=3600):
        pass
    assert "compiling" not in screen.getvalue()


def test_an_interrupt_leaves_the_terminal_as_it_was() -> None:
    screen = Screen("compiling")
    with (
        pytest.raises(KeyboardInterrupt),
        waiting("compiling", console=terminal(screen), silent_seconds=0),
    ):
        assert screen.seen.wait(30)
        raise KeyboardInterrupt
    assert SHOW_CURSOR in screen.getvalue()


def test_what_is_no_terminal_gets_nothing() -> None:
    file = io.StringIO()
    with waiting("compiling", console=Console(file=file), silent_seconds=0) as say:
        say("more")
    assert file.getvalue() == ""


def test_what_is_no_terminal_gets_one_line_where_it_takes_long() -> None:
    screen = Screen("\n")
    with waiting("comparing\x1b[2J", console=Console(file=screen), slow_seconds=0) as say:
        say("more")
        assert screen.seen.wait(30)
    said = screen.getvalue()
    assert said.startswith("cass: comparing") and said.count("\n") == 1
    assert "first use builds" in said and "\x1b" not in said


def test_a_short_comparison_says_nothing() -> None:
    file = io.StringIO()
    with waiting("comparing", console=Console(file=file), slow_seconds=3600):
        pass
    assert file.getvalue() == ""
