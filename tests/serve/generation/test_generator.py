"""Generators: the same words as one by one, whoever else is being answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from cass_ray.config import SettingsError, validate  # noqa: E402
from cass_ray.llm.batch_decode import EditMarks  # noqa: E402
from cass_ray.translate.engines.model import Generator, ModelOptions  # noqa: E402
from cass_ray.translate.protocol import TranslatorError  # noqa: E402
from serve.generation.detokenizer import Detokenizer  # noqa: E402
from serve.generation.generator import Produced, TextGenerator  # noqa: E402
from serve.settings import GenerationSettings  # noqa: E402

QUESTIONS = ("int main() {}", "__global__ void k(int* p) { p[threadIdx.x] = 1; }", "x", "a b c d")


def save_model(folder: Path) -> None:
    """Random weights, and a tokenizer that knows these questions."""
    from transformers import AutoModelForCausalLM

    from cass_ray.train.data.tokenizer import train_tokenizer
    from cass_ray.train.model.build import fresh_config
    from cass_ray.train.settings import FreshModel

    tokenizer = train_tokenizer([*QUESTIONS] * 20, 512)
    sizes = FreshModel(
        vocab_size=512,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=128,
        max_position_embeddings=256,
    )
    config = fresh_config(sizes, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


SETTINGS = GenerationSettings()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    save_model(made)
    return made


@pytest.fixture(scope="module", params=["our decoder", "transformers"])
def generator(request: pytest.FixtureRequest, folder: Path) -> Iterator[TextGenerator]:
    loaded = Generator.load(str(folder), ModelOptions(device="cpu"))
    made = TextGenerator(loaded, SETTINGS)
    assert made._decoder is not None
    if request.param == "transformers":  # as a model of another family has it
        made._decoder = None
    yield made
    made.close()


async def answer(generator: TextGenerator, ids: list[int], **options: Any) -> Any:
    text, end = "", None
    async for piece in generator.generate(ids, **options):
        if isinstance(piece, Produced):
            end = piece
        else:
            text += piece
    return text, end


def test_answers_are_those_of_plain_generation(generator: TextGenerator) -> None:
    questions = [
        generator.encode([{"role": "user", "content": question}]) for question in QUESTIONS
    ]

    async def together() -> Any:
        return await asyncio.gather(
            *(answer(generator, ids, max_new_tokens=24) for ids in questions)
        )

    batched = asyncio.run(together())
    alone = type(generator.model).from_pretrained(generator.model.name_or_path)
    for ids, (text, end) in zip(questions, batched, strict=True):
        with torch.inference_mode():
            row = alone.generate(torch.tensor([ids]), max_new_tokens=24, do_sample=False)[0]
        expected = generator.tokenizer.decode(row[len(ids) :], skip_special_tokens=True)
        assert text == expected
        assert end is not None
        assert (end.prompt_tokens, end.tokens) == (len(ids), len(row) - len(ids))


def test_hanging_up_ends_one_request_and_no_other(generator: TextGenerator) -> None:
    ids = generator.encode([{"role": "user", "content": QUESTIONS[0]}])

    async def run() -> Any:
        other = asyncio.create_task(answer(generator, ids, max_new_tokens=16))
        stream = generator.generate(ids, temperature=1.0, max_new_tokens=200)
        await anext(stream)
        await stream.aclose()
        return await other

    _, end = asyncio.run(run())
    assert 0 < end.tokens <= 16


def test_a_question_that_does_not_fit_names_the_setting(generator: TextGenerator) -> None:
    with pytest.raises(TranslatorError, match=r"generation\.rope"):
        asyncio.run(answer(generator, [5] * generator.positions))


def test_a_longer_context_is_extended(folder: Path) -> None:
    made = TextGenerator.load(str(folder), GenerationSettings(rope="yarn:2"), "cpu")
    ids = made.encode([{"role": "user", "content": QUESTIONS[0]}])
    _, end = asyncio.run(answer(made, ids, max_new_tokens=8))
    made.close()
    assert (made.positions, end.tokens) == (512, 8)


@pytest.mark.parametrize("key", ["num_blocks", "cache_blocks", "page_tokens"])
def test_what_was_set_for_batches_names_vllm(key: str) -> None:
    with pytest.raises(SettingsError, match=rf"`{key}`; it is gone: .*serve_vllm\.yaml"):
        validate(GenerationSettings, {key: 64}, "here")


def test_edits_are_of_lines_that_there_are(folder: Path) -> None:
    made = TextGenerator.load(str(folder), SETTINGS, "cpu")
    first, marks, lines = 100, 50, 3

    async def run() -> list[int]:
        edits = EditMarks(first, marks, [lines])
        pieces = made.tokens([5, 6, 7], 2.0, 40, edits)
        return [token async for piece in pieces if isinstance(piece, list) for token in piece]

    answers = []
    try:
        for seed in range(8):  # of random weights not each answer names a line
            torch.manual_seed(seed)
            answers.append(asyncio.run(run()))
    finally:
        made.close()
    named = [
        [token - first for token in each if first <= token < first + marks] for each in answers
    ]
    assert any(named)
    for tokens, numbers in zip(answers, named, strict=True):
        assert not numbers or tokens[0] - first == numbers[0]
        assert numbers == sorted(set(numbers) & set(range(lines)))


class Bytes:
    """A tokenizer whose tokens are bytes: one character may take several."""

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return bytes(ids).decode("utf-8", "replace")


@pytest.mark.parametrize("text", ["plain", "größer → 10 µs 🙂", ""])
def test_text_comes_whole_whatever_the_pieces(text: str) -> None:
    for size in (1, 2, 3):
        found, data = Detokenizer(Bytes()), list(text.encode())
        pieces = [found.add(data[at : at + size]) for at in range(0, len(data), size)]
        assert "".join(pieces) + found.rest() == text
        assert not any("\ufffd" in piece for piece in pieces)
