"""Build files: CMake, make and ``setup.py`` of a CUDA project, made to build it for AMD.

CMake gets its own HIP language (3.21 and later), make gets ``hipcc``. Compiler flags that only nvcc
knows are replaced or dropped. What cannot be decided from the file is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.translate.project.build_text import (
    ALL_ERRORS,
    ALL_SPARED,
    SPARED,
    SPARED_BY_LANGUAGE,
    BuildText,
    with_spared,
)
from cass_ray.translate.project.cmake_cccl import NAMED, core_library
from cass_ray.translate.project.cmake_compiler import accept_compiler
from cass_ray.translate.project.cmake_features import (
    downloads,
    fetched,
    flags_as_text,
    interface_libraries,
    link,
    plain_links,
    separable_compilation,
)
from cass_ray.translate.project.cmake_findcuda import (
    find_cuda_command,
    for_hosts,
    libraries_added,
    refused,
)
from cass_ray.translate.project.cmake_ipo import is_checked, plain_module, without_gcc
from cass_ray.translate.project.cmake_lists import (
    chosen_sources,
    find_by_file,
    link_listed,
    parameters,
    renamed_language,
    set_globbed,
    set_parameters,
    sources_of_folder,
)
from cass_ray.translate.project.cmake_searches import on_trial, searches
from cass_ray.translate.project.makefiles import translate_makefile, translate_script
from cass_ray.translate.project.meson import translate_meson
from cass_ray.translate.project.nvcc_flags import IN_CMAKE
from cass_ray.translate.project.nvcc_version import VERSION, in_cmake, in_python
from cass_ray.translate.project.rocm_libraries import PACKAGES, TARGETS, VARIABLES
from cass_ray.translate.project.setup_flags import without_nvcc
from cass_ray.translate.project.setup_places import with_libraries, with_rocm
from cass_ray.translate.project.templates import made_from
from cass_ray.translate.protocol import Severity, Translation

_MAKEFILE = re.compile(r"(?:gnu)?makefile(?:[.-].+)?|.+\.(?:mk|mak|make)", re.IGNORECASE)
"""The files from which Autotools make others (``Makefile.am``) are among them."""
_BACKUP = re.compile(r".+(?:\.(?:orig|rej|bak|backup|old|save|saved|swp|~\d+~)|~)", re.IGNORECASE)
"""What editors, patch and :mod:`cass_ray.commands.in_place` keep of a file before a change."""
DEFAULT_ARCHITECTURE = DEFAULT_AMD_ARCHITECTURE

_RUN_NVCC = re.compile(
    r"(\b(?:(?:check_)?(?:call|output)|run|Popen|which|find_executable)\(\s*\[?\s*[\"'])nvcc\b"
)
"""In Python: nvcc as a command, not as the key of a table of flags."""
_LOADS = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+torch\.utils(?:\.|[ \t]+import[ \t]+)cpp_extension\b"
    r"|\bcpp_extension\.load",
    re.MULTILINE,
)
"""A module that compiles when it is called, or gives its flags to what does."""
_CUDA_SOURCE = re.compile(r"(?<![\w./*$@{}%-])[\w./${}-]+\.cu\b(?![\w(])")
_OPEN_END = re.compile(r"(?<![\w./*$@{}%-])[\w./${}-]+\.\$\{\w+\}(?![\w.(])")
_BARE = re.compile(r"\"?\$\{(\w+)\}\"?")
_CUDA_GLOB = re.compile(r"\.cu(?!\w)")
_CUDA_WORD = re.compile(r"(?<![${-])\bCUDA\b(?![}_])")
_LANGUAGE = re.compile(rf'("(?:[^"\\]|\\.)*")|{_CUDA_WORD.pattern}', re.DOTALL)
"""In ``project(...)``, but not where it is described."""
_INCLUDE_VARIABLE = re.compile(
    r"\bCUDA(?:Toolkit)?_INCLUDE_DIRS?\b|\bCMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES\b"
)
_VERSION_VARIABLE = re.compile(r"\bCUDA(?:Toolkit)?_VERSION(?:_STRING|_MAJOR|_MINOR)?\b")
_ROOT = re.compile(
    r"(?:\$\{(?:CUDA_TOOLKIT_ROOT_DIR|CUDAToolkit_(?:ROOT|TARGET_DIR|ROOT_DIR)|CUDA_(?:HOME|PATH))\}"
    r"|\$ENV\{CUDA_(?:HOME|PATH|ROOT)\}|/usr/local/cuda(?:-[\d.]+)?(?![\w-]))(/lib64\b)?"
)
"""Where CUDA is, and its libraries."""
_ROCM_ROOT = "${CMAKE_HIP_COMPILER_ROCM_ROOT}"
_NUMBERS = "CMAKE_CUDA_ARCHITECTURES"
_DROPPED = (("set", ["CMAKE_CUDA_COMPILER"]), ("unset", [_NUMBERS]))
"""ROCm's compiler is found, and the targets are not for the project to take away."""
_READING = ("LENGTH", "GET", "JOIN", "SUBLIST", "FIND")
"""What ``list`` does that changes none: Nvidia's numbers are not put to AMD's targets."""
_PROJECT = re.compile(r"project|enable_language", re.IGNORECASE)
_USES_HIP = re.compile(
    r"\$\{hip_(?:INCLUDE_DIRS|LIB_INSTALL_DIR)\}|(?<![\w:])(?:hip|roc|hiprtc)::\w+"
)
_FINDS_HIP = re.compile(r"\bfind_(?:package|dependency)\s*\(\s*hip\b")
_PLATFORM = "add_compile_definitions(__HIP_PLATFORM_AMD__=1)"
_FIND_CUDA = re.compile(
    r"\b(?:find_package\s*\(\s*|include\s*\(\s*Find)CUDA(?:Toolkit)?\b", re.IGNORECASE
)
_SEEMS_CUDA = re.compile(r"CUDA|\.cu|(?i:cuda)_|\bcu\w+_static\b")
_TARGET = re.compile(r"\bCUDA::(\w+)")
_VARIABLE = re.compile(r"\$\{(" + "|".join(VARIABLES) + r")\}")
_LISTING = {"add_executable", "add_library", "target_sources", "set", "list", "file"}
_COMPILE_OPTIONS = {"add_compile_options", "target_compile_options"}
_FOR_HIP = re.compile(r"\bCMAKE_HIP_FLAGS|COMPILE_LANG(?:UAGE|_AND_ID):HIP\b")
_OF_HIP = re.compile(r"\(\s*(?:APPEND\s+)?CMAKE_HIP_FLAGS")
_ALL_FLAGS = re.compile(r"\$\{CMAKE_HIP_FLAGS\}")


def kind_of(path: str) -> Callable[[str], Translation] | None:
    """The translation for a build file called ``path``; None for other files."""
    name = PurePosixPath(made_from(path)).name
    if _BACKUP.fullmatch(name):
        return None
    if name == "CMakeLists.txt" or name.endswith(".cmake"):
        return translate_cmake
    if _MAKEFILE.fullmatch(name):
        return translate_makefile
    if name in {"configure", "configure.ac"} or name.endswith((".m4", ".sh")):
        return translate_script
    if name == "meson.build":
        return translate_meson
    if name == "setup.py":
        return translate_setup
    return translate_module if name.endswith(".py") else None


def configures(path: str) -> bool:
    """Whether what a build was configured with changes with the file ``path``."""
    return kind_of(path) not in {None, translate_module}


def _spared(name: str, whole: str) -> str:
    """A command of CMake where warnings are errors."""
    flags: tuple[str, ...] = SPARED_BY_LANGUAGE if name.lower() in _COMPILE_OPTIONS else SPARED
    if _OF_HIP.search(whole):
        flags = ALL_SPARED
    return ALL_ERRORS.sub(lambda match: with_spared(match, flags), whole)


def _hips_alone(name: str, whole: str) -> str:
    """A command of CMake that gives flags to the HIP language.

    What a target is given of the language's own flags is left out: it has them, and they are one
    text, of which CMake makes one argument.
    """
    if not _FOR_HIP.search(whole):
        return whole
    if name.lower() in _COMPILE_OPTIONS:
        whole = _ALL_FLAGS.sub("", whole)
    elif name.lower() not in {"set", "list", "string"}:
        return whole
    for pattern, new in IN_CMAKE:
        whole = pattern.sub(new, whole)
    return flags_as_text(whole)


def translate_cmake(text: str) -> Translation:
    """CMake's CUDA language becomes its HIP language, CUDA's targets ROCm's."""
    file = BuildText(text, in_cmake)
    for construct, name in downloads(text):
        file.report(
            construct,
            Severity.WARNING,
            f"the build downloads {name}, and builds have no network here",
            f"give its sources: cass project --dependency {name}=DIR",
        )
    for construct, address in fetched(text):
        file.report(
            construct,
            Severity.WARNING,
            f"the build downloads {address}, and builds have no network here",
            "put what it holds where the build looks for it before",
        )
    if NAMED.search(text):
        file.replace_commands(core_library)
    elif not _SEEMS_CUDA.search(text):
        return file.done()
    file.text = accept_compiler(file.text)
    targets = {TARGETS[name] for name in _TARGET.findall(text) if name in TARGETS}
    targets |= {VARIABLES[name] for name in _VARIABLE.findall(text)}
    targets |= libraries_added(text)
    file.substitute(_VARIABLE, lambda match: VARIABLES[match[1]])
    headers = _INCLUDE_VARIABLE.search(text) is not None
    asked = tuple(dict.fromkeys(_VERSION_VARIABLE.findall(text)))
    if _ROOT.search(text):
        headers = True
        file.replace_commands(_rocm_folders)
    own = interface_libraries(text)
    plain = {**TARGETS, "cuda": TARGETS["cuda_driver"]}
    links = plain_links(text, plain)
    finds = _FIND_CUDA.search(text) is not None
    before = "" if finds else _packages(set(links.values()), " REQUIRED")
    targets |= set(links.values())
    file.replace_commands(lambda _, whole: _link(whole, links, before))
    file.replace_commands(lambda _, whole: _link_list(whole, plain, targets, finds))
    file.replace_commands(lambda _, whole: plain_module(find_by_file(whole)))
    file.replace_commands(searches)
    file.replace_commands(on_trial)
    file.replace_commands(for_hosts(text))
    file.replace_commands(renamed_language(text))
    checked = is_checked(text)
    file.replace_commands(
        lambda name, whole: (
            whole + without_gcc(name.lower(), whole[whole.index("(") + 1 : -1], checked)
        )
    )
    given = parameters(text) | chosen_sources(text)
    file.replace_commands(
        lambda name, whole: _command(name, whole, targets, headers, asked, own, given, file.words)
    )
    file.substitute(_INCLUDE_VARIABLE, "hip_INCLUDE_DIRS")
    file.substitute(r"\bCUDA(?:Toolkit)?_FOUND\b", "hip_FOUND")
    file.substitute(_TARGET, lambda match: TARGETS.get(match[1], match.group()))
    file.substitute(r"(?<=COMPILE_LANGUAGE:)CUDA\b", "HIP")
    file.substitute(r"(?<=COMPILE_LANG_AND_ID:)CUDA,NVIDIA\b", "HIP,Clang")
    file.substitute(
        r"\bCMAKE_CUDA_(STANDARD\w*|FLAGS\w*|COMPILER\w*|EXTENSIONS|ARCHITECTURES)\b",
        r"CMAKE_HIP_\1",
    )
    file.substitute(r"\bCUDA_NVCC_FLAGS(_[A-Z]+)?\b", r"CMAKE_HIP_FLAGS\1")
    file.substitute(r"\bCUDA_SOURCE_PROPERTY_FORMAT\s+OBJ\b", "LANGUAGE HIP")
    file.substitute(
        r"\bCUDA_(ARCHITECTURES|STANDARD(?:_REQUIRED)?|EXTENSIONS|VISIBILITY_PRESET)\b", r"HIP_\1"
    )
    file.substitute(r"\bcuda_std_(\d\d)\b", r"hip_std_\1")
    file.substitute(r"\b((?:LINKER_)?LANGUAGE\s+)CUDA\b", r"\1HIP")
    file.raise_standard()
    file.replace_commands(_hips_alone)
    file.flags()
    file.replace_commands(_spared)
    if (headers or _USES_HIP.search(file.text)) and not _FINDS_HIP.search(file.text):
        _with_packages(file, targets, headers)
    if asked and not finds:
        _with_versions(file, asked)
    for name in sorted(set(_TARGET.findall(text)) - TARGETS.keys()):
        file.report(f"CUDA::{name}", Severity.ERROR, f"the target CUDA::{name} has no counterpart")
    _report_find_cuda(file)
    if "CUDA_SEPARABLE_COMPILATION" in text:
        file.report(
            "CUDA_SEPARABLE_COMPILATION",
            Severity.NOTE,
            "CMake's HIP language has no separable compilation: -fgpu-rdc stands for it",
            "targets that are linked with these need it as well",
        )
    return file.done()


def _report_find_cuda(file: BuildText) -> None:
    """Commands of FindCUDA's that nothing stands for."""
    found = BuildText(file.original)

    def see(name: str, whole: str) -> str:
        made = refused(name.lower(), whole[whole.index("(") + 1 : -1])
        if made:
            file.report(
                whole.partition("(")[0].strip(),
                Severity.ERROR,
                f"the command {name} of FindCUDA is left as it is: ROCm has nothing for {made}",
                "build a code object by hipcc --genco, or leave it out of the build for AMD",
            )
        return whole

    found.replace_commands(see)


def _link(whole: str, links: Mapping[str, str], packages: str) -> str:
    """A command that links libraries of CUDA by their plain names, behind their ``packages``."""
    made = link(whole, links)
    return f"{packages}\n{made}" if packages and made != whole else made


def _link_list(whole: str, plain: Mapping[str, str], targets: set[str], finds: bool) -> str:
    """A list of CUDA's libraries, behind their packages unless the file ``finds`` CUDA itself.

    What it holds is added to ``targets``.
    """
    made, listed = link_listed(whole, plain)
    targets |= listed
    return made if finds or not listed else f"{_packages(listed, ' REQUIRED')}\n{made}"


def _packages(targets: set[str], required: str) -> str:
    """What finds HIP and the packages of ``targets``."""
    packages = ["hip", *sorted({PACKAGES[item] for item in targets if item in PACKAGES})]
    return "\n".join(f"find_package({package}{required})" for package in packages)


def _command(
    name: str,
    whole: str,
    targets: set[str],
    headers: bool,
    version: tuple[str, ...],
    own: frozenset[str],
    given: frozenset[str],
    flags: Callable[[str], str],
) -> str:
    lower, body = name.lower(), whole[whole.index("(") + 1 : -1]
    words = body.split()
    if lower == "project":
        return f"{name}({_LANGUAGE.sub(lambda match: match[1] or 'HIP', body)})"
    if (lower, words[:1]) in _DROPPED or (lower == "list" and words[1:2] == [_NUMBERS]):
        return "" if words[0] not in _READING else whole
    if lower == "enable_language" and "CUDA" in words:
        return f"{name}({body.replace('CUDA', 'HIP')})"
    if lower == "check_language" and "CUDA" in words:
        return f"{name}(HIP)"
    if lower == "include" and words[:1] == ["FindCUDA/select_compute_arch"]:
        return ""
    if lower == "include" and words in (["FindCUDA"], ["FindCUDAToolkit"]):
        lower, words = "find_package", [words[0].removeprefix("Find"), "REQUIRED"]
    if lower == "find_dependency" and words[:1] in (["CUDA"], ["CUDAToolkit"]):
        return _packages(targets, "").replace("find_package", name)
    if lower == "find_package" and words and words[0] in {"CUDA", "CUDAToolkit"}:
        required = " REQUIRED" if "REQUIRED" in words else ""
        found = _packages(targets, required)
        if words[0] == "CUDA":  # whose commands compile .cu files without CUDA as a language
            found += "\nenable_language(HIP)"
        found += _versions(version)
        # For C++ files that include HIP's headers without a target of HIP's that says so.
        return f"{found}\n{_PLATFORM}" if headers else found
    made = find_cuda_command(lower, body, flags)
    if made is not None:
        return made.replace("{language}", _language("add_library", words, body, given))
    if lower == "aux_source_directory" and len(words) == 2:
        return f"{whole}\n{sources_of_folder(*words)}"
    if lower in {"set", "set_property", "set_target_properties"}:
        whole = _architectures(whole) + separable_compilation(lower, body, own)
    if lower in _LISTING:
        return whole + _language(lower, words, body, given)
    return whole


def _versions(names: tuple[str, ...]) -> str:
    """The version that build files ask for."""
    major, minor = VERSION.split(".")
    values = {"MAJOR": major, "MINOR": minor}
    return "".join(
        f"\nset({name} {values.get(name.rpartition('_')[2], VERSION)})"
        "  # of which HIP's interfaces are"
        for name in names
    )


def _with_versions(file: BuildText, names: tuple[str, ...]) -> None:
    """The version that a file asks for and another one finds, which may ask for none."""
    lines = "".join(
        f"\nif(NOT DEFINED {name})\n  {line}\nendif()"
        for name, line in zip(names, _versions(names).splitlines()[1:], strict=True)
        if line not in file.original  # or else an earlier translation has added it
    )
    is_first = bool(lines)

    def add(name: str, whole: str) -> str:
        nonlocal is_first
        begins, is_first = is_first, False
        if not begins:
            return whole
        first = name.lower() == "cmake_minimum_required"
        return f"{whole}{lines}" if first else f"{lines.lstrip()}\n{whole}"

    file.replace_commands(add)


def _rocm_folders(name: str, whole: str) -> str:
    """A command that names CUDA's folder, with ROCm's; one that sets or asks for it stays."""
    if name.lower() in {"if", "elseif", "set", "find_package", "message", "option"}:
        return whole
    return _ROOT.sub(lambda match: _ROCM_ROOT + ("/lib" if match[1] else ""), whole)


def _with_packages(file: BuildText, targets: set[str], headers: bool) -> None:
    """Find what a file uses that finds no CUDA itself: behind ``project``, or before each use."""
    packages = _packages(targets, " REQUIRED") + (f"\n{_PLATFORM}" if headers else "")
    is_first = False

    def is_project(name: str, whole: str) -> bool:
        return bool(_PROJECT.fullmatch(name) and re.search(r"\bHIP\b", whole))

    def see(name: str, whole: str) -> str:
        nonlocal is_first
        is_first = is_first or is_project(name, whole)
        return whole

    def found(name: str, whole: str) -> str:
        if is_first:
            return f"{whole}\n{packages}" if is_project(name, whole) else whole
        return f"{packages}\n{whole}" if _USES_HIP.search(whole) else whole

    file.replace_commands(see)
    file.replace_commands(found)


def _architectures(command: str) -> str:
    """Numbers of Nvidia architectures give way to an AMD one, unless the user has set some."""
    if re.match(r"set\s*\(\s*CMAKE_CUDA_ARCHITECTURES\b", command, re.IGNORECASE):
        return (
            # Before project() no toolchain file has been read, which may know the target.
            "if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)\n"
            f"  set(CMAKE_HIP_ARCHITECTURES {DEFAULT_ARCHITECTURE})\n"
            "  if(DEFINED ENV{HIP_ARCHITECTURES})\n"
            "    set(CMAKE_HIP_ARCHITECTURES $ENV{HIP_ARCHITECTURES})\n  endif()\nendif()"
        )
    pattern = r"\bCUDA_ARCHITECTURES\s+(?:\"[^\"]*\"|\$\{[^{}]*\}|[\w;-]+(?:\s+\d+\w*)*)"
    return re.sub(pattern, 'HIP_ARCHITECTURES "${CMAKE_HIP_ARCHITECTURES}"', command)


def _language(
    command: str, words: list[str], body: str, known: frozenset[str] = frozenset()
) -> str:
    """CMake takes ``.cu`` for CUDA: say that the files are HIP.

    ``known`` are the parameters of the file's functions and macros, and variables whose files are
    chosen when CMake runs.
    """
    if command == "file":
        if not words or not words[0].startswith("GLOB") or not _CUDA_GLOB.search(body):
            return ""
        return set_globbed(words)
    text = re.sub(r"#[^\n]*", "", body)
    if "set_source_files_properties" in body:
        return ""
    found = _CUDA_SOURCE.findall(text)
    made = f"\nset_source_files_properties({' '.join(found)} PROPERTIES LANGUAGE HIP)"
    # Names whose end is a variable are known when CMake runs, of targets alone.
    open_ends = _OPEN_END.findall(text) if command.startswith("add_") else []
    # A target is the first of what a function is called with.
    asked = words if words[:1] == ["${ARGV}"] else words[1:]
    given = [match[1] for word in asked if (match := _BARE.fullmatch(word))]
    given = [name for name in given if name in known] if command.startswith("add_") else []
    return (
        (made if found else "")
        + set_parameters(given)
        + "".join(
            f'\nif("{name}" MATCHES "[.]cu$")\n'
            f"  set_source_files_properties({name} PROPERTIES LANGUAGE HIP)\nendif()"
            for name in open_ends
        )
    )


def translate_module(text: str) -> Translation:
    """A Python file that compiles an extension of PyTorch when it is loaded: flags, libraries."""
    file = BuildText(text, in_python)
    if not _LOADS.search(text):
        return file.done()
    for change in (without_nvcc, with_libraries):
        if (made := change(file.text)) is not None:
            file.text, changed = made
            file.converted += changed
    return file.done()


def translate_setup(text: str) -> Translation:
    """``setup.py`` of a PyTorch extension: PyTorch for ROCm builds ``CUDAExtension`` with hipcc."""
    file = BuildText(text, in_python)
    if "CUDAExtension" not in text and "nvcc" not in text:
        return file.done()
    file.substitute(_RUN_NVCC, r"\g<1>hipcc")
    extension = "CUDAExtension" in text
    passes = [without_nvcc, with_libraries] if extension else [without_nvcc, with_rocm]
    for change in passes:
        if (made := change(file.text)) is not None:
            file.text, changed = made
            file.converted += changed
    if "CUDAExtension" in text:
        file.report(
            "CUDAExtension",
            Severity.NOTE,
            "PyTorch for ROCm builds a CUDAExtension with hipcc and translates its sources itself",
            "translate the sources here only if they are built without PyTorch",
        )
    return file.done()
