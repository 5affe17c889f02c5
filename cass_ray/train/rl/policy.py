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
class SharedRows:
    """How rows are read that hold a question once and several answers behind it."""

    positions: torch.Tensor
    """(rows, longest): of each token in its question with its own answer alone."""
    segments: torch.Tensor
    """(rows, longest): 0 for the question, the number of the answer from 1, -1 for padding."""

    def mask(self, dtype: torch.dtype) -> torch.Tensor:
        """(rows, 1, longest, longest): 0 for what each token attends to, its question's tokens and
        its own answer's up to itself; -inf for the others. Attention adds it to its scores."""
        asking, asked = self.segments[:, :, None], self.segments[:, None, :]
        longest = self.segments.shape[1]
        earlier = torch.ones(longest, longest, dtype=torch.bool, device=self.segments.device).tril()
        seen = earlier & ((asked == 0) | (asked == asking))
        apart = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        return apart.masked_fill_(~seen, float("-inf"))[:, None]


@dataclass(frozen=True)
class AnswerBatch:
    """Questions with their answers, padded on the right; the tensors are on the model's device."""

    ids: torch.Tensor
    """(rows, longest): question and answer; with ``shared`` answers of a question one behind the
    other."""
    rows: torch.Tensor
    """(tokens,): the row of each answer token, ascending."""
    places: torch.Tensor
    """(tokens,): where in its row the token before it is."""
    tokens: torch.Tensor
    """(tokens,): the answer tokens themselves."""
    answers: torch.Tensor
    """(tokens,): the number of the answer that each is of, ascending."""
    shared: SharedRows | None = None
    """Where rows hold more than one answer."""

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
        pairs = [
            (row, len(question) - 1 + number)
            for row, (question, answer) in enumerate(zip(questions, answers, strict=True))
            for number in range(len(answer))
        ]
        where = torch.tensor(pairs, dtype=torch.long).view(-1, 2)
        tokens = ids[where[:, 0], where[:, 1] + 1]
        rows, places = where[:, 0].to(device), where[:, 1].to(device)
        return cls(ids.to(device), rows, places, tokens.to(device), rows)

    @classmethod
    def sharing(
        cls,
        questions: Sequence[Sequence[int]],
        answers: Sequence[Sequence[Sequence[int]]],
        device: torch.device | str,
    ) -> AnswerBatch:
        """A row of each of ``questions``, read once, with all of its ``answers`` behind it.

        The scores are those of :meth:`of` with each answer in a row of its own. The last token of
        an answer is not in its row: nothing is drawn after it.
        """
        ids: list[torch.Tensor] = []
        positions: list[torch.Tensor] = []
        segments: list[torch.Tensor] = []
        places: list[torch.Tensor] = []
        tokens: list[int] = []
        rows: list[int] = []
        for row, (question, own) in enumerate(zip(questions, answers, strict=True)):
            size, whole = len(question), list(question)
            there = [torch.arange(size)]
            for answer in filter(len, own):
                behind = len(answer) - 1
                places += [torch.tensor([size - 1]), torch.arange(behind) + len(whole)]
                there.append(torch.arange(behind) + size)
                whole += answer[:-1]
            for answer in own:
                tokens += answer
                rows.append(row)
            sizes = torch.tensor([size, *(max(len(answer) - 1, 0) for answer in own)])
            ids.append(torch.tensor(whole))
            positions.append(torch.cat(there))
            segments.append(torch.arange(len(own) + 1).repeat_interleave(sizes))
        lengths = torch.tensor([len(answer) for own in answers for answer in own])
        shared = SharedRows(_padded(positions, 0, device), _padded(segments, -1, device))
        return cls(
            _padded(ids, 0, device),
            rows=on_device(torch.tensor(rows).repeat_interleave(lengths), device),
            places=on_device(torch.cat(places), device),
            tokens=on_device(torch.tensor(tokens), device),
            answers=on_device(torch.arange(len(rows)).repeat_interleave(lengths), device),
            shared=shared,
        )


def on_device(tensor: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """``tensor`` on ``device``; a GPU is not waited for, which may be at something else."""
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


_ALIGNED = 16
"""Rows with a mask are as long as a multiple of this: attention's kernels would copy others."""


def _padded(rows: Sequence[torch.Tensor], filler: int, device: torch.device | str) -> torch.Tensor:
    longest = -(-max(map(len, rows)) // _ALIGNED) * _ALIGNED
    result = torch.full((len(rows), longest), filler)
    for place, row in zip(result, rows, strict=True):
        place[: len(row)] = row
    return on_device(result, device)


@dataclass(frozen=True)
class TokenScores:
    """Scores of each answer token of a batch."""

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
        edits: as the decoder was given them, with the lines of each answer's question.
    """
    how: dict[str, torch.Tensor] = {}
    if batch.shared is not None:
        mask = batch.shared.mask(model.get_output_embeddings().weight.dtype)
        how = {"position_ids": batch.shared.positions, "attention_mask": mask}
    hidden = model.get_decoder()(input_ids=batch.ids, use_cache=False, **how).last_hidden_state
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
    line_counts = torch.tensor([-1 if number is None else number for number in edits.lines])
    lines = on_device(line_counts, device)
    there = lines[batch.answers]
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
    numbers = batch.tokens - edits.first
    marked = (numbers >= 0) & (numbers < edits.marks)
    places = torch.arange(len(numbers), device=numbers.device)
    # Of each token and those before it, the last mark; then that of the token before.
    last = torch.where(marked, places, -1).cummax(0).values.roll(1)
    last[:1] = -1
    there = last.clamp(min=0)
    of_own = (last >= 0) & (batch.answers[there] == batch.answers)
    return torch.where(of_own, numbers[there], -1)
