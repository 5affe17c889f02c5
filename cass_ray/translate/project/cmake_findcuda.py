"""The commands of CMake's module FindCUDA, written out for the HIP language.

FindCUDA compiles ``.cu`` files without CUDA as a language: its commands take flags of nvcc behind
``OPTIONS``, for one configuration behind its name, and nvcc's flags of a project are lists in
``CUDA_NVCC_FLAGS``. Source: the module's own documentation (CMake 3.26, ``cmake-modules(7)``).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cass_ray.translate.project.rocm_libraries import TARGETS

_CONFIGURATIONS = ("DEBUG", "RELEASE", "MINSIZEREL", "RELWITHDEBINFO")
_KINDS = frozenset({"STATIC", "SHARED", "MODULE", "EXCLUDE_FROM_ALL", "WIN32", "MACOSX_BUNDLE"})
_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
_ADDED = re.compile(r"\bcuda_add_(?:executable|library)\s*\(\s*([^\s()]+)", re.IGNORECASE)
_SCOPES = frozenset({"PRIVATE", "PUBLIC", "INTERFACE", "BEFORE", "SYSTEM"})
_FLAGS = re.compile(r"CUDA_NVCC_FLAGS(?:_[A-Z]+)?")
_LIBRARIES = {
    "cuda_add_cufft_to_target": "hip::hipfft",
    "cuda_add_cublas_to_target": "roc::hipblas",
}
_KEYWORD = "${CUDA_LINK_LIBRARIES_KEYWORD}"
"""With or without PRIVATE, as FindCUDA links: a target's commands must all be one or the other."""
_FIND = ("cuda_find_library_local_first", "cuda_find_library_local_first_with_path_ext")
_NOTHING = frozenset(
    {
        "cuda_build_clean_target",
        "cuda_include_nvcc_dependencies",
        "cuda_link_separable_compilation_objects",
    }
)
"""What CMake does by itself where HIP is a language."""
REFUSED = {
    "cuda_compile_ptx": "PTX",
    "cuda_compile_cubin": "cubin files",
    "cuda_compile_fatbin": "fat binaries of Nvidia's",
    "cuda_compile_base": "what FindCUDA's own commands are made of",
    "find_cuda_helper_libs": "libraries that only CUDA has",
    "cuda_find_helper_file": "files of the module",
    "cuda_get_sources_and_options": "what FindCUDA's own commands are made of",
    "cuda_parse_nvcc_options": "what FindCUDA's own commands are made of",
}
"""Command -> what it makes or finds, which nothing of ROCm's stands for."""

Words = Callable[[str], str]
"""Makes hipcc's flags of nvcc's."""


def libraries_added(text: str) -> set[str]:
    """ROCm's targets for the libraries that commands of ``text`` add."""
    lower = text.lower()
    added = {target for name, target in _LIBRARIES.items() if name in lower}
    calls = re.findall(rf"\b(?:{'|'.join(_FIND)})\s*\(([^()]*)\)", text, re.IGNORECASE)
    return added | {made for body in calls if (made := _stands_for(_WORD.findall(body)))}


def find_cuda_command(name: str, body: str, flags: Words) -> str | None:
    """What stands for FindCUDA's command ``name`` with the arguments ``body``; None for others."""
    text = _COMMENT.sub("", body)
    words = _WORD.findall(text)
    if name in _NOTHING:
        return ""
    if name in _LIBRARIES and words:
        return f"target_link_libraries({words[0]} {_KEYWORD} {_LIBRARIES[name]})"
    if name in _FIND and len(words) > 1:
        target = _stands_for(words)
        return f"set({words[0]} {target})" if target else f"find_library({words[0]} {words[1]})"
    if name == "cuda_include_directories":
        return f"include_directories({body})"
    if name in {"cuda_select_nvcc_arch_flags", "cuda_detect_installed_gpus"} and words:
        return f'set({words[0]} "")'  # flags that name Nvidia's architectures
    if name == "cuda_compute_separable_compilation_object_file_name" and words:
        return f'set({words[0]} "")'  # HIP's compiler links device code when all is linked
    if name in {"cuda_add_executable", "cuda_add_library"} and words:
        return _target(name.removeprefix("cuda_"), body, flags)
    if name == "cuda_compile" and words:
        return _objects(words[0], words[1:], flags)
    if name == "cuda_wrap_srcs" and len(words) > 2 and words[1].upper() == "OBJ":
        return _objects(words[2], words[3:], flags)
    return _set_flags(name, words)


_FOUND = re.compile(r"\bfind_package\s*\(\s*CUDA\b|\binclude\s*\(\s*FindCUDA\b", re.IGNORECASE)
_KEEPS_HOST_FLAGS = re.compile(
    r"\bset\s*\(\s*CUDA_PROPAGATE_HOST_FLAGS\s+(?:OFF|FALSE|NO|0)\b", re.IGNORECASE
)
_OPENMP = re.compile(r"\$\{OpenMP_CXX_FLAGS\}|-fopenmp\b")


def for_hosts(text: str) -> Callable[[str, str], str]:
    """Compile options of FindCUDA's targets in ``text`` are for what is not HIP.

    The module compiles ``.cu`` files by commands of its own, which no target's options reach. Flags
    of C++ it hands to nvcc's host compiler, and links with them: of these OpenMP's are HIP's too.
    """
    targets = set(_ADDED.findall(text))
    hands_on = _FOUND.search(text) is not None and not _KEEPS_HOST_FLAGS.search(text)

    def change(name: str, whole: str) -> str:
        words = _WORD.findall(_COMMENT.sub("", whole[whole.index("(") + 1 : -1]))
        parallel = _OPENMP.search(whole) if hands_on and words[:1] == ["CMAKE_CXX_FLAGS"] else None
        if parallel and name.lower() == "set":
            return f'{whole}\nset(CMAKE_HIP_FLAGS "${{CMAKE_HIP_FLAGS}} {parallel[0]}")'
        if name.lower() != "target_compile_options" or words[0] not in targets:
            return whole
        if "COMPILE_LANG" in whole:
            return whole
        made = [words[0]]
        options: list[str] = []
        for word in (*words[1:], ""):
            if word and word not in _SCOPES:
                options.append(word.strip('"').replace(" ", ";"))
                continue
            if options:
                made.append(f'"$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:{";".join(options)}>"')
                options = []
            made += [word] if word else []
        return f"{name}({' '.join(made)})"

    return change


def refused(name: str, body: str) -> str:
    """What a command makes that has no counterpart; empty where it has one."""
    if name == "cuda_wrap_srcs":
        return "PTX" if "PTX" in _COMMENT.sub("", body).upper().split()[1:2] else ""
    return REFUSED.get(name, "")


def _stands_for(words: list[str]) -> str:
    """ROCm's target for the library that the module's own command looks for; empty for others."""
    names = words[1].strip('"').split(";") if len(words) > 1 else []
    return next((TARGETS[name] for name in names if name in TARGETS), "")


def _target(command: str, body: str, flags: Words) -> str:
    sources, options = _options(body)
    target, *listed = _WORD.findall(_COMMENT.sub("", sources))
    kinds = [word for word in listed if word in _KINDS]
    if listed[: len(kinds)] != kinds:  # FindCUDA takes them anywhere, CMake before the sources
        sources = re.sub(rf"(?<!\S)(?:{'|'.join(kinds)})(?!\S)\s*", "", sources).rstrip()
        sources = sources.replace(target, " ".join((target, *kinds)), 1)
    link = f"target_link_libraries({target} {_KEYWORD} hip::host)"
    made = f"{command}({sources}){{language}}\n{link}"
    return made + _compile_options(target, options, flags)


def _objects(variable: str, words: list[str], flags: Words) -> str:
    """Objects of sources, in ``variable`` as what CMake calls the objects of a target."""
    sources, options = _options(" ".join(words))
    listed = _WORD.findall(sources)
    names = " ".join(word for word in listed if word not in _KINDS)
    target = f"${{{variable}_TARGET}}"
    lines = [
        f'string(MAKE_C_IDENTIFIER "{variable} ${{CMAKE_CURRENT_SOURCE_DIR}}" {variable}_TARGET)',
        f"add_library({target} OBJECT {names}){{language}}",
    ]
    if {"SHARED", "MODULE"} & set(listed):
        lines.append(f"set_target_properties({target} PROPERTIES POSITION_INDEPENDENT_CODE ON)")
    lines.append(f"target_link_libraries({target} hip::host)")
    made = "\n".join(lines) + _compile_options(target, options, flags)
    return f"{made}\nset({variable} $<TARGET_OBJECTS:{target}>)"


def _options(body: str) -> tuple[str, dict[str, list[str]]]:
    """What stands before ``OPTIONS``, and the options by their configurations, ``""``: all."""
    match = re.search(r"(?<!\S)OPTIONS(?!\S)", body)
    if match is None:
        return body, {}
    options: dict[str, list[str]] = {}
    configuration = ""
    for word in _WORD.findall(_COMMENT.sub("", body[match.end() :])):
        if word.upper() in _CONFIGURATIONS:
            configuration = word.upper()
        elif word != "OPTIONS":
            options.setdefault(configuration, []).append(word)
    return body[: match.start()].rstrip(), options


def _compile_options(target: str, options: dict[str, list[str]], flags: Words) -> str:
    """The command that gives ``options`` of nvcc to what of ``target`` is HIP."""
    given = []
    for configuration, words in options.items():
        # Quotes around the whole of an argument: it may be a list.
        text = " ".join(word.strip('"').replace(";", " ") for word in words)
        made = flags(re.sub(r"(?<!\S)(?:-G|--device-debug)(?!\S)", "-g", text)).split()
        when = f",$<CONFIG:{configuration}>" if configuration else ""
        condition = "$<COMPILE_LANGUAGE:HIP>"
        condition = f"$<AND:{condition}{when}>" if when else condition
        if made:
            given.append(f'"$<{condition}:{";".join(made)}>"')
    return f"\ntarget_compile_options({target} PRIVATE {' '.join(given)})" if given else ""


def _set_flags(command: str, words: list[str]) -> str | None:
    """``CUDA_NVCC_FLAGS``, a list, as the text that CMake's languages want.

    Those of one configuration are added to CMake's own, which FindCUDA leaves to the host.
    """
    if command == "list" and words[:1] == ["APPEND"] and _is_flags(words[1:2]):
        return f'string(APPEND {words[1]} " {_as_text(words[2:])}")'
    if command != "set" or not _is_flags(words[:1]):
        return None
    values = words[1 : words.index("CACHE")] if "CACHE" in words else words[1:]
    ends = [word for word in values if word == "PARENT_SCOPE"]
    text = _as_text([word for word in values if word != "PARENT_SCOPE"])
    if words[0] != "CUDA_NVCC_FLAGS" and not ends:
        own = f"${{{words[0]}}}"
        return f'string(APPEND {words[0]} " {text.replace(own, "").strip()}")'
    return f"set({' '.join([words[0], _quoted(text), *ends])})"


def _is_flags(words: list[str]) -> bool:
    return bool(words) and _FLAGS.fullmatch(words[0]) is not None


def _quoted(text: str) -> str:
    return f'"{text}"'


def _as_text(words: list[str]) -> str:
    text = " ".join(words)
    # Quotes around the whole of an argument; a definition with quotes of its own has backslashes.
    return re.sub(r'(?<!\\)"', "", text).replace(";", " ")
