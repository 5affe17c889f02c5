"""CMake's commands of CUDA that the HIP language has no counterpart of, written out.

Separable compilation is clang's ``-fgpu-rdc``, for each unit and again where all are linked.
What a build downloads is named, for a sandbox has no network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_OFF = {"OFF", "NO", "FALSE", "0"}
_COMPILE = '"$<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>"'
_LINK = (
    '"$<$<LINK_LANGUAGE:HIP>:-fgpu-rdc;--hip-link;--offload-arch='
    '$<JOIN:${CMAKE_HIP_ARCHITECTURES},$<SEMICOLON>--offload-arch=>>"'
)
_SEPARABLE_FOR_ALL = (["CMAKE_CUDA_SEPARABLE_COMPILATION"], ["CUDA_SEPARABLE_COMPILATION"])
"""The variables of CMake's language and of FindCUDA."""
_SEPARABLE = re.compile(r"\bCUDA_SEPARABLE_COMPILATION\s+([^\s()]+)")
_INTERFACE = re.compile(r"\badd_library\s*\(\s*([^\s()]+)\s+INTERFACE\b", re.IGNORECASE)
_LINKS = re.compile(
    r"\b(?:target_link_libraries\s*\(\s*[^\s()]+|link_libraries\s*\()(?P<libraries>[^()]*)\)",
    re.IGNORECASE,
)
_LIBRARY = re.compile(r"(?<![\w:.$/{}<>-])(?:-l)?(\w+)(?![\w:./}>-])")
_LIST_OF_FLAGS = re.compile(
    r"list\s*\(\s*APPEND\s+(?P<name>CMAKE_HIP_FLAGS\w*)"
    r"(?P<flags>(?:\s+(?:\"(?:[^\"\\]|\\.)*\"|[^\s\"]+(?=\s|\))))*+)\s*\)",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"]+)')
_OWN = re.compile(r"\badd_(?:library|executable)\s*\(\s*(\w+)", re.IGNORECASE)
_COMMENT = re.compile(r"#[^\n]*")

_DOWNLOADS = (
    re.compile(r"\bFetchContent_Declare\s*\(\s*([\w.-]{1,80})", re.IGNORECASE),
    re.compile(r"\bExternalProject_Add\s*\(\s*([\w.-]{1,80})", re.IGNORECASE),
    re.compile(
        r"\bCPM(?:Add|Find)Package\s*\(\s*(?:NAME\s+([\w.-]{1,80})|\"(?:\w{1,9}:)?([\w./-]{1,120}))",
        re.IGNORECASE,
    ),
    re.compile(r"\brapids_cpm_(?!init\b)(\w{1,80})\s*\(", re.IGNORECASE),
    re.compile(r"\bfile\s*\(\s*DOWNLOAD\s+([^\s()]{1,200})", re.IGNORECASE),
)

_PROGRAMS = re.compile(
    r"\bCOMMAND\s+\"?(?:\S*/)?(?:wget|curl|git\s+clone)\b[^()]{0,400}?"
    r"(https?://[^\s\"()]{1,300})"
)


def interface_libraries(text: str) -> frozenset[str]:
    """Libraries that a CMake file makes of headers alone: nothing of them is compiled."""
    return frozenset(_INTERFACE.findall(text))


def plain_links(text: str, targets: Mapping[str, str]) -> dict[str, str]:
    """Libraries that a CMake file links by CUDA's plain names (``cublas``, ``-lcublas``), and the
    ones of ``targets`` that stand for them; none that the file makes itself."""
    found = {
        match[1]
        for command in _LINKS.finditer(_COMMENT.sub("", text))
        for match in _LIBRARY.finditer(command["libraries"])
    }
    return {name: targets[name] for name in found - set(_OWN.findall(text)) if name in targets}


def link(command: str, libraries: Mapping[str, str]) -> str:
    """``target_link_libraries(...)`` with ``libraries`` (:func:`plain_links`); others stay."""
    match = _LINKS.match(command)
    if match is None:
        return command
    start, end = match.span("libraries")
    made = _LIBRARY.sub(lambda name: libraries.get(name[1], name.group()), match["libraries"])
    return command[:start] + made + command[end:]


def separable_compilation(command: str, body: str, headers: frozenset[str] = frozenset()) -> str:
    """What follows ``command`` so that its targets are compiled and linked with ``-fgpu-rdc``.

    Empty where it asks for no separable compilation. ``headers`` are libraries of headers alone.
    """
    text = _COMMENT.sub("", body)
    words = text.split()
    if command == "set" and words[:1] in _SEPARABLE_FOR_ALL:
        if len(words) < 2 or words[1].upper() in _OFF:
            return ""
        return f"\nadd_compile_options({_COMPILE})\nadd_link_options({_LINK})"
    asked = _SEPARABLE.search(text)
    if asked is None or asked[1].strip('"').upper() in _OFF:
        return ""
    return "".join(
        f"\ntarget_compile_options({target} PRIVATE {_COMPILE})"
        f"\ntarget_link_options({target} PUBLIC {_LINK})"
        for target in targets_of(command, words)
        if target not in headers
    )


def flags_as_text(command: str) -> str:
    """``list(APPEND CMAKE_HIP_FLAGS …)`` with the flags behind blanks, as the variable is text.

    That of CUDA is empty where projects append to it, so that theirs is its one element; HIP's has
    flags of the machine before.
    """
    found = _LIST_OF_FLAGS.fullmatch(command)
    if found is None:
        return command
    flags = " ".join(one or two for one, two in _ARGUMENT.findall(found["flags"]) if one or two)
    return f'string(APPEND {found["name"]} " {flags}")'


def targets_of(command: str, words: list[str]) -> list[str]:
    """The targets whose properties ``command`` with these words sets; none of other commands."""
    if command == "set_target_properties" and "PROPERTIES" in words:
        return words[: words.index("PROPERTIES")]
    if command == "set_property" and words[:1] == ["TARGET"] and "PROPERTY" in words:
        return [word for word in words[1 : words.index("PROPERTY")] if word != "APPEND"]
    return []


def downloads(text: str) -> list[tuple[str, str]]:
    """What a CMake file downloads: the words that say so, and a name of what it is."""
    code = _COMMENT.sub("", text)
    found: dict[str, str] = {}
    for pattern in _DOWNLOADS:
        for match in pattern.finditer(code):
            name = next(group for group in match.groups() if group)
            found.setdefault(name.rstrip("/").rpartition("/")[2], match[0])
    return [(construct, name) for name, construct in found.items()]


def fetched(text: str) -> list[tuple[str, str]]:
    """What a CMake file has programs fetch (``wget``): the words that say so, and the address."""
    code = _COMMENT.sub("", text)
    found = {match[1]: match[0] for match in _PROGRAMS.finditer(code)}
    return [(construct, address) for address, construct in found.items()]
