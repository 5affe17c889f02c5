"""Count the forms of instructions in cubins: ``benchmarks/results/lift_forms.json``.

``python -m benchmarks.lift.forms OUT.json NAME=FOLDER ...`` reads every ``.cubin`` below each
folder, in the disassembler's text; NAME is the group under which its forms are counted. A form is
opcode, modifiers and what the operands are (``cass_ray.lift.forms``).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from cass_ray.assembly import sass
from cass_ray.lift.standing import forms_in
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


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("groups", nargs="+", metavar="NAME=FOLDER")
    given = parser.parse_args()
    toolchain = find_nvidia()
    made: dict[str, object] = {}
    for group in given.groups:
        name, _, folder = group.partition("=")
        counted = count(toolchain, Path(folder))
        made[name] = {
            architecture: {"cubins": cubins, "forms": dict(sorted(forms.items()))}
            for architecture, (cubins, forms) in sorted(counted.items())
        }
        print(name, {arch: (n, len(forms), forms.total()) for arch, (n, forms) in counted.items()})
    given.output.write_text(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    main()
