"""Put all that a GPU host needs to run the opcode forms into one folder.

``python -m tests.lift.vectors.prepare_vectors FOLDER``, then on the host
``python3 FOLDER/collect_vectors.py FOLDER --output opcode_vectors.json.xz``. With ``--family`` only
some are run; ``python -m tests.lift.vectors.merge_vectors`` adds their results to those of the others.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

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


def prepare(folder: Path, architecture: int, families: Sequence[str] = ()) -> int:
    """Fill ``folder``; the number of forms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("recipes.py", "collect_vectors.py"):
        shutil.copy2(HERE / name, folder / name)
    by_module = modules(architecture, families=families)
    for name, forms in by_module.items():
        (folder / f"{name}.ptx").write_text(module(forms, architecture))
    plan = {
        "modules": {name: [form.name for form in forms] for name, forms in by_module.items()},
        "forms": {
            form.name: {
                "operands": form.operands,
                "words": form.result_words,
                "ulp": form.ulp,
                "floats": form.floats,
                "ptx": digest(form),
            }
            for forms in by_module.values()
            for form in forms
        },
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    return len(plan["forms"])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--architecture", type=int, default=90)
    parser.add_argument("--family", action="append", default=[], choices=FAMILIES)
    given = parser.parse_args()
    count = prepare(given.folder, given.architecture, given.family)
    print(f"{count} forms in {given.folder}")


if __name__ == "__main__":
    main()
