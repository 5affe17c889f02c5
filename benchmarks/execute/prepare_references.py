"""Put all that a GPU host needs to run the shipped corpus, or CASS-Bench, into one folder.

``python -m benchmarks.execute.prepare_references FOLDER [--bench]``, then on the host
``python3 FOLDER/collect_references.py FOLDER --output references.json``. The folder holds the CUDA
programs, their HIP translations (the tasks' reference ports), HIP's headers for Nvidia
(third-party: keep the folder out of the repository), the launch recorder's source and
``plan.json``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.execute import collect_references
from cass_ray.bench.task import loadable_tasks
from cass_ray.corpus.program import Program
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.corpus.reading.trees import StoredTrees, unpack
from cass_ray.corpus.sources.shipped import REPOSITORY, ShippedSource, load_manifest
from cass_ray.execute.evidence.launches import RECORDER_SOURCE
from cass_ray.storage.store import Store
from cass_ray.toolchain.hip.nvidia_platform import DEFINITIONS, FORCED_HEADER, hip_nvidia_include
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import Translator


def shipped_path(program: Program) -> str:
    """Path of ``program`` as in the shipped manifest."""
    repository = program.provenance.repository
    if repository == REPOSITORY:
        return f"programs/{program.path}"
    return f"repositories/{repository.removeprefix(f'{REPOSITORY}/')}/{program.path}"


def shipped_sources(work: Path) -> dict[str, tuple[str, Sources]]:
    """Manifest path -> (id, files) of every program of the shipped corpus."""
    store = StoredTrees(Store(work / "trees"))
    found: dict[str, tuple[str, Sources]] = {}
    for item in ShippedSource().iterate(work, store):
        if not isinstance(item, Program):
            continue
        root = work / "unpacked" / item.id
        if item.tree:
            unpack(store.get(item.tree), root, item.tree)
        main = root / item.path
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(item.source, newline="")
        directories = tuple(map(PurePosixPath, item.include_directories))
        unit = Unit(root, PurePosixPath(item.path), directories)
        found[shipped_path(item)] = (item.id, gather(unit))
    return found


@dataclass(frozen=True)
class Planned:
    """One program in both languages. ``id`` names the text of the CUDA side."""

    path: str
    id: str
    arguments: list[list[str]]
    cuda: Sources
    hip: Sources

    def entry(self, folder: Path) -> dict[str, Any]:
        """Write both sides below ``folder``; the entry in the plan."""
        units = {}
        for side, files in (("cuda", self.cuda), ("hip", self.hip)):
            place = Path(side) / self.path.replace("/", "_")
            unit = files.write(folder / place)
            units[side] = {
                "folder": str(place),
                "main": str(unit.main),
                "options": unit.preprocessor_arguments(),
            }
        facts = {"path": self.path, "id": self.id, "hip_id": self.hip.digest}
        return {**facts, "arguments": self.arguments, **units}


def shipped_programs(translator: Translator) -> Iterator[Planned]:
    """The shipped corpus with the translations of ``translator``."""
    with tempfile.TemporaryDirectory(prefix="cass-references-") as name:
        sources = shipped_sources(Path(name))
    for entry in load_manifest():
        identity, cuda = sources[entry.path]
        hip = translated(cuda, translator)
        yield Planned(entry.path, identity, entry.arguments, cuda, hip)


def bench_programs() -> Iterator[Planned]:
    """The tasks of CASS-Bench with their reference ports, on visible and hidden arguments."""
    tasks, broken = loadable_tasks()
    for message in broken.values():
        print(f"left out: {message}")
    for task in tasks:
        arguments = [*task.spec.arguments, *task.spec.hidden_arguments]
        yield Planned(task.name, task.cuda.digest, arguments, task.cuda, task.hip)


def prepare(folder: Path, programs: Iterable[Planned], translator: str) -> int:
    """Fill ``folder``; the number of programs. ``translator`` says where the HIP side is from."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(hip_nvidia_include() / "hip", folder / "hip-include" / "hip")
    for file in (RECORDER_SOURCE, FORCED_HEADER, Path(collect_references.__file__)):
        shutil.copy2(file, folder / file.name)
    plan = [program.entry(folder) for program in programs]
    settings = {
        "hip_options": [
            *DEFINITIONS,
            "-isystem",
            "hip-include",
            "-include",
            FORCED_HEADER.name,
        ],
        "translator": translator,
        "programs": plan,
    }
    (folder / "plan.json").write_text(json.dumps(settings, indent=1))
    return len(plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bench", action="store_true", help="CASS-Bench's tasks")
    parser.add_argument("--translator", default="rules")
    given = parser.parse_args()
    if given.bench:
        number = prepare(given.folder, bench_programs(), "the tasks' reference ports")
    else:
        translator = make_translator(given.translator)
        label = f"{translator.name} {translator.version}"
        number = prepare(given.folder, shipped_programs(translator), label)
    print(f"{number} programs of {'CASS-Bench' if given.bench else 'the corpus'} in {given.folder}")


if __name__ == "__main__":
    main()
