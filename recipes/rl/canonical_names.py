"""An answer to a question in other words, in the words of the question itself.

A question that is asked under invented names has, for the judge, the same answers as the question
itself: names are exchanged one for one, on both sides. In its first words an answer is judged
beside a translation that has been compiled already, and known where an equal one was judged before.
Names are exchanged where answers are judged: the learner's interpreter has other things to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cass_ray.execute.rewards.verdicts import ItemJudge, RewardItem, RewardVerdict
from cass_ray.train.data.augment import renamed
from cass_ray.train.rl.rollouts import RenamedItem

_WORDS = re.compile(r"\w+")
_READ_BY_NAME = re.compile(r"(?:__)?(?:hip|HIP|roc|thrust|cuda|CUDA)\w*")
"""Names that the judge takes for the runtime's, whoever declares them."""


@dataclass
class CanonicalNamesJudge:
    """An :class:`~cass_ray.execute.rewards.verdicts.ItemJudge` that lets ``judge`` see answers in
    the words of the first question."""

    judge_of: ItemJudge

    def judge(self, item: RewardItem) -> RewardVerdict:
        """See :class:`~cass_ray.execute.rewards.verdicts.ItemJudge`."""
        if isinstance(item, RenamedItem) and item.names:
            question, answer = with_canonical_names(item.question, item.answer, item.names)
            item = item.model_copy(update={"question": question, "answer": answer, "names": {}})
        return self.judge_of.judge(item)


def with_canonical_names(cuda: str, answer: str, names: Mapping[str, str]) -> tuple[str, str]:
    """The CUDA program and what answers it, both in the words of the question that ``cuda`` asks
    in others, where that loses nothing; else as they are.

    It loses something where the answer has a word of the first question that its own does not
    have, or an invented one where no program's word is exchanged (behind a dot, say).
    """
    forth = {name: fresh for fresh, name in names.items()}
    if not names or any(_READ_BY_NAME.fullmatch(word) for word in (*names, *forth)):
        return cuda, answer
    first = [_exchanged(text, names, forth) for text in (cuda.replace("\r\n", "\n"), answer)]
    if first[0] is None or first[1] is None:
        return cuda, answer
    return first[0], first[1]


def _exchanged(text: str, back: Mapping[str, str], forth: Mapping[str, str]) -> str | None:
    """``text`` with the words of ``back``; None where ``forth`` would not make it again."""
    lines = text.split("\n")
    result = renamed(lines, back)
    if renamed(result, forth) != lines or not back.keys().isdisjoint(
        _WORDS.findall("\n".join(result))
    ):
        return None
    return "\n".join(result)
