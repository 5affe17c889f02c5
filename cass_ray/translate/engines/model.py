"""The ``model:PATH`` engine: a causal language model that was trained to translate.

``PATH`` is a folder or a Hugging Face name. Options follow a question mark, as in a URL::

    model:out/train/tiny/model
    model:ahmedheakl/cass-src-7b?format=cass&rope=yarn:2
    model:PATH?temperature=0.8&samples=4&seed=1&max_new_tokens=8192
    model:PATH?answer=file

Models trained here say which prompt and answer formats they know (``cass_ray.json``);
the published CASS checkpoints are known by name. One that knows numbered edits is asked for them
where it can be; ``answer`` says otherwise. torch and transformers are imported when a model is
loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from cass_ray.config import SettingsError, StrictModel, validate
from cass_ray.llm.chat_format import check_tokenizer, encode_prompt
from cass_ray.llm.code_blocks import extract
from cass_ray.llm.pretrained import (
    TRANSLATION_FILE,
    ModelError,
    RopeSettings,
    extend_rope,
    load_config,
    load_tokenizer,
    positions,
    without_progress_bars,
)
from cass_ray.llm.prompts import PromptFormat, prompt_format
from cass_ray.llm.translation_format import UnusableAnswer
from cass_ray.task import Direction, Level, Task, parse_task
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.engines.edits import FormattedAnswers, formatted_question
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from cass_ray.translate.protocol import (
    NO_CONTEXT,
    Context,
    Counts,
    Finding,
    Severity,
    Translation,
    TranslatorError,
)

_PUBLISHED = ("ahmedheakl/cass-", "mbzuai/cass-")


class ModelOptions(StrictModel):
    """What may follow the question mark."""

    RENAMED = {"longest": "max_new_tokens"}

    format: str | None = None
    """Prompt format: ``ours`` or ``cass``."""
    task: str = "source"
    temperature: float = 0.0
    """0: greedy."""
    samples: int = 1
    seed: int = 0
    max_new_tokens: int | None = None
    """Default: twice the question and 512 more, as far as the model's
    positions go."""
    rope: str | None = None
    """Context extension: ``linear:F``, ``dynamic:F`` or ``yarn:F`` with its factor."""
    device: str | None = None
    answer: Literal["auto", "edits", "file"] = "auto"
    """Of a model that knows both: numbered edits or the whole file; ``auto``: edits where the
    program is short enough."""


@dataclass(frozen=True)
class ModelAnswer:
    """One sample: the code, the raw text, and whether it was cut."""

    code: str | None
    """None: the answer holds none; ``problem`` says why."""
    text: str
    cut: bool
    problem: str = "the model's answer holds no code block"


def parse_engine(engine: str) -> tuple[str, ModelOptions]:
    """``model:PATH?key=value`` in its parts. Raises ``SettingsError``."""
    path, _, query = engine.removeprefix(MODEL_PREFIX).partition("?")
    if not path:
        raise SettingsError("model: needs a folder or a name, as in model:out/train/tiny/model")
    options = validate(ModelOptions, dict(parse_qsl(query)), engine)
    try:
        parse_task(options.task)
        if options.format is not None:
            prompt_format(options.format)
    except ValueError as error:
        raise SettingsError(f"{engine}: {error}") from None
    return path, options


class ModelTranslator:
    """A :class:`cass_ray.translate.protocol.Translator` that generates."""

    def __init__(self, path: str, options: ModelOptions | None = None) -> None:
        self.path = path
        self.options = options or ModelOptions()
        if Path(path).is_dir() and not (Path(path) / "config.json").exists():
            raise SettingsError(f"{path}: no config.json here, so no Hugging Face model")
        if not Path(path).is_dir() and path.startswith((".", "/")):
            raise SettingsError(f"{path}: no such folder")

    @classmethod
    def from_engine(cls, engine: str) -> ModelTranslator:
        """From ``model:PATH?…``. Raises ``SettingsError``."""
        return cls(*parse_engine(engine))

    @property
    def name(self) -> str:
        return f"{MODEL_PREFIX}{self.path}"

    @cached_property
    def version(self) -> str:
        """Changes with the options and, of a folder, with its files."""
        parts = [self.options.model_dump_json()]
        folder = Path(self.path)
        if folder.is_dir():
            parts += [
                f"{item.name} {item.stat().st_size} {item.stat().st_mtime_ns}"
                for item in sorted(folder.iterdir())
            ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @cached_property
    def format(self) -> PromptFormat:
        """How the model wants to be asked."""
        if self.options.format is not None:
            return prompt_format(self.options.format)
        if self._described:
            return prompt_format(self._described["prompt"])
        published = self.path.lower().startswith(_PUBLISHED)
        return prompt_format("cass" if published else "ours")

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file; see the protocol.

        ``context.settings`` may say ``level`` and ``direction`` (:mod:`cass_ray.llm.prompts`), and
        ``temperature`` and ``seed`` of this answer.
        """
        del filename
        task = parse_task(self.options.task)
        asked = context.settings
        try:
            task = Task(
                Level(asked.get("level", task.level)),
                Direction(asked.get("direction", task.direction)),
            )
        except ValueError as error:
            raise TranslatorError(f"{self.name}: {error}") from None
        options = self.options.model_copy(
            update={
                "temperature": float(asked.get("temperature", self.options.temperature)),
                "seed": int(asked.get("seed", self.options.seed)),
            }
        )
        answer = self.samples(source, task, 1, options)[0]
        if not (answer.code or "").strip():
            advice = "ask again with another seed"
            finding = Finding(0, 0, "", Severity.ERROR, answer.problem, advice)
            return Translation(source, (finding,), Counts(unsupported=1))
        findings: tuple[Finding, ...] = ()
        if answer.cut:
            message = "the answer was cut at the limit of its length"
            findings = (Finding(0, 0, "", Severity.ERROR, message, "raise ?max_new_tokens=N"),)
        return Translation(answer.code or "", findings, Counts(converted=1))

    def samples(
        self,
        source: str,
        task: Task,
        number: int | None = None,
        options: ModelOptions | None = None,
    ) -> list[ModelAnswer]:
        """Independent answers (one when greedy), the same for the same seed.

        Raises ``TranslatorError``: the question does not fit the model.
        """
        options = options or self.options
        number = (number or options.samples) if options.temperature > 0 else 1
        if task in self.formatted_tasks:
            return self._formatted(source, task, number, options)
        try:
            question = self.format.messages(task, source)
            fence = self.format.wording(task).answer_fence
        except ValueError as error:
            raise TranslatorError(str(error)) from None
        texts = self._loaded.generate(question, options, number)
        answers = []
        for text, ended in texts:
            found = extract(text, (fence,))
            cut = not ended and not _closed(found)
            answers.append(ModelAnswer(found.code if found else None, text, cut))
        return answers

    @cached_property
    def formatted_tasks(self) -> frozenset[Task]:
        """What the model is asked in the formats of :mod:`cass_ray.llm.translation_format`."""
        known = (
            self._described.get("tasks", [str(Task())]) if self._described.get("answers") else []
        )
        return frozenset(map(parse_task, known))

    @cached_property
    def _described(self) -> dict[str, Any]:
        path = Path(self.path) / TRANSLATION_FILE
        if not path.exists():
            return {}
        described: dict[str, Any] = json.loads(path.read_text())
        return described

    def _formatted(
        self, source: str, task: Task, number: int, options: ModelOptions
    ) -> list[ModelAnswer]:
        import torch

        answering = self.answering
        question = formatted_question(answering.form, source, options.answer, task.direction)
        torch.manual_seed(options.seed)
        temperatures = [options.temperature] * number
        answers = []
        for ids in answering.samples(question, temperatures, options.max_new_tokens):
            text = answering.form.text_of(ids)
            cut = ids[-1:] != [answering.form.end]
            try:
                answers.append(ModelAnswer(question.read(ids), text, cut))
            except UnusableAnswer as error:
                answers.append(ModelAnswer(None, text, cut, f"no usable answer: {error}"))
        return answers

    @cached_property
    def answering(self) -> FormattedAnswers:
        """The loaded model, of one that is asked in those formats. Raises ``ToolMissing``,
        ``TranslatorError``."""
        return FormattedAnswers.of(self._loaded.model, self._loaded.tokenizer)

    @cached_property
    def _loaded(self) -> Generator:
        return Generator.load(self.path, self.options)


def _closed(fence: Any) -> bool:
    return fence is not None and bool(fence.closed)


@dataclass
class Generator:
    """A model and its tokenizer, ready to generate."""

    model: Any
    tokenizer: Any

    @classmethod
    def load(cls, path: str, options: ModelOptions) -> Generator:
        """Load ``path``. Raises ``ToolMissing``, ``TranslatorError``."""
        try:
            import torch
            from transformers import AutoModelForCausalLM

            from cass_ray.llm.int8_weights import INT8_FILE, load_int8_copy
        except ImportError as error:
            raise ToolMissing(
                "PyTorch with transformers", "pip install 'cass-ray[train]'", str(error)
            ) from None

        try:
            config, tokenizer = load_config(path), load_tokenizer(path)
            check_tokenizer(tokenizer, path)
            if options.rope is not None:
                kind, _, factor = options.rope.partition(":")
                rope = {"kind": kind, "factor": factor or 2}
                extend_rope(config, validate(RopeSettings, rope, f"rope={options.rope}"))
        except (ModelError, SettingsError) as error:
            raise TranslatorError(str(error)) from None
        device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
        without_progress_bars()
        try:
            if (Path(path) / INT8_FILE).exists():
                model = load_int8_copy(Path(path), config, device)
            else:
                model = AutoModelForCausalLM.from_pretrained(path, config=config, dtype=dtype)
        except (OSError, ValueError) as error:
            raise TranslatorError(f"{path}: {str(error).strip().splitlines()[0]}") from None
        return cls(model.to(device).eval(), tokenizer)

    def generate(self, messages: Any, options: ModelOptions, number: int) -> list[tuple[str, bool]]:
        """``number`` answers as text, each with whether the model ended it itself."""
        import torch

        ids = encode_prompt(self.tokenizer, messages)
        room = positions(self.model.config) - len(ids)
        if room < 16:
            raise TranslatorError(
                f"the question has {len(ids)} tokens, the model {positions(self.model.config)} "
                "positions: extend it with ?rope=yarn:2, or split the file"
            )
        limit = min(options.max_new_tokens or 2 * len(ids) + 512, room)
        sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None}
        if options.temperature > 0:
            torch.manual_seed(options.seed)
            sampling = {
                "do_sample": True,
                "temperature": options.temperature,
                "num_return_sequences": number,
            }
        prompt = torch.tensor([ids], device=self.model.device)
        with torch.inference_mode():
            produced = self.model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=limit,
                pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                eos_token_id=self.tokenizer.eos_token_id,
                **sampling,
            )
        answers = []
        for row in produced[:, len(ids) :].tolist():
            ended = self.tokenizer.eos_token_id in row
            text = self.tokenizer.decode(row, skip_special_tokens=True)
            answers.append((text, ended))
        return answers
