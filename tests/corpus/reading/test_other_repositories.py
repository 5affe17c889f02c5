"""What projects take from other repositories: named, brought, or said to be missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.program import Program, SourceError
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.git import GitTree, fetch_snapshot, resolve_revision
from cass_ray.corpus.reading.other_repositories import (
    Dependency,
    DependencySources,
    declared_dependencies,
)
from cass_ray.corpus.reading.trees import StoredTrees, unpack
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.storage.store import Store
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.sandbox import isolation

COMMIT = "1" * 40


def tree(folder: Path, **files: str) -> DirectoryTree:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return DirectoryTree(folder)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path, **files: str) -> str:
    tree(folder, **files)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "_dot_gitmodules",
            '[submodule "x"]\n\tpath = third_party/fmt\n\turl = https://github.com/a/fmt.git\n',
            ("fmt", "https://github.com/a/fmt.git", COMMIT, "third_party/fmt", "submodule"),
        ),
        (
            "_dot_gitmodules",
            '[submodule "fmt"]\n  url = ../fmt.git\n  path = third_party/fmt/\n',
            ("fmt", "https://github.com/o/fmt.git", COMMIT, "third_party/fmt", "submodule"),
        ),
        (
            "CMakeLists_dot_txt",
            "FetchContent_Declare(\n  json  # a library\n  GIT_REPOSITORY "
            '"https://github.com/n/json"\n  GIT_TAG v3.11.2 GIT_SHALLOW ON)\n',
            ("json", "https://github.com/n/json", "v3.11.2", ".cass-dependencies/json",
             "FetchContent_Declare"),
        ),
        (
            "cmake__deps_dot_cmake",
            'CPMAddPackage("gh:fmtlib/fmt#10.2.1")\n',
            ("fmt", "https://github.com/fmtlib/fmt.git", "10.2.1", ".cass-dependencies/fmt",
             "CPMAddPackage"),
        ),
        (
            "cmake__deps_dot_cmake",
            "CPMAddPackage(NAME Eigen GITHUB_REPOSITORY e/eigen GIT_TAG 3.4.0)\n",
            ("Eigen", "https://github.com/e/eigen.git", "3.4.0", ".cass-dependencies/Eigen",
             "CPMAddPackage"),
        ),
        (
            "CMakeLists_dot_txt",
            "ExternalProject_Add(cub GIT_REPOSITORY https://github.com/n/cub.git GIT_TAG 1.8.0)",
            ("cub", "https://github.com/n/cub.git", "1.8.0", ".cass-dependencies/cub",
             "ExternalProject_Add"),
        ),
        (
            "get_dot_sh",
            "git clone --depth 1 -b v1.2 https://github.com/a/b.git && cd b\n",
            ("b", "https://github.com/a/b.git", "v1.2", ".cass-dependencies/b", "git clone"),
        ),
        # What ends a file's name of a host's archive is no part of the tag.
        *(
            (
                "cmake__deps_dot_cmake",
                f"{before}FetchContent_Declare(glog URL {url} URL_HASH MD5=0123)\n",
                ("glog", f"https://{place}.git", tag, ".cass-dependencies/glog",
                 "FetchContent_Declare"),
            )
            for before, url, place, tag in (
                ("", "https://github.com/g/glog/archive/v0.5.0.tar.gz", "github.com/g/glog",
                 "v0.5.0"),
                ("", '"https://github.com/g/glog/archive/refs/tags/v0.5.0.zip"',
                 "github.com/g/glog", "v0.5.0"),
                ("set(glog_URL https://github.com/g/glog/archive/refs/tags/v0.5.0.tar.gz)\n",
                 "${glog_URL}", "github.com/g/glog", "v0.5.0"),
                ('mirror(\n  glog_URL "https://github.com/g/glog/archive/1.0.tgz" 01)\n',
                 "${glog_URL}", "github.com/g/glog", "1.0"),
                ("", f"https://github.com/g/glog/archive/{COMMIT}.zip", "github.com/g/glog",
                 COMMIT),
                ("", "https://gitlab.com/l/eigen/-/archive/3.4.0/eigen-3.4.0.tar.bz2",
                 "gitlab.com/l/eigen", "3.4.0"),
            )
        ),
        # A file of a release is no snapshot, and an unknown variable names nothing.
        *(
            (
                "CMakeLists_dot_txt",
                f"FetchContent_Declare(glog URL {url})\n",
                ("glog", "", "", ".cass-dependencies/glog", "FetchContent_Declare"),
            )
            for url in (
                "https://github.com/g/glog/releases/download/v1/glog.tar.gz",
                "${glog_URL}",
                "https://example.org/glog-1.0.tar.gz",
            )
        ),
    ],
)  # fmt: skip
def test_what_a_project_names(
    name: str, text: str, expected: tuple[str, ...], tmp_path: Path
) -> None:
    made = declared_dependencies(
        tree(tmp_path, **{name: text}),
        {"third_party/fmt": COMMIT},
        "https://github.com/o/project.git",
    )
    assert made == [Dependency(*expected)]


@pytest.mark.parametrize("path", ["../out", "/etc", "a/../../out", ".", ""])
def test_a_submodule_stays_in_the_tree(path: str, tmp_path: Path) -> None:
    text = f'[submodule "x"]\n path = {path}\n url = https://github.com/a/b\n'
    assert declared_dependencies(tree(tmp_path, _dot_gitmodules=text), {}) == []


@pytest.mark.parametrize("name", ["../../up", "a/b", "..", "/etc/x"])
def test_a_name_is_one_folder(name: str, tmp_path: Path) -> None:
    text = f"FetchContent_Declare({name} GIT_REPOSITORY https://github.com/a/b GIT_TAG v1)"
    (made,) = declared_dependencies(tree(tmp_path, CMakeLists_dot_txt=text), {})
    folder, _, rest = made.path.partition("/")
    assert folder == ".cass-dependencies"
    assert "/" not in rest and not rest.startswith(".")


def never(url: str, revision: str, folder: Path) -> str:
    raise AssertionError(f"{url} was fetched")


@pytest.mark.parametrize(
    ("url", "revision", "why"),
    [
        ("ext::sh -c touch% /tmp/x", COMMIT, "is not on a public host"),
        ("file:///etc", COMMIT, "is not on a public host"),
        ("http://github.com/a/b", COMMIT, "is not on a public host"),
        ("git@github.com:a/b.git", COMMIT, "is not on a public host"),
        ("https://169.254.169.254/latest", COMMIT, "is not on a public host"),
        ("https://github.com.evil.example/a/b", COMMIT, "is not on a public host"),
        ("https://github.com/a/b", "", "names no commit or tag"),
        ("https://github.com/a/b", "--upload-pack=x", "names no commit or tag"),
        ("https://github.com/a/b", "a/../b", "names no commit or tag"),
        ("", COMMIT, "no address is not on a public host"),
    ],
)
def test_what_is_not_fetched(url: str, revision: str, why: str, tmp_path: Path) -> None:
    wanted = Dependency("fmt", url, revision, "fmt", "submodule")
    made = DependencySources({}, tmp_path, fetch=never).bring([wanted])
    assert why in made.missing["fmt"]
    assert not made.files and not made.brought


def test_it_is_fetched_at_its_commit(tmp_path: Path) -> None:
    commit = repository(
        tmp_path / "fmt", include__fmt__core_dot_h="int core;\n", src__a_dot_cc="int a;\n"
    )
    (tmp_path / "fmt/include/fmt/core.h").write_text("int newer;\n")
    git(tmp_path / "fmt", "commit", "-q", "-am", "newer")
    wanted = Dependency("fmt", "https://github.com/f/fmt.git", commit, "lib/fmt", "submodule")

    def of_here(url: str, revision: str, folder: Path) -> str:
        assert url == wanted.url
        return fetch_snapshot(f"file://{tmp_path}/fmt", revision, folder)

    sources = DependencySources({}, tmp_path / "cache", fetch=of_here)
    made = sources.bring([wanted])
    assert made.files == {
        "lib/fmt/include/fmt/core.h": b"int core;\n",
        "lib/fmt/src/a.cc": b"int a;\n",
    }
    assert made.headers().keys() == {"lib/fmt/include/fmt/core.h"}
    assert made.sources_of(["src/x.h", "lib/fmt/include/fmt/core.h"]) == [f"fmt@{commit}: fetched"]
    assert sources.bring([wanted]).files == made.files  # what is there is not fetched again


@pytest.mark.parametrize("name", ["fmt", "FMT", "lib/fmt", "libfmt"])
def test_a_folder_that_is_given_goes_before_fetching(name: str, tmp_path: Path) -> None:
    tree(tmp_path / "mine", core_dot_h="int mine;\n")
    wanted = Dependency("fmt", "https://github.com/f/libfmt.git", COMMIT, "lib/fmt", "submodule")
    sources = DependencySources({name: str(tmp_path / "mine")}, tmp_path / "cache", fetch=never)
    made = sources.bring([wanted])
    assert made.files == {"lib/fmt/core.h": b"int mine;\n"}
    assert made.brought == {"lib/fmt": "fmt: given"}
    assert not made.missing


@pytest.mark.parametrize("name", ["span-lite", "cnpy", "a b", "..", "ppl.common"])
def test_what_is_given_need_not_be_declared(name: str, tmp_path: Path) -> None:
    """Functions of a project's own CMake files declare nothing that is known here."""
    tree(tmp_path / "given", include__span_dot_hpp="int span;\n", src__a_dot_cpp="int a;\n")
    sources = DependencySources({name: str(tmp_path / "given")}, tmp_path / "cache", fetch=never)
    made = sources.bring([])
    [folder] = made.brought
    assert folder.startswith(".cass-dependencies/")
    assert folder.count("/") == 1
    assert not folder.endswith((".", "/"))
    assert made.headers() == {f"{folder}/include/span.hpp": b"int span;\n"}
    assert made.brought[folder].endswith(": given")


def test_submodules_of_a_submodule_are_brought(tmp_path: Path) -> None:
    """``git clone --recursive`` brings them; their commits stand in the submodule's commit."""
    module = '[submodule "{0}"]\n\tpath = ext/{0}\n\turl = https://github.com/a/{0}.git\n'
    inner = tmp_path / "inner"
    commit = repository(inner, inner_dot_h="int inner;\n")
    outer = tmp_path / "outer"
    repository(outer, outer_dot_h="int outer;\n", _dot_gitmodules=module.format("inner"))
    git(outer, "update-index", "--add", "--cacheinfo", f"160000,{commit},ext/inner")
    git(outer, "commit", "-q", "-m", "submodule")
    asked = []

    def of_here(url: str, revision: str, folder: Path) -> str:
        name = url.rpartition("/")[2].removesuffix(".git")
        asked.append((name, revision))
        return fetch_snapshot(str(tmp_path / name), revision, folder)

    head = git(outer, "rev-parse", "HEAD")
    root = tree(tmp_path / "root", _dot_gitmodules=module.format("outer"))
    declared = declared_dependencies(root, {"ext/outer": head})
    made = DependencySources({}, tmp_path / "cache", fetch=of_here).bring(declared)

    assert asked == [("outer", head), ("inner", commit)]
    assert made.files["ext/outer/ext/inner/inner.h"] == b"int inner;\n"
    assert not made.missing

    folders = {"outer": str(outer), "inner": str(inner)}
    given = DependencySources(folders, tmp_path, fetches=False).bring(declared)
    assert {"ext/outer/outer.h", "ext/outer/ext/inner/inner.h"} <= given.headers().keys()


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("secret")
    tree(tmp_path / "mine", core_dot_h="int mine;\n")
    (tmp_path / "mine/link.h").symlink_to(tmp_path / "secret.h")
    wanted = Dependency("fmt", "", "", "fmt", "submodule")
    made = DependencySources({"fmt": str(tmp_path / "mine")}, tmp_path, fetch=never).bring([wanted])
    assert made.files == {"fmt/core.h": b"int mine;\n"}


def test_without_a_network_one_attempt_is_enough(tmp_path: Path) -> None:
    asked = []

    def offline(url: str, revision: str, folder: Path) -> str:
        asked.append(url)
        raise SourceError(f"repository {url}: fatal: Could not resolve host: github.com")

    wanted = [
        Dependency(name, f"https://github.com/a/{name}", COMMIT, name, "submodule")
        for name in ("fmt", "json", "thrust")
    ]
    made = DependencySources({}, tmp_path, fetch=offline).bring(wanted)
    assert asked == ["https://github.com/a/fmt"]
    assert made.missing.keys() == {"fmt", "json"}  # Thrust is both toolkits' own
    assert "Could not resolve host" in made.missing["json"]

    (said,) = made.lacking(["vector", "fmt/core.h"], ["src"])
    assert said.startswith("submodule fmt (https://github.com/a/fmt): ")
    assert said.endswith("give it by --dependency fmt=DIR")
    assert len(made.lacking(["x.h"], ["src", "json/include"])) == 1
    assert made.lacking(["x.h", "vector"], ["src"]) == []


def test_commits_of_submodules_are_read_from_a_revision(tmp_path: Path) -> None:
    repository(tmp_path, a_dot_cu="int a;\n")
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{COMMIT},third_party/fmt")
    git(tmp_path, "commit", "-q", "-m", "pinned")
    commit = resolve_revision(tmp_path / ".git", "HEAD")
    with GitTree(tmp_path / ".git", commit) as read:
        assert read.submodules == {"third_party/fmt": COMMIT}


@pytest.mark.parametrize("given", [True, False])
def test_rows_say_where_their_headers_are_from(given: bool, tmp_path: Path) -> None:
    if not isolation.available():
        pytest.skip("bubblewrap does not work here")
    try:
        find_nvidia()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    repository(
        tmp_path / "project",
        Makefile="a.o:\n\tnvcc -Ilib/fmt/include -c a.cu\n",
        a_dot_cu='#include "fmt/core.h"\n__global__ void k(int* a) { *a = N; }\n',
        _dot_gitmodules='[submodule "fmt"]\n path = lib/fmt\n url = https://github.com/f/fmt\n',
    )
    tree(
        tmp_path / "fmt",
        include__fmt__core_dot_h='#include "parts/number.cu"\n',
        include__fmt__parts__number_dot_cu="#define N 7\n",
        test_dot_cu="__global__ void of_another_project(int* a) {}\n",
    )
    units = UnitSettings(
        recorded_builds=True,
        dependencies=(("fmt", str(tmp_path / "fmt")),) if given else (),
        fetch_dependencies=False,
    )
    source = RepositorySource(str(tmp_path / "project"), units=units)
    trees = StoredTrees(Store(tmp_path / "trees"))
    (program,) = source.iterate(tmp_path / "work", trees)
    assert isinstance(program, Program)
    assert program.configured == "recorded"
    if given:
        assert program.tree
        unpack(trees.get(program.tree), tmp_path / "unpacked", program.tree)
        assert (tmp_path / "unpacked/lib/fmt/include/fmt/parts/number.cu").is_file()
        assert program.dependencies == ("fmt: given",)
        assert program.include_directories == ("lib/fmt/include",)
        assert program.lacks == ()
    else:
        assert program.dependencies == ()
        assert program.lacks == (
            "submodule fmt (https://github.com/f/fmt): nothing is fetched (fetch_dependencies: "
            "false); give it by --dependency fmt=DIR",
        )


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"a_dot_cu": "#include <helper_cuda.h>\n"}, True),
        ({"a_dot_cu": '#include "helper_math.h"\n', "x__helper_cuda_dot_h": ""}, True),
        ({"b_dot_h": '#  include "../common/inc/helper_timer.h" // here\n'}, True),
        ({"a_dot_cu": '#include "helper_cuda.h"\n', "common__helper_cuda_dot_h": ""}, False),
        ({"a_dot_cu": "// helper_cuda.h is not needed\n"}, False),
        ({"a_dot_cu": '#include "helper_of_mine.h"\n'}, False),
        ({"README_dot_md": "#include <helper_cuda.h>\n"}, False),
    ],
)
def test_helpers_of_the_toolkits_samples(
    tmp_path: Path, files: dict[str, str], asked: bool
) -> None:
    declared = declared_dependencies(tree(tmp_path, **files), {})
    found = [(each.name, each.url, each.how) for each in declared]
    samples = ("cuda-samples", "https://github.com/NVIDIA/cuda-samples.git", "include")
    assert found == ([samples] if asked else [])


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"a_dot_h": '#include "NvInfer.h"\n'}, ["TensorRT"]),
        ({"a_dot_cu": "#include <NvInferPlugin.h>\n#include <helper_cuda.h>\n"},
         ["TensorRT", "cuda-samples"]),
        ({"a_dot_cu": "#include <NvInfer.h>\n", "include__NvInfer_dot_h": ""}, []),
        ({"a_dot_cu": "#include <NvInferenceOfMine.h>\n"}, []),
    ],
)  # fmt: skip
def test_headers_of_tensorrt(tmp_path: Path, files: dict[str, str], asked: list[str]) -> None:
    assert sorted(each.name for each in declared_dependencies(tree(tmp_path, **files), {})) == asked


def test_helpers_are_found_in_the_samples_that_are_given(tmp_path: Path) -> None:
    project = tree(tmp_path / "p", a_dot_cu="#include <helper_cuda.h>\n")
    tree(tmp_path / "samples", Common__helper_cuda_dot_h="int helper;\n", x__common_dot_h="")
    declared = declared_dependencies(project, {})
    given = {"cuda-samples": str(tmp_path / "samples")}
    made = DependencySources(given, tmp_path / "cache", fetches=False).bring(declared)
    assert list(made.headers()) == [".cass-dependencies/cuda-samples/Common/helper_cuda.h"]
    missing = DependencySources({}, tmp_path / "cache", fetches=False).bring(declared)
    (said,) = missing.lacking(["helper_cuda.h"], [])
    assert said.endswith("give it by --dependency cuda-samples=DIR")
    assert missing.lacking(["other.h"], []) == []
