"""Examples as they are drawn: what they hold, and that a step number fixes a batch."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from cass_ray.config import validate
from cass_ray.llm.line_edits import regions
from cass_ray.task import Direction
from cass_ray.train.checkpoint.store import CheckpointStore
from cass_ray.train.data.augment import part, respell, with_foreign_text
from cass_ray.train.data.collate import Batch, padded
from cass_ray.train.data.examples import DataError
from cass_ray.train.data.loader import OptimizerStep
from cass_ray.train.data.recipe import DrawnExample, lay_out
from cass_ray.train.data.recipe_files import api_names, load_recipe, prepare_recipe
from cass_ray.train.data.recipe_loader import RecipeLoader
from cass_ray.train.settings import TrainSettings
from cass_ray.train.trainer import Trainer
from cass_ray.translate.rules import tables
from tests.train.conftest import pair
from tests.train.runs import ALONE

ROW = 1536


def settings(folder: Path, **changes: Any) -> TrainSettings:
    values: dict[str, Any] = {
        "name": "recipe",
        "out": folder / "run",
        "data": {
            "pairs": [folder],
            "window": ROW,
            "recipe": {
                "row_tokens": ROW,
                "max_tokens": 1024,
                "initial_max_tokens": 1024,
                "processes": 0,
                "held_out_repositories": ["someone/kept"],
            },
        },
        "model": {
            "precision": "fp32",
            "fresh": {
                "family": "qwen3",
                "vocab_size": 2048,
                "hidden_size": 32,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "num_key_value_heads": 1,
                "intermediate_size": 64,
                "max_position_embeddings": 2048,
            },
        },
        "optimizer": {"kind": "muon", "learning_rate": 0.02, "schedule": "trapezoid"},
        "batch": {"global_batch_size": 1},
        "steps": 6,
        "workers": {"gpus": 0},
        "checkpoints": {"every": 3, "keep": 4},
        "evaluation": {"every": 100},
        "logging": {"tensorboard": False},
    }
    return validate(TrainSettings, values | changes, "test")


def with_recipe(made: TrainSettings, **changes: Any) -> TrainSettings:
    assert made.data.recipe is not None
    recipe = made.data.recipe.model_copy(update=changes)
    data = made.data.model_copy(update={"recipe": recipe})
    return made.model_copy(update={"data": data})


def rows() -> list[dict[str, Any]]:
    kept = ("id", "cuda_source", "hip_source", "origin", "repository")
    made = [{name: pair(number)[name] for name in kept} for number in range(12)]
    return [row | {"repository": "someone/kept" if n < 2 else "a/b"} for n, row in enumerate(made)]


@pytest.fixture
def prepared(tmp_path: Path) -> TrainSettings:
    made = settings(tmp_path)
    counts = prepare_recipe(made, [], rows())
    assert counts == {"pairs": 10, "held_out": 2, "no_sources": 0, "held_out_examples": 4}
    return made


def test_rows_without_a_port_are_skipped_and_counted(tmp_path):
    made = settings(tmp_path)
    without = [{**row, "hip_source": ""} for row in rows()[:3]] + [
        {**rows()[0], "hip_source": None}
    ]
    counts = prepare_recipe(made, [], [*rows(), *without])
    assert (counts["pairs"], counts["no_sources"]) == (10, 4)
    with pytest.raises(DataError, match="4 rows have no source on both sides"):
        prepare_recipe(made, [], without)


def test_a_step_number_fixes_its_batch(prepared):
    first, again = load_recipe(prepared), load_recipe(prepared)

    assert torch.equal(first.batch(5).input_ids, again.batch(5).input_ids)
    assert not torch.equal(first.batch(5).input_ids, first.batch(6).input_ids)
    assert not torch.equal(first.batch(5, 0).input_ids, first.batch(5, 1).input_ids)


def test_answers_lead_to_the_other_side(prepared):
    recipe = load_recipe(prepared)
    row = rows()[5]
    cuda, hip = row["cuda_source"].split("\n"), row["hip_source"].split("\n")

    edits = recipe.example("x", cuda, hip, whole_file=False, first=1000)
    file = recipe.example("x", cuda, hip, whole_file=True)

    assert recipe.format.read_edits(cuda, edits.answer, 1000) == row["hip_source"]
    assert recipe.format.read_file(file.answer) == row["hip_source"]
    assert len(edits.answer) < len(file.answer)
    assert (edits.weight, file.weight) == (2.0, 1.0)


def test_answers_lead_back(prepared):
    recipe = load_recipe(prepared)
    row = rows()[5]
    cuda, hip = row["cuda_source"].split("\n"), row["hip_source"].split("\n")
    back = Direction.HIP_TO_CUDA

    edits = recipe.example("x", cuda, hip, whole_file=False, first=1000, direction=back)
    file = recipe.example("x", cuda, hip, whole_file=True, direction=back)

    assert list(edits.question) == recipe.format.edit_question(hip, 1000, back)
    assert list(edits.question) != recipe.format.edit_question(hip, 1000)
    assert recipe.format.read_edits(hip, edits.answer, 1000) == row["cuda_source"]
    assert recipe.format.read_file(file.answer, back) == row["cuda_source"]


@pytest.mark.parametrize(
    ("backward", "kinds", "share"), [(0.0, None, 0), (1.0, None, 1), (1.0, [], 0)]
)
def test_how_many_ask_for_cuda(tmp_path, backward, kinds, share):
    changes = {"backward": backward} | ({"backward_kinds": kinds} if kinds is not None else {})
    made = with_recipe(settings(tmp_path), **changes)
    prepare_recipe(made, [], rows())
    recipe = load_recipe(made)
    chance = random.Random(1)
    drawn = [recipe.format.text_of(recipe.draw(chance, 1024).question) for _ in range(30)]

    asked_back = sum("Edit this HIP" in text or "```hip" in text for text in drawn)

    assert asked_back == share * len(drawn)


def test_no_cuda_is_asked_for_behind_a_snippet(tmp_path):
    named = {"hip_source": next(iter(tables.snippets().values())) + "int x;\n"}
    made = with_recipe(settings(tmp_path), backward=1.0, excerpt_share=0.0)
    prepare_recipe(made, [], [row | named for row in rows()])

    with pytest.raises(ValueError, match="no example"):
        load_recipe(made).draw(random.Random(1), 1024)


def test_a_row_has_one_size_and_padding_has_no_targets(prepared):
    batch = load_recipe(prepared).batch(0)

    assert batch.tokens == sum(batch.lengths) == ROW
    assert batch.weights is not None
    assert len(batch.targets) == len(batch.predictors) == len(batch.weights)
    assert torch.equal(batch.input_ids[0, batch.predictors + 1], batch.targets)


def test_lay_out_by_hand():
    batch = lay_out([DrawnExample("a", [5, 6, 7], [8, 9], 2.0)], 8, padding=0)

    assert batch.input_ids.tolist() == [[5, 6, 7, 8, 9, 0, 0, 0]]
    assert batch.position_ids.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2]]
    assert batch.lengths == (5, 3)
    assert (batch.predictors.tolist(), batch.targets.tolist()) == ([2, 3], [8, 9])
    assert padded(batch, 8, 0) is batch


def test_a_run_goes_on_as_if_it_had_not_stopped(prepared):
    whole = Trainer(prepared, ALONE, say=lambda _: None).run()
    CheckpointStore(prepared.checkpoint_url).remove(6)

    rest = Trainer(prepared, ALONE, say=lambda _: None).run()

    assert rest.resumed_from == 3
    assert rest.loss == pytest.approx(whole.loss, rel=1e-5)
    assert rest.held_out_loss == pytest.approx(whole.held_out_loss, rel=1e-5)


def test_a_process_makes_the_same_rows(prepared):
    alone = list(taken(RecipeLoader(prepared, ALONE)))
    helped = list(taken(RecipeLoader(with_recipe(prepared, processes=1), ALONE)))

    assert [step.predicted for step, _ in helped] == [step.predicted for step, _ in alone]
    assert all(
        torch.equal(a.input_ids, b.input_ids) for (_, a), (_, b) in zip(alone, helped, strict=True)
    )


def taken(loader: RecipeLoader) -> Iterator[tuple[OptimizerStep, Batch]]:
    for step in loader.steps(1, 4):
        yield step, loader.batch()[0]


def test_what_is_wrong_with_settings(tmp_path):
    with pytest.raises(ValueError, match="set `steps`"):
        settings(tmp_path, steps=None)
    with pytest.raises(ValueError, match="whole matrices"):
        settings(tmp_path, zero={"stage": 2})


def test_the_record_says_what_tokens_were_made_from(prepared):
    record = json.loads((prepared.out / "tokens" / "data.json").read_text())

    assert record["counts"]["pairs"] == 10


def test_respelled_names_are_the_same_on_both_sides():
    row = rows()[3]
    cuda, hip = respell(
        row["cuda_source"].split("\n"), row["hip_source"].split("\n"), random.Random(1)
    )

    assert cuda != row["cuda_source"].split("\n")
    back = [
        line.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda") for line in hip
    ]
    assert back == cuda


def test_exchanged_names_are_counterparts():
    row = rows()[3]
    names = api_names()
    cuda, hip = names.exchanged(
        row["cuda_source"].split("\n"), row["hip_source"].split("\n"), random.Random(2), 1.0
    )

    new = set(" ".join(cuda).split("(")) - set(row["cuda_source"].split("("))
    assert new
    assert "cudaMallocManaged" not in "".join(cuda)
    assert "hipMallocManaged" not in "".join(hip)
    assert "cuda" not in "\n".join(hip)


def test_text_outside_ascii_is_the_same_on_both_sides():
    cuda, hip = with_foreign_text(
        ['x; // note', 'printf("a\\n");'] * 9, ['x; // note', 'printf("a\\n");'] * 9,
        random.Random(3),
    )  # fmt: skip

    assert cuda == hip
    assert not "".join(cuda).isascii()


def test_a_part_is_cut_where_both_sides_agree():
    cuda = [line for n in range(40) for line in (f"cudaA{n}();", "", f"b{n};", "}")]
    hip = [line.replace("cuda", "hip") for line in cuda]
    for seed in range(20):
        cut = part(cuda, hip, regions(cuda, hip), random.Random(seed), 400)
        assert cut is not None
        left, right = cut
        assert sum(map(len, left)) + len(left) <= 400
        assert [line.replace("cuda", "hip") for line in left] == right
