"""The ``model:PATH`` engine, with models whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.config import SettingsError
from cass_ray.task import Direction, Level, Task
from cass_ray.translate.engines.model import ModelTranslator, parse_engine
from cass_ray.translate.engines.registry import UnknownEngineError, make_translator
from cass_ray.translate.protocol import Context, TranslatorError

pytest.importorskip("torch", reason="models need the extra `train`")

QUESTIONS = {"int a;": "int b;", "int c;": "int d;"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model that has learned two answers by heart."""
    import torch
    from transformers import AutoModelForCausalLM

    from cass_ray.llm.chat_format import encode_with_answer
    from cass_ray.llm.prompts import OURS
    from cass_ray.train.data.tokenizer import train_tokenizer
    from cass_ray.train.model.build import fresh_config
    from cass_ray.train.settings import FreshModel

    task = Task()
    texts = [OURS.question(task, q) + OURS.answer(task, a) for q, a in QUESTIONS.items()]
    tokenizer = train_tokenizer(texts * 20, 512)
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
    model = AutoModelForCausalLM.from_config(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    examples = [
        encode_with_answer(tokenizer, OURS.messages(task, q), OURS.answer(task, a))
        for q, a in QUESTIONS.items()
    ]
    for _ in range(400):
        optimizer.zero_grad()
        losses = []
        for ids, start in examples:
            labels = torch.tensor([[-100] * start + ids[start:]])
            loss = model(input_ids=torch.tensor([ids]), labels=labels).loss
            loss.backward()
            losses.append(float(loss))
        optimizer.step()
        if max(losses) < 0.02:
            break
    out = tmp_path_factory.mktemp("model")
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "cass_ray.json").write_text(json.dumps({"prompt": "ours"}))
    return out


def test_the_models_answer_is_the_translation(folder):
    translator = make_translator(f"model:{folder}")
    for question, answer in QUESTIONS.items():
        translation = translator.translate(question)
        assert translation.source == answer
        assert translation.findings == ()


def test_an_answer_without_code_is_an_error_and_leaves_the_source(folder):
    translator = make_translator(f"model:{folder}?max_new_tokens=1")
    translation = translator.translate("int a;")
    assert translation.source == "int a;"
    assert "no code block" in translation.errors[0].message


def test_an_answer_that_was_cut_says_so(folder):
    translator = make_translator(f"model:{folder}?max_new_tokens=6")
    [finding] = translator.translate("int a;").errors
    assert "cut" in finding.message


def test_samples_follow_the_seed(folder):
    translator = ModelTranslator.from_engine(
        f"model:{folder}?temperature=3&samples=4&max_new_tokens=12"
    )
    texts = [[a.text for a in translator.samples("int a;", Task())] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 4
    assert len(set(texts[0])) > 1
    other = ModelTranslator.from_engine(
        f"model:{folder}?temperature=3&samples=4&max_new_tokens=12&seed=7"
    )
    assert [a.text for a in other.samples("int a;", Task())] != texts[0]


def test_a_question_longer_than_the_model_names_the_extension(folder):
    with pytest.raises(TranslatorError, match=r"extend it with \?rope=yarn:2"):
        make_translator(f"model:{folder}").translate("int a;\n" * 200)
    extended = make_translator(f"model:{folder}?rope=yarn:16&max_new_tokens=4")
    assert extended.translate("int a;\n" * 200).errors  # it runs; the answer is no use


def test_level_and_direction_come_with_the_context(folder):
    translator = ModelTranslator.from_engine(f"model:{folder}?format=cass")
    context = Context(settings={"level": "source", "direction": "hip-to-cuda"})
    with pytest.raises(TranslatorError, match="has no task `source:hip-to-cuda`"):
        translator.translate("int a;", context=context)


def test_the_format_is_the_models_own_or_the_published_ones_by_name(folder):
    assert ModelTranslator(str(folder)).format.name == "ours"
    assert ModelTranslator("ahmedheakl/cass-src-7b").format.name == "cass"
    task = Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)
    assert "hipasm" in ModelTranslator("ahmedheakl/cass-smA100-7b").format.answer(task, "x")


def test_the_version_changes_with_options_and_files(folder):
    first = ModelTranslator.from_engine(f"model:{folder}").version
    assert first == ModelTranslator.from_engine(f"model:{folder}").version
    assert first != ModelTranslator.from_engine(f"model:{folder}?max_new_tokens=9").version


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("model:", "needs a folder or a name"),
        ("model:x?max_new_token=3", "did you mean `max_new_tokens`"),
        ("model:x?task=sorce", "did you mean"),
        ("model:/nowhere/model", "no such folder"),
    ],
)
def test_bad_engines_say_what_would_do(engine, message):
    with pytest.raises(UnknownEngineError, match=message):
        make_translator(engine)


def test_a_folder_without_a_model_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match=r"no config\.json"):
        ModelTranslator(str(tmp_path))


def test_an_engine_is_parsed():
    path, options = parse_engine("model:a/b?temperature=0.8&samples=4&rope=yarn:2")
    assert path == "a/b"
    assert (options.temperature, options.samples, options.rope) == (0.8, 4, "yarn:2")
