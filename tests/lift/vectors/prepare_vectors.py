"""Put all that a GPU host needs to run the opcode forms into one folder.

``python -m tests.lift.vectors.prepare_vectors FOLDER``, then on the host
``python3 FOLDER/collect_vectors.py FOLDER --output opcode_vectors.json.xz``. With ``--family`` only
some are run; ``python -m tests.lift.vectors.merge_vectors`` adds their results to those of the others.
With ``--assemble`` the modules are assembled here: the host needs no ptxas then.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cass_ray.toolchain.locate import find_nvidia
from tests.lift.vectors.differential import assemble
from tests.lift.vectors.form import Form, digest, module
from tests.lift.vectors.forms import FAMILIES, family

HERE = Path(__file__).parent
MODULE_FORMS = 50


def modules(
    architecture: int, size: int = MODULE_FORMS, families: Sequence[str] = ()
) -> dict[str, list[Form]]:
    """The forms of ``families`` (all of them) that ``architecture`` has, by module."""
    made = {}
    for name in families or FAMILIES:
        forms = [form for form in family(name).values() if form.minimum <= architecture]
        for first in range(0, len(forms), size):
            made[f"{name}{first // size}"] = forms[first : first + size]
    return made


def prepare(
    folder: Path, architecture: int, families: Sequence[str] = (), *, assembled: bool = False
) -> int:
    """Fill ``folder``, with cubins where they are to be ``assembled``; the number of forms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("recipes.py", "collect_vectors.py"):
        shutil.copy2(HERE / name, folder / name)
    by_module = modules(architecture, families=families)
    for name, forms in by_module.items():
        if assembled:
            (folder / f"{name}.cubin").write_bytes(assemble(forms, architecture))
        else:
            (folder / f"{name}.ptx").write_text(module(forms, architecture))
    plan = {
        "ptxas": ptxas_release() if assembled else "",
        "modules": {name: [form.name for form in forms] for name, forms in by_module.items()},
        "forms": {
            form.name: {
                "operands": form.operands,
                "words": form.result_words,
                "ulp": form.ulp,
                "floats": form.floats,
                "grid": form.grid,
                "kept": form.kept,
                "ptx": digest(form),
            }
            for forms in by_module.values()
            for form in forms
        },
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    return len(plan["forms"])


def ptxas_release() -> str:
    """The line by which ptxas says what it is."""
    command = [str(find_nvidia().nvcc.with_name("ptxas")), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return next(line for line in said.splitlines() if "release" in line)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--architecture", type=int, default=90)
    parser.add_argument("--family", action="append", default=[], choices=FAMILIES)
    parser.add_argument("--assemble", action="store_true", help="write cubins instead of PTX")
    given = parser.parse_args()
    count = prepare(given.folder, given.architecture, given.family, assembled=given.assemble)
    print(f"{count} forms in {given.folder}")


if __name__ == "__main__":
    main()
