#!/usr/bin/env python3
"""A supervised translation model to a better one, by what its answers are worth.

questions -> answers (rollout workers) -> rewards (judges) -> learner (Ray Train) -> weights

Runs as ``python jobs/train_rl.py`` and under ``ray job submit``, on one CPU, one GPU or many
nodes: only ``workers``, ``rollouts`` and ``judges`` in the settings differ. A run that was
interrupted goes on from the model that it saved last with ``--resume``; the optimizer begins anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cass_ray.config import settings_from
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.storage.location import absolute
from cass_ray.train.rl.job_settings import RlJobSettings
from jobs._endings import training_ending

_NAME = "train_rl"

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def main(settings: RlJobSettings) -> dict[str, Any]:
    """Learn; the summary of the run.

    Raises ``ValueError`` for data, models and settings that cannot be used, and whatever ended
    learning.
    """
    from actors.rl import fit_rl
    from actors.training import join_cluster

    settings.out.mkdir(parents=True, exist_ok=True)
    join_cluster(settings.workers.number + settings.rollouts.number + settings.judges.number)
    return fit_rl(settings)


@app.command()
def train_rl(
    config: Annotated[Path, typer.Option(help="Settings in YAML (jobs/configs/rl_*.yaml).")],
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the model that was saved last.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. sampling.group=16."),
    ] = None,
) -> None:
    """Train a translation model by execution."""
    from actors.rl import begun

    with training_ending(_NAME):
        settings = settings_from(RlJobSettings, config, {"out": out}, set_)
    model = Path(settings.model)
    settings = settings.model_copy(
        update={
            "out": settings.out.absolute(),
            "pairs": [absolute(each) for each in settings.pairs],
            "model": str(model.absolute()) if model.is_dir() else settings.model,
        }
    )
    done, _ = begun(settings)
    if done and not resume:
        message = (
            f"{settings.out} holds a run of {done} steps: go on with --resume, or another --out"
        )
        fail(_NAME, message, EXIT_USAGE)
    if done >= settings.steps:
        fail(_NAME, f"{settings.out} has its {done} steps already: set `steps`", EXIT_USAGE)
    with training_ending(_NAME):
        summary = main(settings)
    print(
        f"{summary['steps']} steps, reward {summary['first_reward']:.3f} at first, "
        f"{summary['last_reward']:.3f} at last; {summary['lost']} batches lost\n"
        f"model: {summary['model']}\nanswers to read: {settings.out}"
    )


if __name__ == "__main__":
    app()
