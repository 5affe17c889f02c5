"""What the answers of a small model are worth: compiled, run, compared.

    J="python -m recipes.judge.answers"
    $J choose DIR                                # before the run: held-out programs to be asked
    $J rules DIR --out JUDGED                    # CASS-Bench: the rules' translations
    $J bench ANSWERS --out JUDGED                # CASS-Bench: public output, hidden inputs
    $J bench ANSWERS --out JUDGED --direction hip-to-cuda   # … run as lifted machine code
    $J public DIR --answers ANSWERS --out JUDGED # held-out programs: compiled, beside the rules'

``DIR`` is what ``small.model pack`` wrote, ``ANSWERS`` what ``small.model answer`` did. Each
verdict is a line of JSON as soon as it is there, and one that is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from cass_ray.config import load
from cass_ray.task import Direction
from cass_ray.train.settings import TrainSettings
from recipes.small.pairs import PROGRAMS, Row, by_rules, translated, unpacked

if TYPE_CHECKING:
    from cass_ray.toolchain.amd.toolchain import AmdToolchain

_LABELS = {Direction.CUDA_TO_HIP: "bench", Direction.HIP_TO_CUDA: "back"}
"""What the files of answers in each direction begin with."""
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_OF_A_REPOSITORY = 12
"""Programs of a repository that the corpus does not name, at most."""


# --- Which programs are asked -------------------------------------------------------------------


def choose(folder: Path, config: Path, named: Path) -> None:
    """Write the ids of held-out programs that one file and the headers of this machine suffice for.

    Each has a kernel, and nvcc compiles it as it is. ``named`` is the configuration of the corpus
    that is learned from: of repositories that it does not have, ``_OF_A_REPOSITORY`` each at most.
    """
    recipe = load(TrainSettings, config, {}).data.recipe
    assert recipe is not None
    held_out, corpus = set(recipe.held_out_repositories), named.read_text()
    made: list[Row] = []
    for row in unpacked(folder):
        if row["repository"] in held_out and " main(" in row["cuda"]:
            pair = translated(row)
            if pair is not None and pair.get("kind") == "program":
                made.append(pair)
    here = _present(sorted({name for pair in made for name in _includes(pair["hip_source"])}))
    fitting: dict[str, list[Row]] = defaultdict(list)
    for pair in made:
        headers = all(name in here for name in _includes(pair["hip_source"]))
        if headers and "__global__" in pair["hip_source"]:
            fitting[pair["repository"]].append(pair)
    chosen: list[str] = []
    for repository, pairs in sorted(fitting.items()):
        random.Random(repository).shuffle(pairs)
        known = f"github.com/{repository}.git@" in corpus
        compiled = (pair["id"] for pair in pairs if _compiles_as_it_is(pair["cuda_source"]))
        ids = list(islice(compiled, None if known else _OF_A_REPOSITORY))
        chosen += ids
        print(f"{repository}: {len(ids)}{'' if known else ', not in the corpus'}", flush=True)
    (folder / PROGRAMS).write_text(json.dumps(chosen))
    print(f"{len(chosen)} programs of {len(fitting)} repositories; {len(made)} translated")


def _includes(source: str) -> list[str]:
    return _INCLUDE.findall(source)


def _present(names: list[str]) -> set[str]:
    """Those of ``names`` that a HIP program can include here, in one compilation."""
    usual = [name for name in names if re.fullmatch(r"[\w./+-]+", name)]
    lines = ["#include <hip/hip_runtime.h>", "__global__ void kernel() {}"]
    for number, name in enumerate(usual):
        declared = f'extern "C" __device__ __attribute__((used)) int found_{number} = 1;'
        lines += [f"#if __has_include(<{name}>)", declared, "#endif"]
    assembly = _device_assembly("\n".join(lines) + "\n", _toolchain())
    found = {int(number) for number in re.findall(r"^found_(\d+):", assembly, re.MULTILINE)}
    return {name for number, name in enumerate(usual) if number in found}


# --- Compiling ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _toolchain() -> AmdToolchain:
    from cass_ray.bench.evaluate import usable_backend

    return usable_backend().toolchain


def _sources(code: str) -> Any:
    from cass_ray.corpus.reading.source_files import Sources

    main = PurePosixPath("main.hip")
    return Sources(main, {str(main): code.encode("utf-8", "replace")}, (PurePosixPath("."),))


def _device_assembly(code: str, toolchain: AmdToolchain) -> str:
    from cass_ray.execute.backends.base import unit_on_disk

    with unit_on_disk(_sources(code)) as unit:
        return toolchain.compile_device(unit).device_assembly


def _compiles_as_it_is(cuda: str) -> bool:
    from cass_ray.corpus.reading.source_files import Sources
    from cass_ray.execute.backends.base import unit_on_disk
    from cass_ray.toolchain.locate import find_nvidia
    from cass_ray.toolchain.unit import CompileFailure

    main = PurePosixPath("main.cu")
    sources = Sources(main, {str(main): cuda.encode()}, (PurePosixPath("."),))
    try:
        with unit_on_disk(sources) as unit:
            find_nvidia().compile(unit)
    except CompileFailure:
        return False
    return True


def _diagnostic(code: str, toolchain: AmdToolchain) -> str:
    """What the compiler says of a HIP program, both sides; empty when it compiles."""
    from cass_ray.execute.backends.base import unit_on_disk
    from cass_ray.toolchain.unit import CompileFailure

    try:
        with unit_on_disk(_sources(code)) as unit:
            toolchain.compile(unit)
    except CompileFailure as failure:
        return str(failure)[:2000]
    return ""


# --- Verdicts -----------------------------------------------------------------------------------


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Kept:
    """Verdicts in a file, by a key; made where they are missing."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._known: dict[str, Row] = {row["key"]: row for row in _rows(path)}

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str) -> Row:
        return self._known[key]

    def put(self, key: str, row: Row) -> Row:
        self._known[key] = {"key": key, **row}
        with self._path.open("a") as stream:
            stream.write(json.dumps(self._known[key]) + "\n")
        return row


def _key(*parts: str) -> str:
    from cass_ray.cache import digest

    return str(digest(["small judge", *parts]))[:24]


class BenchVerdicts:
    """Verdicts on answers to CASS-Bench, source level, on the backend of this machine."""

    def __init__(self, kept: Kept) -> None:
        from cass_ray.bench.evaluate import make_compilers
        from cass_ray.bench.judge import Judge
        from cass_ray.bench.task import load_tasks
        from cass_ray.execute.backends.lifted import LiftedBackend

        self._compilers = make_compilers()
        lifted = LiftedBackend(threads=1)  # runs CUDA programs where no Nvidia GPU is
        self._judge = Judge(self._compilers, self._compilers.cache, nvidia=lifted)
        self.tasks = {task.name: task for task in load_tasks()}
        self._kept = kept

    def of(
        self, name: str, file: str, code: str | None, direction: Direction = Direction.CUDA_TO_HIP
    ) -> Row:
        """``compiled``, ``public`` and ``hidden`` of an answer; None: no usable one."""
        from cass_ray.bench.programs import ask
        from cass_ray.bench.question import BenchAnswer, QuestionKind

        if code is None:
            return {"compiled": False, "public": False, "hidden": False, "why": "no answer"}
        key = _key(name, code)
        if key in self._kept:
            return self._kept.get(key)
        task = self.tasks[name]
        question = ask(task, QuestionKind(direction=direction), self._compilers)
        made = self._judge.judge(task, question, BenchAnswer(files={file: code}))
        own = "exact" if task.spec.comparison.kind == "exact" else "numeric"
        row = {
            "task": name,
            "compiled": bool(made.compiled),
            "public": bool(getattr(made, own)),
            "hidden": bool(getattr(made, f"hidden_{own}")),
            "passed": bool(made.passed),
            "why": (made.diagnostic or made.problem)[:600],
        }
        return self._kept.put(key, row)


def judge_bench(answers: Path, out: Path, direction: Direction) -> None:
    """Greedy answers, each; and the best of all: the first that compiles and prints the public
    output, of the greedy file and edits and then of the samples in turn."""
    verdicts, kind = BenchVerdicts(Kept(out / "bench.jsonl")), _LABELS[direction]
    greedy = (f"{kind}-file", f"{kind}-edits")
    samples = tuple(f"{label}-samples" for label in greedy)
    given: dict[str, dict[str, list[Row]]] = {}
    for label in (*greedy, *samples):
        by_task: dict[str, list[Row]] = defaultdict(list)
        for row in _rows(answers / f"{label}.jsonl"):
            by_task[row["task"]].append(row)
        given[label] = by_task
    names = [name for name in verdicts.tasks if any(name in given[label] for label in greedy)]
    for label in greedy:
        counts: Counter[str] = Counter()
        for name in names:
            for row in given[label].get(name, [])[:1]:
                _count(counts, verdicts.of(name, row["file"], row.get("code"), direction))
        print(label, dict(counts), flush=True)
    turns = {name: _turns(name, given, greedy, samples) for name in names}
    best = {name: _best(verdicts, name, turns[name], direction) for name in names}
    (out / f"{kind}-best.json").write_text(json.dumps(best, indent=1))
    counts = Counter(row["chosen"] or "none" for row in best.values())
    right = sum(row["hidden"] for row in best.values())
    wrong = [name for name, row in best.items() if row["chosen"] and not row["hidden"]]
    print(f"best of all: {right} right of {len(names)}; chosen, wrong on hidden inputs: {wrong}")
    print(dict(counts))


def _count(counts: Counter[str], verdict: Row) -> None:
    counts["compiled"] += verdict["compiled"]
    counts["public"] += verdict["public"]
    counts["right"] += verdict["public"] and verdict["hidden"]


def _turns(
    name: str,
    given: dict[str, dict[str, list[Row]]],
    greedy: Sequence[str],
    samples: Sequence[str],
) -> list[Row]:
    """The answers for a task in the order in which they are tried."""
    turns = [given[label].get(name, [])[:1] for label in greedy]
    sampled = [given[label].get(name, []) for label in samples]
    turns += [list(rows) for rows in zip(*sampled, strict=False)]
    return [row for turn in turns for row in turn]


def _best(verdicts: BenchVerdicts, name: str, turns: list[Row], direction: Direction) -> Row:
    for row in turns:
        verdict = verdicts.of(name, row["file"], row.get("code"), direction)
        if verdict["compiled"] and verdict["public"]:
            how = "greedy" if not row["temperature"] else "sampled"
            return {"chosen": how, "hidden": verdict["hidden"]}
    return {"chosen": "", "hidden": False}


def judge_rules(folder: Path, out: Path) -> None:
    """The rules' translations of the same questions, under the same verdicts."""
    from recipes.small.pairs import QUESTIONS

    verdicts, counts = BenchVerdicts(Kept(out / "bench.jsonl")), Counter[str]()
    for row in json.loads((folder / QUESTIONS).read_text()):
        if row["task"] in verdicts.tasks:
            _count(counts, verdicts.of(row["task"], row["file"], by_rules(row["cuda"])))
    print("the rules", dict(counts))


def judge_public(answers: Path | None, folder: Path, out: Path) -> None:
    """Held-out programs compiled for AMD: the rules' translation, and each answer."""
    kept, toolchain = Kept(out / "public.jsonl"), _toolchain()
    chosen = set(json.loads((folder / PROGRAMS).read_text()))
    cuda = {row["id"]: row["cuda"] for row in unpacked(folder) if row["id"] in chosen}

    def compiles(code: str | None) -> bool:
        if code is None:
            return False
        key = _key(code)
        if key not in kept:
            kept.put(key, {"why": _diagnostic(code, toolchain)})
        return not kept.get(key)["why"]

    rules = {name: compiles(by_rules(text)) for name, text in cuda.items()}
    print(f"the rules: {sum(rules.values())} of {len(rules)} compile", flush=True)
    for path in sorted(answers.glob("public-*.jsonl")) if answers is not None else ():
        rows = [row for row in _rows(path) if row["task"] in rules]
        own = [(row["task"], compiles(row.get("code"))) for row in rows]
        unusable = sum("problem" in row for row in rows)
        pairs = Counter((rules[name], right) for name, right in own)
        print(
            f"{path.stem}: {sum(right for _, right in own)} of {len(own)} compile; "
            f"unusable {unusable}; "
            f"(rules compile, answer does): {dict(pairs)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    configs = Path(__file__).parents[2] / "jobs/configs"
    choosing = commands.add_parser("choose")
    choosing.add_argument("folder", type=Path)
    choosing.add_argument("--config", type=Path, default=configs / "train_small.yaml")
    choosing.add_argument("--corpus", type=Path, default=configs / "corpus_public.yaml")
    bench = commands.add_parser("bench")
    bench.add_argument("answers", type=Path)
    bench.add_argument(
        "--direction", type=Direction, choices=list(Direction), default=Direction.CUDA_TO_HIP
    )
    rules = commands.add_parser("rules")
    rules.add_argument("folder", type=Path)
    public = commands.add_parser("public")
    public.add_argument("folder", type=Path)
    public.add_argument("--answers", type=Path, help="Without them: the rules' translations alone.")
    for command in (bench, rules, public):
        command.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.command == "choose":
        choose(options.folder, options.config, options.corpus)
    elif options.command == "bench":
        judge_bench(options.answers, options.out, options.direction)
    elif options.command == "rules":
        judge_rules(options.folder, options.out)
    else:
        judge_public(options.answers, options.folder, options.out)


if __name__ == "__main__":
    main()
