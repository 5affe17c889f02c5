"""``make test-changed``: the tests that a change can reach, the nearest first.

``python -m tests.changed [BASE]`` compares the working tree with the commit at which it left BASE
(``main``), follows imports back from the files that differ, and runs pytest on the test files that
it comes to. It prints what runs and what is left out. Imports are those of import-linter's graph
(grimp), those within functions too, and what a graph of imports does not show:

- a module's packages, and the ``conftest.py`` of a test's folders and above
- modules named in strings (``-m cass_ray.cli``, ``f"cass_ray.public.{name}"``), entry points
- files that are no modules, read by those that name them or by the package in which they lie

Types are not followed: what is imported for them alone changes nothing at run time.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath

import grimp

from tests.folders import REPOSITORY

ROOTS = ("cass_ray", "actors", "jobs", "serve", "cluster", "benchmarks", "recipes", "tests")
OF_ALL = ("pyproject.toml", "constraints.txt", "tests/conftest.py")
"""Files that decide how every test runs."""
COMMAND = "cass"
CLI = "cass_ray.cli"
_MODULE = re.compile(r"^[a-z_]\w*(\.\w+)+")


def is_test(module: str) -> bool:
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def packages_of(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def strings(source: str) -> set[str]:
    """Strings of a module without its docstrings, the constant parts of f-strings too."""
    nodes = list(ast.walk(ast.parse(source)))
    texts = {n.value.value for n in nodes if isinstance(n, ast.Expr)
             and isinstance(n.value, ast.Constant) and isinstance(n.value.value, str)}  # fmt: skip
    constants = (n.value for n in nodes if isinstance(n, ast.Constant))
    return {text for text in constants if isinstance(text, str) and text not in texts}


@dataclass
class Graph:
    """Who needs whom at run time, over all modules of ours and their tests."""

    root: Path
    importers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set), repr=False)

    @cached_property
    def imports(self) -> grimp.ImportGraph:
        return grimp.build_graph(*ROOTS, exclude_type_checking_imports=True)

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Module -> its file, relative to the repository."""
        return {name: self._file(name) for name in self.imports.modules}

    def _file(self, module: str) -> Path:
        place = Path(*module.split("."))
        file = place.with_suffix(".py")
        return file if (self.root / file).exists() else place / "__init__.py"

    @cached_property
    def strings(self) -> dict[str, set[str]]:
        return {
            name: strings((self.root / path).read_text()) for name, path in self.modules.items()
        }

    def build(self) -> Graph:
        entry_points = declared_entry_points(self.root)
        for module in self.modules:
            needs = set(packages_of(module))
            needs |= self.imports.find_modules_directly_imported_by(module)
            by_name = set(self._named(module))
            if self.modules[module].name != "__init__.py":
                needs |= by_name
            else:  # done when it is asked for, by those who import the package itself
                for importer in self.imports.find_modules_that_directly_import(module):
                    self._add(importer, by_name)
            if "entry_points(group=" in (self.root / self.modules[module]).read_text():
                needs |= entry_points
            if is_test(module) or module.endswith("conftest"):
                needs |= {f"{each}.conftest" for each in packages_of(module)}
            self._add(module, needs - {module})
        return self

    def _add(self, module: str, needs: Iterable[str]) -> None:
        for need in needs:
            self.importers[need].add(module)

    def _named(self, module: str) -> Iterable[str]:
        for text in self.strings[module]:
            if module.startswith("tests.") and PurePosixPath(text).name == COMMAND:
                yield CLI
            name = match[0] if (match := _MODULE.match(text)) else ""
            if name in self.modules:
                yield name
            elif text.endswith(".") and text[:-1] in self.modules:
                yield from (each for each in self.modules if each.startswith(text))

    def reached(self, start: Iterable[str]) -> dict[str, int]:
        """Modules that need one of these -> over how many imports at least."""
        distances = dict.fromkeys(start, 0)
        queue = list(distances)
        for module in queue:
            for importer in self.importers.get(module, ()):
                if importer not in distances:
                    distances[importer] = distances[module] + 1
                    queue.append(importer)
        return distances

    def readers(self, file: PurePosixPath) -> set[str]:
        """Modules that may read a file: beside its package's those that name it."""
        is_module = file.suffix == ".py" and module_of(file) in self.modules
        around = set() if is_module else set(self._package(file))
        folders = {str(each) for each in file.parents if each.name} - set(ROOTS)
        near = {file.name, str(file)}
        far = near if is_module else near | folders
        readers = set(around)
        for name, texts in self.strings.items():
            if self._reads_repository(name):
                if any(text.rstrip("/") in far or _is_glob(text, file) for text in texts):
                    readers.add(name)
            elif name.partition(".")[0] == file.parts[0] and near & texts:
                readers.add(name)
        return readers

    def _reads_repository(self, module: str) -> bool:
        """A test that knows where the repository is may look through it."""
        needs = self.imports.find_modules_directly_imported_by(module)
        return module.startswith("tests.") and "tests.folders" in needs

    def _package(self, file: PurePosixPath) -> list[str]:
        """The modules of the nearest package around a file."""
        for folder in file.parents:
            prefix = ".".join(folder.parts)
            inside = [m for m in self.modules if m == prefix or m.startswith(f"{prefix}.")]
            if prefix and inside and len(folder.parts) > 1:
                return inside
        return []


def _is_glob(text: str, file: PurePosixPath) -> bool:
    return text.rpartition("/")[2].startswith("*.") and fnmatch(file.name, text.rpartition("/")[2])


def module_of(path: Path | PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def declared_entry_points(root: Path) -> set[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    groups = [*project["entry-points"].values(), project["scripts"]]
    return {target.partition(":")[0] for group in groups for target in group.values()}


def git(*arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout.splitlines()


def changed_files(base: str) -> list[PurePosixPath]:
    """Files that differ from where this branch left ``base``, committed or not."""
    [fork] = git("merge-base", base, "HEAD")
    names = [*git("diff", "--name-only", fork), *git("ls-files", "--others", "--exclude-standard")]
    return [PurePosixPath(name) for name in dict.fromkeys(names)]


def tests_for(graph: Graph, files: Iterable[PurePosixPath]) -> dict[str, int]:
    """Test modules that the files reach -> their distance, the nearest first."""
    start: set[str] = set()
    for file in files:
        if str(file) in OF_ALL:
            start |= set(filter(is_test, graph.modules))
        if file.suffix == ".py" and module_of(file) in graph.modules:
            start.add(module_of(file))
        start |= graph.readers(file)  # of a module, too: by those that read sources
    tests = {name: far for name, far in graph.reached(start).items() if is_test(name)}
    return dict(sorted(tests.items(), key=lambda each: (each[1], each[0])))


def by_folder(graph: Graph, tests: Iterable[str]) -> str:
    folders = Counter("/".join(graph.modules[name].parts[:2]) for name in tests)
    return ", ".join(f"{folder} {n}" for folder, n in sorted(folders.items())) or "none"


def summary(graph: Graph, tests: Mapping[str, int]) -> str:
    left_out = [name for name in graph.modules if is_test(name) and name not in tests]
    return (
        f"runs {len(tests)} test files: {by_folder(graph, tests)}\n"
        f"leaves out {len(left_out)}: {by_folder(graph, left_out)}; and tests marked slow"
    )


def main(arguments: list[str]) -> int:
    base, *options = arguments or ["main"]
    files = changed_files(base)
    graph = Graph(REPOSITORY).build()
    tests = tests_for(graph, files)
    print(f"{len(files)} files differ from {base}\n{summary(graph, tests)}", flush=True)
    if not tests:
        return 0
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "-rs", *options]
    paths = [str(graph.modules[name]) for name in tests]
    return subprocess.run([*command, *paths], check=False, cwd=REPOSITORY).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
