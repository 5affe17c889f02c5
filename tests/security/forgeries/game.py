"""Play every trick on programs of CASS-Bench, and count which ones the verifier catches.

python -m tests.security.forgeries.game [--tasks 8] [--seed 0] [--only TRICK] [--journal FILE]
python -m tests.security.forgeries.game --every 4 --each 4 [--journal FILE]
python -m tests.security.forgeries.game --honest tasks|shipped|generated|self-checks [--every 5]
python -m tests.security.forgeries.game --honest folder --folder DIR
python -m tests.security.forgeries.game --every 1 --each 4 --part 3/30 [--journal FILE]

A journal has a line of JSON for each move. What it holds is not played again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend, Inputs, RunMode
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.originals import attempt
from cass_ray.execute.port_verdict import JudgedPort, judge_port
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.selftest.mutants import Fault, source_mutants
from cass_ray.execute.targets import translated_port
from cass_ray.execute.verify import Policy
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure
from tests.security.forgeries.honest import ORIGINS, RightPort, of_task
from tests.security.forgeries.tricks import TRICKS, Material, Outputs

HONEST = "honest port"
NO_REFERENCE = "reference"
NO_FAULT = "fault"
STARVED = "machine"
"""Another run with the same journal plays what is left."""
_MUTANTS = 12
_BOUNDS = Bounds(wall_seconds=30.0)
_IN_KERNELS = (Fault.OPERATOR, Fault.CONSTANT, Fault.BOUND)


@dataclass(frozen=True)
class Move:
    """One trick on one program: ``played`` unless what it makes does not print the right text."""

    task: str
    trick: str
    grade: str
    caught: bool
    played: bool
    reason: str

    @property
    def wrong(self) -> bool:
        """A trick that was not caught, or an honest port that was refused."""
        return self.played and self.caught == (self.trick == HONEST)


@dataclass(frozen=True)
class Part:
    """Every ``parts``-th program from ``number`` on: what one of several machines plays."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """``K/N``, K from 0 to N - 1; ValueError."""
        number, parts = map(int, text.split("/"))
        if not 0 <= number < parts:
            raise ValueError(f"{text}: K of K/N is from 0 to N - 1")
        return cls(number, parts)


WHOLE = Part(0, 1)


class Player:
    """Tricks on one program."""

    def __init__(
        self, subject: RightPort, lifted: Backend, engine: Backend, *, check: bool = False
    ) -> None:
        self.subject = subject
        self._engine = engine
        self._check = check
        made = attempt(subject.original, lifted, subject.inputs, RunMode(_BOUNDS))
        self.problem = made if isinstance(made, str) else ""
        self._reference = made if isinstance(made, ReferenceRuns) else None

    def honest(self) -> Move:
        """The port as it is."""
        return self._move(HONEST, self.subject.port)

    def moves(self, tricks: Sequence[str], generator: random.Random) -> Iterator[Move]:
        """Each of ``tricks``."""
        material = self._material(generator)
        if material is None:
            why = f"none of {_MUTANTS} faults shows on each input"
            yield Move(self.subject.name, NO_FAULT, "none", False, False, why)
            return
        for name in tricks:
            text = TRICKS[name](material)
            main = str(self.subject.port.main)
            files = {**self.subject.port.files, main: text.encode()}
            yield self._move(name, replace(self.subject.port, files=files))

    def _move(self, name: str, sources: Sources) -> Move:
        assert self._reference is not None
        subject = self.subject
        try:
            built = self._engine.build(sources)
        except CompileFailure as failure:
            said = failure.diagnostic[-300:]
            return Move(subject.name, name, "not built", False, False, said)
        policy = Policy(
            subject.tolerance, _BOUNDS, order_free=subject.order_free, check=self._check
        )
        another = translated_port(subject.original, sources, self._engine)
        judged = JudgedPort(built, subject.original.files, sources.files, another)
        result = judge_port(judged, self._reference, self._engine, policy)
        first = result.runs[0].numeric if result.runs else False
        return Move(
            subject.name,
            name,
            result.grade.value,
            not result.passed,
            first or name == HONEST,
            result.reason[:300],
        )

    def _material(self, generator: random.Random) -> Material | None:
        """The port with a fault that shows on each input; None where none of some is found."""
        assert self._reference is not None
        right = {
            run.inputs.arguments: run.outputs[0].decode("utf-8", "replace")
            for run in self._reference.runs
        }
        port = self.subject.port
        text = port.files[str(port.main)].decode("utf-8", "replace")
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
        port = self.subject.port
        files = {**port.files, str(port.main): text.encode()}
        try:
            built = self._engine.build(replace(port, files=files))
        except CompileFailure:
            return {}
        outputs = {}
        for run in self._reference.runs:
            inputs = Inputs(run.inputs.arguments)
            ended = self._engine.run(built, inputs, RunMode(_BOUNDS)).ended
            # One that checks itself may end with another status.
            if ended.verdict not in (SandboxVerdict.OK, SandboxVerdict.EXIT):
                return {}
            if b"cass emulator: " in ended.stderr:
                return {}  # a kernel that fails takes each trick with it
            outputs[run.inputs.arguments] = ended.stdout.decode("utf-8", "replace")
        return outputs


def play(
    subjects: Iterable[RightPort],
    tricks: Sequence[str],
    seed: int = 0,
    known: Sequence[Move] = (),
    each: int = 0,
    part: Part = WHOLE,
    *,
    check: bool = False,
) -> Iterator[Move]:
    """The honest port of each program, then tricks on it, without what is ``known``.

    ``each`` tricks on one program, the next ones on the next; 0: all of them. Programs whose
    original cannot be lifted have no moves but one that says so. Of programs that are not in
    ``part`` there is nothing. ``check``: in checking mode and with waves in another order, too.
    """
    lifted, engine = make_backend("lifted", threads=1), make_backend("rdna3", threads=1)
    for number, subject in enumerate(subjects):
        if number % part.parts != part.number:
            continue
        chosen = turn(tricks, number, each)
        done = {move.trick for move in known if move.task == subject.name}
        left = [] if NO_FAULT in done else [trick for trick in chosen if trick not in done]
        if NO_REFERENCE in done or (HONEST in done and not left):
            continue
        try:
            player = Player(subject, lifted, engine, check=check)
            if player.problem:
                yield Move(subject.name, NO_REFERENCE, "none", False, False, player.problem[:300])
                continue
            if HONEST not in done:
                yield player.honest()
            if left:
                yield from player.moves(left, random.Random(f"{seed} {subject.name}"))
        except Starved as error:
            yield Move(subject.name, STARVED, "none", False, False, str(error))


def turn(tricks: Sequence[str], number: int, each: int) -> list[str]:
    """The tricks for program ``number`` where every program gets ``each``; 0: all of them."""
    if not each:
        return list(tricks)
    first = number * each
    return [tricks[(first + offset) % len(tricks)] for offset in range(min(each, len(tricks)))]


def _tasks() -> list[BenchTask]:
    return [task for task in load_tasks() if task.opencl is None]


def drawn(count: int, seed: int) -> list[RightPort]:
    """``count`` tasks of CASS-Bench, drawn by ``seed``."""
    tasks = _tasks()
    random.Random(seed).shuffle(tasks)
    return [of_task(task) for task in tasks[:count]]


def every(step: int) -> list[RightPort]:
    """Each ``step``-th task of CASS-Bench by name."""
    return [of_task(task) for task in sorted(_tasks(), key=lambda task: task.name)[::step]]


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


def journal_of(path: Path | None) -> list[Move]:
    """What was played before; nothing where there is no journal yet."""
    if path is None or not path.exists():
        return []
    return [Move(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def main() -> int:
    """Exit codes: 0 every cheat was caught and every honest port verified, 1 not."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.forgeries.game")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, metavar="N", help="Each N-th task by name, or port.")
    parser.add_argument("--each", type=int, default=0, help="So many tricks on a task, in turn.")
    parser.add_argument("--only", action="append", choices=list(TRICKS))
    parser.add_argument("--honest", choices=list(ORIGINS), help="Right ports alone, from there.")
    parser.add_argument("--folder", type=Path, help="With CUDA programs, for --honest folder.")
    parser.add_argument("--check", action="store_true", help="Races and order, as cass verify.")
    parser.add_argument("--part", type=Part.parse, default=WHOLE, metavar="K/N")
    parser.add_argument("--journal", type=Path)
    chosen = parser.parse_args()
    tricks = [] if chosen.honest else chosen.only or list(TRICKS)
    subjects: Iterable[RightPort]
    subjects = every(chosen.every) if chosen.every else drawn(chosen.tasks, chosen.seed)
    if chosen.honest:
        subjects = islice(ORIGINS[chosen.honest](chosen.folder), 0, None, chosen.every or 1)
    moves = journal_of(chosen.journal)
    game = (subjects, tricks, chosen.seed, moves[:], chosen.each, chosen.part)
    for move in play(*game, check=chosen.check):
        moves.append(move)
        if move.wrong or not move.played:
            print(f"{move.task}: {move.trick}: {move.grade}: {move.reason}", flush=True)
        if chosen.journal:
            with chosen.journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(asdict(move)) + "\n")
    Console(width=100).print(table(moves))
    return int(any(each.wrong for each in moves))


if __name__ == "__main__":
    raise SystemExit(main())
