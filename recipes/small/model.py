"""``jobs/configs/train_small.yaml`` on one borrowed GPU: translate, train, answer, take home.

    P="python -m recipes.small.model"
    python -m recipes.small.public_sources CONFIG.yaml --clones DIR --out SOURCES
    $P pack SOURCES --out DIR                   # here: files and questions, compressed
    $P prepare DIR --out OUT                    # there: pairs and tokens
    $P run DIR --out OUT --seconds 1000         # there: a trained model; prepares what is not there
    $P answer OUT/run/model DIR --out ANSWERS   # there: CASS-Bench and held-out programs

The files are translated by the rules on all cores of the machine with the GPU; generated programs
and drills are made there too. ``--base MODEL`` goes on from an earlier model, ``--set`` changes
settings, ``--steps`` fixes their number. ``run`` begun once more on the same ``OUT`` goes on after
the newest checkpoint, with fewer steps where the time asks for it. Under torchrun it trains on
several GPUs (``--set batch.global_batch_size=N --set workers.number=N``); ``run.sh`` does
all of it on a machine for a limited time, ``parts`` takes models home.
``answer`` writes files of JSON lines: ``code``, or the ``problem``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from cass_ray.config import load, parse_overrides
from cass_ray.train.settings import TrainSettings
from recipes.small.answers import answer, say
from recipes.small.pairs import (
    REAL,
    RESERVED,
    Amounts,
    Row,
    is_reserved,
    pack,
    pairs,
)

if TYPE_CHECKING:
    from cass_ray.train.distributed import DistributedContext

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small.yaml"


def settings_of(out: Path, options: argparse.Namespace) -> TrainSettings:
    """The settings of the run in ``out/run``."""
    settings = load(
        TrainSettings, options.config, parse_overrides(options.set) | {"out": out / "run"}
    )
    if options.base:
        model = settings.model.model_copy(update={"base": options.base, "fresh": None})
        settings = settings.model_copy(update={"model": model})
    return settings


def prepare(folder: Path, out: Path, options: argparse.Namespace) -> TrainSettings:
    """Pairs and tokens of the run, unless they are there; of a base only the tokenizer is read."""
    from cass_ray.train.data.recipe_files import prepare_recipe, write_pairs
    from cass_ray.train.run_files import RunFiles

    settings, started = settings_of(out, options), time.monotonic()
    if not RunFiles(settings.out).data_record.exists():
        recipe = settings.data.recipe
        assert recipe is not None
        amounts = Amounts(
            options.generated, options.drills, options.ptx, options.grafted, options.most
        )
        amounts = replace(amounts, asked_only=options.asked_only, reserved=options.reserved)
        held_out = frozenset(recipe.held_out_repositories)
        made = pairs(folder, amounts, held_out)
        later = [row for row in made if _is_for_later(row, options.reserved, held_out)]
        print(f"{write_pairs(later, out / RESERVED)} pairs are reserved", flush=True)
        known = {row["id"] for row in later}
        made = [row for row in made if row["id"] not in known]
        print(prepare_recipe(settings, [], made), f"{time.monotonic() - started:.0f} s", flush=True)
    return settings


def _is_for_later(row: Row, share: float, held_out: frozenset[str]) -> bool:
    """Whether reinforcement learning asks for this pair's program, and the run does not see it."""
    return (
        row["kind"] in REAL
        and row["repository"] not in held_out
        and is_reserved(row["repository"], share)
        and "__global__" in row["cuda_source"]
    )


def _joined() -> DistributedContext:
    """This process as torchrun started it; alone, the only worker."""
    import torch
    import torch.distributed as dist

    from cass_ray.train.distributed import distributed_context

    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else None
    if device is not None:
        torch.cuda.set_device(device)
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("nccl" if on_gpu else "gloo", device_id=device)
    return distributed_context(device or torch.device("cpu"))


@dataclass(frozen=True)
class Pace:
    """How many steps a run has, and how long one takes; kept in ``OUT/pace.json``."""

    steps: int
    step_seconds: float

    @classmethod
    def kept(cls, path: Path) -> Pace | None:
        """That of the run which was begun there, if one was."""
        return cls(**json.loads(path.read_text())) if path.exists() else None

    def keep(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    def after(self, step: int, seconds: float) -> Pace:
        """Of a run that goes on after ``step``: no more steps than fit ``seconds``."""
        fitting = step + max(1, int(seconds / self.step_seconds))
        return replace(self, steps=min(self.steps, fitting))

    def steps_in(self, seconds: float) -> int:
        return max(1, round(seconds / self.step_seconds))


def _measured(
    settings: TrainSettings, context: DistributedContext, trial: int, folder: Path
) -> float:
    """Seconds of a step: the median of the second half of ``trial`` steps."""
    from cass_ray.train.trainer import Trainer

    times = [time.monotonic()]
    settings = settings.model_copy(
        update={
            "steps": trial,
            "checkpoints": settings.checkpoints.model_copy(update={"url": str(folder)}),
            "evaluation": settings.evaluation.model_copy(update={"every": 10**6, "max_windows": 1}),
        }
    )

    def hear(step: int, values: dict[str, float]) -> None:
        times.append(time.monotonic())

    Trainer(settings, context, on_step=hear, say=say).run()
    return median(b - a for a, b in pairwise(times[len(times) // 2 :]))


def _pace(
    settings: TrainSettings, context: DistributedContext, out: Path, options: argparse.Namespace
) -> Pace:
    """Of the run that was begun in ``out``, if it has a checkpoint; else measured by a trial."""
    from cass_ray.train.checkpoint.store import CheckpointStore

    until, path = time.monotonic() + options.seconds, out / "pace.json"
    if options.steps and not options.trial:
        return Pace(options.steps, 0.1)
    begun, step = Pace.kept(path), CheckpointStore(settings.checkpoint_url).latest(say)
    if begun is not None and step is not None:
        return begun.after(step, options.share * (until - time.monotonic()))
    seconds = _measured(settings, context, options.trial, out / "trial")
    left = until - time.monotonic()
    fitting = max(options.trial, int(options.share * left / seconds))
    if context.is_main:
        say(f"{seconds:.3f} s a step, {left:.0f} s left: {fitting} steps")
    return Pace(options.steps or fitting, seconds)


def run(folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Train for about ``seconds``; the model is in ``out/run/model``."""
    from cass_ray.train.trainer import Trainer

    started = time.monotonic()
    context = _joined()
    if context.is_main:
        prepare(folder, out, options)
    context.barrier()
    options.seconds -= time.monotonic() - started
    settings = settings_of(out, options)
    pace = _pace(settings, context, out, options)
    if context.is_main:
        pace.keep(out / "pace.json")
    steps = context.from_main(pace.steps)
    every = context.from_main(pace.steps_in(options.checkpoint_seconds))
    assert steps is not None
    settings = settings.model_copy(
        update={
            "steps": steps,
            "checkpoints": settings.checkpoints.model_copy(update={"every": every}),
            "evaluation": settings.evaluation.model_copy(update={"every": max(steps // 4, 1)}),
        }
    )
    summary = Trainer(settings, context, say=say).run()
    if context.is_main:
        say(json.dumps(vars(summary)))


def arguments() -> argparse.ArgumentParser:
    """What the commands take."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("sources", type=Path)
    packing.add_argument("--out", type=Path, required=True)
    for name in ("prepare", "run"):
        training = commands.add_parser(name)
        training.add_argument("folder", type=Path)
        training.add_argument("--out", type=Path, required=True)
        training.add_argument("--seconds", type=float, default=1000)
        training.add_argument("--config", type=Path, default=CONFIG)
        training.add_argument("--set", action="append", default=[], help="KEY=VALUE of a setting.")
        training.add_argument("--generated", type=int, default=6000)
        training.add_argument("--drills", type=int, default=9000)
        training.add_argument("--ptx", type=int, default=10000)
        training.add_argument("--grafted", type=int, default=3000)
        training.add_argument("--most", type=int, help="Public files, at most.")
        training.add_argument(
            "--asked-only", action="store_true", help="Of what is held out, those that are asked."
        )
        training.add_argument(
            "--reserved", type=float, default=0.0, help="Share of repositories for RL alone."
        )
        training.add_argument("--trial", type=int, default=40, help="Steps to measure the speed.")
        training.add_argument("--share", type=float, default=0.97, help="Of the time, for steps.")
        training.add_argument("--steps", type=int, help="So many, however long they take.")
        training.add_argument("--checkpoint-seconds", type=float, default=180)
        training.add_argument("--base", help="A model of an earlier run to go on from.")
    asking = commands.add_parser("answer")
    asking.add_argument("model")
    asking.add_argument("folder", type=Path)
    asking.add_argument("--out", type=Path, required=True)
    asking.add_argument("--seconds", type=float, default=300)
    asking.add_argument("--samples", type=int, default=3, help="Of each format.")
    asking.add_argument("--public-samples", type=int, default=0, help="Of those held out, T = 1.")
    asking.add_argument("--no-greedy", action="store_true", help="Of those held out: samples.")
    asking.add_argument("--temperature", type=float, default=0.6)
    asking.add_argument("--rows", type=int, default=320)
    asking.add_argument("--longest", type=int, default=10**6)
    asking.add_argument("--first", type=int, help="Programs, at most.")
    asking.add_argument("--programs", type=Path, help="Asked in place of those held out.")
    asking.add_argument("--form", choices=["edits", "file"], help="Of answers; default: both.")
    kinds = ["bench", "back", "public"]
    asking.add_argument("--only", choices=kinds, nargs="+", default=kinds, help="Default: all.")
    return parser


def main() -> None:
    options = arguments().parse_args()
    if options.command == "pack":
        pack(options.sources, options.out)
    elif options.command == "prepare":
        prepare(options.folder, options.out, options)
    elif options.command == "run":
        run(options.folder, options.out, options)
    else:
        answer(options.model, options.folder, options.out, options)


if __name__ == "__main__":
    main()
