#!/usr/bin/env python3
"""Pairs to a translation model.

pairs -> tokens (Ray Data) -> packed windows -> ZeRO over workers (Ray Train) -> model

Runs as ``cass train``, ``python jobs/train.py`` and under ``ray job submit``, on one CPU, one GPU
or many nodes: only ``workers`` in the settings differ. A run that was interrupted goes on from its
newest whole checkpoint with ``--resume``, also on another number of workers.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from cass_ray.config import settings_from
from cass_ray.exit_codes import EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.storage.location import absolute
from cass_ray.train.settings import TrainSettings
from jobs._endings import training_ending

_LINES_SHOWN, _COLUMNS = 16, 110

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def main(settings: TrainSettings, resume: bool) -> dict[str, Any]:
    """Prepare the data and train; the summary of the run.

    Raises ``ValueError`` for data, models and settings that cannot be used, and whatever ended
    training.
    """
    from actors.training import fit, join_cluster, prepare_data

    settings.out.mkdir(parents=True, exist_ok=True)
    join_cluster(settings.workers.number)
    if not resume:
        _forget(settings)
    prepare_data(settings, print)
    return fit(settings)


def _forget(settings: TrainSettings) -> None:
    """Remove what an earlier run of this name left, its tokens and data excepted."""
    from cass_ray.train.checkpoint.store import CheckpointStore
    from cass_ray.train.share import RunShare

    store = CheckpointStore(settings.checkpoint_url)
    for step in store.steps():
        store.remove(step)
    if settings.share is not None:
        RunShare(settings.share, settings.out).forget()
    for name in ("ray", "tensorboard", "model"):
        shutil.rmtree(settings.out / name, ignore_errors=True)
    for name in ("metrics.jsonl", "events.jsonl"):
        (settings.out / name).unlink(missing_ok=True)


def _existing(settings: TrainSettings) -> int | None:
    from cass_ray.train.checkpoint.store import CheckpointStore

    steps = CheckpointStore(settings.checkpoint_url).steps()
    return steps[0] if steps else None


@app.command()
def train(
    config: Annotated[Path, typer.Option(help="Settings in YAML (jobs/configs/train_*.yaml).")],
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete the checkpoints of an earlier run.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. optimizer.learning_rate=2e-5."),
    ] = None,
) -> None:
    """Train a translation model on aligned pairs."""
    with training_ending("train"):
        settings = settings_from(TrainSettings, config, {"out": out}, set_)
        settings = settings.model_copy(
            update={
                "out": settings.out.absolute(),
                "share": absolute(settings.share) if settings.share is not None else None,
                "data": settings.data.model_copy(
                    update={"pairs": [absolute(each) for each in settings.data.pairs]}
                ),
            }
        )
    try:
        import torch  # noqa: F401
    except ImportError:
        fail("train", "PyTorch is not installed: pip install 'cass-ray[train]'", EXIT_TOOL_MISSING)
    step = _existing(settings)
    if step is not None and not (resume or restart):
        fail(
            "train",
            f"{settings.checkpoint_url} holds a run up to step {step}: go on with --resume, "
            "begin again with --restart, or choose another --out",
            EXIT_USAGE,
        )
    _run(settings, resume)


def _run(settings: TrainSettings, resume: bool) -> None:
    with training_ending("train"):
        summary = main(settings, resume)
    held_out = summary["held_out_loss"]
    print(
        f"{summary['steps']} steps, {summary['tokens']:,} tokens, {summary['seconds']:.0f} s, "
        f"{summary['kilowatt_hours']:.3f} kWh; loss {summary['loss']:.4f}"
        + (f", held-out loss {held_out:.4f}" if held_out is not None else "")
        + f"\nmodel: {summary['model']}"
    )
    if settings.data.recipe is not None and settings.evaluation.answers:
        _show_answers(settings)
    print(f"try it: cass translate FILE.cu --engine model:{summary['model']}")


def _show_answers(settings: TrainSettings) -> None:
    """Print what the model answers to some programs, and the edits of the best answer."""
    from cass_ray.train.answers import answered_programs
    from cass_ray.train.run_files import RunFiles

    answers = answered_programs(RunFiles(settings.out), settings.evaluation.answers)
    readable = [answer for answer in answers if answer.readable]
    print(f"{len(readable)} of {len(answers)} answers are edits that a program can be made of:")
    for answer in answers:
        print(f"  {answer.describe()}")
    if readable:
        best = max(readable, key=lambda answer: answer.found)
        print(f"the edits of {best.program}:")
        print("\n".join(f"  {line[:_COLUMNS]}" for line in best.difference[:_LINES_SHOWN]))


if __name__ == "__main__":
    app()
