"""One word, one meaning: in the glossary, and in the names of public classes and modules.

A name that stands for two things has to be listed here, with the reason, or be changed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.folders import REPOSITORY

PACKAGES = ("actors", "cass_ray", "cluster", "jobs", "serve")
"""In each of them, and in each package of ``cass_ray``, a module has its name alone."""
OTHERS_CODE = ("builds/python", "corpus/shipped", "bench/tasks")

CLASSES = {
    "Diagnostic": "what translating says of a line; the same as JSON of the HTTP API",
    "Event": "of the HTTP API's streams; torch's, whose name is torch's",
    "TargetVerdict": "what verifying says of a target; the same as JSON for agents",
    "View": "what a sandboxed process sees of the file system; what a notebook shows of a result",
}
MODULES = {
    "edits": "translate.engines: of a model's answer; translate.rules: of the rules",
    "elf": "toolchain: any ELF file; toolchain.nvidia: cubins",
    "errors": "each package's exceptions",
    "formats": "emulator.isa: encodings of each instruction set",
    "kernels": "corpus.generate: made; corpus.parsing: read",
    "launches": "translate.rules: rewritten; translate.defects: looked at",
    "locate": "toolchain: installations; toolchain.opencl: those of OpenCL",
    "memory": "translate.rules.ptx: instructions; translate.defects: misuse",
    "operations": "emulator.isa: operations of each instruction set",
    "program": "corpus: a program with its origin; corpus.generate: one that is made",
    "rewards": "serve: the command; serve.http: its route",
    "settings": "each package's settings",
    "source": "corpus: a source of programs, of each kind",
    "tensor_memory": "lift.lowering: where it lies; lift.lowering.semantics: its instructions",
    "toolchain": "toolchain.amd, .nvidia, .opencl: the compilers of each vendor",
    "trainer": "train: from pairs; train.rl: from rewards",
}
TERMS = {
    "block": "of threads, as CUDA has it; of rows, where a run of rows is compiled together",
}


def modules(package: str) -> list[Path]:
    """Modules below ``package``, relative to the repository; none for other interpreters."""
    paths = (path.relative_to(REPOSITORY) for path in (REPOSITORY / package).rglob("*.py"))
    return sorted(path for path in paths if not any(each in str(path) for each in OTHERS_CODE))


def package_of(module: Path) -> str:
    """``lift`` of a module of ``cass_ray.lift``; the first folder of others."""
    return module.parts[1] if module.parts[0] == "cass_ray" else module.parts[0]


def public_classes(module: Path) -> list[str]:
    body = ast.parse((REPOSITORY / module).read_text()).body
    return [n.name for n in body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]


def terms() -> list[str]:
    """Terms of the glossary: first cells of its tables, of which some have several."""
    text = (REPOSITORY / "docs/glossary.md").read_text()
    cells = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]*\|$", text, re.MULTILINE)
    return [term for cell in cells for term in cell.split(", ") if cell not in ("term", "---")]


def unlisted(names: Iterable[str], listed: dict[str, str]) -> list[str]:
    """Names that occur more than once and are not listed."""
    return sorted(name for name, n in Counter(names).items() if n > 1 and name not in listed)


def test_a_public_class_has_its_name_alone() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for module in modules(package):
            for name in public_classes(module):
                places[name].append(str(module))
    assert len(places) > 800
    several = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in several.items() if name not in CLASSES} == {}
    assert CLASSES.keys() - several.keys() == set(), "listed, and there is one only"


def test_a_module_has_its_name_alone() -> None:
    names: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for module in modules(package):
            if not module.stem.startswith("__"):
                names[package_of(module)].append(module.stem)
    assert sum(map(len, names.values())) > 700
    wrong = {package: unlisted(stems, MODULES) for package, stems in names.items()}
    assert {package: stems for package, stems in wrong.items() if stems} == {}
    several = {name for stems in names.values() for name, n in Counter(stems).items() if n > 1}
    assert MODULES.keys() - several == set(), "listed, and there is one only"


def test_a_term_of_the_glossary_has_one_line() -> None:
    names = terms()
    assert len(names) > 80
    assert unlisted(names, TERMS) == []
    assert TERMS.keys() <= {name for name, n in Counter(names).items() if n > 1}


def test_names_that_occur_twice_are_seen() -> None:
    """The check itself: of two, of three, of a listed one, and of none."""
    assert unlisted([], {}) == []
    assert unlisted(["Side", "Level"], {}) == []
    assert unlisted(["Side", "Level", "Side"], {}) == ["Side"]
    assert unlisted(["Side", "Level", "Side", "Level", "Level"], {}) == ["Level", "Side"]
    assert unlisted(["Side", "Side"], {"Side": "why"}) == []
