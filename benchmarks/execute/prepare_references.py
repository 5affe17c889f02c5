"""Put all that a GPU host needs to run the shipped corpus into one folder.

``python -m benchmarks.execute.prepare_references FOLDER``, then on the host
``python3 FOLDER/collect_references.py FOLDER --output references.json``. The folder holds the CUDA
programs, their HIP translations, HIP's headers for Nvidia (third-party: keep the folder out of the
repository), the launch recorder's source and ``plan.json``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

from benchmarks.execute import collect_references
from cass_ray.corpus.program import Program
from cass_ray.corpus.shipped import REPOSITORY, SHIPPED_ROOT, ShippedSource, load_manifest
from cass_ray.corpus.trees import DirectoryTreeStore, unpack
from cass_ray.execute.hip_headers import DEFINITIONS, FORCED_HEADER, hip_nvidia_include
from cass_ray.execute.launches import RECORDER_SOURCE
from cass_ray.rdna3.sources import Sources, gather, translated
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.registry import make_translator


def shipped_path(program: Program) -> str:
    """Path of ``program`` as in the shipped manifest."""
    repository = program.provenance.repository
    if repository == REPOSITORY:
        return f"programs/{program.path}"
    return f"repositories/{repository.removeprefix(f'{REPOSITORY}/')}/{program.path}"


def shipped_sources(work: Path) -> dict[str, tuple[str, Sources]]:
    """Manifest path -> (id, files) of every program of the shipped corpus."""
    store = DirectoryTreeStore(str(work / "trees"))
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


def prepare(folder: Path, engine: str) -> int:
    """Fill ``folder``; the number of programs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(hip_nvidia_include() / "hip", folder / "hip-include" / "hip")
    for file in (RECORDER_SOURCE, FORCED_HEADER, Path(collect_references.__file__)):
        shutil.copy2(file, folder / file.name)
    translator = make_translator(engine)
    plan = []
    with tempfile.TemporaryDirectory(prefix="cass-references-") as name:
        sources = shipped_sources(Path(name))
    for entry in load_manifest():
        identity, cuda = sources[entry.path]
        hip = translated(cuda, translator)
        units = {}
        for side, files in (("cuda", cuda), ("hip", replace(hip, findings=()))):
            place = Path(side) / entry.path.replace("/", "_")
            unit = files.write(folder / place)
            units[side] = {
                "folder": str(place),
                "main": str(unit.main),
                "options": unit.preprocessor_arguments(),
            }
        item = {"path": entry.path, "id": identity, "arguments": entry.arguments, **units}
        plan.append(item)
    settings = {
        "hip_options": [
            *DEFINITIONS,
            "-isystem",
            "hip-include",
            "-include",
            FORCED_HEADER.name,
        ],
        "translator": f"{translator.name} {translator.version}",
        "programs": plan,
    }
    (folder / "plan.json").write_text(json.dumps(settings, indent=1))
    return len(plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--translator", default="rules")
    given = parser.parse_args()
    number = prepare(given.folder, given.translator)
    print(f"{number} programs of {SHIPPED_ROOT.name} in {given.folder}")


if __name__ == "__main__":
    main()
