"""Makefiles: nvcc becomes hipcc, CUDA's libraries ROCm's.

Flags are looked for line by line, in the arguments of make's functions too
(:mod:`cass_ray.translate.project.make_expressions`). A line that would lose a parenthesis stays as
it is. What of nvcc is left is a finding.
"""

from __future__ import annotations

import re
from collections import defaultdict

from cass_ray.translate.project.build_text import BuildText
from cass_ray.translate.project.make_expressions import CONTINUATION, is_balanced, rewrite
from cass_ray.translate.project.makefile_rules import (
    HOST_RULE,
    compile_for_host,
    link_device_code,
    link_once,
)
from cass_ray.translate.project.nvcc_flags import (
    DEVICE_DEBUG,
    HOST_OPTIONS,
    LEFT,
    NAMED_ARCHITECTURE,
    OLD_STANDARD,
)
from cass_ray.translate.project.nvcc_version import in_shell
from cass_ray.translate.project.rocm_libraries import LIBRARIES
from cass_ray.translate.protocol import Severity, Translation

_OF_CUDA = re.compile(r"nvcc|cuda|gencode|-arch=(?:sm|compute)_", re.IGNORECASE)
_CUDA_FOLDER = re.compile(
    r"(?P<use>-I|-isystem|-L|-Wl,-rpath[=,])\s*(?:\$[({]\w*CUDA\w*[)}]|/usr/local/cuda[\w.-]*)[\w/]*"
)
_NAMED_FOLDER = re.compile(
    r"(?P<use>-I|-isystem)\s*\$[({](?!\w*CUDA)\w*(?:GPU|NVCC|NVIDIA)\w*[)}][\w/]*", re.IGNORECASE
)
"""A folder of headers of which the caller says where it is, by a variable of a telling name."""
_ROCM_FOLDERS = {
    "-I": "-I$(ROCM_PATH)/include -D__HIP_PLATFORM_AMD__",
    "-isystem": "-isystem $(ROCM_PATH)/include -D__HIP_PLATFORM_AMD__",
    "-L": "-L$(ROCM_PATH)/lib",
    "-Wl,-rpath=": "-Wl,-rpath=$(ROCM_PATH)/lib",
    "-Wl,-rpath,": "-Wl,-rpath,$(ROCM_PATH)/lib",
}
_CALLS_NVCC = re.compile(r"(?:(?<![\w.$({-])|(?<=\w:[-=]))nvcc\b(?!\s*[=.])")
"""Behind ``:-`` it is what a variable of the shell stands for where it is not set."""
_LINK = re.compile(r"(?<![\w-])-l([\w-]+)\b")
_LOGICAL_LINE = re.compile(r"(?:[^\\\n]|\\.|\\\n)*\n?", re.DOTALL)
_KEPT = re.compile(
    r"(?:[ \t]*(?:ifn?eq|ifn?def|else|endif|-?include|sinclude|unexport|define|vpath)\b|\s*#)"
)
"""Conditions, names and comments: there is no flag to be given in them."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_ADDED = re.compile(
    r"\$[({](?:addprefix[ \t]+-l,(?P<words>[^()${}]*|\$[({]\w+[)}])|(?P<name>\w+):%=-l%)[)}]"
)
"""``-l`` before each word of a list."""
_REFERENCE = re.compile(r"\$[({](\w+)[)}]")
_ASSIGNMENT = re.compile(r" *(?:(?:override|export)[ \t]+)*(?P<name>\w+)[ \t]*[:?+]*=")


def translate_makefile(text: str) -> Translation:
    """nvcc becomes hipcc, CUDA's libraries ROCm's.

    hipcc knows where ROCm is. A file that names CUDA's folders, or has the caller name them, does
    so for the host's compiler and linker: they get ROCm's, and with it what hipcc would have added.
    """
    file = BuildText(text, in_shell)
    if not _OF_CUDA.search(text):
        return file.done()
    file.substitute(HOST_RULE, compile_for_host)
    by_name = _CUDA_FOLDER.search(text) is not None
    folders = by_name or _NAMED_FOLDER.search(text) is not None
    file.substitute(r"(?:\$[({]\w*CUDA\w*[)}]|/usr/local/cuda[\w.-]*)/bin/nvcc\b", "hipcc")
    file.substitute(r"(?:(?<![\w./$({-])|(?<=\w:[-=]))nvcc\b(?!\s*[?:+]?=)", "hipcc")
    file.substitute(DEVICE_DEBUG, r"\1-g")  # clang's -G takes a number
    file.substitute(NAMED_ARCHITECTURE, r"\1")
    file.substitute(_CUDA_FOLDER, lambda match: _ROCM_FOLDERS[match["use"]])
    # In front of it: behind a variable without a value, -I would take the next word.
    file.substitute(_NAMED_FOLDER, lambda match: f"-D__HIP_PLATFORM_AMD__ {match[0]}")
    file.substitute(_LINK, lambda match: _library(match[1], folders, "-l"))
    _name_libraries(file, folders)
    file.raise_standard()
    _raise_in_variables(file)
    file.substitute(HOST_OPTIONS, lambda match: match["options"].replace(",-", " -"))
    file.text = _by_lines(file)
    file.spare_warnings()
    file.text = link_device_code(file.original, file.text)
    file.text = link_once(file.text, logical_lines(file.text))
    _announce(file)
    if by_name and not re.search(r"^\s*ROCM_PATH\s*[?:]?=", file.text, re.MULTILINE):
        file.text = "ROCM_PATH ?= /opt/rocm\n" + file.text
    return file.done()


def _raise_in_variables(file: BuildText) -> None:
    """A newer C++ in variables that hipcc is given, be it called by a variable's name."""
    lines = logical_lines(file.text)
    owners = [found["name"] if (found := _ASSIGNMENT.match(line)) else "" for line in lines]
    named = [set(_REFERENCE.findall(line)) for line in lines]
    compilers = {owner for owner, line in zip(owners, lines, strict=True) if "hipcc" in line}
    of_owner: defaultdict[str, set[str]] = defaultdict(set)
    queue: list[str] = []
    for owner, line, names in zip(owners, lines, named, strict=True):
        of_owner[owner] |= names
        if "hipcc" in line or names & compilers:
            queue += names
    given = set[str]()
    while queue:
        if (name := queue.pop()) not in given:
            given.add(name)
            queue += of_owner.get(name, ())
    for number, owner in enumerate(owners):
        if owner in given:
            lines[number], count = OLD_STANDARD.subn(r"\g<1>17", lines[number])
            file.converted += count
    file.text = "".join(lines)


def translate_script(text: str) -> Translation:
    """A script of the shell, or what Autoconf makes one of: hipcc where it looks for nvcc or calls
    it."""
    file = BuildText(text, in_shell)
    if not _CALLS_NVCC.search(text):
        return file.done()
    file.substitute(r"(?:\$\{?\w*CUDA\w*\}?|/usr/local/cuda[\w.-]*)/bin/nvcc\b", "hipcc")
    file.substitute(_CALLS_NVCC, "hipcc")
    file.substitute(_LINK, lambda match: _library(match[1], False, "-l"))
    file.substitute(HOST_OPTIONS, lambda match: match["options"].replace(",-", " -"))
    file.text = "".join(
        line if _COMMENT.match(line) else file.words(line)
        for line in file.text.splitlines(keepends=True)
    )
    _announce(file)
    return file.done()


def _library(name: str, by_the_host: bool, before: str = "") -> str:
    library = LIBRARIES.get(name)
    if library is None:
        return before + name
    if not library and by_the_host and name != "cudadevrt":
        library = "amdhip64"
    return f"{before}{library}" if library else ""


def _name_libraries(file: BuildText, by_the_host: bool) -> None:
    """CUDA's libraries in lists of which a function of make's makes ``-l…``."""
    lists = set()
    for match in _ADDED.finditer(file.text):
        words = match["words"]
        named = _REFERENCE.fullmatch(words.strip()) if words else None
        if match["name"] or named:
            lists.add(match["name"] or (named[1] if named else ""))
        elif words:
            new = match.group().replace(words, _listed(words, by_the_host))
            file.substitute(re.escape(match.group()), lambda _, new=new: new)  # type: ignore[misc]
    for name in sorted(lists):
        values = re.compile(
            rf"^(?P<head>[ \t]*(?:override[ \t]+)?{name}[ \t]*[:?+]*=)"
            r"(?P<words>(?:[^\n\\#]|\\\n)*)",
            re.MULTILINE,
        )
        file.substitute(values, lambda match: match["head"] + _listed(match["words"], by_the_host))


def _listed(words: str, by_the_host: bool) -> str:
    return re.sub(
        r"(?<![\w$({/.-])[\w-]+(?![\w/.)}-])",
        lambda match: _library(match.group(), by_the_host),
        words,
    )


def _by_lines(file: BuildText) -> str:
    """The text with hipcc's flags, each logical line for itself."""
    return "".join(
        line if _KEPT.match(line) else _line(file, line) for line in logical_lines(file.text)
    )


def logical_lines(text: str) -> list[str]:
    """The lines of a makefile; one that ends in a backslash goes on in the next."""
    return [match.group() for match in _LOGICAL_LINE.finditer(text) if match.group()]


def _line(file: BuildText, line: str) -> str:
    joined = line.replace("\\\n", CONTINUATION)
    balanced = is_balanced(joined)
    made = rewrite(joined, file.words) if balanced else file.words(joined)
    keeps = is_balanced(made) if balanced else _brackets(made) == _brackets(joined)
    return (made if keeps else joined).replace(CONTINUATION, "\\\n")


def _brackets(text: str) -> list[int]:
    """How many of each kind there are: of an expression over several lines not more is known."""
    return [text.count(bracket) for bracket in "(){}"]


def _announce(file: BuildText) -> None:
    """What of nvcc is left: hipcc refuses it, or does something else."""
    seen = set()
    for line in logical_lines(file.text):
        if _KEPT.match(line):
            continue
        for match in LEFT.finditer(_COMMENT.sub("", line)):
            if match.group() not in seen:
                seen.add(match.group())
                file.report(
                    match.group().strip(),
                    Severity.WARNING,
                    f"{match.group().strip()} is left as it is: an option of nvcc that hipcc does"
                    " not have",
                    f"in: {' '.join(line.split())[:200]}",
                )
