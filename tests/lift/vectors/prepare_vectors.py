"""Put all that a GPU host needs to run the opcode forms into one folder.

``python -m tests.lift.vectors.prepare_vectors FOLDER``, then on the host
``python3 FOLDER/collect_vectors.py FOLDER --output opcode_vectors.json.xz``.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from tests.lift.vectors.form import Form, digest, module
from tests.lift.vectors.forms import FAMILIES, family

HERE = Path(__file__).parent
MODULE_FORMS = 50


def modules(architecture: int, size: int = MODULE_FORMS) -> dict[str, list[Form]]:
    """The forms that ``architecture`` has, by the module that holds them."""
    made = {}
    for name in FAMILIES:
        forms = [form for form in family(name).values() if form.minimum <= architecture]
        for first in range(0, len(forms), size):
            made[f"{name}{first // size}"] = forms[first : first + size]
    return made


def prepare(folder: Path, architecture: int) -> int:
    """Fill ``folder``; the number of forms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("recipes.py", "collect_vectors.py"):
        shutil.copy2(HERE / name, folder / name)
    by_module = modules(architecture)
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
    given = parser.parse_args()
    print(f"{prepare(given.folder, given.architecture)} forms in {given.folder}")


if __name__ == "__main__":
    main()
