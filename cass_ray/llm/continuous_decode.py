"""Groups of answers from one batch that never ends: a row that has ended takes the next question.

A batch of :mod:`cass_ray.llm.batch_decode` runs until its longest answer has ended, most rows idle.
Here the caches and the captured step stay, and answers come as they end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from cass_ray.llm.batch_decode import BatchDecoder, DecodeState, EditMarks, Sampled

_LOOK = 16
"""Steps between looks at which rows have ended."""
_LOOKS_A_REPEAT = 8
"""Looks between searches for rows that repeat themselves."""


@dataclass(frozen=True)
class GroupAsked:
    """One question that is to be answered several times."""

    key: int
    """What the answers are handed back with."""
    question: Sequence[int]
    answers: int
    temperature: float
    """Above 0."""
    most: int
    """Tokens of an answer."""
    lines: int
    """Lines of the question; an answer is a list of edits of these."""


class ContinuousDecoder:
    """Decodes in ``rows`` rows with the weights that ``decoder`` has at each step.

    Weights may be exchanged between two calls of :meth:`advance`: an answer goes on with the new
    ones and with what the old ones have put into its cache, and the log-probability of each token
    is that with which it was drawn.
    """

    @torch.inference_mode()
    def __init__(
        self,
        decoder: BatchDecoder,
        rows: int,
        longest: int,
        most: int,
        *,
        end: int,
        first_mark: int,
        marks: int,
    ) -> None:
        """``longest``: tokens of a question and its answer; ``most``: of an answer."""
        self._decoder, self._longest = decoder, longest
        edits = EditMarks(first_mark, marks, [1] * rows)
        idle, warm = [[end]] * rows, [1.0] * rows
        self._state = DecodeState(
            decoder, idle, most, warm, end, edits, measured=True, longest=longest
        )
        self._state.done.fill_(True)
        self._step = self._state.captured(decoder)
        self._free = list(range(rows))
        self._rows: dict[int, int] = {}
        """The keys of the groups that rows in use answer to."""
        self._waiting: deque[GroupAsked] = deque()
        self._asked: dict[int, GroupAsked] = {}
        self._ended: dict[int, list[Sampled]] = {}
        self._looks = 0

    def ask(self, group: GroupAsked) -> None:
        """Answer ``group`` behind those that were asked before it.

        Raises ``ValueError`` where there is no room for it.
        """
        if len(group.question) + group.most > self._longest:
            raise ValueError(f"{len(group.question)} tokens and {group.most} find no room")
        if group.answers > len(self._state.rows) or group.most > self._state.steps:
            raise ValueError(f"{group.answers} answers of {group.most} tokens find no room")
        self._waiting.append(group)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked."""
        return not self._rows and not self._waiting

    @torch.inference_mode()
    def advance(self) -> list[tuple[int, list[Sampled]]]:
        """Some steps; the groups whose answers have all ended, by their keys."""
        while self._waiting and self._waiting[0].answers <= len(self._free):
            self._begin(self._waiting.popleft())
        if not self._rows:
            return []
        for _ in range(_LOOK):
            self._step()
        self._looks += 1
        if self._looks % _LOOKS_A_REPEAT == 0:
            self._state.cut_repeats()
        return self._take()

    def _begin(self, group: GroupAsked) -> None:
        state = self._state
        rows = [self._free.pop() for _ in range(group.answers)]
        self._rows |= dict.fromkeys(rows, group.key)
        self._asked[group.key], self._ended[group.key] = group, []
        self._decoder.read(state, group.question, rows)
        where = torch.tensor(rows, device=state.rows.device)
        state.token[where] = group.question[-1]
        state.place[where] = len(group.question) - 1
        state.number[where] = 0
        state.most[where] = group.most
        state.out[where] = -1
        state.line[where] = -1
        state.lines[where] = group.lines
        state.temperature[where] = group.temperature
        state.done[where] = False

    def _take(self) -> list[tuple[int, list[Sampled]]]:
        state = self._state
        assert state.log_probs is not None
        done = state.done.tolist()
        rows = [row for row in self._rows if done[row]]
        if not rows:
            return []
        where = torch.tensor(rows, device=state.rows.device)
        out, chances = state.out[where].tolist(), state.log_probs[where].tolist()
        result = []
        for row, written, own in zip(rows, out, chances, strict=True):
            key = self._rows.pop(row)
            self._free.append(row)
            tokens = [token for token in written if token >= 0]
            self._ended[key].append(Sampled(tokens, own[: len(tokens)]))
            if len(self._ended[key]) == self._asked[key].answers:
                del self._asked[key]
                result.append((key, self._ended.pop(key)))
        return result
