"""Room for an answer beside its question, in the tokens that a model takes of both together."""

from __future__ import annotations

from cass_ray.translate.protocol import TranslatorError

LEAST_ROOM = 16
"""Tokens below which no answer is begun."""


def answer_room(
    question: int, positions: int, wanted: int, remedy: str, least: int = LEAST_ROOM
) -> int:
    """Tokens of an answer, at most.

    Args:
        question: its tokens.
        positions: tokens that the model takes of question and answer.
        wanted: the answer's where there is room for them.
        remedy: what extends the model, for the message.
        least: an answer of fewer tokens could only be cut off.

    Raises:
        TranslatorError: there is less room than ``least``.
    """
    room = positions - question
    if room < least:
        answer = f" and its answer at least {least}" if least > LEAST_ROOM else ""
        raise TranslatorError(
            f"the question has {question} tokens{answer}, the model takes {positions} in all: "
            f"extend it with {remedy}, or split the file"
        )
    return min(wanted, room)
