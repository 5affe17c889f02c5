"""Count the forms of instructions in cubins: ``benchmarks/results/lift_forms.json``.

``python -m benchmarks.lift.forms [--add] OUT.json NAME=FOLDER ...`` reads every ``.cubin`` below
each folder, in the disassembler's text, or the counts in rows of ``benchmarks.lift.harvest``; NAME
is the group under which forms are counted, and other groups of OUT.json stay with ``--add``. A form
is opcode, modifiers and what the operands are (``cass_ray.lift.forms``).
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from benchmarks.lift.harvest_report import read
from cass_ray.assembly import sass
from cass_ray.lift.form_evidence import forms_in
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain

_BATCH = 64


def count(toolchain: NvidiaToolchain, folder: Path) -> dict[str, tuple[int, Counter[str]]]:
    """Architecture -> number of cubins, and how often each form is in them."""
    found: dict[str, tuple[int, Counter[str]]] = {}
    files = sorted(folder.rglob("*.cubin"))
    for first in range(0, len(files), _BATCH):
        cubins = [path.read_bytes() for path in files[first : first + _BATCH]]
        for listing in toolchain.disassemble(cubins):
            functions = sass.parse(listing).functions
            if functions:
                architecture = functions[0].architecture
                cubin_count, forms = found.get(architecture, (0, Counter()))
                found[architecture] = (cubin_count + 1, forms + forms_in(functions))
    return found


def count_rows(folder: Path) -> dict[str, tuple[int, Counter[str]]]:
    """The same from the rows of a harvest."""
    found: dict[str, tuple[int, Counter[str]]] = {}
    for row in read(folder):
        if row["instructions"]:
            architecture = f"sm_{row['architecture']}"
            cubin_count, forms = found.get(architecture, (0, Counter()))
            forms.update(row["forms"])
            found[architecture] = (cubin_count + 1, forms)
    return found


def _number(architecture: str) -> int:
    return int(re.sub(r"\D", "", architecture))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("groups", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--add", action="store_true", help="keep the other groups of the output")
    given = parser.parse_args()
    made: dict[str, object] = json.loads(given.output.read_text()) if given.add else {}
    for group in given.groups:
        name, _, folder = group.partition("=")
        is_harvest = any(Path(folder).rglob("*.jsonl"))
        counted = count_rows(Path(folder)) if is_harvest else count(find_nvidia(), Path(folder))
        made[name] = {
            architecture: {"cubins": cubins, "forms": dict(sorted(forms.items()))}
            for architecture, (cubins, forms) in sorted(
                counted.items(), key=lambda each: _number(each[0])
            )
        }
        print(name, {arch: (n, len(forms), forms.total()) for arch, (n, forms) in counted.items()})
    given.output.write_text(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    main()
