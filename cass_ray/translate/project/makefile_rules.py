"""Rules of makefiles: how nvcc compiles what is no CUDA source, and links device code.

nvcc hands ``.cpp`` to the host's compiler unless ``-x cu`` is given, so that ``__CUDACC__`` is not
defined there; hipcc compiles it as HIP unless ``-x c++`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

HOST_RULE = re.compile(
    r"^[^\s#=:][^\n#=:]{0,400}:(?!=)[ \t]*[^\s:=#]{1,200}\.(?:cpp|cc|cxx)(?:[ \t][^\n]{0,999})?\n"
    r"(?:\t[^\n]{0,999}\n){1,9}",
    re.MULTILINE,
)
"""A rule whose first prerequisite is C++, and its recipe."""

_NVCC = re.compile(
    r"^(\t[@-]?(?:\$[({]\w*NVCC\w*[)}]|(?:\$[({]\w+[)}]/bin/)?nvcc))(?=\s)", re.MULTILINE
)
_COMPILES = re.compile(r"\s-c(?=\s|$)")
_LANGUAGE = re.compile(r"\s-x[ =]?\w|--x[ =]")


def compile_for_host(match: re.Match[str]) -> str:
    """The rule with ``-x c++`` for nvcc where it compiles without a language of its own."""
    lines = match.group().splitlines(keepends=True)
    return "".join(
        _NVCC.sub(r"\1 -x c++", line)
        if _COMPILES.search(line) and not _LANGUAGE.search(line)
        else line
        for line in lines
    )


_DEVICE_OBJECTS = re.compile(r"(?<![\w-])-{1,2}(?:dc|device-c)(?=\s|$)", re.MULTILINE)
_COMPILER = re.compile(r"^([ \t]*\w+[ \t]*[:?]?=[ \t]*hipcc)[ \t]*$", re.MULTILINE)

_LINKS = re.compile(
    r"^(\t[@-]?hipcc)(?=\s)(?![^\n]*\s(?:-fgpu-rdc|-c|-E|-S|-MM?)(?:\s|$))", re.MULTILINE
)
"""A recipe's line that calls the compiler by its name, to link."""


def link_device_code(original: str, text: str) -> str:
    """``text`` with a compiler that links device code, where ``original`` compiles it apart.

    nvcc looks for such code in whatever it links.
    """
    if not _DEVICE_OBJECTS.search(original):
        return text
    text = _COMPILER.sub(r"\1 -fgpu-rdc --hip-link", text)
    return _LINKS.sub(r"\1 -fgpu-rdc --hip-link", text)


DEVICE_LINK = "-fgpu-rdc --hip-link -r"
"""In the place of nvcc's ``-dlink``. The object that clang makes so holds the host code of the
objects that were linked as well; that of nvcc holds none."""
_RULE = re.compile(r"(?P<targets>[^\s:=#][^:=#]*):(?![:=])(?P<inputs>[^=|;]*)", re.DOTALL)
_WORD = re.compile(r"\S+")
_OUTPUT = re.compile(r"\s-o\s*(\S+)")
_ALL_INPUTS = re.compile(r"\$[\^+]|\$[({][\^+][)}]")


def link_once(text: str, lines: list[str]) -> str:
    """``text``, whose logical ``lines`` are given, in which the objects that :data:`DEVICE_LINK`
    links are linked no second time beside its result."""
    if DEVICE_LINK not in text:
        return text
    results = dict(_device_links(lines))
    made, rule = list[str](), None
    for line in lines:
        if not line.startswith("\t"):
            rule = _RULE.match(line) or (None if line.strip() else rule)
        made.append(line if DEVICE_LINK in line else _without(line, results, rule))
    return "".join(made)


def _device_links(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Results of :data:`DEVICE_LINK` and what they are made of, as the makefile names both."""
    rule = None
    for line in lines:
        if not line.startswith("\t"):
            rule = _RULE.match(line) or (None if line.strip() else rule)
        elif DEVICE_LINK in line and rule is not None and (output := _OUTPUT.search(line)):
            targets, inputs = rule["targets"].split(), rule["inputs"].split()
            result = targets[0] if output[1] in {"$@", "$(@)"} else output[1]
            command = line.replace(output[0], " ")
            named = [word for word in _WORD.findall(command) if _is_input(word)]
            yield result, inputs if _ALL_INPUTS.search(command) else named


def _is_input(word: str) -> bool:
    return (
        word.endswith((".o", ".obj", ".a"))
        or re.fullmatch(r"\$[({]\w*OBJ\w*[)}]", word) is not None
    )


def _without(line: str, results: Mapping[str, list[str]], rule: re.Match[str] | None) -> str:
    """A command that links one of ``results``, without its inputs; other lines stay."""
    for result, inputs in results.items() if line.startswith("\t") else ():
        line = _without_inputs(line, result, inputs, rule)
    return line


def _without_inputs(line: str, result: str, inputs: list[str], rule: re.Match[str] | None) -> str:
    prerequisites = rule["inputs"].split() if rule else []
    by_rule = result in prerequisites and _ALL_INPUTS.search(line) is not None
    if not by_rule and result not in line.split():
        return line
    for word in inputs:
        if word != result:
            line = re.sub(rf"(?<=\s){re.escape(word)}(?=\s|$)", "", line)
    all_inputs = f"$(filter-out {' '.join(inputs)},$^)"
    return _ALL_INPUTS.sub(lambda _: all_inputs, line) if by_rule else line
