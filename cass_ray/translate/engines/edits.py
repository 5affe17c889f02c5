"""Answers of a model that knows both formats of :mod:`cass_ray.llm.translation_format`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cass_ray.llm.line_edits import MARKS
from cass_ray.llm.pretrained import positions
from cass_ray.llm.translation_format import TranslationFormat, UnusableAnswer
from cass_ray.task import Direction
from cass_ray.translate.engines.room import LEAST_ROOM, answer_room
from cass_ray.translate.protocol import TranslatorError
from cass_ray.translate.rules.tables import snippets

if TYPE_CHECKING:
    from cass_ray.llm.batch_decode import EditMarks

_SHORTEST_FILE = 0.9
"""A translated file has so many of its question's tokens at least (of the demo's pairs: 0.99)."""


@dataclass(frozen=True)
class FormattedQuestion:
    """A program as a model is asked for it, and what is needed to read the answer."""

    form: TranslationFormat
    ids: list[int]
    edited: Sequence[str] | None
    """The lines that are edited; None where the answer is a whole file."""
    direction: Direction = Direction.CUDA_TO_HIP

    def room(self, most: int, wanted: int | None) -> int:
        """Tokens of the answer, at most; ``most`` is for both. Raises ``TranslatorError``."""
        size = len(self.ids)
        usual = size + 512 if self.edited is not None else 2 * size + 512
        # A file is written again from its first line to its last: minutes, to be cut off there.
        least = LEAST_ROOM if self.edited is not None else int(_SHORTEST_FILE * size)
        least = max(LEAST_ROOM, least)
        return answer_room(size, most, wanted or usual, "?rope=yarn:2", least)

    def marks(self, answers: int) -> EditMarks:
        """What each of ``answers`` may name: lines that the program has, in their order."""
        from cass_ray.llm.batch_decode import EditMarks

        lines = None if self.edited is None else len(self.edited)
        return EditMarks(self.form.first_mark, MARKS, [lines] * answers)

    def read(self, answer: Sequence[int]) -> str:
        """The program. Raises ``UnusableAnswer``."""
        if self.edited is None:
            return self.form.read_file(answer, self.direction)
        return self.form.read_edits(self.edited, answer)


def load_form(tokenizer: Any) -> TranslationFormat:
    """The format of a model, with the snippets of the rules that it has tokens for.

    What a model names and is no longer there makes an answer unusable. Raises ``TranslatorError``:
    it has tokens for none of them.
    """
    try:
        return TranslationFormat.known_to(tokenizer, snippets())
    except ValueError as error:
        raise TranslatorError(
            f"{error}; models that answer in edits are trained with `data.recipe` "
            "(docs/ways/training_example.md)"
        ) from None


def formatted_question(
    form: TranslationFormat,
    source: str,
    answer: str,
    direction: Direction = Direction.CUDA_TO_HIP,
) -> FormattedQuestion:
    """``answer``: ``edits``, ``file``, or ``auto``: edits where the program has marks enough."""
    text = source.replace("\r\n", "\n")
    lines = text.split("\n")
    spelled = "<|snippet " in text  # edits could not be told from the program's own text
    if answer == "edits" or (answer == "auto" and len(lines) <= MARKS and not spelled):
        try:
            ids = form.edit_question(lines, direction=direction)
            return FormattedQuestion(form, ids, lines, direction)
        except UnusableAnswer as error:
            raise TranslatorError(f"{error}: ask with ?answer=file, or split the file") from None
    return FormattedQuestion(form, form.file_question(text, direction), None, direction)


@dataclass
class FormattedAnswers:
    """A loaded model, which answers :func:`formatted_question`."""

    form: TranslationFormat
    decoder: Any
    """A :class:`cass_ray.llm.batch_decode.BatchDecoder`."""
    positions: int

    @classmethod
    def of(cls, model: Any, tokenizer: Any) -> FormattedAnswers:
        """Raises ``TranslatorError``."""
        from cass_ray.llm.batch_decode import BatchDecoder

        try:
            decoder = BatchDecoder(model)
        except ValueError as error:
            raise TranslatorError(str(error)) from None
        return cls(load_form(tokenizer), decoder, positions(model.config))

    def samples(
        self, question: FormattedQuestion, temperatures: Sequence[float], wanted: int | None
    ) -> list[list[int]]:
        """An answer for each of ``temperatures`` (0: greedy), of at most ``wanted`` tokens; edits
        name lines that the program has, in order. Raises ``TranslatorError``.
        """
        answers: list[list[int]] = self.decoder(
            [question.ids] * len(temperatures),
            question.room(self.positions, wanted),
            temperatures,
            self.form.end,
            edits=question.marks(len(temperatures)),
        )
        return answers
