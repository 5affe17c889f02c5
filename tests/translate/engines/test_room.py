"""Room for answers: what is asked for, what is left, and what is refused before it is begun."""

from __future__ import annotations

from typing import Any

import pytest

from cass_ray.translate.engines.edits import FormattedQuestion
from cass_ray.translate.engines.room import answer_room
from cass_ray.translate.protocol import TranslatorError

FORM: Any = None  # room is a matter of numbers alone


def test_what_is_wanted_where_it_fits_else_what_is_left() -> None:
    assert answer_room(100, 1000, 500, "more") == 500
    assert answer_room(700, 1000, 500, "more") == 300
    assert answer_room(984, 1000, 500, "more") == 16
    with pytest.raises(TranslatorError, match=r"985 tokens, the model takes 1000 in all.* more,"):
        answer_room(985, 1000, 500, "more")


def test_edits_of_a_long_program_may_be_few() -> None:
    question = FormattedQuestion(FORM, [0] * 900, ["int a;"])
    assert question.room(1000, None) == 100


def test_a_file_that_cannot_be_written_again_is_refused_with_its_tokens_and_the_limit() -> None:
    # Of 526 tokens at least 473 are written again: 999 in all; of 527 at least 474, which is 1001.
    assert FormattedQuestion(FORM, [0] * 526, None).room(1000, None) == 474
    with pytest.raises(TranslatorError) as refused:
        FormattedQuestion(FORM, [0] * 527, None).room(1000, None)
    assert "527 tokens and its answer at least 474" in str(refused.value)
    assert "takes 1000 in all" in str(refused.value)
