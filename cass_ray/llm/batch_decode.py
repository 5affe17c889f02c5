"""Answers to many questions at once from a Qwen2 or Qwen3 on one GPU: static caches, a CUDA graph.

Questions of different lengths are not padded: each row of the batch has its own position, and its
cache is filled from the front. A step of decoding is captured once and replayed. On a CPU the same
steps run one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

FAMILIES = ("qwen2", "qwen3")
"""What `model_type` may say in a model's configuration."""
_CHECK = 32
"""Steps between looks at which rows have ended."""
_PERIOD, _REPEATED = 160, 480
"""A row that has written the same tokens, at most ``_PERIOD`` of them, over and over for
``_REPEATED`` tokens is cut: no such answer was ever right, and none ended by itself."""


def _norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    return F.rms_norm(x.float(), (x.shape[-1],), weight.float(), epsilon).to(x.dtype)


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


@dataclass
class _Layer:
    """Products and norms of a decoder layer, by their short names."""

    q: torch.nn.Module
    k: torch.nn.Module
    v: torch.nn.Module
    o: torch.nn.Module
    gate: torch.nn.Module
    up: torch.nn.Module
    down: torch.nn.Module
    before: torch.Tensor
    behind: torch.Tensor
    q_norm: torch.Tensor | None
    """The weights of each head's norm; a Qwen2 has none."""
    k_norm: torch.Tensor | None

    @classmethod
    def of(cls, layer: Any) -> _Layer:
        attention, mlp = layer.self_attn, layer.mlp
        normed = hasattr(attention, "q_norm")
        return cls(
            q=attention.q_proj,
            k=attention.k_proj,
            v=attention.v_proj,
            o=attention.o_proj,
            gate=mlp.gate_proj,
            up=mlp.up_proj,
            down=mlp.down_proj,
            before=layer.input_layernorm.weight,
            behind=layer.post_attention_layernorm.weight,
            q_norm=attention.q_norm.weight if normed else None,
            k_norm=attention.k_norm.weight if normed else None,
        )


@dataclass(frozen=True)
class EditMarks:
    """What an answer of numbered edits may hold: the marks of its question's lines, ascending."""

    first: int
    """The token of the first mark; the others follow it."""
    marks: int
    """Marks there are in the vocabulary."""
    lines: Sequence[int | None]
    """How many lines each question has; None where the answer is no list of edits."""


@dataclass(frozen=True)
class Sampled:
    """An answer and what it was drawn with."""

    tokens: list[int]
    log_probs: list[float]
    """The log-probability of each token, in nats, among those that could be drawn, at the row's
    temperature (at 1 where that is 0)."""


class BatchDecoder:
    """Decodes with the weights of ``model``, a transformers Qwen2 or Qwen3.

    ``fused``: whether a kernel of our own attends; default: where there is a GPU and Triton.
    """

    def __init__(self, model: Any, *, fused: bool | None = None) -> None:
        config = model.config
        if config.model_type not in FAMILIES:
            raise ValueError(f"a Qwen2 or Qwen3 is decoded here, not a {config.model_type}")
        decoder = model.get_decoder()
        self._layers = [_Layer.of(layer) for layer in decoder.layers]
        self._embedding = decoder.embed_tokens.weight
        self._last_norm = decoder.norm.weight
        self._head = model.get_output_embeddings()
        self._epsilon = float(config.rms_norm_eps)
        self._heads, self._groups = config.num_attention_heads, config.num_key_value_heads
        width = getattr(config, "head_dim", None)
        self._width = int(width or config.hidden_size // config.num_attention_heads)
        theta = float(config.rope_parameters["rope_theta"])
        places = torch.arange(0, self._width, 2, device=self._embedding.device).float()
        frequencies = theta ** -(places / self._width)
        angles = torch.arange(config.max_position_embeddings, device=frequencies.device)
        table = angles.float()[:, None] * frequencies[None]
        table = torch.cat((table, table), -1)
        dtype = self._embedding.dtype
        self._cos, self._sin = table.cos().to(dtype), table.sin().to(dtype)
        on_gpu = self._embedding.is_cuda and find_spec("triton") is not None
        self._fused = on_gpu if fused is None else fused

    @torch.inference_mode()
    def __call__(
        self,
        questions: Sequence[Sequence[int]],
        most: int | Sequence[int],
        temperatures: Sequence[float],
        end: int,
        *,
        edits: EditMarks | None = None,
        seconds: float = float("inf"),
        say: Callable[[str], None] = lambda _: None,
    ) -> list[list[int]]:
        """Answers of at most ``most`` tokens (of each row so many, where they are several), with
        ``end`` where the model ended them.

        Greedy where the temperature is 0; cut where it only repeats itself. With ``edits``, an
        answer begins with a mark, names only lines that its question has, and each later than the
        one before; where a question has no number of lines, no marks are written. After ``seconds``
        all rows are cut.
        """
        state = DecodeState(self, questions, most, temperatures, end, edits)
        steps = self._run(state, questions, seconds, say)
        rows = state.out[:, :steps].tolist()
        return [[token for token in row if token >= 0] for row in rows]

    @torch.inference_mode()
    def stream(
        self,
        question: Sequence[int],
        most: int,
        temperature: float,
        end: int,
        *,
        edits: EditMarks | None = None,
    ) -> Iterator[int]:
        """The tokens of one answer as they are chosen; see :meth:`__call__`."""
        state = DecodeState(self, [question], most, [temperature], end, edits)
        self._fill(state, [question])
        step, ended = state.captured(self), False
        for number in range(most):
            if ended:
                return
            step()
            yield int(state.out[0, number])
            if (number + 1) % (4 * _CHECK) == 0:
                state.cut_repeats()
            ended = bool(state.done[0])

    @torch.inference_mode()
    def sample(
        self,
        questions: Sequence[Sequence[int]],
        most: int | Sequence[int],
        temperatures: Sequence[float],
        end: int,
        *,
        edits: EditMarks | None = None,
        seconds: float = float("inf"),
        say: Callable[[str], None] = lambda _: None,
    ) -> list[Sampled]:
        """The same with the log-probability of each token."""
        state = DecodeState(self, questions, most, temperatures, end, edits, measured=True)
        steps = self._run(state, questions, seconds, say)
        assert state.log_probs is not None
        rows = zip(state.out[:, :steps].tolist(), state.log_probs[:, :steps].tolist(), strict=True)
        return [
            Sampled(tokens, chances[: len(tokens)])
            for row, chances in rows
            for tokens in [[token for token in row if token >= 0]]
        ]

    def _run(
        self,
        state: DecodeState,
        questions: Sequence[Sequence[int]],
        seconds: float,
        say: Callable[[str], None],
    ) -> int:
        """Decode until all rows have ended; the steps that were made."""
        started, most = time.monotonic(), state.steps
        self._fill(state, questions)
        step = state.captured(self)
        steps, ended = 0, 0
        while steps < most and ended < len(questions) and time.monotonic() - started < seconds:
            for _ in range(min(_CHECK, most - steps)):
                step()
                steps += 1
            if steps % (4 * _CHECK) == 0:
                state.cut_repeats()
            ended = int(state.done.sum())
        say(
            f"{len(questions)} rows, {steps} steps, {ended} ended, "
            f"{time.monotonic() - started:.0f} s"
        )
        return steps

    def _fill(self, state: DecodeState, questions: Sequence[Sequence[int]]) -> None:
        """Caches of all tokens of the questions but the last; equal questions are read once."""
        asked: dict[tuple[int, ...], list[int]] = {}
        for row, question in enumerate(map(tuple, questions)):
            asked.setdefault(question, []).append(row)
        for question, rows in asked.items():
            self.read(state, question, rows)

    def read(self, state: DecodeState, question: Sequence[int], rows: Sequence[int]) -> None:
        """Caches of all tokens of ``question`` but the last, in each of ``rows``."""
        row, *others = rows
        size = len(question) - 1
        ids = torch.tensor(question[:-1], device=self._embedding.device)
        x = F.embedding(ids, self._embedding)
        cos, sin = self._cos[:size, None], self._sin[:size, None]
        for number, layer in enumerate(self._layers):
            q, k, v = self._projected(layer, x, cos, sin)
            state.keys[number][row, :, :size] = k.transpose(0, 1)
            state.values[number][row, :, :size] = v.transpose(0, 1)
            query, key, value = (item.transpose(0, 1)[None] for item in (q, k, v))
            seen = F.scaled_dot_product_attention(
                query, key, value, is_causal=True, enable_gqa=True
            )
            x = self._rest(layer, x, seen[0].transpose(0, 1).reshape(size, -1))
        if others:
            equal = torch.tensor(others, device=ids.device)
            for cache in (*state.keys, *state.values):
                cache[equal, :, :size] = cache[row, :, :size]

    def _projected(
        self, layer: _Layer, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = _norm(x, layer.before, self._epsilon)
        rows = x.shape[0]
        q = layer.q(h).view(rows, self._heads, self._width)
        k = layer.k(h).view(rows, self._groups, self._width)
        v = layer.v(h).view(rows, self._groups, self._width)
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = _norm(q, layer.q_norm, self._epsilon), _norm(k, layer.k_norm, self._epsilon)
        return _rotate(q, cos, sin), _rotate(k, cos, sin), v

    def _rest(self, layer: _Layer, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        x = x + layer.o(seen)
        h = _norm(x, layer.behind, self._epsilon)
        output: torch.Tensor = x + layer.down(F.silu(layer.gate(h)) * layer.up(h))
        return output

    def step(self, state: DecodeState) -> None:
        """One token of every row that has not ended."""
        rows = len(state.token)
        x = F.embedding(state.token, self._embedding)
        cos, sin = self._cos[state.place][:, None], self._sin[state.place][:, None]
        # On a GPU the graph has one size for all steps; elsewhere the empty places cost their time.
        held = None if x.is_cuda else int(state.place.max()) + 1
        hidden = (state.columns[None, :held] > state.place[:, None])[:, None, None]
        shared = self._heads // self._groups
        for layer, keys, values in zip(self._layers, state.keys, state.values, strict=True):
            q, k, v = self._projected(layer, x, cos, sin)
            keys[state.rows, :, state.place] = k
            values[state.rows, :, state.place] = v
            q = q.view(rows, self._groups, shared, self._width)
            seen = (
                self._attend_fused(q, keys, values, state.place)
                if self._fused
                else _attend(q, keys[:, :, :held], values[:, :, :held], hidden)
            )
            x = self._rest(layer, x, seen.reshape(rows, -1))
        logits = self._head(_norm(x, self._last_norm, self._epsilon)).float()
        state.take(logits)

    @staticmethod
    def _attend_fused(
        query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, place: torch.Tensor
    ) -> torch.Tensor:
        from cass_ray.llm.decode_attention import attend_cached

        return attend_cached(query, keys, values, place)


def _attend(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, hidden: torch.Tensor
) -> torch.Tensor:
    scores = torch.matmul(query * query.shape[-1] ** -0.5, keys.transpose(2, 3)).float()
    scores = scores.masked_fill(hidden, float("-inf")).softmax(-1).to(query.dtype)
    return torch.matmul(scores, values)


class DecodeState:
    """Tensors of one batch; a captured graph reads and writes just these."""

    def __init__(
        self,
        decoder: BatchDecoder,
        questions: Sequence[Sequence[int]],
        most: int | Sequence[int],
        temperatures: Sequence[float],
        end: int,
        edits: EditMarks | None = None,
        measured: bool = False,
        longest: int = 0,
    ) -> None:
        """``longest``: places of a row in the caches; 0: what ``questions`` and answers need."""
        device, rows = decoder._embedding.device, len(questions)
        limits = [most] * rows if isinstance(most, int) else list(most)
        self.steps = max(limits)
        """All rows have ended after so many."""
        longest = longest or max(map(len, questions)) + self.steps
        shape = (rows, decoder._groups, longest, decoder._width)
        self.keys = [
            torch.zeros(shape, dtype=decoder._embedding.dtype, device=device)
            for _ in decoder._layers
        ]
        self.values = [torch.zeros_like(keys) for keys in self.keys]
        self.token = torch.tensor([question[-1] for question in questions], device=device)
        self.place = torch.tensor([len(question) - 1 for question in questions], device=device)
        columns = self.steps + 2
        self.out = torch.full((rows, columns), -1, dtype=torch.long, device=device)
        self.log_probs = torch.zeros((rows, columns), device=device) if measured else None
        self.number = torch.zeros(rows, dtype=torch.long, device=device)
        """Tokens that a row has, and had time for since it ended."""
        self.most = torch.tensor(limits, device=device)
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)
        self.rows = torch.arange(rows, device=device)
        self.columns = torch.arange(longest, device=device)
        self.temperature = torch.tensor(temperatures, device=device)[:, None]
        self._sampled = max(temperatures) > 0
        self._end = end
        self.line = torch.full((rows,), -1, dtype=torch.long, device=device)
        """The line of the last mark; -1 before the first."""
        self._edits = edits
        if edits is not None:
            lines = [-1 if number is None else number for number in edits.lines]
            self.lines = torch.tensor(lines, device=device)
            self._marks = torch.arange(edits.marks, device=device)
            self._opening = torch.ones(decoder._embedding.shape[0], dtype=torch.bool, device=device)
            self._opening[edits.first : edits.first + edits.marks] = False
            self._opening[end] = False

    def _constrain(self, logits: torch.Tensor, edits: EditMarks) -> None:
        """What cannot come next is made impossible, in place."""
        last = edits.first + edits.marks
        later = self._marks[None] > self.line[:, None]
        there = self._marks[None] < self.lines[:, None]
        logits[:, edits.first : last].masked_fill_(~(later & there), float("-inf"))
        begins = (self.line < 0) & (self.lines >= 0)
        logits.masked_fill_(begins[:, None] & self._opening[None], float("-inf"))

    def _follow(self, chosen: torch.Tensor, edits: EditMarks) -> None:
        number = chosen - edits.first
        marked = (number >= 0) & (number < edits.marks)
        self.line.copy_(torch.where(marked & ~self.done, number, self.line))

    def take(self, logits: torch.Tensor) -> None:
        """The next token of each row: the likeliest, or by Gumbel's trick a sample."""
        if self._edits is not None:
            self._constrain(logits, self._edits)
        possible = logits
        if self._sampled:
            noise = -torch.empty_like(logits).exponential_().clamp_(min=1e-20).log_()
            hot = logits / self.temperature.clamp(min=1e-3) + noise
            logits = torch.where(self.temperature > 0, hot, logits)
        chosen = logits.argmax(-1)
        if self._edits is not None:
            self._follow(chosen, self._edits)
        if self.log_probs is not None:
            warm = torch.where(self.temperature > 0, self.temperature, 1.0)
            chances = (possible / warm).log_softmax(-1).gather(1, chosen[:, None])
            self.log_probs[self.rows, self.number] = chances[:, 0]
        self.out[self.rows, self.number] = torch.where(self.done, -1, chosen)
        self.done.logical_or_((chosen == self._end) | (self.number + 1 >= self.most))
        self.number.add_(1).clamp_(max=self.out.shape[1] - 1)
        self.token.copy_(torch.where(self.done, self.token, chosen))
        # A row that has ended attends to one token: long answers to the others cost no more for it.
        self.place.add_(1).clamp_(max=len(self.columns) - 1).masked_fill_(self.done, 0)

    def cut_repeats(self) -> None:
        """End the rows that repeat themselves; they get no end token."""
        size = _REPEATED + _PERIOD
        if self.steps < size:
            return
        first = self.number - size
        places = first.clamp(min=0)[:, None] + torch.arange(size, device=first.device)[None]
        tail = self.out.gather(1, places)
        last = tail[:, _PERIOD:]
        for period in range(1, _PERIOD + 1):
            before = tail[:, _PERIOD - period : _PERIOD - period + _REPEATED]
            self.done.logical_or_((last == before).all(1) & (first >= 0))

    def captured(self, decoder: BatchDecoder) -> Callable[[], None]:
        """A function that makes one step; on a GPU a graph is replayed."""
        if self.token.device.type != "cuda":
            return lambda: decoder.step(self)
        changed = [self.token, self.place, self.out, self.number, self.done, self.line]
        changed += [] if self.log_probs is None else [self.log_probs]
        kept = [tensor.clone() for tensor in changed]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            decoder.step(self)
            decoder.step(self)
        torch.cuda.current_stream().wait_stream(side)
        for tensor, old in zip(changed, kept, strict=True):
            tensor.copy_(old)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decoder.step(self)
        for tensor, old in zip(changed, kept, strict=True):
            tensor.copy_(old)
        return graph.replay
