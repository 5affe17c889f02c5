"""Which programs of a data set are questions: those that a model has the room to answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cass_ray.llm.line_edits import MARKS, edits_of, regions
from cass_ray.llm.snippets import collapse
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.train.data.examples import is_held_out
from cass_ray.train.rl.rollouts import EditQuestion

_CHARACTERS = 8
"""A token has at most so many: longer programs are not encoded to be counted."""


def question_of(
    name: str, cuda: str, hip: str, form: TranslationFormat, longest: int, longest_answer: int
) -> EditQuestion | None:
    """The question of a pair; None where it has no kernel, needs no edit or is too long.

    Args:
        name: its id.
        cuda: the program.
        hip: its translation.
        form: the format of the model that is asked.
        longest: tokens of a question, at most.
        longest_answer: tokens of the edits that make ``hip`` of ``cuda``, at most.
    """
    old, new = (text.replace("\r\n", "\n").split("\n") for text in (cuda, hip))
    if "__global__" not in cuda or old == new or not 1 < len(old) <= MARKS:
        return None
    if len(cuda) > _CHARACTERS * longest or len(form.edit_question(old)) > longest:
        return None
    short = collapse("\n".join(new), form.snippets).split("\n")
    tokens = len(form.edit_answer(edits_of(old, short, regions(old, short))))
    if tokens > longest_answer:
        return None
    return EditQuestion(name, "\n".join(old), "\n".join(new), answer_tokens=tokens)


def questions_of(
    rows: Iterable[Mapping[str, Any]],
    form: TranslationFormat,
    longest: int,
    longest_answer: int,
    held_out: float,
) -> Iterator[EditQuestion]:
    """Questions of a data set's pairs, but those that evaluation keeps."""
    for row in rows:
        if not is_held_out(row["id"], held_out):
            cuda, hip = row["cuda_source"], row["hip_source"]
            question = question_of(row["id"], cuda, hip, form, longest, longest_answer)
            if question is not None:
                yield question
