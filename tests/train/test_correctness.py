"""What training computes, against plain PyTorch and against itself on other engines."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch

from cass_ray.llm.pretrained import load_tokenizer
from cass_ray.train.data.collate import collate
from cass_ray.train.data.sources import make_plan
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.engines.optimizers import learning_rate
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.model.attention import example_lengths
from cass_ray.train.model.build import fresh_config
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import OptimizerSettings
from tests.train.conftest import tiny_settings
from tests.train.group import run_group
from tests.train.model.test_activation_checkpoint import make_batch, make_prepared
from tests.train.runs import ALONE, changed, train, with_data


def test_packed_examples_give_the_logits_of_each_alone():
    prepared = make_prepared()
    model = prepared.model.model.eval()
    batch = make_batch((17, 30, 9))
    packed = model.get_decoder()(
        input_ids=batch.input_ids,
        position_ids=batch.position_ids,
        lengths=example_lengths(batch.lengths),
    ).last_hidden_state
    start = 0
    for length in batch.lengths:
        alone = model.get_decoder()(input_ids=batch.input_ids[:, start : start + length])
        torch.testing.assert_close(packed[:, start : start + length], alone.last_hidden_state)
        start += length


def test_packed_loss_is_the_sum_of_each_alone_by_plain_transformers():
    from transformers import AutoModelForCausalLM

    prepared = make_prepared()
    batch = make_batch((17, 30, 9))
    config = prepared.model.model.config
    plain = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    plain.load_state_dict(prepared.model.model.state_dict())
    wanted = set(batch.predictors.tolist())
    expected, start = 0.0, 0
    for length in batch.lengths:
        ids = batch.input_ids[:, start : start + length]
        labels = torch.full_like(ids, -100)
        for place in range(1, length):
            if start + place - 1 in wanted:
                labels[0, place] = ids[0, place]
        if (labels != -100).any():
            mean = plain(input_ids=ids, labels=labels).loss
            expected += float(mean) * int((labels != -100).sum())
        start += length
    # Predictors at the last token of an example point into the next one; the batch has them, the
    # store never makes them.
    ends = np.cumsum(batch.lengths)[:-1] - 1
    extra = [i for i, place in enumerate(batch.predictors.tolist()) if place in ends]
    keep = [i for i in range(len(batch.predictors)) if i not in extra]
    batch = type(batch)(
        **{**batch.__dict__, "predictors": batch.predictors[keep], "targets": batch.targets[keep]}
    )
    assert float(prepared.model(batch)) == pytest.approx(expected, rel=1e-5)


def plain_losses(settings, steps: int) -> list[float]:
    """The loop of a textbook: every example alone, fp32, ``torch.optim.AdamW``."""
    from transformers import AutoModelForCausalLM

    files = RunFiles(settings.out)
    tokenizer, store = load_tokenizer(str(files.tokenizer)), TokenStore(files.train)
    torch.manual_seed(settings.seed)
    config = fresh_config(
        settings.model.fresh, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id
    )
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
    losses = []
    for step, windows in enumerate(islice(make_plan(settings, store).from_step(0), steps)):
        examples = [store[number] for window in windows for number in window]
        answers = sum(len(e.tokens) - e.answer_start for e in examples)
        optimizer.zero_grad()
        total = 0.0
        for example in examples:
            ids = torch.tensor(example.tokens[None].astype(np.int64))
            logits = model(input_ids=ids).logits[0, example.answer_start - 1 : -1]
            loss = torch.nn.functional.cross_entropy(
                logits, ids[0, example.answer_start :], reduction="sum"
            )
            (loss / answers).backward()
            total += float(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.optimizer.max_grad_norm)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings.optimizer, step, steps)
        optimizer.step()
        losses.append(total / answers)
    return losses


def test_fifty_steps_follow_a_plain_fp32_loop(tmp_path, pairs_folder):
    settings = with_data(tiny_settings(tmp_path, pairs_folder, steps=50, checkpoints__every=1000))
    ours = [loss for _, loss, _ in train(ALONE, settings)[0]]
    plain = plain_losses(settings, 50)
    assert ours == pytest.approx(plain, abs=1e-2)
    assert plain[0] - plain[-1] > 0.5  # it is learning that is compared


def test_resuming_gives_the_losses_of_no_interruption(tmp_path, pairs_folder):
    whole = with_data(tiny_settings(tmp_path / "a", pairs_folder, steps=8))
    parts = with_data(tiny_settings(tmp_path / "b", pairs_folder, steps=8))
    [expected] = train(ALONE, whole)
    # The first half is told of all eight steps, and stopped after four.
    with pytest.raises(KeyboardInterrupt):
        train_until(parts, 4)
    [found] = train(ALONE, parts)
    assert [step for step, _, _ in found] == [5, 6, 7, 8]
    assert found == [
        (step, pytest.approx(loss, abs=1e-6), pytest.approx(norm))
        for step, loss, norm in expected[4:]
    ]


def train_until(settings, last: int) -> None:
    from cass_ray.train.trainer import Trainer

    def hear(step: int, _: dict[str, float]) -> None:
        # One step later: the checkpoint of `last` is committed by then.
        if step == last + 1:
            raise KeyboardInterrupt

    Trainer(settings, ALONE, on_step=hear, say=lambda _: None).run()


@pytest.mark.slow
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_zero_stages_on_two_workers_agree_with_one_worker(tmp_path, pairs_folder, stage):
    alone = with_data(tiny_settings(tmp_path / "one", pairs_folder, steps=4))
    many = with_data(
        tiny_settings(
            tmp_path / "two",
            pairs_folder,
            steps=4,
            zero__stage=stage,
            zero__overlap=False,
            zero__group_elements=10_000,
            workers__number=2,
        )
    )
    [expected] = train(ALONE, alone)
    for [record] in run_group(2, train, many):
        assert record == [
            (step, pytest.approx(loss, abs=1e-4), pytest.approx(norm, abs=1e-3))
            for step, loss, norm in expected
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [((2, 2), (1, 0)), ((1, 0), (2, 3)), ((2, 3), (1, 2))]
)
def test_a_run_resumes_on_another_number_of_workers(tmp_path, pairs_folder, first, second):
    whole = with_data(tiny_settings(tmp_path / "a", pairs_folder, steps=6))
    [expected] = train(ALONE, whole)
    moved = with_data(
        tiny_settings(
            tmp_path / "b",
            pairs_folder,
            steps=4,
            optimizer__schedule="constant",
            optimizer__warmup_ratio=0.0,
            zero__overlap=False,
        )
    )
    reference = changed(moved, out=tmp_path / "c", steps=6)
    [expected] = train(ALONE, with_data(reference))
    for (workers, stage), steps in ((first, 4), (second, 6)):
        settings = changed(moved, workers__number=workers, zero__stage=stage, steps=steps)
        [found] = run_group(workers, train, settings)[0]
    assert found == [
        (step, pytest.approx(loss, abs=1e-4), pytest.approx(norm, abs=1e-3))
        for step, loss, norm in expected[4:]
    ]


@pytest.mark.parametrize("kind", ["adamw", "paged-adamw", "paged-adamw-8bit"])
@pytest.mark.parametrize("masters", [True, False])
def test_bf16_weights_learn_with_every_optimizer(kind, masters):
    prepared = make_prepared()
    prepared.model.to(torch.bfloat16)
    settings = OptimizerSettings(
        kind=kind,
        learning_rate=1e-2,
        master_weights=masters,
        grad_accum_dtype="fp32" if masters else "bf16",
    )
    engine = ReplicatedEngine(prepared.model, settings, ALONE)
    batch = make_batch((40, 24))
    losses = []
    for _ in range(12):
        losses.append(float(engine.accumulate(batch, 1 / len(batch.targets), True)))
        engine.update(1e-2)
    assert losses[-1] < 0.7 * losses[0]


def test_gradients_accumulate_in_fp32_where_bf16_would_lose_them():
    """256 + 1 is 256 in bf16: a sum kept in fp32 ends at 266, one in bf16 at 256."""
    prepared = make_prepared()
    prepared.model.to(torch.bfloat16)
    engine = ReplicatedEngine(prepared.model, OptimizerSettings(), ALONE)
    name, parameter = next(iter(prepared.model.named_parameters()))
    for value in (256.0, *[1.0] * 10):
        (parameter * torch.full_like(parameter, value)).sum().backward()
    assert parameter.grad is None
    assert float(engine._sums[name].max()) == 266.0


def test_collated_examples_predict_their_own_answers(tmp_path, pairs_folder):
    settings = with_data(tiny_settings(tmp_path, pairs_folder))
    store = TokenStore(RunFiles(settings.out).train)
    batch = collate(store, [(3, 1), (2,)])
    assert batch.lengths == tuple(int(store.lengths[n]) for n in (3, 1, 2))
    assert batch.position_ids[0, : batch.lengths[0]].tolist() == list(range(batch.lengths[0]))
    assert batch.position_ids[0, batch.lengths[0]] == 0
    torch.testing.assert_close(batch.input_ids[0, batch.predictors + 1], batch.targets)
    answers = [store[n].tokens[store[n].answer_start :] for n in (3, 1, 2)]
    assert batch.targets.tolist() == np.concatenate(answers).tolist()
