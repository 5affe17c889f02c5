"""The tables of the rules: what is called how in HIP, as data files next to this module."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cass_ray.csv_tables import read_rows
from cass_ray.toolchain.amd.toolchain import PLAIN_VECTORS

FOLDER = Path(__file__).resolve().parent / "tables"
SNIPPETS = Path(__file__).resolve().parent / "snippets"


@dataclass(frozen=True, slots=True)
class Header:
    """The counterpart of a CUDA header; ``hip`` is empty when HIP's runtime header has it all."""

    hip: str
    library: str


@dataclass(frozen=True, slots=True)
class Cast:
    """An argument of a function that CUDA overloads on its type and HIP does not."""

    argument: int
    type: str


@dataclass(frozen=True, slots=True)
class CallMapping:
    """A form of a call that HIP does not have: ``hip`` is empty when nothing replaces it.

    ``append`` are the arguments to add; ``-`` drops the last one, ``-3`` the one behind three
    others where it is null. ``snippet`` defines ``hip`` where HIP does not.
    """

    hip: str
    append: str
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a CUDA function is called; ``snippet`` defines it where HIP does not."""

    hip: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Substitute:
    """``names`` of a header become a snippet's, in files that have one of ``triggers``."""

    triggers: set[str]
    names: dict[str, str]


@dataclass(frozen=True, slots=True)
class OldTorch:
    """What PyTorch calls now what it called otherwise before 1.11.

    ``drops``: how many arguments, the first ones, calls had more.
    """

    name: str
    header: str
    drops: int


def _rows(name: str) -> list[dict[str, str]]:
    return read_rows(FOLDER / name)


@cache
def names() -> dict[str, str]:
    """CUDA name -> HIP name.

    cuBLAS' functions have a second name, which ``cublas_v2.h`` makes of the first:
    ``cublasCreate_v2``.
    """
    found = {row["cuda"]: row["hip"] for row in _rows("names.csv")}
    versioned = {
        f"{row['cuda']}_v2": row["hip"]
        for row in _rows("names.csv")
        if row["kind"] == "function" and row["cuda"].startswith("cublas")
    }
    return {**versioned, **found}


@cache
def unsupported() -> frozenset[str]:
    """CUDA names that HIP has no counterpart for."""
    return frozenset(row["cuda"] for row in _rows("unsupported.csv"))


@cache
def absent() -> dict[str, str]:
    """Enumerator that HIP has not, and never returns -> an expression of its type for it."""
    return {
        row["cuda"]: f"({row['type']}){row['value']} /* {row['cuda']} */"
        for row in _rows("absent.csv")
    }


@cache
def calls() -> dict[str, dict[int, CallMapping]]:
    """CUDA function -> number of arguments -> what that form of the call becomes."""
    found: dict[str, dict[int, CallMapping]] = {}
    for row in _rows("calls.csv"):
        call = CallMapping(row["hip"], row["append"], row["reason"], row["snippet"])
        found.setdefault(row["function"], {})[int(row["arguments"])] = call
    return found


@cache
def types() -> dict[str, str]:
    """The part of :func:`names` that is types."""
    return {row["cuda"]: row["hip"] for row in _rows("names.csv") if row["kind"] == "type"}


@cache
def device_functions() -> dict[str, Replacement]:
    """CUDA device function -> what replaces it."""
    return {row["cuda"]: Replacement(row["hip"], row["snippet"]) for row in _rows("device.csv")}


@cache
def images() -> dict[str, Replacement]:
    """CUDA function of textures, surfaces or arrays -> what replaces it without texture units."""
    return {row["cuda"]: Replacement(row["hip"], row["snippet"]) for row in _rows("images.csv")}


@cache
def dropped() -> tuple[str, ...]:
    """Words that are removed."""
    return tuple(row["name"] for row in _rows("dropped.csv"))


@cache
def casts() -> dict[str, Cast]:
    """CUDA function -> the argument to cast."""
    return {row["function"]: Cast(int(row["argument"]), row["cast"]) for row in _rows("casts.csv")}


@cache
def substitutes() -> dict[str, Substitute]:
    """Snippet -> the names that it stands for."""
    found: dict[str, Substitute] = {}
    for row in _rows("substitutes.csv"):
        substitute = found.setdefault(row["snippet"], Substitute(set(), {}))
        substitute.names[row["cuda"]] = row["hip"]
        if row["triggers"]:
            substitute.triggers.add(row["cuda"])
    return found


@cache
def old_torch() -> dict[str, OldTorch]:
    """Function or macro of PyTorch before 1.11 -> what it is since."""
    return {
        row["old"]: OldTorch(row["new"], row["header"], int(row["drops"] or 0))
        for row in _rows("pytorch.csv")
    }


@cache
def standard_names() -> dict[str, str]:
    """Name of ``cuda::std`` that devices may use from the host's library too -> its header there.

    Types, and functions that C++17 calls ``constexpr``: HIP's compiler takes these for the device
    as well; those of ``cmath`` it declares itself.
    """
    return {row["name"]: row["header"] for row in _rows("standard.csv")}


@cache
def _headers() -> tuple[dict[str, Header], list[tuple[str, Header]]]:
    exact: dict[str, Header] = {}
    prefixes: list[tuple[str, Header]] = []
    for row in _rows("headers.csv"):
        header = Header(row["hip"], row["library"])
        if row["cuda"].endswith("*"):
            prefixes.append((row["cuda"][:-1], header))
        else:
            exact[row["cuda"]] = header
    return exact, prefixes


def header_names() -> tuple[str, ...]:
    """The CUDA headers that the tables name, without those known by the folder they are in."""
    return tuple(_headers()[0])


def header(path: str) -> Header | None:
    """The counterpart of the CUDA header ``path``; None when the tables do not know it."""
    exact, prefixes = _headers()
    if path in exact:
        return exact[path]
    for prefix, found in prefixes:
        if path.startswith(prefix):
            if found.hip.endswith("/"):
                return Header(found.hip + path[len(prefix) :], found.library)
            return found
    return None


@cache
def snippet(name: str) -> str:
    """The HIP code of one piece of device code that CUDA has built in and HIP has not."""
    return (SNIPPETS / f"{name}.hpp").read_text("utf-8")


@cache
def plain_vectors() -> str:
    """What stands before HIP's headers in a port that uses CUDA's vector types.

    It brings ``hip_bf16.h``, beside which Eigen wants an overload.
    """
    return PLAIN_VECTORS.read_text("utf-8") + snippet("half_log")


@cache
def snippets() -> Mapping[str, str]:
    """All of them by name, longer ones first: a text may begin as another."""
    texts = {path.stem: snippet(path.stem) for path in sorted(SNIPPETS.glob("*.hpp"))}
    texts["vectors"] = plain_vectors()
    return dict(sorted(texts.items(), key=lambda item: (-len(item[1]), item[0])))


@cache
def fingerprint() -> str:
    """A digest of the tables, the snippets and the rules: the version of the engine."""
    digest = hashlib.sha256()
    folder = Path(__file__).resolve().parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".csv", ".hpp", ".txt"}:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    digest.update(plain_vectors().encode())
    return digest.hexdigest()[:12]
