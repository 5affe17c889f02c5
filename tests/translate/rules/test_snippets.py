"""Snippets stand in one unit in any order: in headers of a library and of a project."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from cass_ray.translate.rules import RulesTranslator, tables

SNIPPETS = sorted(tables.SNIPPETS.glob("*.hpp"))


def _guard(text: str) -> str:
    found = re.search(r"^#ifndef (CASS_\w+)\n#define \1$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_guard_is_the_macro_of_one_snippet_alone() -> None:
    """A macro of that name in another one would take the whole snippet away."""
    texts = [path.read_text(encoding="utf-8") for path in SNIPPETS]
    defined = Counter(
        name for text in texts for name in set(re.findall(r"#[ \t]*define (CASS_\w+)", text))
    )
    assert {name: defined[name] for name in map(_guard, texts) if defined[name] != 1} == {}


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_macro_that_two_snippets_have_is_gone_behind_each(path: object) -> None:
    texts = {each: each.read_text(encoding="utf-8") for each in SNIPPETS}
    defined = Counter(
        name
        for text in texts.values()
        for name in set(re.findall(r"#[ \t]*define (CASS_\w+)\(", text))
    )
    text = next(text for each, text in texts.items() if each == path)
    shared = [name for name in re.findall(r"#[ \t]*define (CASS_\w+)\(", text) if defined[name] > 1]
    assert all(f"#undef {name}" in text for name in shared)


def test_a_snippet_includes_hipblas_as_a_translated_file_does() -> None:
    """A snippet may be the first to include it: then it decides what hipBLAS declares."""
    include = "#include <hipblas/hipblas.h>\n"
    file = RulesTranslator().translate("#include <cublas_v2.h>\n", filename="a.cu").source
    defined = [line for line in file.splitlines() if line.startswith("#define")]
    texts = [path.read_text(encoding="utf-8") for path in SNIPPETS]
    before = [text.split(include)[0].splitlines() for text in texts if include in text]
    assert defined
    assert before
    assert all(set(defined) <= set(lines) for lines in before)


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_has_nothing_that_a_template_of_jinja_would_fill_in(path: Path) -> None:
    assert not re.findall(r"\{[{%#].*", path.read_text(encoding="utf-8"))
