"""AMD's header-only libraries from their repositories, which are made on the spot here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.hip import libraries
from cass_ray.toolchain.hip.libraries import (
    TAG,
    FetchError,
    Library,
    fetch_libraries,
    library_headers,
)

CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(rocthing)
set(VERSION_STRING "3.20.1")
rocm_setup_version(VERSION ${VERSION_STRING})
"""
VERSION_TEMPLATE = """\
#define ROCPRIM_VERSION_MAJOR @rocprim_VERSION_MAJOR@
#define ROCPRIM_VERSION @rocprim_VERSION_MAJOR@ * 100000 + @rocprim_VERSION_MINOR@ * 100 \
+ @rocprim_VERSION_PATCH@
"""
SORT = "    sort_single_helper().template sort_single(keys);\n    a.template get<0>();\n"


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A repository of the layout of rocPRIM, tagged, as the only library."""
    repository = tmp_path / "repository"
    files = {
        "CMakeLists.txt": CMAKE,
        "rocprim/include/rocprim/rocprim.hpp": "// all of it\n",
        "rocprim/include/rocprim/rocprim_version.hpp.in": VERSION_TEMPLATE,
        "rocprim/include/rocprim/device/detail/device_radix_sort.hpp": SORT,
        "test/large.cpp": "// not wanted\n",
    }
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    _git(repository, "init", "--quiet")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "release")
    _git(repository, "tag", TAG)
    commit = _git(repository, "rev-parse", "HEAD")
    url, folder = repository.as_uri(), "rocprim/include/rocprim"
    made = Library("rocprim", url, commit, folder, "rocprim_version.hpp")
    monkeypatch.setattr(libraries, "LIBRARIES", (made,))
    return made


@pytest.mark.usefixtures("library")
def test_headers_and_their_version(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert library_headers(cache) is None
    include = fetch_libraries(cache) / "include"

    assert library_headers(cache) == include.parent
    version = (include / "rocprim/rocprim_version.hpp").read_text()
    assert "#define ROCPRIM_VERSION_MAJOR 3\n" in version
    assert "3 * 100000 + 20 * 100 + 1" in version
    assert not list(include.rglob("large.cpp"))


@pytest.mark.usefixtures("library")
def test_what_clang_19_refuses_is_mended(tmp_path: Path) -> None:
    """Only the call without a list of template arguments."""
    include = fetch_libraries(tmp_path / "cache") / "include"
    text = (include / "rocprim/device/detail/device_radix_sort.hpp").read_text()
    assert text == "    sort_single_helper().sort_single(keys);\n    a.template get<0>();\n"


def test_a_tag_that_moved_is_refused(library: Library, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    _git(repository, "commit", "--quiet", "--allow-empty", "-m", "another")
    _git(repository, "tag", "--force", TAG)
    with pytest.raises(FetchError, match=library.commit):
        fetch_libraries(tmp_path / "cache")
    assert library_headers(tmp_path / "cache") is None


def test_a_repository_that_is_not_there(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(libraries, "default_directory", lambda: tmp_path / "cache")
    (tmp_path / "repository").rename(tmp_path / "elsewhere")
    assert libraries.main() == 1
    said = capsys.readouterr().err
    assert library.url in said and "insteadOf" in said
