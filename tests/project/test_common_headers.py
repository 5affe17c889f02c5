"""What several files of a port have in common, as headers beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project.common_headers import share_snippets
from cass_ray.translate.rules.tables import snippets

LONG = snippets()["vectors"]
SHORT = next(text for text in snippets().values() if text.count("\n") < 15)
AFTER = "#include <hip/hip_runtime.h>\nint a;\n"


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_one_header_in_each_folder(tmp_path: Path) -> None:
    names = ("src/a.cu", "src/b.cuh", "app/c.cpp", "app/d.h", "alone/e.cu")
    root = tree(tmp_path, dict.fromkeys(names, f"// first\n{LONG}{AFTER}"))
    made = [path.relative_to(root).as_posix() for path in share_snippets(root)]
    assert made == ["app/cass_vectors.h", "src/cass_vectors.h"]
    for name in names[:4]:
        assert (root / name).read_text() == f'// first\n#include "cass_vectors.h"\n{AFTER}'
    assert (root / "src/cass_vectors.h").read_text() == LONG
    assert (root / "alone/e.cu").read_text() == f"// first\n{LONG}{AFTER}"


def test_a_second_time_there_is_nothing_to_do(tmp_path: Path) -> None:
    root = tree(tmp_path, dict.fromkeys(("a.cu", "b.cu"), LONG + AFTER))
    assert len(share_snippets(root)) == 1
    assert share_snippets(root) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.cpp", "hiprtcCreateProgram(&program, text, name, 0, nullptr, nullptr);\n"),
        ("ops.py", "from torch.utils.cpp_extension import load_inline\n"),
        ("ops.py", "kernel = cupy.RawModule(code=open('a.cu').read())\n"),
    ],
)
def test_what_is_read_as_text_keeps_its_own(name: str, text: str, tmp_path: Path) -> None:
    files = {"a.cu": LONG + AFTER, "b.cu": LONG + AFTER, name: text}
    root = tree(tmp_path, files)
    assert share_snippets(root) == []
    assert {path: (root / path).read_text() for path in files} == files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CMakeLists.txt", "install(FILES a.h b.h DESTINATION include)\n"),
        ("CMakeLists.txt", "install(FILES ${MY_HEADERS} DESTINATION include)\n"),
        ("CMakeLists.txt", 'install(DIRECTORY . FILES_MATCHING PATTERN "*.cuh")\n'),
        ("CMakeLists.txt", "set_target_properties(x PROPERTIES PUBLIC_HEADER a.h)\n"),
        ("CMakeLists.txt", "configure_file(a.h ${CMAKE_BINARY_DIR}/a.h COPYONLY)\n"),
        ("CMakeLists.txt", "file(COPY a.h DESTINATION x)\n"),
        ("Makefile", "install:\n\tcp a.h $(PREFIX)/include\n"),
    ],
)
def test_headers_that_a_build_copies_keep_their_own(name: str, text: str, tmp_path: Path) -> None:
    sources = dict.fromkeys(("a.cu", "b.cu"), LONG + AFTER)
    headers = dict.fromkeys(("a.h", "b.h"), LONG + AFTER)
    root = tree(tmp_path, {**sources, **headers, name: text})
    assert share_snippets(root) == [root / "cass_vectors.h"]
    assert {each: (root / each).read_text() for each in headers} == headers
    assert all(LONG not in (root / each).read_text() for each in sources)


@pytest.mark.parametrize(
    "files",
    [
        dict.fromkeys(("a.cu", "b.cu"), SHORT + AFTER),
        dict.fromkeys(("a.cu.in", "b.cu.in"), LONG + AFTER),
        {"a.cu": LONG + AFTER, "b.cu": AFTER},
        {"a.cu": LONG, "b.cu": LONG, "cass_vectors.h": "// somebody's\n"},
    ],
)
def test_what_stays(files: dict[str, str], tmp_path: Path) -> None:
    root = tree(tmp_path, files)
    assert share_snippets(root) == []
    assert {path: (root / path).read_text() for path in files} == files
