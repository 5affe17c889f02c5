"""An answer to a question in other words, in the words of the question itself.

A question that is asked under invented names has, for the judge, the same answers as the question
itself: names are exchanged one for one, on both sides. In its first words an answer is judged
beside a translation that has been compiled already, and known where an equal one was judged before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cass_ray.train.data.augment import renamed
from cass_ray.train.rl.rollouts import Question

_WORDS = re.compile(r"\w+")
_READ_BY_NAME = re.compile(r"(?:__)?(?:hip|HIP|roc|thrust|cuda|CUDA)\w*")
"""Names that the judge takes for the runtime's, whoever declares them."""


def in_first_words(question: Question, code: str) -> tuple[str, str]:
    """The CUDA program and ``code`` that answers it, both in the words of the question that
    ``question`` asks in others, where that loses nothing; else as they are.

    It loses something where the answer has a word of the first question that its own does not
    have, or an invented one where no program's word is exchanged (behind a dot, say).
    """
    back, forth = question.names, {name: fresh for fresh, name in question.names.items()}
    if not back or any(_READ_BY_NAME.fullmatch(word) for word in (*back, *forth)):
        return question.cuda, code
    first = [_exchanged(text, back, forth) for text in ("\n".join(question.lines), code)]
    if first[0] is None or first[1] is None:
        return question.cuda, code
    return first[0], first[1]


def _exchanged(text: str, back: Mapping[str, str], forth: Mapping[str, str]) -> str | None:
    """``text`` with the words of ``back``; None where ``forth`` would not make it again."""
    lines = text.split("\n")
    made = renamed(lines, back)
    if renamed(made, forth) != lines or not back.keys().isdisjoint(_WORDS.findall("\n".join(made))):
        return None
    return "\n".join(made)
