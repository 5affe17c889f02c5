"""``cass setup``: what is optional and large, fetched when somebody asks for it."""

from __future__ import annotations

from typing import Annotated

import typer

from cass_ray.cache import default_directory
from cass_ray.exit_codes import EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.toolchain.archive.debian_archive import ArchiveError, Package
from cass_ray.toolchain.archive.library_root import (
    PARTS,
    free_bytes,
    install_libraries,
    missing_packages,
)
from cass_ray.toolchain.archive.library_targets import HELD, LIBRARIES
from cass_ray.toolchain.provided.packages_table import (
    HeaderPackage,
    package_of_header,
    packages,
    with_needs,
)
from cass_ray.toolchain.provided.store import HeaderStore

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

_UNPACKED = 5
"""About how much larger the libraries are than their packages."""


@app.callback()
def _setup() -> None:
    """Fetch optional parts into the user's cache."""


@app.command()
def libraries(
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PART]...", help=f"Of {', '.join(PARTS)}. [default: all]"),
    ] = None,
) -> None:
    """AMD's libraries, for programs that run on the CPU backend (rocBLAS, rocFFT and others).

    Debian's binaries are unpacked into the cache; nothing is installed and no right is needed. All
    parts are 1.2 GB to fetch and 7 GB in the cache; rand, fft and blas alone fetch 0.3 GB.
    What has been fetched stays, and an interrupted run goes on where it stopped.
    """
    wanted = parts or list(PARTS)
    if unknown := [part for part in wanted if part not in PARTS]:
        fail("setup", f"no part {unknown[0]!r}: there are {', '.join(PARTS)}", EXIT_USAGE)
    cache = default_directory()
    left = missing_packages(cache, wanted)
    size = sum(package.size for package in left)
    if size * (1 + _UNPACKED) > free_bytes(cache):
        fail("setup", f"{_mib(size * (1 + _UNPACKED))} are needed in {cache}", EXIT_TOOL_MISSING)
    if left:
        typer.echo(f"{len(left)} packages, {_mib(size)}, into {cache}", err=True)
    done = 0

    def progress(package: Package) -> None:
        nonlocal done
        done += 1
        typer.echo(f"[{done}/{len(left)}] {package.name}, {_mib(package.size)}", err=True)

    try:
        root = install_libraries(cache, wanted, progress)
    except ArchiveError as error:
        fail("setup", f"{error}\nRun it again to go on from there.", EXIT_TOOL_MISSING)
    typer.echo(f"{root.path}: {', '.join(root.libraries)}")
    typer.echo(f"code of {', '.join(LIBRARIES)}: for {', '.join(HELD)} (`cass doctor` has a table)")


@app.command()
def headers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Packages or headers, such as torch or boost/version.hpp. [default: all]",
        ),
    ] = None,
) -> None:
    """Headers that projects take for granted: Nvidia's libraries, PyTorch, Boost and others.

    Of packages by their pinned versions and digests, unpacked into the cache for compilers alone;
    nothing is installed. Builds fetch what they need by themselves: this is for machines that have
    no network later.
    """
    try:
        wanted = _wanted(names or list(packages()))
    except KeyError as error:
        message = f"no package has {error.args[0]}: docs/corpora.md says which there are"
        fail("setup", message, EXIT_USAGE)
    store = HeaderStore(default_directory())
    left = [package for package in wanted if not store.has(package)]
    done = 0

    def progress(package: HeaderPackage) -> None:
        nonlocal done
        done += 1
        typer.echo(f"[{done}/{len(left)}] {package.name} {package.version}", err=True)

    problems = store.fetch_all(left, progress)
    there = sum(store.has(package) for package in wanted)
    typer.echo(f"{there} of {len(wanted)} packages of headers are in {store.cache}")
    if problems:
        fail("setup", "\n".join(problems.values()), EXIT_TOOL_MISSING)


def _wanted(names: list[str]) -> list[HeaderPackage]:
    result = []
    for name in names:
        package = packages().get(name) or package_of_header(name)
        if package is None:
            raise KeyError(name)
        result.append(package.name)
    return with_needs(result)


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"
