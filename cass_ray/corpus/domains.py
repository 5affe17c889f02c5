"""The domain of a program, by keywords: the seven domains of the CASS paper."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from cass_ray.corpus.parsing.lexer import words_and_comments

FILENAME_WEIGHT = 5
"""Occurrences that a keyword in the name of the file stands for."""

_TABLE = Path(__file__).with_name("domains.yaml")


class Domain(StrEnum):
    """What a program is about."""

    GENERAL_COMPUTE = "general_compute"
    SIMULATION = "simulation"
    DATA_STRUCTURE = "data_structure"
    MACHINE_LEARNING = "machine_learning"
    GRAPHICS = "graphics"
    CRYPTOGRAPHY = "cryptography"
    SCIENTIFIC_COMPUTING = "scientific_computing"


def classify(source: str, filename: str = "") -> Domain:
    """The domain with the most keyword occurrences; ``GENERAL_COMPUTE`` when there are none.

    Counted are the words of identifiers and comments, and ``FILENAME_WEIGHT`` times those of
    ``filename``; string literals, include names and calls of the CUDA runtime do not count. Of
    domains with equal counts the first in the enumeration wins.
    """
    counts = keyword_counts(source, filename)
    best = max(Domain, key=lambda domain: counts[domain])
    return best if counts[best] else Domain.GENERAL_COMPUTE


def keyword_counts(source: str, filename: str = "") -> Counter[Domain]:
    """Number of keyword occurrences by domain."""
    counts: Counter[Domain] = Counter()
    for domain in _domains_of(filename):
        counts[domain] += FILENAME_WEIGHT
    for text, occurrences in Counter(words_and_comments(source)).items():
        for domain in () if text.startswith("cuda") else _domains_of(text):
            counts[domain] += occurrences
    return counts


@lru_cache(maxsize=50_000)
def _domains_of(text: str) -> tuple[Domain, ...]:
    """The domain of each keyword occurrence in ``text``; identifiers recur across programs."""
    words, phrases = _keywords()
    domains: list[Domain] = []
    found = split_words(text)
    for position, word in enumerate(found):
        domains.extend(words.get(word, ()))
        for phrase, domain in phrases.get(word, ()):
            if tuple(found[position : position + len(phrase)]) == phrase:
                domains.append(domain)
    return tuple(domains)


_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*")


def split_words(text: str) -> list[str]:
    """The words in ``text``, lower case: ``rayTrace_RGB`` gives ``ray``, ``trace``, ``rgb``."""
    return [word.lower() for word in _WORD.findall(text)]


_Phrases = dict[str, list[tuple[tuple[str, ...], Domain]]]


@cache
def _keywords() -> tuple[dict[str, list[Domain]], _Phrases]:
    """Single keywords -> domains, and phrases by their first word."""
    raw = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    table = TypeAdapter(dict[Domain, list[str]]).validate_python(raw)
    words: dict[str, list[Domain]] = {}
    phrases: _Phrases = {}
    for domain, keywords in table.items():
        for keyword in keywords:
            parts = tuple(keyword.split())
            if len(parts) == 1:
                words.setdefault(keyword, []).append(domain)
            else:
                phrases.setdefault(parts[0], []).append((parts, domain))
    return words, phrases
