import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.include_paths import IncludePaths
from cass_ray.corpus.reading.includes import Closure, include_closure, scan_includes


def write(root: Path, files: dict[str, str]) -> DirectoryTree:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return DirectoryTree(root)


def closure(tree: DirectoryTree, main: str) -> Closure:
    return include_closure(
        main,
        lambda path: scan_includes(tree.read(path).decode()),
        tree.is_file,
        IncludePaths(tree),
    )


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('#include "a.h"\n # include <b.h>\n', ["a.h", "b.h"]),
        ('// #include "a.h"\n/* \n#include "b.h"\n*/\n#include "c.h"', ["c.h"]),
        ('s = "\\\n#include <a.h>";\nr = R"(\n#include "b.h"\n)";\n', []),
        ('// line \\\n#include "a.h"\n#include "b.h"', ["b.h"]),
        (
            '#if 0\n#include "a.h"\n#if 1\n#include "b.h"\n#endif\n#else\n#include "c.h"\n#endif',
            ["c.h"],
        ),
        ('#if 1\n#include "a.h"\n#else\n#include "b.h"\n#endif', ["a.h"]),
        ('#ifdef A\n#include "a.h"\n#elif B\n#include "b.h"\n#endif', ["a.h", "b.h"]),
        ("#include MACRO\n", [""]),
        ('#/**/include "a.h"\n/* x */ #include "b.h"', ["b.h"]),
        ('#pragma once\n#include\\\n "a.h"', ["a.h"]),
        ("char c = '\"';\n#include \"a.h\"\nchar d = '\"';", ["a.h"]),
        ("int n = 1'000;\n#include <a.h>\n", ["a.h"]),
    ],
)
def test_scan(source: str, names: list[str]) -> None:
    assert [include.name for include in scan_includes(source)] == names


def test_lines_are_those_of_the_file() -> None:
    source = '#define A \\\n 1\r\n/*\n*/\n#include "a.h"\n#include <b.h>\n'
    assert [include.line for include in scan_includes(source)] == [5, 6]


PROJECT = {
    "src/main.cu": (
        '#include "near.h"\n#include "lib/deep.h"\n#include <tools.h>\n#include <vector>\n'
    ),
    "src/near.h": '#pragma once\n#include "../shared/types.cuh"\n',
    "shared/types.cuh": '#pragma once\n#include "near.h"\n',
    "include/lib/deep.h": '#include "other.h"\n',
    "include/lib/other.h": "#include <stdio.h>\n",
    "third/party/tools.h": "",
    "CMakeLists.txt": "include_directories(PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/third/party)",
}


def test_closure_of_a_project(tmp_path: Path) -> None:
    found = closure(write(tmp_path, PROJECT), "src/main.cu")
    assert set(found.files) == {
        "src/near.h",
        "shared/types.cuh",
        "include/lib/deep.h",
        "include/lib/other.h",
        "third/party/tools.h",
    }
    assert set(found.directories) == {"include", "third/party", "src"}
    assert found.system == ("stdio.h", "vector")
    assert found.complete


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_closure_is_what_gcc_opens(tmp_path: Path) -> None:
    found = closure(write(tmp_path, PROJECT), "src/main.cu")
    flags = [f"-I{directory}" for directory in found.directories]
    command = ["g++", "-x", "c++", "-MM", *flags, "src/main.cu"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    opened = result.stdout.replace("\\\n", " ").split(":", 1)[1].split()
    normalized = {Path(tmp_path, path).resolve().relative_to(tmp_path.resolve()) for path in opened}
    assert normalized == {Path("src/main.cu"), *map(Path, found.files)}


def test_missing_computed_and_forbidden_includes(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "a/main.cu": '#include "gone.h"\n#include CONFIG\n#include "/etc/passwd"\n'
            '#include "../../up.h"\n#include "cuda_runtime.h"\n#include <unknown/library.h>\n'
        },
    )
    found = closure(tree, "a/main.cu")
    assert found.missing == ('a/main.cu:1: "gone.h"',)
    assert found.computed == ("a/main.cu:2: CONFIG",)
    assert found.forbidden == (
        'a/main.cu:3: #include "/etc/passwd" is an absolute path',
        'a/main.cu:4: #include "../../up.h" leaves the source tree',
    )
    assert found.system == ("cuda_runtime.h", "unknown/library.h")
    assert not found.complete


def test_the_nearest_of_several_headers_is_found(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "one/src/main.cu": '#include "util.h"\n',
            "one/lib/util.h": "",
            "two/lib/util.h": "",
            "util/util.h": "",
        },
    )
    assert closure(tree, "one/src/main.cu").files == ("one/lib/util.h",)


def test_a_header_named_like_a_standard_one_does_not_shadow_it(tmp_path: Path) -> None:
    tree = write(tmp_path, {"main.cu": "#include <math.h>\n", "include/math.h": ""})
    assert closure(tree, "main.cu").files == ()


@pytest.mark.parametrize(
    ("folder", "header", "beside"),
    [
        ("vendors", "musa.h", "cuda.h"),
        ("vendors", "musa.h", "cuda_runtime.h"),
        ("compat", "port.h", "string.h"),
        ("windows", "port.h", "unistd.h"),
        ("third_party/posix", "port.h", "regex.h"),
        ("third_party/posix", "port.h", "execinfo.h"),
        ("src/shim", "other.h", "nvml.h"),
    ],
)
def test_a_folder_that_hides_headers_of_the_toolchain_is_not_searched(
    tmp_path: Path, folder: str, header: str, beside: str
) -> None:
    """For ``<>`` a compiler would take ``beside`` from there, too."""
    texts = {
        "main.cu": f"#include <{header}>\n",
        f"{folder}/{header}": "",
        f"{folder}/{beside}": "",
    }
    found = closure(write(tmp_path / "angle", texts), "main.cu")
    assert (found.files, found.directories) == ((), ())
    quoted = texts | {"main.cu": f'#include "{header}"\n'}
    found = closure(write(tmp_path / "quoted", quoted), "main.cu")
    assert (found.files, found.directories) == ((f"{folder}/{header}",), (folder,))
    alone = {name: text for name, text in texts.items() if not name.endswith(beside)}
    found = closure(write(tmp_path / "alone", alone), "main.cu")
    assert (found.files, found.directories) == ((f"{folder}/{header}",), (folder,))


def test_a_wrapper_does_not_wrap_itself(tmp_path: Path) -> None:
    """``vendors/musa.h`` means the vendor's header, which is not here."""
    files = {
        "src/main.cu": '#include "vendors/musa.h"\n',
        "src/vendors/musa.h": "#include <musa.h>\n",
    }
    found = closure(write(tmp_path, files), "src/main.cu")
    assert (found.files, found.directories) == (("src/vendors/musa.h",), ())
    assert "musa.h" in found.unresolved


@pytest.mark.parametrize(
    ("build_file", "text"),
    [
        ("app/Makefile", "TOP = ..\nFLAGS := -O2 -I$(TOP)/deps/x -DA\n"),
        ("app/rules.mk", "flags = -isystem ../deps/x\n"),
        ("CMakeLists.txt", "include_directories(SYSTEM ${PROJECT_SOURCE_DIR}/deps/x) # c\n"),
        ("app/CMakeLists.txt", 'target_include_directories(t PUBLIC "${CMAKE_SOURCE_DIR}/deps/x")'),
        (
            "compile_commands.json",
            '[{"directory": "/home/me/proj/build", "command": "nvcc -I/home/me/proj/deps/x -c a"},'
            ' {"directory": "/b", "arguments": ["nvcc", "-I", "/nowhere"]}, 3]',
        ),
    ],
)
def test_directories_of_build_files(tmp_path: Path, build_file: str, text: str) -> None:
    tree = write(tmp_path, {"app/main.cu": "", "deps/x/x.h": "", build_file: text})
    assert IncludePaths(tree).directories("app/main.cu") == ("deps/x",)


def test_build_files_cannot_name_directories_outside(tmp_path: Path) -> None:
    text = "A = $(A)\nX = -I/usr/include -I../../.. -I$(A) -I$(UNKNOWN)/x -Inone\n"
    tree = write(tmp_path, {"app/main.cu": "", "app/Makefile": text})
    assert IncludePaths(tree).directories("app/main.cu") == ()


BY_MACRO = {
    "main.cu": (
        '#include "config.h"\n#define DIRECT "sub/a.h"\n#include DIRECT\n#include ANGLED\n'
        "#include ALIAS\n#include STRING(sub/d.h)\n#include LATER\n#include GIVEN\n"
        "#include UNKNOWN\n#if X\n#define EITHER <sub/f.h>\n#else\n#define EITHER <sub/g.h>\n"
        "#endif\n#include EITHER\n"
    ),
    "config.h": (
        "#define ANGLED <sub/b.h> // by the folder\n#define OTHER STRING(sub/c.h)\n"
        "#define ALIAS OTHER\n#define STRING(x) #x\n"
    ),
    "sub/a.h": '#define LATER "e.h"\n',
    **{f"sub/{name}.h": "" for name in "bcdfgh"},
    "e.h": "",
}


def test_files_that_macros_name(tmp_path: Path) -> None:
    """By every definition in any file of the program, and by the command line's."""
    tree = write(tmp_path, BY_MACRO)
    made = include_closure(
        "main.cu",
        lambda path: scan_includes(tree.read(path).decode()),
        tree.is_file,
        IncludePaths(tree),
        ['GIVEN="sub/h.h"', "N=3"],
    )
    reached = {"config.h", "e.h", *(f"sub/{name}.h" for name in "abcdfgh")}
    assert set(made.files) == reached
    assert made.computed == ("main.cu:9: UNKNOWN",)
    assert not made.missing


def test_macros_that_name_each_other_end(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "#define A B\n#define B A\n#include A\n"})
    assert closure(tree, "a.cu").computed == ("a.cu:3: A",)


def test_what_a_folder_needs_that_a_macro_names(tmp_path: Path) -> None:
    """Which of two folders is meant is left to the compiler; what either needs is known."""
    files = {
        "main.cu": (
            "#define ROOT lib/BACKEND\n#define HEADER <ROOT/detail/run.h>\n#include HEADER\n"
        ),
        "lib/one/detail/run.h": "#include <cublas_v2.h>\n",
        "lib/two/detail/run.h": '#include "more.h"\n',
        "lib/two/detail/more.h": "#include <cusparse.h>\n",
        "other/run.h": "#include <cufft.h>\n",
    }
    made = closure(write(tmp_path, files), "main.cu")
    assert made.computed == ("main.cu:3: HEADER",)
    assert {"cublas_v2.h", "cusparse.h"} <= set(made.unresolved)
    assert "cufft.h" not in made.unresolved
