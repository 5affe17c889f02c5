"""README, documentation, help and messages keep the rules of docs/style.md that can be checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cass_ray import cli
from tests.folders import REPOSITORY

STYLE = REPOSITORY / "docs/style.md"
PAGES = [
    REPOSITORY / "README.md",
    *sorted(path for path in (REPOSITORY / "docs").rglob("*.md") if path != STYLE),
]
MAXIMUM_WORDS = 40
LISTS = {"docs/port.md": 3}
"""Sentences that list what is covered, by page: they may be longer, and may not become more."""

_CODE = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(r"^(?: {4}|\t|\||#|!).*$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)")
_END = re.compile(r"(?<=[.!?:;])\s+")


def sentences(text: str) -> Iterator[str]:
    """What of Markdown is read as sentences."""
    prose = _NO_PROSE.sub("\n", _CODE.sub("\n\n", text))
    for paragraph in _PARAGRAPH.split(prose):
        yield from filter(None, _END.split(" ".join(paragraph.split())))


def forbidden() -> list[str]:
    """The words and phrases that docs/style.md lists."""
    _, words = STYLE.read_text().split("## Words that are forbidden")
    return re.findall(r"`([^`]+)`", words)


def worst() -> list[str]:
    """The sentences of the table's column "before" that are quoted whole."""
    rows = re.findall(r"^\| \d+ \|[^|]*\| \"([^|]+)\" \|", STYLE.read_text(), re.MULTILINE)
    return [row.rstrip(" …") for row in rows if len(row.split()) >= 5]


def helps() -> dict[str, str]:
    """Each command's help and its options', by its path."""
    found: dict[str, str] = {}

    def enter(command: Any, path: str) -> None:
        texts = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
        found[path] = "\n\n".join(texts)
        for name, each in (getattr(command, "commands", None) or {}).items():
            enter(each, f"{path} {name}")

    for name, entry in cli._registered().items():
        enter(typer.main.get_command(entry.load()), name)
    return found


HELPS = helps()


def test_sentences_are_cut_as_a_person_reads_them() -> None:
    text = "# Title\n\nOne. Two: three.\n\n    code here\n\n- item\n- other\n\n| a | b |\n"
    assert list(sentences(text)) == ["One.", "Two:", "three.", "- item", "- other"]


def test_twenty_rules_with_before_and_after() -> None:
    assert len(re.findall(r"^\| \d+ \|", STYLE.read_text(), re.MULTILINE)) == 20
    assert len(worst()) >= 12
    assert "simply" in forbidden()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_sentences_of_a_page(page: Path) -> None:
    text = page.read_text()
    long = [each for each in sentences(text) if len(each.split()) > MAXIMUM_WORDS]
    allowed = LISTS.get(page.relative_to(REPOSITORY).as_posix(), 0)
    assert len(long) <= allowed, "\n".join(long)


@pytest.mark.parametrize("name", list(HELPS))
def test_sentences_of_help(name: str) -> None:
    assert not [each for each in sentences(HELPS[name]) if len(each.split()) > MAXIMUM_WORDS]


def _shown() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        yield str(page), _CODE.sub("", page.read_text())
    yield from HELPS.items()
    for folder in ("serve/ui/static", "cass_ray/commands"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in {".js", ".html", ".py"}:
                yield str(path), path.read_text()


def test_words_that_are_forbidden() -> None:
    words = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in forbidden()), re.IGNORECASE)
    said = {place: words.findall(text) for place, text in _shown()}
    assert {place: each for place, each in said.items() if each} == {}


def test_the_worst_sentences_are_gone() -> None:
    shown = [(place, " ".join(text.split())) for place, text in _shown()]
    still = [(place, each) for each in worst() for place, text in shown if each in text]
    assert still == []
