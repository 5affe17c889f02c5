"""The phases of a timed run: what each needs, what it runs on which GPUs, and until when.

Only the standard library is imported here and in :mod:`recipes.timed.run`: both run
before the packages have arrived that everything else needs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CPUS, GPUS, MORE_GPUS = "CPUs", "GPUs", "more GPUs"
RESOURCES = (CPUS, GPUS, MORE_GPUS)
"""What phases run on; those of one run one after the other. Of four GPUs and more supervised
training has all, reinforcement learning the first two, and the next two are ``MORE_GPUS`` then: for
answers of the supervised model, the loss with products in FP8 beside that in bf16, for figures of
training, and for a second arm of reinforcement learning where one is told something. With more
``rl_gpus`` reinforcement learning has them too, beside those answers, and the rest is left out."""
_OWN = 2
"""GPUs that answers and reinforcement learning use, at most."""
MODEL, RL_MODEL, SECOND_MODEL = "run/model", "run/model_rl", "run/model_second"
PROGRAMS = "held_out.jsonl"
_STEP_TOKENS = 65_536
"""Of the supervised run, over all GPUs: those of the sixth run."""

_JUDGED_AT = "-O0"
"""Of the judge's compiler: where it drops nothing, a wrong line is seen whose value nobody uses."""
_RL = (
    "--usable", "0", "--other", "0", "--unproved", "1", f"--optimization={_JUDGED_AT}",
    "--average", "0.9",
    "--set", "optimizer.learning_rate=0.00007",
    "--set", "sampling.temperature=1.1",
    "--set", "sampling.max_new_tokens=1280",
    "--set", "sampling.beyond_reference=1.5",
    "--set", "sampling.revisited=0.25",
    "--set", "sampling.questions=64",
    "--set", "sampling.mixed=26",
    "--set", "sampling.most_questions=112",
    "--set", "sampling.group=16",
    "--set", "guidance.kind=reference",
    "--set", "guidance.most=0.25",
    "--set", "guidance.steps=120",
    "--set", "ahead=2",
    "--set", "steps=500",
    "--measure-every", "60",
)  # fmt: skip
"""Reward only for what is right. Why these values: benchmarks/results/rl.md."""
_SHARED = (
    "--set", "share_questions=true", "--set", "micro_batch_tokens=16384",
    "--set", "shared_tokens=4096",
)  # fmt: skip
"""How the learner is to read its questions; the next attempt goes without, in case that fails."""
_QUESTIONS = (
    "--longest-answer", "1000", "--fresh", "16000", "--parts", "5000", "--most", "30000",
    "--long-share", "0.33", "--unseen-only",
)  # fmt: skip

_LOSS = (
    "--seconds", "10000", "--trial", "0", "--steps", "650", "--checkpoint-seconds", "100000",
    "--set", "model.fresh.hidden_size=1536", "--set", "model.fresh.num_hidden_layers=28",
    "--set", "model.fresh.num_attention_heads=12", "--set", "model.fresh.intermediate_size=8960",
    "--set", "optimizer.kind=adamw", "--set", "optimizer.learning_rate=0.0003",
    "--set", "optimizer.max_grad_norm=1.0", "--set", "data.recipe.row_tokens=16384",
    "--set", "data.recipe.processes=6", "--set", "logging.every=10",
)  # fmt: skip
"""The layers of a 1.5B with the vocabulary of the small run, 16,384 tokens a step."""

Command = Sequence[str]


@dataclass(frozen=True)
class Plan:
    """What a run is told, and what it knows of its machine; kept in ``OUT/plan.json``."""

    end: float
    """Seconds of the epoch at which the machine is gone."""
    training: float = 500
    """Seconds of supervised training, its start and the trial of its speed among them."""
    answering: float = 130
    """Seconds for the answers of a model, at most."""
    least_rl: float = 300
    """Seconds that are kept for reinforcement learning, however long training took to begin."""
    foreseeing: float = 240
    """Seconds for compiling, beside the supervised run, what answers will be compared with."""
    closing: float = 60
    """Seconds at the end for judging the last answers and taking everything home."""
    scaling: float = 230
    """Seconds that must be left for a measurement on two GPUs to be begun; with four GPUs, what
    those in bf16 may take."""
    gpus: int = 1
    rl_gpus: int = _OWN
    """Those of reinforcement learning, at most; more than two: nothing else is measured."""
    cores: int = 1
    prepare: list[str] = field(default_factory=lambda: ["--asked-only", "--reserved", "0.5"])
    """Options of ``recipes.small.model prepare`` and ``run``."""
    questions: list[str] = field(default_factory=lambda: [*_QUESTIONS])
    """Options of ``recipes.rl.loop questions``."""
    rl: list[str] = field(default_factory=lambda: [*_RL])
    """Options of ``recipes.rl.loop run``."""
    second: list[str] = field(default_factory=list)
    """What a second arm is told after them, where there are GPUs for it; nothing: there is none."""
    loss: list[str] = field(default_factory=lambda: [*_LOSS])
    """Options of ``recipes.small.model run`` for the loss in bf16 and in FP8."""
    losing: float = 360
    """Seconds for it, its start among them."""
    answers: list[str] = field(default_factory=list)
    """More options of ``recipes.small.model answer``."""
    asked: list[str] = field(default_factory=lambda: ["public", "bench", "back"])
    """What is answered greedily (``recipes.small.model answer --only``)."""

    @property
    def own(self) -> list[int]:
        """The GPUs of answers and of reinforcement learning; none on a machine without."""
        return list(range(min(self.gpus, _OWN)))

    @property
    def learning(self) -> list[int]:
        """The GPUs of reinforcement learning."""
        return list(range(min(self.gpus, max(_OWN, self.rl_gpus))))

    @property
    def has_figures(self) -> bool:
        """Whether there are GPUs for what is measured beside reinforcement learning."""
        return self.more is not None and len(self.learning) == _OWN

    @property
    def more(self) -> tuple[int, int] | None:
        """Two GPUs beside them, for figures of training and the second arm."""
        return (_OWN, _OWN + 1) if self.gpus >= _OWN + 2 else None


@dataclass(frozen=True)
class Lane:
    """Commands that run one after the other, on some GPUs (None: all that there are)."""

    commands: Sequence[Command]
    gpus: Sequence[int] | None = None


@dataclass(frozen=True)
class Context:
    """Where a phase runs, and for how long."""

    out: Path
    plan: Plan
    left: float
    """Seconds until the phase has to be done."""

    @property
    def data(self) -> str:
        return str(self.out / "parts")


@dataclass(frozen=True)
class Phase:
    """One phase. It is tried again by the next of ``attempts``, which are given its context."""

    name: str
    resource: str
    attempts: Sequence[Callable[[Context], list[Lane]]]
    needs: Sequence[str] = ()
    """Phases that must have ended well."""
    after: Sequence[str] = ()
    """Phases that must have ended, well or not: what they left is enough, or nothing of them is
    needed."""
    parts: Sequence[str] = ()
    """Names of parts, or what they begin with, that must have arrived."""
    before_end: Callable[[Plan], float] = lambda plan: plan.closing
    """Seconds before the end at which it is stopped."""
    longest: Callable[[Plan], float] = lambda plan: float("inf")
    """Seconds it may take."""
    grace: float = 10
    """Seconds that it may take longer than it was told."""
    least: float = 5
    """Seconds that are worth beginning it for."""
    nice: int = 0
    apart: bool = False
    """Whether it is shown the packages that came apart (:mod:`recipes.timed.parts`)."""
    records: Sequence[str] = ()
    """Files in ``OUT`` that are taken home, as patterns."""


def module(name: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", name, *map(str, arguments)]


# --- What the phases run ------------------------------------------------------------------------


def _prepare(at: Context) -> list[Lane]:
    command = module("recipes.small.model", "prepare", at.data, "--out", at.out, *at.plan.prepare)
    return [Lane([command])]


def _train(gpus: int | None, fresh: bool = False) -> Callable[[Context], list[Lane]]:
    """On so many GPUs, or all of them; after the newest checkpoint unless ``fresh``."""

    def lanes(at: Context) -> list[Lane]:
        shutil.rmtree(at.out / "trial", ignore_errors=True)
        if fresh:
            shutil.rmtree(at.out / "run/checkpoints", ignore_errors=True)
        number = min(gpus or at.plan.gpus, at.plan.gpus) or 1
        processes = max(1, min(15, at.plan.cores // number - 1))
        options = [
            f"batch.global_batch_size={number}",
            f"workers.number={number}",
            f"data.recipe.row_tokens={_STEP_TOKENS // number}",
            f"data.recipe.processes={processes}",
        ]
        run = [
            sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(number),
            "-m", "recipes.small.model", "run",
            at.data, "--out", str(at.out), "--seconds", f"{at.left - 10:.0f}", "--trial", "24",
            "--share", "0.9", "--checkpoint-seconds", "120",
            *(word for option in options for word in ("--set", option)), *at.plan.prepare,
        ]  # fmt: skip
        return [Lane([run])]

    return lanes


def _unpack(at: Context) -> list[Lane]:
    return [Lane([module("recipes.judge.tools", "unpack", at.data, "--to", at.out / "tools")])]


def _questions(at: Context) -> list[Lane]:
    held_out = module("recipes.rl.loop", "held-out", at.out, at.data, "--to", at.out / PROGRAMS)
    asked = module("recipes.rl.loop", "questions", at.out, *at.plan.questions)
    return [Lane([held_out, asked])]


def _foresee(at: Context) -> list[Lane]:
    command = module(
        "recipes.rl.loop", "foresee", at.out, "--tools", at.out / "tools",
        "--seconds", f"{at.left:.0f}", f"--optimization={_JUDGED_AT}",
    )  # fmt: skip
    return [Lane([command])]


def _answers(model: str, to: str, gpus: Sequence[int]) -> Callable[[Context], list[Lane]]:
    """Greedy answers to held-out programs and CASS-Bench on one GPU, samples on another."""

    def lanes(at: Context) -> list[Lane]:
        def ask(*options: object) -> list[str]:
            return module(
                "recipes.small.model", "answer", at.out / model, at.data, "--out", at.out / to,
                "--programs", at.out / PROGRAMS, "--seconds", f"{at.left - 25:.0f}",
                *options, *at.plan.answers,
            )  # fmt: skip

        greedy = ask("--only", *at.plan.asked, "--samples", 0)
        alone = [ask("--only", kind, "--samples", 0) for kind in at.plan.asked]
        samples = ask("--only", "public", "--public-samples", 2, "--no-greedy")
        if len(gpus) < 2:  # caches of two would not fit beside each other
            return [Lane([greedy, samples])]
        if len(gpus) > len(alone):
            return [Lane([ask], [gpu]) for gpu, ask in zip(gpus, [samples, *alone], strict=False)]
        return [Lane([greedy], gpus[-1:]), Lane([samples], gpus[:1])]

    return lanes


def _reinforce(
    model: str, to: str, gpus: Sequence[int], *told: str
) -> Callable[[Context], list[Lane]]:
    """Records in ``to``; from the model that was saved last, where a run was interrupted."""

    def lanes(at: Context) -> list[Lane]:
        saved = at.out / model
        begun = ["--model", str(saved)] if saved.exists() else []
        command = module(
            "recipes.rl.loop", "run", at.out, "--tools", at.out / "tools",
            "--seconds", f"{at.left - 20:.0f}", "--without-sandbox", "--save-every", 25,
            "--save", saved, "--records", at.out / to, "--measure", at.out / PROGRAMS,
            *begun, *told,
        )  # fmt: skip
        return [Lane([command], gpus or None)]

    return lanes


def _worth(answers: str, to: str) -> Callable[[Context], list[Lane]]:
    def lanes(at: Context) -> list[Lane]:
        command = module(
            "recipes.rl.loop", "worth", at.out / answers, "--of", at.out / PROGRAMS,
            "--tools", at.out / "tools", "--to", at.out / to, f"--optimization={_JUDGED_AT}",
        )  # fmt: skip
        return [Lane([command])]

    return lanes


def _weights(model: str, to: str) -> Callable[[Context], list[Lane]]:
    """A model in parts that are taken home when they are asked for, as it can be gone on from."""

    def lanes(at: Context) -> list[Lane]:
        parts = at.out / f"weights/{to}"
        return [
            Lane([module("recipes.small.parts", "cut", at.out / model, "--to", parts, "--bf16")])
        ]

    return lanes


def _losses(at: Context) -> list[Lane]:
    """The same rows through the same model, its products in bf16 and in FP8, a GPU each."""
    lanes = []
    for gpu, name, fp8 in zip(
        at.plan.more or at.plan.own, ("bf16", "fp8"), (False, True), strict=True
    ):
        to = at.out / "loss" / name
        shutil.rmtree(to, ignore_errors=True)
        for made in (at.out / "run/tokens", at.out / "run/tokenizer"):
            if made.exists():
                shutil.copytree(made, to / "run" / made.name)
        command = module(
            "recipes.small.model", "run", at.data, "--out", to, *at.plan.prepare, *at.plan.loss,
            "--set", f"model.fp8={fp8}",
        )  # fmt: skip
        lanes.append(Lane([command], [gpu]))
    return lanes


def _measured(at: Context, name: str, *parts: str) -> list[str]:
    """Parts of ``benchmarks.train.gpu``, their results in a folder of their own."""
    left = f"{at.left - 5:.0f}"
    return module(
        "benchmarks.train.gpu",
        "--out",
        at.out / "scaling" / name,
        "--parts",
        *parts,
        "--seconds",
        left,
    )


def _scaling(part: str) -> Callable[[Context], list[Lane]]:
    return lambda at: [Lane([_measured(at, part, part)], at.plan.more or at.plan.own)]


def _alone(*parts: Sequence[str]) -> Callable[[Context], list[Lane]]:
    """Parts of one GPU, a list for each of the two, side by side."""

    def lanes(at: Context) -> list[Lane]:
        return [
            Lane([_measured(at, names[0], *names)], [gpu])
            for gpu, names in zip(at.plan.more or at.plan.own, parts, strict=True)
        ]

    return lanes


def _rl_end(plan: Plan) -> float:
    return plan.closing + plan.answering


def _training_end(plan: Plan) -> float:
    return plan.closing + 2 * plan.answering + plan.least_rl


def _home(plan: Plan) -> float:
    """What is taken home must be there by then."""
    return 15


def phases(plan: Plan) -> list[Phase]:
    """All phases, of each resource in the order in which they run."""
    answered = ("answers*/*.jsonl",)
    answering = lambda plan: plan.answering  # noqa: E731
    answers_on = (MORE_GPUS, plan.more) if plan.more else (GPUS, plan.own)
    made = [
        Phase("prepared", CPUS, [_prepare], parts=("sources.zst", "bench.json", "programs.json"),
              records=("run/tokens/data.json",)),
        Phase("trained", GPUS,
              [_train(None), _train(None), _train(_OWN), _train(1), _train(1, fresh=True)],
              ("prepared",), before_end=_training_end, longest=lambda plan: plan.training,
              grace=90, least=20,
              records=("run/metrics.jsonl", "run/summary.json", "pace.json")),
        Phase("questions", CPUS, [_questions], ("prepared",), records=(PROGRAMS,), nice=10),
        Phase("judge", CPUS, [_unpack], parts=("judge.",), nice=10),
        Phase("foreseen", CPUS, [_foresee], ("questions", "judge"), nice=10,
              longest=lambda plan: plan.foreseeing, grace=60),
        Phase("answered", answers_on[0], [_answers(MODEL, "answers", answers_on[1])],
              ("trained", "questions"), before_end=_rl_end, grace=20, records=answered,
              longest=lambda plan: 2 * plan.answering),
        Phase("weights", CPUS, [_weights(MODEL, "supervised")], ("trained",), nice=10),
        Phase("worth", CPUS, [_worth("answers", "worth.jsonl")], ("judge",), after=("answered",),
              records=("worth*.jsonl",), nice=10),
        Phase("reinforced", GPUS,
              [_reinforce(RL_MODEL, "rl", plan.learning, *how, *plan.rl) for how in (_SHARED, ())],
              ("trained", "questions", "judge"),
              before_end=_rl_end, grace=20, least=30, records=_records("rl")),
        Phase("answered_rl", GPUS, [_answers(RL_MODEL, "answers_rl", plan.learning)],
              after=("reinforced",), longest=answering, grace=20, records=answered),
        Phase("weights_rl", CPUS, [_weights(RL_MODEL, "rl")], after=("reinforced",),
              before_end=_home),
        Phase("worth_rl", CPUS, [_worth("answers_rl", "worth_rl.jsonl")], ("judge",),
              after=("answered_rl",), before_end=_home, records=("worth*.jsonl",)),
        *(_figures() if plan.has_figures else ()),
        *(
            _second(plan.more, [*plan.rl, *plan.second])
            if plan.more and plan.has_figures and plan.second
            else ()
        ),
    ]  # fmt: skip
    return made if plan.more else made + _scaling_last(plan)


def _records(folder: str) -> tuple[str, ...]:
    names = ("metrics.jsonl", "summary.json", "answers.jsonl", "questions.jsonl", "guided.jsonl")
    return (*(f"{folder}/{name}" for name in names), f"{folder}-*/*.jsonl")


_RECORDS = ("scaling/*.json", "scaling/*/*.json*")
_TWO = ("zero-3-whole-2", "ulysses-64k-2")


def _scaling_last(plan: Plan) -> list[Phase]:
    """Where two GPUs are all that there are: when everything else is done."""
    return [
        Phase(name, GPUS, [_scaling(name)], after=("answered_rl",), parts=("deepspeed",),
              before_end=_home, least=plan.scaling, apart=True, records=_RECORDS)
        for name in (_TWO if plan.gpus > 1 else ())
    ]  # fmt: skip


def _figures() -> list[Phase]:
    """On GPUs of their own, behind the supervised model's answers."""
    return [
        Phase("loss", MORE_GPUS, [_losses], ("prepared",), ("answered",),
              longest=lambda plan: plan.losing, least=60, grace=5,
              records=("loss/*/run/metrics.jsonl", "loss/*/run/progress.log")),
        Phase("bf16", MORE_GPUS, [_alone(["7b-ours"], ["1.5b-ours"])],
              after=("loss",), parts=("deepspeed",), longest=lambda plan: plan.scaling,
              least=60, apart=True, records=_RECORDS),
    ]  # fmt: skip


def _second(gpus: Sequence[int], told: Sequence[str]) -> list[Phase]:
    """Reinforcement learning once more, told something else, on GPUs of its own."""
    return [
        Phase("reinforced_second", MORE_GPUS,
              [_reinforce(SECOND_MODEL, "rl_second", gpus, *how, *told)
               for how in (_SHARED, ())],
              ("trained", "questions", "judge"), ("answered", "bf16"),
              before_end=_rl_end, grace=20, least=30, records=_records("rl_second")),
        Phase("answered_second", MORE_GPUS, [_answers(SECOND_MODEL, "answers_second", gpus)],
              after=("reinforced_second",), longest=lambda plan: plan.answering, grace=20,
              records=("answers*/*.jsonl",)),
        Phase("worth_second", CPUS, [_worth("answers_second", "worth_second.jsonl")], ("judge",),
              after=("answered_second",), before_end=_home, records=("worth*.jsonl",)),
    ]  # fmt: skip


def gpus_here() -> int:
    """GPUs that the driver lists; without its program, those of which there are device files."""
    if shutil.which("nvidia-smi") is None:
        return len(list(Path("/dev").glob("nvidia[0-9]*")))
    said = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
    return sum(line.startswith("GPU ") for line in said.splitlines())


def lane_environment(lane: Lane) -> dict[str, str]:
    if lane.gpus is None:
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, lane.gpus))}
