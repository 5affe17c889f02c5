"""A model of both answer formats whose answers are given: its weights are as they were drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cass_ray.llm.batch_decode import EditMarks
from cass_ray.llm.line_edits import edits_of, regions
from cass_ray.llm.snippets import collapse
from cass_ray.llm.translation_format import TranslationFormat, special_tokens
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.tables import snippets

PROGRAM = """#include <cuda_runtime.h>

__global__ void sum(int* data) {
    data[0] = __reduce_add_sync(0xffffffff, data[threadIdx.x]);
}

int main() {
    int* data;
    cudaMalloc(&data, 128);
    sum<<<1, 32>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def translated() -> str:
    """What the rules make of ``PROGRAM``: with one of their snippets."""
    return RulesTranslator().translate(PROGRAM).source


def right_answer(form: TranslationFormat, *, whole_file: bool) -> list[int]:
    """The tokens that make :func:`translated` of ``PROGRAM``."""
    hip = collapse(translated(), snippets())
    if whole_file:
        return form.file_answer(hip)
    old, new = PROGRAM.split("\n"), hip.split("\n")
    return form.edit_answer(edits_of(old, new, regions(old, new)))


def save_format_model(folder: Path, named: Sequence[str] | None = None) -> None:
    """A tokenizer and a Qwen3 of one layer, which knows nothing; ``named``: snippets that it has
    tokens for, by default all that there are."""
    from transformers import AutoModelForCausalLM

    from cass_ray.train.data.tokenizer import train_tokenizer
    from cass_ray.train.model.build import fresh_config
    from cass_ray.train.settings import FreshModel

    special = special_tokens(sorted(snippets()) if named is None else named)
    tokenizer = train_tokenizer([PROGRAM], 500, prefixes=True, special=special)
    sizes = FreshModel(family="qwen3", vocab_size=2048, hidden_size=32, num_hidden_layers=1,
                       num_attention_heads=1, num_key_value_heads=1, head_dim=32,
                       intermediate_size=32, max_position_embeddings=1024)  # fmt: skip
    config = fresh_config(sizes, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    described = {"prompt": "ours", "answers": ["edits", "file"]}
    (folder / "cass_ray.json").write_text(json.dumps(described))


class ByHeart:
    """In the place of a ``BatchDecoder``: the right answer, cut at ``most`` tokens."""

    def __init__(self, form: TranslationFormat) -> None:
        self.form = form

    def __call__(
        self, questions: Sequence[list[int]], most: int, temperatures: Sequence[float], end: int,
        *, edits: EditMarks, **_: Any,
    ) -> list[list[int]]:  # fmt: skip
        assert end == self.form.end
        assert edits.first == self.form.first_mark
        assert len(questions) == len(temperatures) == len(edits.lines)
        return [right_answer(self.form, whole_file=lines is None)[:most] for lines in edits.lines]
