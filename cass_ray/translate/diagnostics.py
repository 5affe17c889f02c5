"""Every kind of finding has a number that stays: ``CASS1001`` and so on.

The table of them is ``diagnostics.toml``; ``docs/diagnostics.md`` is made of it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from cass_ray.nearest import did_you_mean
from cass_ray.translate.protocol import Finding


@dataclass(frozen=True)
class Diagnostic:
    """A kind of finding: what it says, why it is said, and how it is settled.

    ``pattern`` is searched for in a finding's message.
    """

    code: str
    title: str
    why: str
    how: str
    pattern: str = ""

    @property
    def page(self) -> str:
        """Where the documentation describes it."""
        return f"docs/diagnostics.md#{self.code.lower()}"

    @property
    def words(self) -> frozenset[str]:
        """All words of its texts, in lower case."""
        return frozenset(re.findall(r"\w+", f"{self.title} {self.why} {self.how}".lower()))

    def is_about(self, word: str) -> bool:
        """Whether its texts have ``word``, or its title one that begins with it."""
        if {word, f"{word}s", word.removesuffix("s")} & self.words:
            return True
        return len(word) > 2 and any(
            each.startswith(word) for each in re.findall(r"\w+", self.title.lower())
        )


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OTHER, *_OTHERS = (Diagnostic(**entry) for entry in _TABLE["diagnostic"])
DIAGNOSTICS = tuple(_OTHERS)
_PATTERNS = tuple((re.compile(item.pattern), item) for item in DIAGNOSTICS if item.pattern)


def diagnostic_of(finding: Finding) -> Diagnostic:
    """The kind of ``finding``; :data:`OTHER` for a name that is not translated."""
    return next((item for pattern, item in _PATTERNS if pattern.search(finding.message)), OTHER)


def diagnostic_numbered(code: str) -> Diagnostic:
    """The kind with the number ``code``, as CASS1005; else ``ValueError`` with the nearest."""
    every = {item.code: item for item in (OTHER, *DIAGNOSTICS)}
    wanted = code.strip().upper()
    if wanted not in every:
        raise ValueError(f"no finding has the number {code}: {did_you_mean(wanted, every)}")
    return every[wanted]


def diagnostics_about(asked: str) -> list[Diagnostic]:
    """The kind with the number ``asked``, else those whose text has its words.

    A word stands for its plural and singular too, and in titles for what begins with it.

    Raises ``ValueError`` where there is none; the message says what is like it.
    """
    if re.fullmatch(r"(?i)cass\d*", asked.strip()):
        return [diagnostic_numbered(asked)]
    every = (OTHER, *DIAGNOSTICS)
    words = re.findall(r"\w+", asked.lower())
    matching = [item for item in every if words and all(map(item.is_about, words))]
    if not matching:
        raise ValueError(f"no finding is about {asked!r}: give a number or a word of its message")
    return matching


def documentation() -> str:
    """The text of ``docs/diagnostics.md``."""
    lines = [
        "# Diagnostics",
        "",
        "What `cass translate`, `cass project` and the check of changes (`docs/ci.md`) report has",
        "a number. Numbers stay: 1xxx are of sources (from 1018 on: defects of the program",
        "itself), 2xxx of the build, 3xxx of the tests. The page is made of",
        "`cass_ray/translate/diagnostics.toml`.",
    ]
    for item in (OTHER, *DIAGNOSTICS):
        lines += ["", f"## {item.code}", "", f"**{item.title}.** {item.why}", "", item.how]
    return "\n".join(lines) + "\n"
