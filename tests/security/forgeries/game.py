"""Play every trick on programs of CASS-Bench, and count which ones the verifier catches.

python -m tests.security.forgeries.game [--tasks 8] [--seed 0] [--only TRICK|--honest] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath

from rich.console import Console
from rich.table import Table

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend, Inputs, RunMode
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.evidence.exploits import source_findings
from cass_ray.execute.originals import attempt
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.selftest.mutants import Fault, source_mutants
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.unit import CompileFailure
from tests.security.forgeries.tricks import TRICKS, Material, Outputs

HONEST = "honest port"
_INPUTS = 2
_MUTANTS = 12
_BOUNDS = Bounds(wall_seconds=30.0)
_IN_KERNELS = (Fault.OPERATOR, Fault.CONSTANT, Fault.BOUND)


@dataclass(frozen=True)
class Move:
    """One trick on one task: ``played`` unless what it makes does not print the right text."""

    task: str
    trick: str
    grade: str
    caught: bool
    played: bool
    reason: str


class Player:
    """Tricks on one task."""

    def __init__(self, task: BenchTask, lifted: Backend, engine: Backend) -> None:
        self.task = task
        self._engine = engine
        inputs = [*task.visible[:1], *task.hidden[: _INPUTS - 1]]
        made = attempt(task.cuda, lifted, inputs, RunMode(_BOUNDS))
        self.problem = made if isinstance(made, str) else ""
        self._reference = made if isinstance(made, ReferenceRuns) else None

    def moves(self, tricks: Sequence[str], generator: random.Random) -> Iterator[Move]:
        """The honest port first, then each trick."""
        assert self._reference is not None
        yield self._move(HONEST, self.task.hip)
        material = self._material(generator) if tricks else None
        if material is None:
            return
        for name in tricks:
            text = TRICKS[name](material)
            main = str(self.task.hip.main)
            files = {**self.task.hip.files, main: text.encode()}
            yield self._move(name, replace(self.task.hip, files=files))

    def _move(self, name: str, sources: Sources) -> Move:
        assert self._reference is not None
        try:
            built = self._engine.build(sources)
        except CompileFailure as failure:
            return Move(self.task.name, name, "not built", False, False, failure.diagnostic[-300:])
        findings = source_findings(sources.files, self.task.cuda.files)
        policy = Policy(
            self.task.tolerance,
            _BOUNDS,
            order_free=self.task.spec.comparison.kind == "order_free",
        )
        result = verify(self._reference, built, self._engine, policy, findings=findings)
        first = result.runs[0].numeric if result.runs else False
        return Move(
            self.task.name, name, result.grade.value, not result.passed, first, result.reason[:300]
        )

    def _material(self, generator: random.Random) -> Material | None:
        """The port with a fault that shows on each input; None where none of some is found."""
        assert self._reference is not None
        right = {
            run.inputs.arguments: run.outputs[0].decode("utf-8", "replace")
            for run in self._reference.runs
        }
        text = self.task.hip.files[str(self.task.hip.main)].decode("utf-8", "replace")
        end = text.rfind("int main")
        before_main = text[:end].count("\n") + 1
        mutants = [
            each
            for each in source_mutants(text)
            if each.fault in _IN_KERNELS and each.line < before_main
        ]
        generator.shuffle(mutants)
        for mutant in mutants[:_MUTANTS]:
            wrong = self._outputs(mutant.text)
            if wrong and all(
                not compare([right[each].encode()], said.encode()).numeric
                for each, said in wrong.items()
            ):
                return Material(text, right, mutant.text, wrong)
        return None

    def _outputs(self, text: str) -> Outputs:
        assert self._reference is not None
        files = {**self.task.hip.files, str(self.task.hip.main): text.encode()}
        try:
            built = self._engine.build(replace(self.task.hip, files=files))
        except CompileFailure:
            return {}
        outputs = {}
        for run in self._reference.runs:
            inputs = Inputs(run.inputs.arguments)
            ended = self._engine.run(built, inputs, RunMode(_BOUNDS)).ended
            if not ended.ok:
                return {}
            outputs[run.inputs.arguments] = ended.stdout.decode("utf-8", "replace")
        return outputs


def play(tasks: Sequence[BenchTask], tricks: Sequence[str], seed: int) -> Iterator[Move]:
    """All moves on ``tasks``; those whose original cannot be lifted are left out."""
    lifted, engine = make_backend("lifted", threads=1), make_backend("rdna3", threads=1)
    for task in tasks:
        player = Player(task, lifted, engine)
        if player.problem:
            yield Move(task.name, "reference", "none", False, False, player.problem[:300])
            continue
        yield from player.moves(tricks, random.Random(f"{seed} {task.name}"))


def drawn(count: int, seed: int) -> list[BenchTask]:
    """``count`` tasks with a HIP port of one file, drawn by ``seed``."""
    tasks = [
        task
        for task in load_tasks()
        if task.opencl is None and task.hip.main == PurePosixPath("main.hip")
    ]
    random.Random(seed).shuffle(tasks)
    return tasks[:count]


def table(moves: Sequence[Move]) -> Table:
    """Shares by trick."""
    made = Table(title="Tricks against the verifier", title_justify="left")
    for column in ("trick", "played", "caught", "share"):
        made.add_column(column)
    played: Counter[str] = Counter(each.trick for each in moves if each.played)
    caught: Counter[str] = Counter(each.trick for each in moves if each.played and each.caught)
    for trick, count in played.items():
        label = "honest ports refused" if trick == HONEST else trick
        made.add_row(label, str(count), str(caught[trick]), f"{caught[trick] / count:.1%}")
    return made


def main() -> int:
    """Exit codes: 0 every cheat was caught and every honest port verified, 1 not."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.forgeries.game")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(TRICKS))
    parser.add_argument("--honest", action="store_true", help="Only the ports as they are.")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    tricks = [] if chosen.honest else chosen.only or list(TRICKS)
    moves: list[Move] = []
    for move in play(drawn(chosen.tasks, chosen.seed), tricks, chosen.seed):
        moves.append(move)
        if move.caught == (move.trick == HONEST) or not move.played:
            print(f"{move.task}: {move.trick}: {move.grade}: {move.reason}", flush=True)
        if chosen.json:
            chosen.json.write_text(json.dumps([asdict(each) for each in moves], indent=1) + "\n")
    Console(width=100).print(table(moves))
    wrong = [each for each in moves if each.played and each.caught == (each.trick == HONEST)]
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
