"""Reads which device functions CUDA's headers declare.

The preprocessor's output is read, in which no macro is left, so that nothing that a header declares
by its own macros is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.process import run

HEADERS = (
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_fp8.h",
    "cuda_fp8.hpp",
    "device_functions.h",
    "device_double_functions.h",
    "math_functions.h",
    "math_functions.hpp",
    "sm_20_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_61_intrinsics.h",
)
"""Files whose functions compute something of their arguments alone, or nearly all of them."""
CLASSES = ("__half", "__half2", "__nv_bfloat16", "__nv_bfloat162")
"""Classes whose constructors, conversions and assignments are read, too."""

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#[ \t]+\d+[ \t]+"(?P<file>[^"]*)"[^\n]*$'
    r"|^#[^\n]*$|[{};]",
    re.MULTILINE,
)
_TRANSPARENT = re.compile(r'\bextern\s*"C(?:\+\+)?"\s*\Z')
_CLASS = re.compile(r"\b(?:struct|class)\b[^;{}()=]*?\b(?P<name>\w+)\s*\Z")
_WORDS = re.compile(
    r"\b(?:extern|static|inline|__inline__|__inline|__forceinline__|constexpr|explicit|const"
    r"|volatile|public:|__cdecl|friend|typedef)\b|public\s*:|extern\s*\"C\"|\[\[[^\]]*\]\]"
)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(")
_DEVICE = re.compile(r"\b(?:__)?device(?:__)?\b")
_NOEXCEPT = re.compile(r"\b(?:noexcept|throw)\s*(?:\([^()]*\))?")
_FUNCTION = re.compile(
    r"(?P<result>[A-Za-z_][\w\s:]*?[\s&*]+)?(?P<name>operator\s*[^\w\s(]{1,3}|operator[\w\s]+|\w+)"
    r"\s*\((?P<parameters>[^()]*)\)\s*\Z"
)
_KEYWORDS = frozenset(
    ("int", "char", "short", "long", "unsigned", "signed", "float", "double", "bool")
)


@dataclass(frozen=True)
class Parameter:
    """``kind`` is ``value``, ``output`` (a pointer), ``reference`` or ``memory`` (of constants)."""

    type: str
    kind: str


@dataclass(frozen=True)
class Declaration:
    """``owner`` is the class of a member; a constructor has its name, a conversion ``operator``."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]
    header: str
    owner: str = ""

    @property
    def signature(self) -> str:
        """As one writes it: what tells overloads apart."""
        marks = {"value": "", "output": "*", "reference": "&", "memory": " const*"}
        types = ", ".join(each.type + marks[each.kind] for each in self.parameters)
        if self.name == "operator":
            return f"{self.owner}::operator {self.result}()"
        name = f"{self.owner}::{self.name}" if self.owner else self.name
        return f"{name}({types})"


def preprocessed(toolchain: NvidiaToolchain, folder: Path, architecture: str) -> str:
    """The headers' text as the compiler of device code reads it."""
    names = ("cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h")
    source = folder / "headers.cu"
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    command: list[str | Path] = [toolchain.nvcc, *toolchain.flags("-O1"), "-E"]
    done = run([*command, f"-arch={architecture}", source], cwd=folder)
    if not done.ok:
        raise RuntimeError(done.stderr_text)
    return done.stdout_text


def declarations(text: str) -> tuple[Declaration, ...]:
    """The device functions of :data:`HEADERS` in the preprocessed ``text``, each overload once."""
    found: dict[str, Declaration] = {}
    for statement, header, owner in _statements(text):
        read = _declaration(statement, header, owner)
        if read is not None:
            found.setdefault(read.signature, read)
    return tuple(found.values())


def _statements(text: str) -> Iterator[tuple[str, str, str]]:
    """Statements at global scope and in :data:`CLASSES`, the header's name and the class."""
    header, owner, depth, start = "", "", 0, 0
    inside: list[bool] = []  # for each open brace: whether what is in it is read
    pieces: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if depth == 0:
            pieces.append(text[start : token.start()])
        start = token.end()
        if mark.startswith("#"):
            header = PurePosixPath(token["file"]).name if token["file"] else header
            continue
        if mark not in {"{", "}", ";"}:
            if depth == 0:
                pieces.append(mark)
            continue
        statement = " ".join("".join(pieces).split()) if depth == 0 else ""
        if mark == "{":
            opened = _CLASS.search(_without_attributes(statement)[0]) if depth == 0 else None
            is_read = depth == 0 and (
                _TRANSPARENT.search(statement) is not None
                or (opened is not None and opened["name"] in CLASSES)
            )
            if opened is not None and is_read:
                owner = opened["name"]
            elif depth == 0 and header in HEADERS:
                yield statement, header, owner
            inside.append(is_read)
            depth += not is_read
        elif mark == "}" and inside:
            was_read = inside.pop()
            depth -= not was_read
            if was_read:
                owner = ""
        elif mark == ";" and depth == 0 and header in HEADERS:
            yield statement, header, owner
        if depth == 0:
            pieces = []


def _declaration(statement: str, header: str, owner: str) -> Declaration | None:
    """What ``statement`` declares; None where that is no function for the device."""
    text, is_for_devices = _without_attributes(statement)
    if not is_for_devices or text.lstrip().startswith("template"):
        return None
    text = _NOEXCEPT.sub(" ", text)
    text = re.sub(r"\bconst\b([\w\s]*)&", r"\1", text)  # as good as a value
    text = re.sub(r"\bconst\b(?=[\w\s]*\*)", "@", text)
    if owner:
        text = re.sub(r"\)\s*(?:const\s*)?:(?!:).*", ")", text)  # what members begin with
    text = " ".join(_WORDS.sub(" ", text).split())
    match = _FUNCTION.search(text)
    if match is None or "::" in text[: match.start("parameters")]:
        return None  # no function, or a member outside of its class, where it has been declared
    name = " ".join(match["name"].split())
    result = " ".join((match["result"] or "").split())
    if owner and f"{result} {name}".startswith("operator "):
        result, name = f"{result} {name}".removeprefix("operator "), "operator"
    parameters = tuple(map(_parameter, _split(match["parameters"])))
    return Declaration(name, result, parameters, header, owner)


def _without_attributes(statement: str) -> tuple[str, bool]:
    """``statement`` without its attributes, and whether ``device`` is one of them."""
    kept: list[str] = []
    place, is_for_devices = 0, False
    while match := _ATTRIBUTE.search(statement, place):
        kept.append(statement[place : match.start()])
        depth, end = 2, match.end()
        while depth and end < len(statement):
            depth += {"(": 1, ")": -1}.get(statement[end], 0)
            end += 1
        is_for_devices |= _DEVICE.search(statement, match.start(), end) is not None
        place = end
    kept.append(statement[place:])
    return " ".join(kept), is_for_devices


def _split(parameters: str) -> list[str]:
    stripped = parameters.strip()
    return [] if stripped in {"", "void"} else stripped.split(",")


def _parameter(text: str) -> Parameter:
    is_memory, text = "@" in text, text.replace("@", " ")
    text = text.partition("=")[0]
    stars, references = text.count("*"), text.count("&")
    words = [word for word in re.split(r"[\s*&]+", text) if word]
    words = [word for word in words if word not in {"enum", "struct", "__restrict__"}]
    if len(words) > 1 and words[-1] not in _KEYWORDS:
        words.pop()
    kind = "value"
    if stars:
        kind = "memory" if is_memory or stars > 1 else "output"
    elif references:
        kind = "reference"
    return Parameter(" ".join(words), kind)
