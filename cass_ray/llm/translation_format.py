"""Both answer formats of the models trained here, as tokens: a whole file, or numbered edits.

The formats share a vocabulary: marks of lines (:mod:`cass_ray.llm.line_edits`) and names of helper
snippets (:mod:`cass_ray.llm.snippets`) are tokens of their own, which no text of a program can
spell: programs are encoded with these tokens as plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cass_ray.llm.line_edits import DELETED, MARKS, EditError, Edits, apply_edits, mark
from cass_ray.llm.prompts import PromptFormat, prompt_format
from cass_ray.llm.snippets import expand, snippet_token
from cass_ray.task import Direction, Task

ANSWERS = ("edits", "file")
"""The answer formats, under the names that a model's ``cass_ray.json`` and ``?answer=`` have."""

_EDIT = {
    Direction.CUDA_TO_HIP: "Edit this CUDA program to be HIP.",
    Direction.HIP_TO_CUDA: "Edit this HIP program to be CUDA.",
}


_FORWARD = Direction.CUDA_TO_HIP


class UnusableAnswer(ValueError):
    """An answer that no program can be made of; the message says why."""


def special_tokens(snippets: Sequence[str]) -> list[str]:
    """The tokens that a tokenizer needs for both formats, in a fixed order."""
    return [DELETED, *map(mark, range(MARKS)), *map(snippet_token, snippets)]


@dataclass(frozen=True, slots=True)
class _Words:
    """What stands around programs in questions and answers of one direction, as tokens."""

    before_file: list[int]
    behind_file: list[int]
    open: list[int]
    close: list[int]
    before_lines: list[int]


class TranslationFormat:
    """Questions and answers as token ids, with a tokenizer that has :func:`special_tokens`.

    ``snippets``: the helper texts by name. Raises ``ValueError`` for a tokenizer without them.
    """

    def __init__(self, tokenizer: Any, snippets: Mapping[str, str]) -> None:
        from tokenizers import Tokenizer

        self.snippets = snippets
        self._own = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._plain = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._plain.encode_special_tokens = True
        self.end: int = tokenizer.eos_token_id
        self.padding: int = tokenizer.pad_token_id
        self.first_mark = self._id(mark(0))
        self._deleted = self._id(DELETED)
        self._snippets = {name: self._id(snippet_token(name)) for name in snippets}
        self._words = {direction: self._worded(direction) for direction in Direction}
        self._behind_lines = self._special("<|im_end|>\n<|im_start|>assistant\n")

    @classmethod
    def known_to(cls, tokenizer: Any, snippets: Mapping[str, str]) -> TranslationFormat:
        """Make the format with those of ``snippets`` that ``tokenizer`` has tokens for.

        A model that was trained before a snippet was there answers without it. Raises
        ``ValueError``: the tokenizer has none of them, or no marks of lines.
        """
        vocabulary = tokenizer.get_vocab()
        named = {name: text for name, text in snippets.items() if snippet_token(name) in vocabulary}
        return cls(tokenizer, named or snippets)

    def _worded(self, direction: Direction) -> _Words:
        style: PromptFormat = prompt_format("ours")
        task = Task(direction=direction)
        before, behind = style.question(task, "\0").split("\0")
        opened, closed = style.answer(task, "\0").split("\0")
        return _Words(
            before_file=self._special(f"<|im_start|>user\n{before}"),
            behind_file=self._special(f"{behind}<|im_end|>\n<|im_start|>assistant\n"),
            open=self._special(opened),
            close=self._special(closed),
            before_lines=self._special(f"<|im_start|>user\n{_EDIT[direction]}\n"),
        )

    def _id(self, token: str) -> int:
        number: int | None = self._own.token_to_id(token)
        if number is None:
            raise ValueError(f"the tokenizer has no token `{token}`: it is of another model")
        return number

    def _special(self, text: str) -> list[int]:
        return list(self._own.encode(text, add_special_tokens=False).ids)

    def plain(self, text: str) -> list[int]:
        """Text of a program; nothing in it is a special token."""
        return list(self._plain.encode(text, add_special_tokens=False).ids)

    def answer_text(self, text: str) -> list[int]:
        """Text of an answer, in which snippets are named."""
        if "<|snippet " not in text:
            return self.plain(text)
        result: list[int] = []
        for number, line in enumerate(text.split("\n")):
            result += self.plain("\n") if number else []
            name = line.removeprefix("<|snippet ").removesuffix("|>")
            result += [self._snippets[name]] if name in self._snippets else self.plain(line)
        return result

    # --- the whole file

    def file_question(self, code: str, direction: Direction = _FORWARD) -> list[int]:
        words = self._words[direction]
        return [*words.before_file, *self.plain(code), *words.behind_file]

    def file_answer(self, code: str, direction: Direction = _FORWARD) -> list[int]:
        """``code`` with its snippets collapsed, in its fence."""
        words = self._words[direction]
        return [*words.open, *self.answer_text(code), *words.close, self.end]

    def read_file(self, answer: Sequence[int], direction: Direction = _FORWARD) -> str:
        """The program of an answer. Raises ``UnusableAnswer``."""
        ids, words = self._ended(answer), self._words[direction]
        head, tail = len(words.open), len(ids) - len(words.close)
        if ids[:head] != words.open or ids[tail:] != words.close or tail < head:
            raise UnusableAnswer("no fenced program")
        return self._expanded(self._text(ids[head:tail]))

    # --- numbered edits

    def edit_question(
        self, lines: Sequence[str], first: int = 0, direction: Direction = _FORWARD
    ) -> list[int]:
        """``lines``, at most ``MARKS``, marked from ``first`` on."""
        if len(lines) > MARKS:
            raise UnusableAnswer(f"{len(lines)} lines; there are {MARKS} marks")
        ids = list(self._words[direction].before_lines)
        encoded = self._plain.encode_batch(list(lines), add_special_tokens=False)
        for number, line in enumerate(encoded):
            ids.append(self.first_mark + (number + first) % MARKS)
            ids += line.ids
        return ids + self._behind_lines

    def edit_answer(self, edits: Edits, first: int = 0) -> list[int]:
        ids: list[int] = []
        for number in sorted(edits):
            new = edits[number]
            ids.append(self.first_mark + (number + first) % MARKS)
            ids += [self._deleted] if new is None else self.answer_text("\n".join(new))
        return [*ids, self.end]

    def line_of(self, token: int) -> int | None:
        """The line whose mark ``token`` is, where the first line bears the first mark."""
        number = token - self.first_mark
        return number if 0 <= number < MARKS else None

    def edited_lines(self, tokens: Sequence[int]) -> list[str]:
        """The lines of one edit, snippets written out; a snippet is one of them, of many lines.

        Raises ``UnusableAnswer``.
        """
        ids = [token for token in tokens if token != self.end]
        if ids == [self._deleted]:
            return []
        return [
            self._expanded(line).removesuffix("\n") if "<|snippet " in line else line
            for line in self._text(ids).split("\n")
        ]

    def read_edits(self, lines: Sequence[str], answer: Sequence[int], first: int = 0) -> str:
        """The program after the edits of an answer. Raises ``UnusableAnswer``."""
        edits: dict[int, list[str] | None] = {}
        line, start = -1, 0
        ids = [*self._ended(answer), self.first_mark]
        for place, token in enumerate(ids):
            if not self.first_mark <= token < self.first_mark + MARKS:
                continue
            if line >= 0:
                part = ids[start:place]
                edits[line] = None if part == [self._deleted] else self._text(part).split("\n")
            elif place:
                raise UnusableAnswer("the answer does not begin with a line's mark")
            line, start = (token - self.first_mark - first) % MARKS, place + 1
        try:
            return self._expanded("\n".join(apply_edits(lines, edits)), lines)
        except EditError as error:
            raise UnusableAnswer(str(error)) from None

    def _ended(self, answer: Sequence[int]) -> list[int]:
        if not answer or answer[-1] != self.end:
            raise UnusableAnswer("the answer was cut")
        return list(answer[:-1])

    def text_of(self, answer: Sequence[int]) -> str:
        """An answer as it was written, marks and all, without its end."""
        return self._text([token for token in answer if token != self.end])

    def _text(self, ids: Sequence[int]) -> str:
        return str(self._own.decode(list(ids), skip_special_tokens=False))

    def _expanded(self, code: str, question: Sequence[str] = ()) -> str:
        if any("<|snippet " in line for line in question):
            raise UnusableAnswer("the program itself spells the name of a snippet")
        try:
            return expand(code, self.snippets)
        except ValueError as error:
            raise UnusableAnswer(str(error)) from None
