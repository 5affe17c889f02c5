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

PACKAGES = ("lift", "emulator", "toolchain")
"""Packages of ``cass_ray`` whose names are checked; their classes against those of all of it."""

CLASSES = {
    "View": "what a sandboxed process sees of the file system; what a notebook shows of a result",
}
MODULES = {
    "coverage": "lift: forms that the lifter knows; emulator: opcodes that the engine knows",
    "elf": "toolchain: any ELF file; toolchain.nvidia: cubins",
    "errors": "each package's exceptions",
    "formats": "emulator.isa: encodings of each instruction set",
    "locate": "toolchain: installations; toolchain.opencl: those of OpenCL",
    "operations": "emulator.isa: operations of each instruction set",
    "probe": "toolchain: versions of programs; emulator.isa: what the disassembler accepts",
    "tensor_memory": "lift.lowering: where it lies; lift.lowering.semantics: its instructions",
    "toolchain": "toolchain.amd, .nvidia, .opencl: the compilers of each vendor",
}
TERMS = {
    "block": "of threads, as CUDA has it; of rows, where a run of rows is compiled together",
}


def modules(package: str) -> list[Path]:
    return sorted((REPOSITORY / "cass_ray" / package).rglob("*.py"))


def public_classes(module: Path) -> list[str]:
    body = ast.parse(module.read_text()).body
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
    for module in modules(""):
        for name in public_classes(module):
            places[name].append(str(module.relative_to(REPOSITORY)))
    ours = {
        name for package in PACKAGES for each in modules(package) for name in public_classes(each)
    }
    assert len(ours) > 150
    twice = {name: where for name, where in places.items() if len(where) > 1 and name in ours}
    assert {name: where for name, where in twice.items() if name not in CLASSES} == {}
    assert CLASSES.keys() - twice.keys() == set(), "listed, and there is one only"


def test_a_module_has_its_name_alone() -> None:
    names = [
        module.stem
        for package in PACKAGES
        for module in modules(package)
        if module.stem != "__init__"
    ]
    assert len(names) > 150
    assert unlisted(names, MODULES) == []
    assert MODULES.keys() - {name for name, n in Counter(names).items() if n > 1} == set()


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
