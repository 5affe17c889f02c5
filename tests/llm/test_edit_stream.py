from itertools import pairwise

import pytest

from cass_ray.llm.edit_stream import EditStream
from cass_ray.llm.line_edits import edits_of, regions
from cass_ray.llm.snippets import collapse
from cass_ray.llm.translation_format import TranslationFormat, special_tokens
from cass_ray.train.data.tokenizer import train_tokenizer
from cass_ray.translate.rules.tables import snippets
from tests.format_model import PROGRAM, translated

LINES = PROGRAM.split("\n")


@pytest.fixture(scope="module")
def form() -> TranslationFormat:
    special = special_tokens(sorted(snippets()))
    return TranslationFormat(train_tokenizer([PROGRAM], 500, special=special), snippets())


@pytest.fixture(scope="module")
def answer(form: TranslationFormat) -> list[int]:
    new = collapse(translated(), snippets()).split("\n")
    return form.edit_answer(edits_of(LINES, new, regions(LINES, new)))


def test_the_pieces_are_the_translation(form, answer):
    stream = EditStream(form, LINES)

    pieces = [stream.feed([token]) for token in answer]
    shown = "".join(pieces)

    assert shown + stream.rest() == translated()
    assert len([piece for piece in pieces if piece]) >= 3
    for earlier, later in pairwise([0, *[len("".join(pieces[:n])) for n in range(len(pieces))]]):
        assert earlier <= later
    assert translated().startswith(shown)


def test_a_deleted_line_is_not_shown(form):
    stream = EditStream(form, ["a", "b", "c"])
    made = stream.feed(form.edit_answer({1: None})) + stream.rest()
    assert made == "a\nc"


def test_an_answer_that_goes_back_shows_nothing_more(form):
    stream = EditStream(form, LINES)
    shown = stream.feed([form.first_mark + 4, form.first_mark + 2])
    assert shown == ""
    assert stream.rest() == ""
