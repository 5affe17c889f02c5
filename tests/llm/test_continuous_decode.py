"""Rows that take the next question as they end: the answers are those of single batches."""

import pytest
import torch

from cass_ray.llm.batch_decode import BatchDecoder, EditMarks
from cass_ray.llm.continuous_decode import ContinuousDecoder, GroupAsked
from tests.llm.test_batch_decode import END, FIRST_MARK, MARKS, model  # noqa: F401

COLD = 1e-3
"""So near to 0 that the likeliest token is always drawn."""
LINES = 5


def continuous(model, rows):  # noqa: F811
    decoder = BatchDecoder(model)
    return ContinuousDecoder(decoder, rows, 100, 40, end=END, first_mark=FIRST_MARK, marks=MARKS)


def asked(key, size, answers=2, most=40, temperature=COLD):
    torch.manual_seed(size)
    question = torch.randint(3, 300, (size,)).tolist()
    return GroupAsked(key, question, answers, temperature, most, LINES)


def drawn(decoder, groups):
    for group in groups:
        decoder.ask(group)
    found = {}
    while not decoder.is_idle:
        found |= dict(decoder.advance())
    return found


def test_answers_in_rows_that_were_used_before_are_those_of_a_batch(model):  # noqa: F811
    groups = [asked(key, 4 + key, most=40 - 5 * key) for key in range(7)]
    found = drawn(continuous(model, 4), groups)
    assert sorted(found) == list(range(7))
    for group in groups:
        edits = EditMarks(FIRST_MARK, MARKS, [LINES])
        [alone] = BatchDecoder(model)([group.question], group.most, [0.0], END, edits=edits)
        assert len(alone) > 1
        assert [sampled.tokens for sampled in found[group.key]] == [alone] * 2


def test_short_answers_come_before_a_long_one_has_ended(model):  # noqa: F811
    decoder = continuous(model, 4)
    longest = next(
        group
        for size in range(4, 60)
        for group in [asked(0, size)]
        if len(drawn(continuous(model, 4), [group])[0][0].tokens) > 32
    )
    decoder.ask(longest)
    for key in (1, 2):
        decoder.ask(asked(key, 8, most=2))
    order = []
    while not decoder.is_idle:
        order += [key for key, _ in decoder.advance()]
    assert order[-1] == 0


def test_each_token_has_the_chance_it_was_drawn_with(model):  # noqa: F811
    group = asked(0, 9, temperature=1.0, most=12)
    [first, second] = drawn(continuous(model, 2), [group])[0]
    assert first.tokens != second.tokens
    for sampled in (first, second):
        ids = torch.tensor([[*group.question, *sampled.tokens]])
        with torch.no_grad():
            logits = model(ids).logits[0, len(group.question) - 1 : -1]
        last = -1
        for token, chance, row in zip(sampled.tokens, sampled.log_probs, logits, strict=True):
            possible = torch.ones(len(row), dtype=torch.bool)
            possible[FIRST_MARK : FIRST_MARK + MARKS] = False
            possible[FIRST_MARK + last + 1 : FIRST_MARK + LINES] = True
            if last < 0:
                possible[:FIRST_MARK] = False
                possible[FIRST_MARK + MARKS :] = False
                possible[END] = True
            right = row.masked_fill(~possible, float("-inf")).log_softmax(-1)[token]
            assert chance == pytest.approx(float(right), abs=1e-3)
            if 0 <= token - FIRST_MARK < MARKS:
                last = token - FIRST_MARK


def test_what_has_no_room_is_refused(model):  # noqa: F811
    decoder = continuous(model, 2)
    for group in (asked(0, 61), asked(0, 8, answers=3), asked(0, 8, most=41)):
        with pytest.raises(ValueError, match="no room"):
            decoder.ask(group)
    assert decoder.is_idle
