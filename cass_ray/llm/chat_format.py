"""A conversation as token ids, through the chat template of the model's own tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from cass_ray.llm.pretrained import ModelError
from cass_ray.llm.prompts import Message


class ChatTokenizer(Protocol):
    """What is used of a Hugging Face tokenizer."""

    eos_token_id: int | None
    chat_template: Any

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool
    ) -> Any: ...

    def __call__(self, text: str, *, add_special_tokens: bool) -> Mapping[str, list[int]]:
        """Token ids of ``text`` under ``input_ids``."""
        ...


def check_tokenizer(tokenizer: ChatTokenizer, name: str) -> None:
    """Raise ``ModelError`` when ``tokenizer`` cannot write conversations."""
    if not tokenizer.chat_template:
        raise ModelError(
            f"the tokenizer of {name} has no chat template: take the model's instruction-tuned "
            "variant, or put a `chat_template.jinja` beside its tokenizer.json"
        )
    if tokenizer.eos_token_id is None:
        raise ModelError(f"the tokenizer of {name} has no end-of-sequence token")


def encode_prompt(tokenizer: ChatTokenizer, messages: list[Message]) -> list[int]:
    """Token ids of the conversation, up to where the model begins to write."""
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def encode_with_answer(
    tokenizer: ChatTokenizer, messages: list[Message], answer: str
) -> tuple[list[int], int]:
    """Token ids of prompt and answer, and the number of the prompt's.

    Both become tokens apart, so that the border between them is a border of tokens. The answer ends
    with the end-of-sequence token, whatever the chat template puts after a turn.
    """
    prompt = encode_prompt(tokenizer, messages)
    ids = list(tokenizer(answer, add_special_tokens=False)["input_ids"])
    return [*prompt, *ids, tokenizer.eos_token_id or 0], len(prompt)
