"""Lists of CMake files: of CUDA's libraries, to be linked later, of sources by patterns, and those
that functions are called with.

``find_library`` and functions of a project's own around it look for ``cublas_static`` and the
like; ROCm has shared libraries by other names. A list of nothing but CUDA's libraries gets ROCm's
targets, which know where they are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping

from cass_ray.translate.project.rocm_libraries import LIBRARIES

_RUNTIME = "amdhip64"
_FOLDERS = re.compile(r"\$\{CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES\}")
_ROCM_FOLDER = "${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib"
_HELPERS = frozenset({"culibos"})
"""Parts of CUDA's static libraries that are no library of their own for a user."""
_NEEDED = {"cublasLt": "cublas"}
"""Static library -> the one that cannot be linked without it."""
_WORD = re.compile(r"(?<![\w:.$/{}<>-])\w+(?![\w:./}>-])")
_LIST = re.compile(
    r"(?P<head>\b(?:set\s*\(\s*\w+|list\s*\(\s*(?:APPEND|PREPEND)\s+\w+))\s+(?P<items>[^()#]*)\)",
    re.IGNORECASE,
)
_TAKES_LANGUAGES = re.compile(r"\b(?:project|enable_language)\s*\(([^()]*)\)", re.IGNORECASE)
_PARAMETERS = re.compile(
    r"^[ \t]*(?:function|macro)\s*\(\s*\w+([^()]*)\)", re.IGNORECASE | re.MULTILINE
)
_PARSED = re.compile(
    r"\bcmake_parse_arguments\s*\(\s*(?:PARSE_ARGV\s+\d+\s+)?\"?(?P<prefix>\w+)\"?(?P<options>[^()]*)\)",
    re.IGNORECASE,
)
_SET = re.compile(r"\bset\s*\(\s*(\w+)\s+([^()#]*)\)", re.IGNORECASE)
_CHOSEN = re.compile(r"[.]cu\b.*\bCACHE\b", re.DOTALL)
_ENDS = re.compile(r"\$\{(\w+)\}(?=[\s\";]|$)").findall
_JOINED = re.compile(r"(?<=/)\$\{(\w+)\}(?=[\s\";]|$)")
_BOUNDS = {"PARENT_SCOPE", ""}


def _plain(name: str) -> str:
    return name.removesuffix("_static")


def _is_cuda(name: str) -> bool:
    return _plain(name) in LIBRARIES or name in _HELPERS


def find_by_file(command: str) -> str:
    """A command that looks for a library as a file, with ROCm's name of it; others stay."""
    name = command.partition("(")[0].strip().lower()
    if not name.endswith(("find_library", "find_libraries", "find_lib")):
        return command
    made = _WORD.sub(lambda word: _file(word.group()), command)
    return _FOLDERS.sub(_ROCM_FOLDER, made)


def _file(word: str) -> str:
    return (LIBRARIES.get(_plain(word)) or _RUNTIME) if _is_cuda(word) else word


def listed(command: str) -> list[str]:
    """The libraries of a list that holds nothing but CUDA's; nothing for other commands.

    One word that is no ``…_static`` may be anything's name: a list of it alone is left out.
    """
    match = _LIST.fullmatch(command)
    if match is None:
        return []
    words = [word for word in re.split(r'[\s;"]+', match["items"]) if word not in _BOUNDS]
    sure = len(words) > 1 or any(word.endswith("_static") for word in words)
    return words if sure and all(_is_cuda(word) for word in words) else []


def link_listed(command: str, targets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``command`` with the libraries that it lists as ROCm's ``targets``, and which these are."""
    words = listed(command)
    static = {_plain(word) for word in words if word.endswith("_static")}
    found: dict[str, str] = {}
    for word in words:
        name = _plain(word)
        helper = name in _HELPERS or (word.endswith("_static") and _NEEDED.get(name, "") in static)
        if helper:
            found[word] = ""
        elif target := targets.get(word) or targets.get(name):
            found[word] = target
    if not words or len(found) < len(set(words)):
        return command, set()
    match = _LIST.fullmatch(command)
    assert match is not None
    made = list(dict.fromkeys(found[word] for word in words if found[word]))
    end = " PARENT_SCOPE)" if "PARENT_SCOPE" in match["items"].split() else ")"
    return f"{match['head']} {' '.join(made)}{end}", set(made)


def set_globbed(words: list[str]) -> str:
    """What a pattern of ``.cu`` files found is HIP; headers and C++ beside it stay."""
    variable = words[1]
    options = {"CONFIGURE_DEPENDS", "RELATIVE", "LIST_DIRECTORIES", "TRUE", "FALSE"}
    patterns = [
        word.strip('"')
        for before, word in itertools.pairwise(words[1:])
        if word not in options and before != "RELATIVE"
    ]
    alone = all(word.endswith(".cu") for word in patterns)
    if alone:
        return f"\nset_source_files_properties(${{{variable}}} PROPERTIES LANGUAGE HIP)"
    return (
        f"\nset({variable}_HIP ${{{variable}}})\n"
        f'list(FILTER {variable}_HIP INCLUDE REGEX "[.]cu$")\n'
        f"set_source_files_properties(${{{variable}_HIP}} PROPERTIES LANGUAGE HIP)"
    )


def renamed_language(text: str) -> Callable[[str, str], str]:
    """What has lists of languages, which ``project`` or ``enable_language`` of a file take, name
    HIP for CUDA."""
    taken = {
        name
        for match in _TAKES_LANGUAGES.finditer(text)
        for name in re.findall(r"\$\{(\w+)\}", match[1])
    }

    def rename(name: str, whole: str) -> str:
        words = whole[whole.index("(") + 1 : -1].split()
        listed = words[1:2] if name.lower() == "list" else words[:1]
        if name.lower() in {"set", "list"} and set(listed) & taken:
            return re.sub(r"(?<![\w$-])CUDA(?![\w-])", "HIP", whole)
        return whole

    return rename


def parameters(text: str) -> frozenset[str]:
    """Variables that hold what functions and macros of a CMake file are called with."""
    words = [
        word for match in _PARAMETERS.finditer(text) for word in (*match[1].split(), "ARGN", "ARGV")
    ]
    for match in _PARSED.finditer(text):
        names = re.split(r"[\s;]+", " ".join(re.findall(r'"([^"]*)"', match["options"])))
        names += re.findall(r"(?<!\S)[A-Z][A-Z_]*(?!\S)", match["options"])
        prefix = match["prefix"]
        words += [f"{prefix}_{name}" for name in (*names, "UNPARSED_ARGUMENTS") if name]
    return frozenset(words)


def chosen_sources(text: str) -> frozenset[str]:
    """Variables of a CMake file that hold a ``.cu`` file whose name the user of the build chooses,
    or one that is put together from other variables, and those that are made of them."""
    values = [(match[1], match[2]) for match in _SET.finditer(text)]
    named = {name for name, value in values if ".cu" in value}
    found = {name for name, value in values if _CHOSEN.search(value)}
    found |= {name for name, value in values if named.intersection(_JOINED.findall(value))}
    while more := {
        name for name, value in values if name not in found and found.intersection(_ENDS(value))
    }:
        found |= more
    return frozenset(found)


def set_parameters(names: list[str]) -> str:
    """The ``.cu`` files among what a function of the project's own is called with."""
    return "".join(
        f"\nforeach(source ${{{name}}})\n"
        f'  if(source MATCHES "[.]cu$")\n'
        f"    set_source_files_properties(${{source}} PROPERTIES LANGUAGE HIP)\n"
        f"  endif()\nendforeach()"
        for name in names
    )


def sources_of_folder(folder: str, variable: str) -> str:
    """The ``.cu`` files that ``aux_source_directory`` finds where CUDA is a language."""
    return (
        f"file(GLOB {variable}_HIP {folder}/*.cu)\n"
        f"set_source_files_properties(${{{variable}_HIP}} PROPERTIES LANGUAGE HIP)\n"
        f"list(APPEND {variable} ${{{variable}_HIP}})"
    )
