"""What ``make test-changed`` chooses: a change reaches the tests that need it, and no others."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests import changed
from tests.changed import Graph, declared_entry_points, is_test, strings, summary
from tests.folders import REPOSITORY


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(REPOSITORY).build()


def reached(graph: Graph, *files: str) -> set[str]:
    return set(changed.tests_for(graph, map(PurePosixPath, files)))


@pytest.mark.parametrize(
    ("file", "test"),
    [
        # an import; one over several modules; one within a function
        ("cass_ray/corpus/parsing/lexer.py", "tests.corpus.parsing.test_kernels"),
        ("cass_ray/translate/rules/tables.py", "tests.serve.http.test_api"),
        ("cass_ray/analysis/charts.py", "tests.analysis.test_charts"),
        # a package's own module, a fixture
        ("cass_ray/lift/__init__.py", "tests.lift.lowering.test_sums"),
        ("tests/serve/conftest.py", "tests.serve.http.test_api"),
        # a name in a string: `-m tests.lift.vectors.run_lifted`, f"cass_ray.public.{…}", `cass`
        ("tests/lift/vectors/run_lifted.py", "tests.lift.test_vectors"),
        ("cass_ray/public/lifting.py", "tests.test_public_api"),
        ("serve/command.py", "tests.test_cli"),
        ("jobs/build_dataset.py", "tests.jobs.test_build_dataset"),
        # files that are no modules
        ("cass_ray/translate/rules/tables/overrides.csv", "tests.translate.rules.test_engine"),
        ("cass_ray/emulator/engine/aperture.hpp", "tests.emulator.engine.test_gfx9"),
        ("tests/lift/gaps.json", "tests.lift.test_vectors"),
        ("docs/glossary.md", "tests.test_glossary"),
        ("CONTRIBUTING.md", "tests.test_docs"),
        ("scripts/setup.sh", "tests.toolchain.test_setup"),
        # those that read all sources
        ("cass_ray/cache.py", "tests.test_glossary"),
        # those that changed themselves
        ("tests/test_task.py", "tests.test_task"),
    ],
)
def test_a_change_reaches(graph: Graph, file: str, test: str) -> None:
    assert (REPOSITORY / file).exists()
    assert test in graph.modules
    assert test in reached(graph, file)


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("cass_ray/train/trainer.py", "tests.emulator.engine.test_gfx9"),
        ("cass_ray/lift/module.py", "tests.corpus.parsing.test_kernels"),
        ("cass_ray/public/lifting.py", "tests.corpus.parsing.test_kernels"),
        ("docs/glossary.md", "tests.lift.test_vectors"),
        ("tests/test_task.py", "tests.test_cache"),
    ],
)
def test_a_change_leaves_out(graph: Graph, file: str, test: str) -> None:
    assert (REPOSITORY / file).exists()
    assert test in graph.modules
    assert test not in reached(graph, file)


@pytest.mark.parametrize("file", ["pyproject.toml", "constraints.txt", "tests/conftest.py"])
def test_what_decides_how_all_run_reaches_all(graph: Graph, file: str) -> None:
    assert reached(graph, file) == set(filter(is_test, graph.modules))


def test_all_test_files_are_known(graph: Graph) -> None:
    """None would ever run that the graph does not have."""
    files = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "tests").rglob("test_*.py")}
    data = {path for path in files if "canaries" in path.parts and path.parts[1] == "project"}
    known = {path for name, path in graph.modules.items() if is_test(name)}
    assert files - data == known


def test_nothing_reaches_nothing(graph: Graph) -> None:
    assert reached(graph) == set()
    assert reached(graph, "LICENSE" + ".none") == set()


def test_the_nearest_are_first(graph: Graph) -> None:
    distances = list(changed.tests_for(graph, [PurePosixPath("cass_ray/config.py")]).values())
    assert distances == sorted(distances) and distances[0] < distances[-1]


def test_the_summary_counts_both(graph: Graph) -> None:
    tests = changed.tests_for(graph, [PurePosixPath("tests/test_task.py")])
    runs, leaves_out = summary(graph, tests).splitlines()
    assert runs.startswith(f"runs {len(tests)} test files: ")
    total = sum(map(is_test, graph.modules))
    assert leaves_out.startswith(f"leaves out {total - len(tests)}: ")


def test_strings_are_those_of_the_code() -> None:
    source = 'class A:\n    """doc.string"""\n    name: str = f"a.b.{1}"\n    """another"""\n'
    assert strings(source) == {"a.b."}


def test_entry_points() -> None:
    assert {"cass_ray.cli", "jobs.build_dataset", "serve.command"} <= declared_entry_points(
        REPOSITORY
    )
