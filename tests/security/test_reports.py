"""Words of strangers in reports: data set cards, tables, messages on a terminal."""

from __future__ import annotations

import pytest
import yaml

from cass_ray.dataset.card import CardFacts, card
from cass_ray.printable import printable, printable_text

WORDS = {
    "a fence of front matter": "x\n---\nlicense: evil\n---\n",
    "a row of a table": "a | b |\n| c | d | 9",
    "the end of code": "a`b` **bold**",
    "a heading": "x\n# Trust me\n",
    "a page's script": "<script>alert(1)</script>",
    "a link": "[here](https://evil.example)",
    "an image": "![x](https://evil.example/x.png)",
}


@pytest.mark.parametrize("attack", WORDS)
def test_a_card(attack: str) -> None:
    """Sources are named as they were given; each stays the code that it is."""
    word = WORDS[attack]
    facts = CardFacts(
        sources=[f"local:{word}"],
        nvidia_architectures=["sm_80"],
        amd_architectures=["gfx1100"],
        optimization="-Os",
        translator=word,
        rows=1,
        pairs=1,
        kernels=1,
        duplicates=0,
        rejects={("read", "unsafe_path"): 1},
    )
    text = card(facts)
    _, front, body = text.split("---\n", 2)
    assert set(yaml.safe_load(front)) == {"configs", "tags", "size_categories"}
    outside = "".join(body.split("`")[::2])
    for part in ("<script>", "](https", "\n# Trust", "**bold**", "\nlicense: evil"):
        assert part not in outside
    rows = [line for line in body.splitlines() if line.startswith("| read |")]
    assert len(rows) == 1


SEQUENCES = {
    "a title of the window": "\x1b]0;evil\x07",
    "cleared lines": "\x1b[2J\x1b[1;1H",
    "a link of the terminal": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "an answer of the terminal": "\x1b[6n\x05",
    "eight-bit controls": "\x9b2J\x90",
    "a line written over": "secret\rhidden",
    "letters taken back": "rm\b\bok",
    "text that runs backwards": "\u202egnp.exe",
    "nothing to see": "a\u200bb\u2060c\ufeff",
    "half a pair": "\ud800",
    "bytes that are no text": "\udcff",
    "tags of the page": "\U000e0041",
}


@pytest.mark.parametrize("attack", SEQUENCES)
def test_a_terminal(attack: str) -> None:
    for shown in (printable(SEQUENCES[attack]), printable_text(f"a\n\t{SEQUENCES[attack]}\nb")):
        assert all(each.isprintable() or each in "\n\t" for each in shown)
        assert shown.encode()


def test_honest_text_stays() -> None:
    text = "größe.cu:1:2: Fehler: „x“ fehlt\n\t→ 你好\n"
    assert printable_text(text) == text
