"""Reinforcement learning on Ray: workers that draw answers, judges, and a learner on Ray Train."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import ray
import torch
from ray.exceptions import RayActorError, RayError

from actors.progress_file import followed, write_line
from actors.rewards import ClusterRewards
from cass_ray.execute.rewards.verdicts import ItemJudge
from cass_ray.train.rl.job_settings import RlJobSettings
from cass_ray.train.rl.rollouts import EditQuestion, Rollout, RolloutGenerator, dealt
from cass_ray.train.rl.rollouts_lost import RolloutsLost
from cass_ray.train.rl.worker_thread import merged

MakeMaker = Callable[[int], RolloutGenerator]
"""A maker, from a number that no other worker of the run was given."""
MakeJudge = Callable[[], ItemJudge]

MODEL, SUMMARY, PROGRESS, STEPS = "model", "summary.json", "progress.log", "steps.json"


class RolloutWorker:
    """An actor that draws answers."""

    def __init__(self, make: MakeMaker, number: int) -> None:
        self._maker = make(number)

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._maker.use_weights(weights)

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        yield from self._maker.rollouts(questions)


class ClusterRollouts:
    """A :class:`~cass_ray.train.rl.rollouts.RolloutGenerator` of ``workers`` actors.

    Each draws answers to its share of the questions. A worker that dies costs its share, and
    another takes its place with the last weights; where no share comes back the batch is lost.
    """

    def __init__(
        self, make: MakeMaker, workers: int, *, cpus: float, gpus: float, at_once: int = 3
    ) -> None:
        """``at_once``: calls that a worker answers at the same time: of each batch that is being
        drawn one, and one for weights."""
        self._make = make
        self._actor = ray.remote(
            num_cpus=cpus, num_gpus=gpus, max_restarts=0, max_concurrency=at_once
        )(RolloutWorker)
        self._started = count()
        self._workers = [self._start() for _ in range(workers)]
        self._weights: ray.ObjectRef[Any] | None = None
        self._replacing = Lock()

    def _start(self) -> ray.actor.ActorHandle:
        return self._actor.remote(self._make, next(self._started))

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._weights = ray.put(dict(weights))
        workers = self.workers
        told = [worker.use_weights.remote(self._weights) for worker in workers]
        for worker, waiting in zip(workers, told, strict=True):
            if not _heard(waiting):
                self._replace(worker)
        for worker in self.workers:
            if worker not in workers:  # a batch may have replaced it before there were these
                _heard(worker.use_weights.remote(self._weights))

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        workers = self.workers
        shares = zip(workers, dealt(questions, len(workers)), strict=True)
        return merged([self._drawn(worker, share) for worker, share in shares if share])

    def _drawn(self, worker: Any, share: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        """Groups as they come; raises ``RolloutsLost``."""
        try:
            for ref in worker.rollouts.options(num_returns="streaming").remote(share):
                yield ray.get(ref)
        except RayError as error:
            if isinstance(error, RayActorError):  # it died, or cannot be reached
                self._replace(worker)
            raise RolloutsLost(str(error).strip().splitlines()[-1]) from None

    def _replace(self, lost: Any) -> None:
        """Another worker, with the last weights; that it lives is seen when it is asked."""
        with self._replacing:
            if lost not in self._workers:  # several batches may notice
                return
            ray.kill(lost)
            worker = self._start()
            if self._weights is not None:  # waited for: calls of a worker overtake each other
                _heard(worker.use_weights.remote(self._weights))
            self._workers[self._workers.index(lost)] = worker

    @property
    def workers(self) -> list[Any]:
        return list(self._workers)


def _heard(waiting: ray.ObjectRef[None]) -> bool:
    """Whether the actor lives that was told something."""
    try:
        ray.get(waiting)
    except RayActorError:
        return False
    return True


def make_rollouts(settings: RlJobSettings, number: int) -> RolloutGenerator:
    """The maker of worker ``number``: the supervised model on its GPU, or on the CPU."""
    from cass_ray.train.rl.model_folder import load_policy
    from cass_ray.train.rl.rollouts import DecoderRollouts

    device = "cuda" if settings.rollouts.gpus else "cpu"
    model, form = load_policy(settings.model, device, _dtype(settings))
    seed = settings.seed + number  # workers must not draw the same
    return DecoderRollouts(
        model.eval(), form, settings.sampling, seed, settings.max_question_tokens
    )


def _dtype(settings: RlJobSettings) -> torch.dtype:
    return torch.bfloat16 if settings.precision == "bf16" else torch.float32


@dataclass(frozen=True)
class RlWorker:
    """What a worker of the learner's group runs; the first one leads."""

    settings: RlJobSettings
    make_maker: MakeMaker
    make_judge: MakeJudge

    def __call__(self, _: dict[str, Any]) -> None:
        """Run the loop; what comes of it is in the folder of the run."""
        import ray.train
        import ray.train.torch

        from cass_ray.train.distributed import distributed_context
        from cass_ray.train.rl.group import LeadingLearner, follow
        from cass_ray.train.rl.learner import Learner, PolicyModel, policy_engine
        from cass_ray.train.rl.model_folder import load_policy

        logging.basicConfig(level=logging.INFO, format="%(message)s", force=True)
        settings = self.settings
        if not settings.workers.gpus:
            cores = len(os.sched_getaffinity(0))
            torch.set_num_threads(max(1, cores // settings.workers.number))
        device = ray.train.torch.get_device()
        context = distributed_context(device[0] if isinstance(device, list) else device)
        os.environ["LOCAL_RANK"] = str(ray.train.get_context().get_local_rank())
        done, source = begun(settings)
        model, form = load_policy(source, context.device, _dtype(settings))
        reference = None
        if settings.objective.kl:
            reference = load_policy(settings.model, context.device, _dtype(settings))[0].eval()
        policy = PolicyModel(model, settings, form.end, reference)
        engine = policy_engine(policy, settings, context, settings.zero, settings.passes)
        learner = Learner(policy, engine, form, settings, context, settings.passes)
        learner.steps = done
        if not context.is_main:
            follow(learner)
            return
        leader = LeadingLearner(learner, context)
        self._lead(leader, model, form, source, done)
        leader.end()

    def _lead(self, leader: Any, model: Any, form: Any, source: str, done: int) -> None:
        from cass_ray.train.data.examples import is_source_pair
        from cass_ray.train.data.prepare import pair_files, read_pairs
        from cass_ray.train.rl.guidance import reference_answer
        from cass_ray.train.rl.model_folder import save_policy
        from cass_ray.train.rl.questions import QuestionChooser
        from cass_ray.train.rl.request import questions_of
        from cass_ray.train.rl.trainer import RlTrainer

        settings = self.settings
        say = partial(write_line, settings.out / PROGRESS)
        read = list(read_pairs(pair_files(settings.pairs), ("id", "cuda_source", "hip_source")))
        rows = [row for row in read if is_source_pair(row)]
        if len(rows) < len(read):
            say(f"{len(read) - len(rows)} rows without a source on both sides skipped")
        questions = list(
            questions_of(
                rows,
                form,
                settings.max_question_tokens,
                settings.max_reference_tokens,
                settings.held_out,
            )
        )
        say(f"{len(questions)} questions; from step {done}")
        rollouts, judges = settings.rollouts, settings.judges
        maker = ClusterRollouts(
            self.make_maker,
            rollouts.number,
            cpus=rollouts.cpus,
            gpus=rollouts.gpus,
            at_once=settings.ahead + 2,
        )
        folder, steps = settings.out / MODEL, settings.out / STEPS

        def keep(step: int, weights: Mapping[str, torch.Tensor]) -> None:
            if step % settings.save_every == 0 or step == last:
                save_policy(model, weights, source, folder)
                steps.write_text(json.dumps({"steps": done + step}))

        last = settings.steps - done
        trainer = RlTrainer(
            settings.model_copy(update={"steps": last}),
            leader,
            maker,
            ClusterRewards(self.make_judge, judges.number, judges.cpus),
            QuestionChooser(questions, settings.sampling, settings.seed + done),
            settings.out,
            say=say,
            after_step=keep,
            reference=partial(reference_answer, form, settings.sampling.max_new_tokens),
        )
        summary = vars(trainer.run()) | {"model": str(folder), "begun_at": done}
        (settings.out / SUMMARY).write_text(json.dumps(summary, indent=1))


def begun(settings: RlJobSettings) -> tuple[int, str]:
    """Steps that an earlier attempt saved, and the model to go on from."""
    steps = settings.out / STEPS
    if steps.exists():
        return int(json.loads(steps.read_text())["steps"]), str(settings.out / MODEL)
    return 0, settings.model


def fit_rl(
    settings: RlJobSettings,
    say: Callable[[str], None] = print,
    make_maker: MakeMaker | None = None,
    judge: MakeJudge | None = None,
) -> dict[str, Any]:
    """Learn on the cluster that ``ray.init`` has joined; returns the run's summary.

    ``make_maker`` and ``judge`` take the place of what the settings say. Raises
    ``ray.train.TrainingFailedError`` when more learners fail than ``workers.failures``, or the
    loop raises.
    """
    import ray.train
    from ray.train.torch import TorchConfig, TorchTrainer

    workers = settings.workers
    on_gpu = workers.gpus > 0
    resources = {"CPU": workers.cpus} | ({"GPU": workers.gpus} if on_gpu else {})
    worker = RlWorker(
        settings,
        make_maker or partial(make_rollouts, settings),
        judge or settings.judges.execute.judge,
    )
    trainer = TorchTrainer(
        worker,
        train_loop_config={},
        torch_config=TorchConfig(backend="nccl" if on_gpu else "gloo"),
        scaling_config=ray.train.ScalingConfig(
            num_workers=workers.number, use_gpu=on_gpu, resources_per_worker=resources
        ),
        run_config=ray.train.RunConfig(
            name=settings.name,
            storage_path=str(settings.out / "ray"),
            failure_config=ray.train.FailureConfig(max_failures=workers.failures),
        ),
    )
    path: Path = settings.out / SUMMARY
    path.unlink(missing_ok=True)
    with followed(settings.out / PROGRESS, say):
        result = trainer.fit()
    if result.error is not None:
        raise result.error
    summary: dict[str, Any] = json.loads(path.read_text())
    return summary
