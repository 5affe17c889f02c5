"""Reinforcement learning of a small model on one machine with GPUs, without Ray.

    R="python -m recipes.rl.loop"
    $R questions OUT                      # of the run in OUT/run: OUT/questions.jsonl
    $R foresee OUT --tools DIR            # compile what answers will be compared with
    $R run OUT --tools DIR --seconds 480  # OUT/run/model -> OUT/run/model_rl, OUT/rl
    $R read OUT/rl                        # rewarded answers to be read for hacks
    $R held-out OUT DIR --to PROGRAMS     # programs of no run: what before and after are asked
    $R worth ANSWERS --of PROGRAMS --tools DIR --to FILE   # what the answers to them are worth
    $R gains FILE FILE_RL                                  # the table of both

``DIR`` is what ``judge.tools unpack`` made. Answers are learned from on the first GPU, drawn on the
others (or on that one, where there is no other), and judged on all cores: they are worth something
if they compile for an AMD GPU and are the program that was asked for. ``run.sh`` does all of
it; it says how the machine is prepared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cass_ray.config import parse_overrides
from cass_ray.toolchain.sandbox.isolation import ALLOW_UNISOLATED, available, problem
from recipes.judge.tools import OPTIMIZATION
from recipes.small.answers import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from cass_ray.train.rl.rollouts import DecoderRollouts
    from cass_ray.train.rl.settings import RlSettings, SamplingSettings
    from recipes.judge.compiled import CompileCredit
    from recipes.rl.canonical_names import CanonicalNamesJudge

QUESTIONS = "questions.jsonl"
_ACCEPTED = (
    "compiles",
    "right",
    "the rules' translation, which does not compile",
    "the rules' translation to the letter",
)
"""Outcomes of what is rewarded as a translation; any other credit is for being a program."""
_LONGEST_REWORDED = 4000
"""Tokens of a question under invented names, at most."""
_MEASURE_SECONDS = 60
"""What must be left for answers to what is held out to be begun within a run."""


def read(records: Path, number: int) -> None:
    """Print ``number`` rewarded answers that differ from the rules' translation, drawn at random.

    Of equal differences one; how many there are in all is said first.
    """
    from cass_ray.train.rl.records import read_answers

    rewarded = [
        row for row in read_answers(records) if row["reward"] and row["outcome"] in _ACCEPTED
    ]
    other = {tuple(row["difference"]): row for row in rewarded if not row["as_rules"]}
    print(
        f"{len(rewarded)} rewarded answers, {sum(not row['as_rules'] for row in rewarded)} not as "
        f"the rules, {len(other)} different differences"
    )
    rows = list(other.values())
    random.Random(0).shuffle(rows)
    for place, row in enumerate(rows[:number]):
        print(f"\n--- {place}: step {row['step']}, {row['question']}")
        print("\n".join(row["difference"]))


def questions(out: Path, options: argparse.Namespace) -> None:
    """Write the questions of the run in ``out``; see ``write_questions``."""
    from recipes.rl.questions import Wanted, write_questions

    started = time.monotonic()
    tools = options.tools.resolve() if options.tools else None
    wanted = Wanted(
        options.most, options.fresh, options.longest_answer, options.unseen_only, options.parts,
        options.long_share,
    )  # fmt: skip
    number = write_questions(out / "run", out / QUESTIONS, wanted, tools)
    say(f"{number} questions; {time.monotonic() - started:.0f} s")


def foresee(out: Path, options: argparse.Namespace) -> None:
    """Compile the rules' translations of the questions, for ``seconds`` at most."""
    from recipes.judge.tools import make_judge
    from recipes.rl.questions import foresee_questions, read_questions

    started = time.monotonic()
    asked = list(read_questions(out / QUESTIONS))
    judge = partial(make_judge, options.tools.resolve(), None, options.optimization)
    compiled, known = foresee_questions(asked, judge, options.seconds)
    say(f"{known} of {len(asked)}, {compiled} compile; {time.monotonic() - started:.0f} s")


def make_rollouts(
    model: Path, device: str, sampling: SamplingSettings, seed: int
) -> DecoderRollouts:
    """Rollouts by the model in the folder ``model``, on ``device``."""
    import torch

    from cass_ray.train.rl.rollouts import DecoderRollouts

    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    loaded, form = _load(model, device)
    return DecoderRollouts(loaded.eval(), form, sampling, seed, _LONGEST_REWORDED)


def judge_of_asked(tools: Path, credit: CompileCredit, optimization: str) -> CanonicalNamesJudge:
    """The judge of a process of the pool."""
    from recipes.judge.tools import make_judge
    from recipes.rl.canonical_names import CanonicalNamesJudge

    return CanonicalNamesJudge(make_judge(tools, credit, optimization))


def _load(model: Path, device: str) -> tuple[Any, Any]:
    import torch

    from cass_ray.train.rl.model_folder import load_policy

    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    return load_policy(str(model), device, dtype)


def run(out: Path, options: argparse.Namespace) -> None:
    """Learn for ``seconds``; the model is in ``out/run/model_rl``."""
    import torch

    from cass_ray.train.distributed import DistributedContext
    from cass_ray.train.rl.guidance import reference_answer
    from cass_ray.train.rl.learner import Learner, PolicyModel, policy_engine
    from cass_ray.train.rl.model_folder import save_policy
    from cass_ray.train.rl.questions import QuestionChooser
    from cass_ray.train.rl.rollouts_lost import RolloutsLost
    from cass_ray.train.rl.trainer import RlTrainer
    from recipes.judge.compiled import CompileCredit
    from recipes.rl.averaged_weights import AveragedWeights
    from recipes.rl.held_out import held_out_questions, write_answers
    from recipes.rl.questions import in_other_words, read_questions
    from recipes.rl.reward_processes import ProcessRewards
    from recipes.rl.rollout_process import RolloutProcess
    from recipes.rl.shared_rollouts import SharedRollouts

    until = time.monotonic() + options.seconds
    settings = _settings(options)
    workers = options.workers or os.cpu_count() or 1
    credit = CompileCredit(usable=options.usable, other=options.other, unproved=options.unproved)
    judge = partial(judge_of_asked, options.tools.resolve(), credit, options.optimization)
    rewards = ProcessRewards(judge, workers, nice=5)  # the learner and the decoder come first
    gpus = torch.cuda.device_count()
    first, *others = [f"cuda:{number}" for number in range(gpus)] or ["cpu"]
    source = options.model or out / "run/model"
    target = options.save or out / "run/model_rl"
    records = options.records or out / "rl"
    makers = [
        RolloutProcess(
            partial(make_rollouts, source.resolve(), place, settings.sampling, settings.seed + seed)
        )
        for seed, place in enumerate(others or [first] * options.drawing)
    ]
    maker = SharedRollouts(makers)
    if gpus:
        torch.cuda.set_device(first)
    loaded, form = _load(source, first)
    device = torch.device(first)
    reference = _load(source, first)[0].eval() if settings.objective.kl else None
    policy = PolicyModel(loaded, settings, form.end, reference)
    context = DistributedContext(0, 1, device)
    engine = policy_engine(policy, settings, context)
    learner = Learner(policy, engine, form, settings, context)

    average = AveragedWeights(loaded, options.average)
    measured = held_out_questions(options.measure, form) if options.measure else []

    def save(step: int, weights: Mapping[str, torch.Tensor]) -> None:
        del weights
        average.add()
        if step % options.save_every == 0:
            save_policy(loaded, average.weights(), str(source), target)
        in_time = time.monotonic() < until - _MEASURE_SECONDS
        if measured and step % options.measure_every == 0 and in_time:
            try:
                answers = maker.greedy(measured, average.weights())
                write_answers(answers, Path(f"{records}-{step:03}"))
            except RolloutsLost as error:  # the run does not need them
                say(f"no answers to what is held out: {error}")

    asked = list(read_questions(out / QUESTIONS))
    say(f"{len(asked)} questions, {gpus} GPUs, {workers} judges; {settings.model_dump_json()}")
    trainer = RlTrainer(
        settings,
        learner,
        maker,
        rewards,
        QuestionChooser(asked, settings.sampling, settings.seed, in_other_words),
        records,
        until,
        say,
        save,
        partial(reference_answer, form, settings.sampling.max_new_tokens),
    )
    try:
        summary = trainer.run()
        say(json.dumps(vars(summary)))
        (records / "summary.json").write_text(json.dumps(vars(summary), indent=1))
    finally:  # what was learned until then
        save_policy(loaded, average.weights(), str(source), target)
        rewards.close()
        for each in makers:
            each.close()


def _settings(options: argparse.Namespace) -> RlSettings:
    from cass_ray.config import load
    from cass_ray.train.rl.job_settings import RlJobSettings

    return load(RlJobSettings, options.config, parse_overrides(options.set))


CONFIG = Path(__file__).parents[2] / "jobs/configs/rl_small.yaml"


def arguments() -> argparse.ArgumentParser:
    """What the commands take."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("questions")
    asking.add_argument("--most", type=int, default=6000)
    asking.add_argument("--fresh", type=int, default=3000, help="Programs that are made anew.")
    asking.add_argument("--tools", type=Path, help="Ask only what translates to what compiles.")
    asking.add_argument("--longest-answer", type=int, default=400, help="Tokens, of the rules'.")
    asking.add_argument("--parts", type=int, default=0, help="Of files that were left for this.")
    asking.add_argument("--long-share", type=float, default=1.0, help="Of long answers, at most.")
    asking.add_argument("--unseen-only", action="store_true", help="Nothing of the run itself.")
    ahead = commands.add_parser("foresee")
    ahead.add_argument("--seconds", type=float, default=float("inf"))
    running = commands.add_parser("run")
    for command in (ahead, running):
        command.add_argument("--tools", type=Path, required=True)
        command.add_argument("--optimization", default=OPTIMIZATION, help="Of the judge.")
    running.add_argument("--model", type=Path, help="Default: OUT/run/model.")
    running.add_argument("--save", type=Path, help="Default: OUT/run/model_rl.")
    running.add_argument("--records", type=Path, help="Default: OUT/rl.")
    running.add_argument("--seconds", type=float, default=480)
    running.add_argument("--workers", type=int, help="Judges; default: one a core.")
    running.add_argument("--drawing", type=int, default=1, help="Processes, where no GPU is left.")
    running.add_argument("--usable", type=float, default=0.1, help="Credit for what is a program.")
    running.add_argument(
        "--unproved", type=float, default=0.1, help="Credit for the rules' text, uncompiled."
    )
    running.add_argument("--save-every", type=int, default=10**6, help="Steps.")
    running.add_argument("--measure", type=Path, help="Programs that are answered now and then.")
    running.add_argument("--measure-every", type=int, default=50, help="Steps.")
    running.add_argument(
        "--average",
        type=float,
        default=0.0,
        help="Decay of the average that is saved; 0: as it is.",
    )
    running.add_argument("--other", type=float, default=0.3, help="Credit for other code.")
    running.add_argument("--config", type=Path, default=CONFIG)
    running.add_argument("--set", action="append", default=[], help="KEY=VALUE of a setting.")
    running.add_argument(
        "--without-sandbox", action="store_true", help="Where there is no bubblewrap: limits alone."
    )
    reading = commands.add_parser("read")
    reading.add_argument("records", type=Path)
    reading.add_argument("--number", type=int, default=200)
    apart = commands.add_parser("held-out")
    for command in (asking, ahead, running, apart):
        command.add_argument("out", type=Path)
    apart.add_argument("folder", type=Path)
    apart.add_argument("--to", type=Path, required=True)
    worth = commands.add_parser("worth")
    worth.add_argument("answers", type=Path)
    worth.add_argument("--of", type=Path, required=True)
    worth.add_argument("--tools", type=Path, required=True)
    worth.add_argument("--to", type=Path, required=True)
    worth.add_argument("--optimization", default=OPTIMIZATION, help="Of the judge's compiler.")
    gaining = commands.add_parser("gains")
    gaining.add_argument("before", type=Path)
    gaining.add_argument("after", type=Path)
    return parser


def main() -> None:
    options = arguments().parse_args()
    if options.command == "gains":
        from recipes.rl.held_out import gains

        print("\n".join(gains(options.before, options.after)))
        return
    if options.command == "read":
        read(options.records, options.number)
        return
    if options.command == "questions":
        questions(options.out, options)
        return
    if options.command == "held-out":
        from recipes.rl.held_out import write_programs

        say(f"{write_programs(options.out / 'run', options.folder, options.to)} programs")
        return
    if options.command == "worth":
        from recipes.rl.held_out import write_worth

        tools = options.tools.resolve()
        write_worth(options.answers, options.of, tools, options.to, options.optimization)
        return
    if options.command == "foresee":
        foresee(options.out, options)
        return
    if options.without_sandbox and not available():
        say(f"answers are compiled without a sandbox, under limits alone: {problem()}")
        os.environ[ALLOW_UNISOLATED] = "1"
    run(options.out, options)


if __name__ == "__main__":
    main()
