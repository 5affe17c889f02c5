"""What several files of a port have in common, as headers beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project.common_headers import headers_leave, share_snippets
from cass_ray.translate.rules.tables import snippets

LONG = snippets()["vectors"]
CLOCK = snippets()["clock"]
AFTER = "#include <hip/hip_runtime.h>\nint a;\n"


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_one_header_in_the_folder_of_all(tmp_path: Path) -> None:
    names = ("src/a.cu", "src/deep/b.cuh", "src/other/c.tcc")
    root = tree(tmp_path, dict.fromkeys(names, f"// first\n{LONG}{AFTER}") | {"d.cu": AFTER})
    assert share_snippets(root) == [root / "src/cass_vectors.h"]
    assert (root / "src/cass_vectors.h").read_text() == LONG
    for name, place in zip(names, ("", "../", "../"), strict=True):
        expected = f'// first\n#include "{place}cass_vectors.h"\n{AFTER}'
        assert (root / name).read_text() == expected
    assert (root / "d.cu").read_text() == AFTER


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CMakeLists.txt", "install(DIRECTORY ${INC} DESTINATION include)\n"),
        ("CMakeLists.txt", "execute_process(COMMAND cmake -E copy_directory inc there)\n"),
        ("Makefile", "install:\n\tcp -r inc $(PREFIX)\n"),
        ("write.py", "shutil.copytree('inc', 'there')\n"),
    ],
)
def test_installed_headers_find_theirs_in_their_own_folder(
    name: str, text: str, tmp_path: Path
) -> None:
    names = ("inc/p/a.h", "inc/p/b.h", "inc/q/c.h", "src/a.cu", "app/b.cu")
    files = dict.fromkeys(names, LONG + AFTER)
    root = tree(tmp_path, files)
    assert not headers_leave(root)("inc/p/a.h")
    (root / name).write_text(text)
    assert headers_leave(root)("inc/p/a.h")
    assert share_snippets(root) == [root / "inc/p/cass_vectors.h"]
    assert (root / "inc/q/c.h").read_text() == LONG + AFTER
    expected = f'#include "../inc/p/cass_vectors.h"\n{AFTER}'  # sources stay where they are
    assert (root / "src/a.cu").read_text() == (root / "app/b.cu").read_text() == expected


@pytest.mark.parametrize("here", ["", "${CMAKE_CURRENT_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/lib/"])
def test_a_folder_that_is_installed_has_one_of_its_own(here: str, tmp_path: Path) -> None:
    names = ("lib/inc/p/a.h", "lib/inc/q/b.h", "lib/inc/q/c.cuh", "lib/inc/q/d.cuh", "lib/e.cu")
    files = dict.fromkeys(names, LONG + AFTER)
    files["lib/CMakeLists.txt"] = f"install(DIRECTORY {here}inc/ DESTINATION include)\n"
    root = tree(tmp_path, files)
    made = {root / "lib/inc/cass_vectors.h", root / "lib/inc/q/cass_vectors.cuh"}
    assert set(share_snippets(root)) == made
    assert (root / "lib/inc/p/a.h").read_text() == f'#include "../cass_vectors.h"\n{AFTER}'


def test_a_text_within_another_is_shared_where_it_stands_alone(tmp_path: Path) -> None:
    inner = snippets()["half_log"]
    assert inner in LONG
    files = {"a.cu": LONG + AFTER, "b.cu": LONG + AFTER, "c.cu": inner, "d.cu": inner}
    root = tree(tmp_path, files)
    assert share_snippets(root) == [root / "cass_vectors.h", root / "cass_half_log.h"]
    assert (root / "cass_vectors.h").read_text() == LONG


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


COPIED = "install(FILES ${MY_HEADERS} DESTINATION include)\n"


@pytest.mark.parametrize(
    ("name", "text", "copied"),
    [
        ("CMakeLists.txt", "install(FILES a.h b.h DESTINATION include)\n", "a.h b.h"),
        ("CMakeLists.txt", COPIED, "a.h b.h v/c.h v/d.h"),  # whatever it is
        ("CMakeLists.txt", f"set(MY_HEADERS a.h ${{V}})\nset(V v/c.h)\n{COPIED}", "a.h v/c.h"),
        ("v/CMakeLists.txt", f"file(GLOB MY_HEADERS *.h)\n{COPIED}", "v/c.h v/d.h"),
        ("v/CMakeLists.txt", f"file(GLOB MY_HEADERS ../*.h)\n{COPIED}", "a.h b.h v/c.h v/d.h"),
        ("v/CMakeLists.txt", "install(FILES ${HERE}/c.h DESTINATION ${INCLUDE})\n", "v/c.h"),
        ("v/CMakeLists.txt", "install(FILES about.txt DESTINATION include)\n", ""),
        ("CMakeLists.txt", "set_target_properties(x PROPERTIES PUBLIC_HEADER a.h)\n", "a.h"),
        ("CMakeLists.txt", "configure_file(a.h ${CMAKE_BINARY_DIR}/a.h COPYONLY)\n", "a.h"),
        ("CMakeLists.txt", "file(COPY a.h DESTINATION x)\n", "a.h"),
        ("Makefile", "install:\n\tcp a.h $(PREFIX)/include\n", "a.h"),
        ("Makefile", "HDRS = a.h b.h\ninstall:\n\tcp $(HDRS) $(HDRDIR)\n", "a.h b.h"),
    ],
)  # fmt: skip
def test_headers_that_a_build_copies_keep_their_own(
    name: str, text: str, copied: str, tmp_path: Path
) -> None:
    sources = dict.fromkeys(("a.cu", "b.cu"), LONG + AFTER)
    headers = dict.fromkeys(("a.h", "b.h", "v/c.h", "v/d.h"), LONG + AFTER)
    root = tree(tmp_path, {**sources, **headers, name: text})
    leaves = headers_leave(root)
    assert share_snippets(root) == [root / "cass_vectors.h"]
    kept = {each for each in headers if LONG in (root / each).read_text()}
    assert kept == set(copied.split()) == {each for each in headers if leaves(each)}
    assert all(LONG not in (root / each).read_text() for each in sources)


@pytest.mark.parametrize(
    "files",
    [
        dict.fromkeys(("a.cu.in", "b.cu.in"), LONG + AFTER),
        {"a.cu": LONG + AFTER, "b.cu": AFTER},
        {"a.cu": LONG + AFTER, "b.cu": LONG + AFTER, "templates/k.cu.jinja": "{{ text }}\n"},
        {"a.cu": LONG + AFTER, "b.cu": LONG + AFTER, "CMakeLists.txt.j2": "project({{ name }})\n"},
        {"a.cu": CLOCK, "b.cu": CLOCK, "cass_clock.h": "// somebody's\n"},
    ],
)
def test_what_stays(files: dict[str, str], tmp_path: Path) -> None:
    root = tree(tmp_path, files)
    assert share_snippets(root) == []
    assert {path: (root / path).read_text() for path in files} == files
