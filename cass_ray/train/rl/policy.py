"""Log-probabilities of answers under a model, drawn as the batching decoder draws them.

The decoder divides logits by its temperature and makes marks impossible that an answer of numbered
edits cannot write (:class:`cass_ray.llm.batch_decode.EditMarks`). A policy that left either out
would be another one than what wrote the answers: ratios would not be 1 where nothing was learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cass_ray.llm.batch_decode import EditMarks


@dataclass(frozen=True)
class AnswerBatch:
    """Questions with their answers, padded on the right; the tensors are on the model's device."""

    ids: torch.Tensor
    """(rows, longest): question and answer."""
    rows: torch.Tensor
    """(tokens,): the row of each answer token, ascending."""
    places: torch.Tensor
    """(tokens,): where in its row the token before it is."""
    tokens: torch.Tensor
    """(tokens,): the answer tokens themselves."""

    @classmethod
    def of(
        cls,
        questions: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        device: torch.device | str,
    ) -> AnswerBatch:
        """Rows of ``questions`` followed by ``answers``, padded with token 0."""
        whole = [[*question, *answer] for question, answer in zip(questions, answers, strict=True)]
        longest = max(map(len, whole))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in whole])
        places = [
            (row, len(question) - 1 + number)
            for row, (question, answer) in enumerate(zip(questions, answers, strict=True))
            for number in range(len(answer))
        ]
        where = torch.tensor(places, dtype=torch.long).view(-1, 2)
        tokens = ids[where[:, 0], where[:, 1] + 1]
        return cls(*(each.to(device) for each in (ids, where[:, 0], where[:, 1], tokens)))


@dataclass(frozen=True)
class TokenScores:
    """Of each answer token of a batch."""

    log_probs: torch.Tensor
    """(tokens,), fp32, nats."""
    entropy: torch.Tensor
    """(tokens,), fp32, nats, without gradient: of the distribution the token was drawn from."""


def answer_scores(
    model: Any,
    batch: AnswerBatch,
    *,
    temperature: float,
    end: int,
    edits: EditMarks | None = None,
) -> TokenScores:
    """Log-probabilities of the answers of ``batch`` under ``model``.

    Args:
        model: a transformers model whose attention is causal.
        batch: questions and answers.
        temperature: what logits are divided by; above 0.
        end: the token that ends an answer.
        edits: as the decoder was given them, with the lines of each row.
    """
    hidden = model.get_decoder()(input_ids=batch.ids, use_cache=False).last_hidden_state
    chosen = hidden[batch.rows, batch.places]
    logits = model.get_output_embeddings()(chosen).float()
    if edits is not None:
        logits = logits.masked_fill(_impossible(batch, edits, end, logits.shape[1]), float("-inf"))
    chances = (logits / temperature).log_softmax(-1)
    log_probs = chances.gather(1, batch.tokens[:, None])[:, 0]
    with torch.no_grad():
        entropy = -torch.where(chances.isinf(), 0.0, chances.exp() * chances).sum(-1)
    return TokenScores(log_probs, entropy)


def _impossible(batch: AnswerBatch, edits: EditMarks, end: int, vocabulary: int) -> torch.Tensor:
    """Bool (tokens, vocabulary): what could not come there."""
    device = batch.ids.device
    lines = torch.tensor([-1 if number is None else number for number in edits.lines]).to(device)
    there = lines[batch.rows]
    before = _lines_before(batch, edits)
    numbers = torch.arange(vocabulary, device=device) - edits.first
    marked = (numbers >= 0) & (numbers < edits.marks)
    allowed = (numbers[None] > before[:, None]) & (numbers[None] < there[:, None])
    impossible = marked[None] & ~allowed
    opening = ~marked
    opening[end] = False
    begins = (before < 0) & (there >= 0)
    return impossible | (begins[:, None] & opening[None])


def _lines_before(batch: AnswerBatch, edits: EditMarks) -> torch.Tensor:
    """(tokens,): the line of the last mark before each answer token; -1 before the first."""
    made: list[int] = []
    last, row = -1, -1
    for each, token in zip(batch.rows.tolist(), batch.tokens.tolist(), strict=True):
        last = -1 if each != row else last
        row = each
        made.append(last)
        number = token - edits.first
        last = number if 0 <= number < edits.marks else last
    return torch.tensor(made, dtype=torch.long, device=batch.ids.device)
