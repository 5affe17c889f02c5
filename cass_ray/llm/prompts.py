"""Instruction formats: what a translation model is asked, and the shape of its answer.

``CASS`` is the format of the published CASS checkpoints, to the letter (CASS paper, appendix on
prompts; ``ahmedheakl/cass-*`` on the Hugging Face hub). It knows CUDA -> HIP only. ``OURS`` covers
both directions, and its fences outlive code that contains fences itself.

A prompt becomes tokens through the chat template of the model's own tokenizer, which is why this
module stops at messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict

from cass_ray.nearest import did_you_mean
from cass_ray.task import Direction, Level, Task


class Message(TypedDict):
    """One turn, in the form ``tokenizer.apply_chat_template`` takes."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Wording:
    """One task in words: the instruction and the names of both fences."""

    instruction: str
    question_fence: str
    answer_fence: str


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """How tasks are worded. ``gap`` stands between instruction and code."""

    name: str
    wordings: Mapping[Task, Wording]
    gap: str
    growing_fences: bool
    """Whether a fence has more backticks than any run of them in the code."""

    def wording(self, task: Task) -> Wording:
        """The wording of ``task``. Raises ``ValueError`` where the format has none."""
        if task not in self.wordings:
            tasks = ", ".join(map(str, self.wordings))
            raise ValueError(
                f"the prompt format `{self.name}` has no task `{task}` (it has {tasks})"
            )
        return self.wordings[task]

    def question(self, task: Task, code: str) -> str:
        """Return what the user says. Raises ``ValueError`` where the format has no such task."""
        wording = self.wording(task)
        written = self._fenced(wording.question_fence, code)
        return f"{wording.instruction}{self.gap}{written}"

    def answer(self, task: Task, code: str) -> str:
        """What the model is to say: the code in its fence and nothing else.

        Raises ``ValueError`` as :meth:`question` does.
        """
        return self._fenced(self.wording(task).answer_fence, code)

    def messages(self, task: Task, code: str) -> list[Message]:
        """The conversation up to the answer."""
        return [{"role": "user", "content": self.question(task, code)}]

    def _fenced(self, name: str, code: str) -> str:
        ticks = "```"
        if self.growing_fences:
            longest = max(map(len, re.findall("`{3,}", code)), default=2)
            ticks = "`" * (longest + 1)
        return f"{ticks}{name}\n{code}\n{ticks}"


_SOURCE = Task(Level.SOURCE, Direction.CUDA_TO_HIP)
_ASSEMBLY = Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)
_SOURCE_BACK = Task(Level.SOURCE, Direction.HIP_TO_CUDA)
_ASSEMBLY_BACK = Task(Level.ASSEMBLY, Direction.HIP_TO_CUDA)

CASS = PromptFormat(
    name="cass",
    wordings=MappingProxyType(
        {
            _SOURCE: Wording("Convert the following CUDA code to AMD GPU code:", "cuda", "amd"),
            _ASSEMBLY: Wording(
                "Convert the following CUDA device assembly code to HIP device assembly:",
                "cudaasm",
                "hipasm",
            ),
        }
    ),
    gap="\n",
    growing_fences=False,
)
"""The published checkpoints' format; its wording must not be improved."""

OURS = PromptFormat(
    name="ours",
    wordings=MappingProxyType(
        {
            _SOURCE: Wording("Translate this CUDA program to HIP.", "cuda", "hip"),
            _SOURCE_BACK: Wording("Translate this HIP program to CUDA.", "hip", "cuda"),
            _ASSEMBLY: Wording(
                "Translate this SASS, the Nvidia GPU assembly of a program's kernels, to RDNA3.",
                "sass",
                "rdna3",
            ),
            _ASSEMBLY_BACK: Wording(
                "Translate this RDNA3, the AMD GPU assembly of a program's kernels, to SASS.",
                "rdna3",
                "sass",
            ),
        }
    ),
    gap="\n\n",
    growing_fences=True,
)
"""The format of the models trained here."""

FORMATS: Mapping[str, PromptFormat] = MappingProxyType({item.name: item for item in (OURS, CASS)})


def prompt_format(name: str) -> PromptFormat:
    """The format called ``name``. Raises ``ValueError``, which names the nearest one."""
    if name == "compact":
        raise ValueError("the prompt format `compact` is gone: use `ours`, or the engine `lift`")
    if name not in FORMATS:
        raise ValueError(f"no prompt format `{name}`; {did_you_mean(name, FORMATS)}")
    return FORMATS[name]
