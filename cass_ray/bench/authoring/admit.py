"""Is a task sharp? Faults are planted in its port; its inputs must tell most of them."""

from __future__ import annotations

from cass_ray.bench.task import BenchTask
from cass_ray.config import StrictModel
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.selftest.selftest import Fate, MutantResult, Subject, run_selftest, summarize
from cass_ray.toolchain.unit import CompileFailure

LEAST_SHARE = 0.9
_NO_MUTANTS = frozenset({Fate.SAME_CODE, Fate.NOT_BUILT})


class MutationTest(StrictModel):
    """What became of a task's mutants; ``problem`` where the port itself did not pass."""

    task: str
    mutants: list[MutantResult] = []
    problem: str = ""

    @property
    def counted(self) -> int:
        return sum(mutant.fate not in _NO_MUTANTS for mutant in self.mutants)

    @property
    def killed(self) -> int:
        """Mutants that something noticed."""
        return self.counted - len(self.survivors)

    @property
    def survivors(self) -> list[MutantResult]:
        return [mutant for mutant in self.mutants if mutant.fate is Fate.SURVIVED]

    @property
    def admitted(self) -> bool:
        return not self.problem and self.killed >= LEAST_SHARE * self.counted

    def format(self) -> str:
        head = "ok " if self.admitted else "BAD"
        if self.problem:
            return f"{head} {self.task}: {self.problem}"
        lines = [f"{head} {self.task}: {self.killed} of {self.counted} mutants caught"]
        lines += [f"    survived: line {m.line}: {m.fault}: {m.change}" for m in self.survivors]
        return "\n".join(lines)


def mutation_test(
    task: BenchTask, *, backend: Rdna3Backend, per_fault: int = 1, seed: int = 0
) -> MutationTest:
    """Plant ``per_fault`` faults of each kind in the port of ``task`` and verify each mutant."""
    inputs = (*task.visible, *task.hidden)
    subject = Subject(task.name, task.hip, inputs, task.tolerance)
    bounds = task.spec.limits.bounds()
    try:
        results = list(
            run_selftest([subject], backend, per_fault=per_fault, seed=seed, bounds=bounds)
        )
    except CompileFailure as failure:
        return MutationTest(task=task.name, problem=str(failure))
    outcome = summarize(results)
    problem = outcome.false_alarms.get(task.name, "")
    return MutationTest(task=task.name, mutants=outcome.mutants, problem=problem)
