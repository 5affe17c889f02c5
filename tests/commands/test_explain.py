"""``cass explain``: numbers and words that reports print lead to what to do."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cass_ray.commands.explain import app
from cass_ray.translate.diagnostics import DIAGNOSTICS, OTHER, diagnostics_about

RUN = CliRunner()


@pytest.mark.parametrize("asked", ["CASS1005", "cass1005", " CASS1005 "])
def test_a_number_is_explained(asked: str) -> None:
    done = RUN.invoke(app, [asked])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("CASS1005: A width of 64 where warps have 32 lanes\n")
    assert "What to do: Use 32" in done.output


def test_words_find_what_is_about_them() -> None:
    done = RUN.invoke(app, ["inline", "PTX", "--json"])
    assert "CASS1001" in [item["code"] for item in json.loads(done.stdout)]
    assert RUN.invoke(app, ["CUTLASS"]).output.startswith("CASS1003: ")


@pytest.mark.parametrize("asked", ["warp", "warps", "Warp", "wid", "lane"])
def test_words_of_titles_are_known_by_their_beginnings(asked: str) -> None:
    done = RUN.invoke(app, [asked, "--json"])
    assert done.exit_code == 0, done.output
    assert "CASS1005" in [item["code"] for item in json.loads(done.stdout)]


def test_every_word_of_a_title_leads_to_it() -> None:
    for item in DIAGNOSTICS:
        assert item.code in [each.code for each in diagnostics_about(item.title)]


def test_all_are_listed() -> None:
    lines = RUN.invoke(app, []).output.splitlines()
    assert [line.split()[0] for line in lines] == [item.code for item in (OTHER, *DIAGNOSTICS)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("CASS1995", "did you mean `CASS1"), ("nothing at all of it", "no finding is about")],
)
def test_what_is_not_there_is_a_usage_error(asked: str, said: str) -> None:
    done = RUN.invoke(app, asked.split())
    assert done.exit_code == 2
    assert said in done.output
