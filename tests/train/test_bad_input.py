"""What cannot be trained on is said before anything starts."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cass_ray.llm.pretrained import ModelError, RopeSettings, extend_rope, positions
from cass_ray.train.data.examples import DataError, ExampleGenerator, split_rows
from cass_ray.train.data.prepare import check_window, make_tokenizer, pair_files
from cass_ray.train.model.build import fresh_config
from cass_ray.train.settings import FreshModel
from tests.train.conftest import pair, tiny_settings
from tests.train.runs import changed


def run_cli(*arguments: str):
    from jobs.train import app

    return CliRunner().invoke(app, [*arguments])


def test_an_unknown_setting_names_the_nearest(tmp_path):
    config = tmp_path / "train.yaml"
    config.write_text("name: x\nout: x\ndata: {pairs: [x], windw: 9}\nmodel: {base: m}\n")
    result = run_cli("--config", str(config))
    assert result.exit_code == 2
    assert "did you mean `window`" in result.output


def test_a_folder_without_pairs_says_how_to_build_them(tmp_path):
    with pytest.raises(DataError, match="cass build-dataset --out"):
        pair_files([tmp_path])


def test_an_unknown_model_names_the_folder_beside(tmp_path, pairs_folder):
    (tmp_path / "models" / "small").mkdir(parents=True)
    settings = changed(
        tiny_settings(tmp_path, pairs_folder),
        model__fresh=None,
        model__base=str(tmp_path / "models" / "smal"),
    )
    with pytest.raises(ModelError, match="did you mean `small`"):
        make_tokenizer(settings, pair_files([pairs_folder]))


def test_a_tokenizer_without_chat_template_is_refused(tmp_path, pairs_folder):
    settings = tiny_settings(tmp_path, pairs_folder)
    tokenizer = make_tokenizer(settings, pair_files([pairs_folder]))
    tokenizer.chat_template = None
    base = tmp_path / "base"
    tokenizer.save_pretrained(base)
    fresh_config(FreshModel(), 512, 1, 0).save_pretrained(base)
    settings = changed(settings, model__fresh=None, model__base=str(base))
    with pytest.raises(ModelError, match="no chat template"):
        make_tokenizer(settings, pair_files([pairs_folder]))


def test_a_window_beyond_the_models_positions_names_the_extension():
    config = fresh_config(FreshModel(max_position_embeddings=4096), 512, 1, 0)
    with pytest.raises(ModelError, match=r"kind: yarn, factor: 4\.0"):
        check_window(config, 16384, "m")


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn"])
def test_an_extended_model_has_the_positions_and_runs_on_them(kind):
    import torch
    from transformers import AutoModelForCausalLM

    sizes = FreshModel(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    config = fresh_config(sizes, 512, 1, 0)
    extend_rope(config, RopeSettings(kind=kind, factor=2.0))
    assert positions(config) == 128
    check_window(config, 128, "m")
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval()
    ids = torch.arange(100)[None]
    extended = model(input_ids=ids).logits
    torch.manual_seed(0)
    plain = AutoModelForCausalLM.from_config(fresh_config(sizes, 512, 1, 0)).eval()
    assert torch.isfinite(extended).all()
    assert not torch.allclose(extended, plain(input_ids=ids).logits)


def test_no_example_under_the_limit_gives_the_reasons(tmp_path, pairs_folder):
    settings = tiny_settings(tmp_path, pairs_folder, data__window=64)
    maker = ExampleGenerator(settings.data, make_tokenizer(settings, pair_files([pairs_folder])))
    with pytest.raises(DataError, match=r"1 longer than the window.*raise data\.window"):
        split_rows(maker.examples(pair(1)))


@pytest.mark.parametrize(
    ("require", "verified", "used"),
    [
        ("none", "none", 1),
        ("compiled", "none", 0),
        ("compiled", "executed", 1),
        ("executed", "compiled", 0),
        ("executed", "executed", 1),
    ],
)
def test_verification_can_be_required(tmp_path, pairs_folder, require, verified, used):
    settings = tiny_settings(tmp_path, pairs_folder, data__require=require)
    maker = ExampleGenerator(settings.data, make_tokenizer(settings, pair_files([pairs_folder])))
    rows = list(maker.examples(pair(1, verified=verified)))
    assert sum(not row["dropped"] for row in rows) == used


def test_examples_of_both_levels_and_directions(tmp_path, pairs_folder):
    tasks = ["source", "source:hip-to-cuda", "assembly", "assembly:hip-to-cuda"]
    settings = tiny_settings(tmp_path, pairs_folder, data__tasks=tasks, data__executed_weight=2.5)
    tokenizer = make_tokenizer(settings, pair_files([pairs_folder]))
    row = pair(1, verified="executed")
    examples = list(ExampleGenerator(settings.data, tokenizer).examples(row))
    assert [item["task"] for item in examples] == [
        "source:cuda-to-hip",
        "source:hip-to-cuda",
        "assembly:cuda-to-hip",
        "assembly:hip-to-cuda",
    ]
    for item, column in zip(
        examples, ["hip_source", "cuda_source", "hip_device", "cuda_device"], strict=True
    ):
        prompt = tokenizer.decode(item["tokens"][: item["answer_start"]])
        answer = tokenizer.decode(item["tokens"][item["answer_start"] :])
        assert prompt.endswith("<|im_start|>assistant\n")
        assert row[column].strip() in answer
        assert answer.endswith("```<|im_end|>")
        assert item["weight"] == 2.5


def test_an_existing_run_is_not_overwritten(tmp_path, pairs_folder):
    from cass_ray.train.checkpoint.store import CheckpointStore
    from cass_ray.train.checkpoint.writer import CheckpointWriter

    settings = tiny_settings(tmp_path, pairs_folder)
    writer = CheckpointWriter(CheckpointStore(settings.checkpoint_url), 0, 1)
    writer.start(7, [], {})
    writer.finish()
    writer.commit()
    config = tmp_path / "train.yaml"
    config.write_text(json.dumps(settings.model_dump(mode="json")))
    result = run_cli("--config", str(config))
    assert result.exit_code == 2
    assert "holds a run up to step 7: go on with --resume" in result.output
