"""Settings: recipes load, and what cannot work is said."""

import pytest

from cass_ray.config import SettingsError, load, validate
from cass_ray.train.model.memory import advice, resident_gib
from cass_ray.train.settings import (
    BatchSettings,
    LoraSettings,
    ModelSettings,
    RecipeSettings,
    TrainSettings,
)
from tests.folders import REPOSITORY

RECIPES = sorted((REPOSITORY / "jobs/configs").glob("train_*.yaml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_load(path):
    assert load(TrainSettings, path, {}).name == path.stem.removeprefix("train_").replace("_", "-")


def test_the_papers_recipe_is_its_numbers():
    for size in ("1.5b", "3b", "7b"):
        settings = load(TrainSettings, RECIPES[0].with_name(f"train_{size}_assembly.yaml"), {})
        assert settings.data.window == 16384
        assert settings.optimizer.learning_rate == 1e-5
        assert settings.epochs == 2
        assert settings.batch.global_batch_size == 4 * 4 * 32  # GPUs, batch, accumulation
        assert settings.optimizer.kind.startswith("paged-adamw")


def test_the_global_batch_does_not_depend_on_the_number_of_workers():
    batch = BatchSettings(global_batch_size=12, micro_batch_size=2)
    assert [batch.accumulation(n) * n * 2 for n in (1, 2, 3, 6)] == [12] * 4
    with pytest.raises(ValueError, match=r"numbers of workers that can: 1, 2, 3, 6"):
        batch.accumulation(4)


def test_fp8_is_for_training_all_weights():
    with pytest.raises(ValueError, match="goes without `lora`"):
        ModelSettings(base="m", fp8=True, lora=LoraSettings())


def values(**changes):
    data = {"pairs": ["x"], "window": 512}
    return {"name": "t", "out": "o", "data": data, "model": {"base": "m"}} | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"optimiser": {}}, "did you mean `optimizer`"),
        ({"model": {}}, "give `base`"),
        ({"model": {"base": "m", "load_bits": 4}}, "needs `lora`"),
        ({"data": {"pairs": ["x"], "tasks": ["sourc"]}}, "did you mean `source`"),
        ({"zero": {"stage": 2, "offload_parameters": "cpu"}}, "needs stage 3"),
        ({"zero": {"stage": 2}, "optimizer": {"master_weights": False}}, "needs `zero.stage: 0`"),
        ({"workers": {"number": 5}}, "cannot be split over 5 worker"),
        ({"workers": {"number": 3, "sequence_parallel": 2}}, "does not divide `number` = 3"),
        (
            {"model": {"fresh": {"max_position_embeddings": 256}}},
            "larger than model.fresh.max_position_embeddings = 256",
        ),
        ({"batch": {"windows": 4}}, "`batch.windows`; it is called `global_batch_size` now"),
        ({"batch": {"at_once": 4}}, "it is called `micro_batch_size` now"),
        ({"rejection": {}}, "`rejection`; it is gone.*jobs/train_rl.py"),
        ({"data": {"pairs": ["x"], "packing": "none"}}, "always packed"),
        ({"model": {"base": "x", "fused_mlp": True}}, "`model.fused_mlp`; it gained less than 2%"),
        ({"model": {"base": "m", "recompute": "all"}}, "called `activation_checkpointing` now"),
    ],
)
def test_bad_settings_say_what_would_do(changes, message):
    with pytest.raises(SettingsError, match=message):
        validate(TrainSettings, values(**changes), "t.yaml")


def test_memory_counts_what_a_gpu_holds():
    """ZeRO paper (Rajbhandari et al., 2020), 7.5B weights, mixed-precision Adam: 16 bytes a weight
    replicated; over 64 GPUs 31.4 / 16.6 / 1.9 GB for stages 1, 2 and 3 (figure 1)."""
    optimizer = {"grad_accum_dtype": "bf16"}
    batch = {"global_batch_size": 64}
    expected = {0: 120.0, 1: 31.4, 2: 16.6, 3: 1.9}
    for stage, gigabytes in expected.items():
        given = values(optimizer=optimizer, zero={"stage": stage}, batch=batch)
        settings = validate(TrainSettings, given, "t")
        found = resident_gib(settings, 7_500_000_000, 64) * 2**30 / 1e9
        assert found == pytest.approx(gigabytes, rel=0.03)


def test_advice_names_settings_that_need_less():
    settings = validate(TrainSettings, values(optimizer={"kind": "paged-adamw"}), "t")
    text = advice(settings, 7_000_000_000, 4, 80)
    assert "80 GiB are there" in text
    for line in (
        "model.activation_checkpointing: all",
        "paged-adamw-8bit (",
        "zero.stage: 3 (",
        "data.window: 256",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("compiled", "shared", "multiple"),
    [("static", 1, 128), (True, 1, 128), (True, 4, 512), (False, 1, 1), (False, 4, 1)],
)
def test_rows_are_a_multiple_where_code_is_compiled(compiled, shared, multiple, caplog):
    given = values(
        model={"base": "x", "compile": compiled},
        batch={"global_batch_size": 4},
        workers={"number": 4, "sequence_parallel": shared},
        steps=1,
    )
    settings = validate(TrainSettings, given, "t")
    assert settings.row_multiple == multiple
    assert settings.model.compile is bool(compiled)
    assert ("`static` is deprecated, and means `true`" in caplog.text) is (compiled == "static")


@pytest.mark.parametrize(
    ("former", "name", "value"),
    [
        ("longest", "max_tokens", 512),
        ("shortest_limit", "initial_max_tokens", 128),
        ("respelled", "rename_share", 0.25),
        ("exchanged", "api_swap_share", 0.5),
        ("foreign_text", "non_ascii_share", 0.75),
        ("parts", "excerpt_share", 1.0),
    ],
)
def test_a_recipe_is_read_by_former_names_of_its_settings(former, name, value):
    recipe = validate(RecipeSettings, {former: value}, "t")
    assert getattr(recipe, name) == value
    assert validate(RecipeSettings, {name: value}, "t") == recipe
    assert validate(RecipeSettings, recipe.model_dump(), "t") == recipe
