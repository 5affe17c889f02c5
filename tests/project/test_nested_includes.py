"""Files that are included inside a namespace, and the helper functions that the port adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project.nested_includes import lift_out_of_namespaces
from cass_ray.translate.rules.tables import snippet

RUNTIME = "#include <hip/hip_runtime.h>\n"
BALLOT, MATCH = snippet("ballot"), snippet("match")
INNER = f"{RUNTIME}{BALLOT}{MATCH}int inner() {{ return 1; }}\n"
OUTER = '#include "head.h"\n\nnamespace a {\n#include "impl/inner.inl"\n}\n'


def tree(folder: Path, **files: str) -> Path:
    for name, text in {"impl/inner.inl": INNER, "a.cu": OUTER, **files}.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_they_go_before_what_includes_the_file(tmp_path: Path) -> None:
    root = tree(tmp_path)
    assert lift_out_of_namespaces(root) == [root / "a.cu", root / "impl/inner.inl"]
    assert (root / "impl/inner.inl").read_text() == "int inner() { return 1; }\n"
    assert (root / "a.cu").read_text() == f"{RUNTIME}{BALLOT}{MATCH}{OUTER}"
    assert lift_out_of_namespaces(root) == []


def test_what_the_other_file_has_already_is_not_added(tmp_path: Path) -> None:
    root = tree(tmp_path, **{"a.cu": f"{RUNTIME}{BALLOT}{OUTER}"})
    lift_out_of_namespaces(root)
    assert (root / "a.cu").read_text() == f"{RUNTIME}{MATCH}{RUNTIME}{BALLOT}{OUTER}"


def test_through_a_file_that_is_inside_itself(tmp_path: Path) -> None:
    between = {"a.cu": 'namespace a {\n#include "b.inl"\n}\n',
               "b.inl": 'struct s {\n#include "impl/inner.inl"\n};\n'}  # fmt: skip
    root = tree(tmp_path, **between)
    lift_out_of_namespaces(root)
    assert BALLOT in (root / "a.cu").read_text()
    assert BALLOT not in (root / "b.inl").read_text()


@pytest.mark.parametrize(
    "other",
    [
        '#include "impl/inner.inl"\n',
        'namespace b {\n}\n#include "impl/inner.inl"\n',
        '// {\nconst char* s = "{";\n#include "impl/inner.inl"\n',
    ],
)
def test_a_file_that_is_included_outside_as_well_keeps_its_own(tmp_path: Path, other: str) -> None:
    root = tree(tmp_path, **{"b.cu": other})
    assert lift_out_of_namespaces(root) == []
    assert (root / "impl/inner.inl").read_text() == INNER


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (f"#ifdef __HIPCC__\n{RUNTIME}#endif\n", ""),
        (f"#if defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)\n{RUNTIME}", "#endif\n"),
    ],
)
def test_what_a_host_reads_without_hip_stays_so(tmp_path: Path, before: str, behind: str) -> None:
    inner = f"{before}{BALLOT}{behind}int inner();\n"
    root = tree(tmp_path, **{"impl/inner.inl": inner, "a.cu": "", "b.h": OUTER})
    lift_out_of_namespaces(root)
    assert (root / "impl/inner.inl").read_text() == "int inner();\n"
    assert (root / "b.h").read_text() == f"{before}{BALLOT}{behind}{OUTER}"
