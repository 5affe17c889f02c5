"""A tokenizer of our own for models trained from nothing: byte-level BPE with ChatML turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

END_OF_TURN = "<|im_end|>"
START_OF_TURN = "<|im_start|>"
PADDING = "<|endoftext|>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""ChatML, as the Qwen models write it."""

_PIECES = r"""\p{N}|[ \t]*[\r\n]+|[ ]?[\p{L}_]+|[ ]?[^\s\p{L}\p{N}_]+|\s+"""
"""Digits one by one: addresses, registers and offsets are numbers, not words."""


_PREFIXES = (
    r"[ ]?(?:cuda|hip|CUDA|HIP)(?=[A-Z_])|[ ]?(?:cu|hip)(?=(?:blas|rand|fft|sparse|solver|dnn|cub)"
    r"\p{L}*)|[ ]+(?=[ ][^\s])|"
)
"""What translating changes is a piece of its own: ``cuda`` and ``Malloc`` apart, and never one
token that a model would have to know whole."""


def train_tokenizer(
    texts: Iterable[str],
    vocabulary: int,
    *,
    prefixes: bool = False,
    special: Iterable[str] = (),
) -> Any:
    """A ``PreTrainedTokenizerFast`` of at most ``vocabulary`` tokens, learned from ``texts``.

    Args:
        texts: programs.
        vocabulary: tokens in all, ``special`` ones not counted.
        prefixes: whether the prefixes of both APIs are pieces of their own.
        special: further special tokens; they come behind the learned ones.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    pieces = (_PREFIXES if prefixes else "") + _PIECES
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pieces), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PADDING, START_OF_TURN, END_OF_TURN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens(list(special))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END_OF_TURN,
        pad_token=PADDING,
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=10**9,
    )
