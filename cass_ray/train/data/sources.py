"""Where a worker's batches come from: token files that are packed and read again, or a recipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cass_ray.train.data.collate import Batch, collate, padded
from cass_ray.train.data.loader import BatchLoader, OptimizerStep
from cass_ray.train.data.packing import PackingPlan, fill_rate
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings


class StepLoader(Protocol):
    """Yields each step and then its batches, in order."""

    def steps(self, first: int, last: int) -> Iterator[OptimizerStep]:
        """Steps ``first`` to ``last - 1``; between two of them take all of the step's batches."""
        ...

    def batch(self) -> tuple[Batch, float]:
        """The next batch, and the seconds it was waited for."""
        ...


class TrainingSource(Protocol):
    """The data of a run, the same for every worker."""

    def longest_batch(self) -> Batch:
        """The batch of a pass that needs the most memory."""
        ...

    def steps_of_epochs(self) -> int:
        """Steps of the run where its settings do not say. Raises ``ValueError`` for none."""
        ...

    def outline(self) -> str:
        """A line that says how much data there is."""
        ...

    def loader(self) -> StepLoader:
        """The batches of this worker."""
        ...

    def pairs_of(self, step: OptimizerStep) -> list[str]:
        """Ids of the pairs of a step, as far as they are known beforehand."""
        ...


def training_source(
    settings: TrainSettings, distributed: DistributedContext, files: RunFiles
) -> TrainingSource:
    """The source of ``settings``."""
    if settings.data.recipe is not None:
        return RecipeSource(settings, distributed)
    return StoredSource(settings, distributed, files)


def make_plan(settings: TrainSettings, store: TokenStore) -> PackingPlan:
    """The order of the data, the same for every worker of the run."""
    return PackingPlan(
        lengths=store.lengths,
        weights=store.weights,
        capacity=settings.data.window,
        batch=settings.batch.global_batch_size,
        seed=settings.data.seed,
    )


class StoredSource:
    """Token files (:class:`cass_ray.train.data.token_store.TokenStore`) by a plan."""

    def __init__(
        self, settings: TrainSettings, distributed: DistributedContext, files: RunFiles
    ) -> None:
        self._settings = settings
        self._distributed = distributed
        self._store = TokenStore(files.train)
        self._plan = make_plan(settings, self._store)

    def steps_of_epochs(self) -> int:
        steps = self._plan.steps(self._settings.epochs)
        if steps == 0:
            windows = len(self._plan.epoch(0))
            raise ValueError(
                f"the data fill {windows} window(s) an epoch, batch.global_batch_size is "
                f"{self._settings.batch.global_batch_size}: lower it, or raise epochs"
            )
        return steps

    def longest_batch(self) -> Batch:
        lengths = self._store.lengths
        windows = sorted(self._plan.epoch(0), key=lambda w: -sum(int(lengths[e]) for e in w))
        batch = collate(self._store, windows[: self._settings.batch.micro_batch_size])
        return padded(batch, self._settings.row_multiple, 0)

    def outline(self) -> str:
        windows, store = self._plan.epoch(0), self._store
        filled = fill_rate(windows, store.lengths.tolist(), self._plan.capacity)
        return (
            f"{len(store)} examples, {int(store.lengths.sum()):,} tokens in {len(windows)} windows "
            f"of {self._plan.capacity} ({filled:.1%} full), {self._plan.batch} windows a step"
        )

    def loader(self) -> StepLoader:
        return BatchLoader(
            self._store,
            self._plan,
            self._distributed,
            self._settings.batch.micro_batch_size,
            self._settings.row_multiple,
        )

    def pairs_of(self, step: OptimizerStep) -> list[str]:
        return sorted({self._store[e].pair for window in step.windows for e in window})


class RecipeSource:
    """Examples made as they are drawn (:mod:`cass_ray.train.data.recipe`)."""

    def __init__(self, settings: TrainSettings, distributed: DistributedContext) -> None:
        self._settings = settings
        self._distributed = distributed

    def steps_of_epochs(self) -> int:
        raise ValueError("`data.recipe` makes examples without end: set `steps`")

    def longest_batch(self) -> Batch:
        from cass_ray.train.data.recipe_files import load_recipe

        return load_recipe(self._settings).batch(0)

    def outline(self) -> str:
        recipe = self._settings.data.recipe
        assert recipe is not None
        rows = self._settings.batch.global_batch_size
        return f"examples as they are drawn, {rows} row(s) of {recipe.row_tokens} tokens a step"

    def loader(self) -> StepLoader:
        from cass_ray.train.data.recipe_loader import RecipeLoader

        return RecipeLoader(self._settings, self._distributed)

    def pairs_of(self, step: OptimizerStep) -> list[str]:
        del step  # made in other processes, which keep no record
        return []
