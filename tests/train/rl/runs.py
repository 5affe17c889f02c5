"""A tiny model, loaded as workers load it."""

from __future__ import annotations

from pathlib import Path

import torch

from cass_ray.llm.pretrained import load_tokenizer
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.rl.learner import Learner, PolicyModel, policy_engine
from cass_ray.train.rl.rollouts import DecoderRollouts, EditQuestion
from cass_ray.train.rl.settings import RlSettings, SamplingSettings
from cass_ray.translate.rules.tables import snippets

SAMPLING = SamplingSettings(
    questions=2, group=32, temperature=1.0, max_new_tokens=3, rest=0, rows=64
)
SETTINGS = RlSettings.model_validate(
    {
        "sampling": SAMPLING.model_dump(),
        "optimizer": {"learning_rate": 0.01, "schedule": "constant", "warmup_ratio": 0.0},
        "steps": 3,
        "micro_batch_tokens": 400,
        "ahead": 0,
    }
)
QUESTIONS = [EditQuestion(f"q{number}", f"int a{number};\nint b;\n") for number in range(2)]


def load(folder: Path):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model, TranslationFormat(load_tokenizer(str(folder)), snippets())


def make_rollouts(folder: Path) -> DecoderRollouts:
    model, form = load(folder)
    return DecoderRollouts(model.eval(), form, SAMPLING, longest=100)


def learner_of(folder, settings=SETTINGS):
    torch.manual_seed(0)
    model, form = load(folder)
    policy = PolicyModel(model, settings, form.end)
    context = DistributedContext(0, 1, torch.device("cpu"))
    engine = policy_engine(policy, settings, context)
    return Learner(policy, engine, form, settings, context)
