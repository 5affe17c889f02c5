"""Conditional compilation on the CUDA version and architecture.

``__CUDA_ARCH__`` has two uses. As a flag ("am I device code?") it is ``__HIP_DEVICE_COMPILE__``.
As a number it selects among implementations for generations of Nvidia hardware; AMD hardware
takes the branch of one generation, so that the program stays one that its author wrote and
tested: the newest whose code has a translation (``docs/decisions/0014-newest-architecture.md``).
The engine tries them. A file that refuses older ones by ``#error`` gets what it asks for.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import headers
from cass_ray.translate.rules.rewrite import Rewrite

VERSION_MACROS = {
    # The interfaces of HIP and its libraries are those of CUDA 11 (hipGraphInstantiate with five
    # arguments, the generic hipSPARSE interface, texture references beside texture objects).
    "CUDART_VERSION": "11080",
    "CUDA_VERSION": "11080",
    "__CUDACC_VER_MAJOR__": "11",
    "__CUDACC_VER_MINOR__": "8",
    "__CUDACC_VER_BUILD__": "89",
    "__CUDA_API_VERSION": "11080",
    "CUB_VERSION": "200000",
    # Of the libraries of CUDA 11.8 ("CUDA 11.8 Release Notes", component versions), as their
    # headers put them together.
    "CUBLAS_VERSION": "111103",
    "CUBLAS_VER_MAJOR": "11",
    "CUBLAS_VER_MINOR": "11",
    "CUBLAS_VER_PATCH": "3",
    "CUSPARSE_VERSION": "11705",
    "CUSPARSE_VER_MAJOR": "11",
    "CUSPARSE_VER_MINOR": "7",
    "CUSPARSE_VER_PATCH": "5",
    "CUSOLVER_VERSION": "11401",
    "CUSOLVER_VER_MAJOR": "11",
    "CUSOLVER_VER_MINOR": "4",
    "CUSOLVER_VER_PATCH": "1",
    "CUFFT_VERSION": "10900",
    "CUFFT_VER_MAJOR": "10",
    "CUFFT_VER_MINOR": "9",
    "CUFFT_VER_PATCH": "0",
    "CURAND_VER_MAJOR": "10",
    "CURAND_VER_MINOR": "3",
}

_OF_HEADERS = ("CUDART_VERSION", "CUDA_VERSION")
"""A host's compiler has them where CUDA's headers are included, as it has ``HIP_VERSION``."""
ARCHITECTURE_MACRO = "__CUDA_ARCH__"
_FEATURES = re.compile(
    r"__CUDA_ARCH_FEAT_\w+|__CUDA_ARCH_SPECIFIC__|__CUDA_ARCH_FAMILY_SPECIFIC__"
    r"|__CUDA_ARCH_HAS_FEATURE__"
)
"""Of one generation alone (sm_90a): nvcc defines them for no architecture without the letter."""
_ASKED = re.compile(r"\s*+\)?\s*+(?P<operator>>=|<=|>|<|==|!=)\s*+\(?(?P<value>\d{1,6})\b")
"""What a macro's value is compared with."""

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|define|undef)\b", re.MULTILINE)
_DEFINED = re.compile(r"\bdefined\s*+\(?\s*+\Z")
_ATTRIBUTES = re.compile(
    r"(?:[ \t]*\n){0,99}"
    r"(?:[ \t]*#[ \t]*define[ \t]+\w+[^\n]{0,99}\b__(?:host|device)__[^\n\\]{0,99}\n"
    r"(?:[ \t]*\n){0,99}){1,99}"
    r"[ \t]*#[ \t]*(?:else|endif)\b"
)
_DEFAULT_ATTRIBUTE = re.compile(
    r"(?:[ \t]*\n)*[ \t]*#[ \t]*ifndef[ \t]+(?P<macro>\w+)[ \t]*\n"
    r"[ \t]*#[ \t]*define[ \t]+(?P=macro)[ \t]+__device__[ \t]*\n[ \t]*#[ \t]*endif\b"
)
_ATTRIBUTE = re.compile(
    r"\b[A-Za-z_]\w*(?:\.|->)(?P<member>ptxVersion|binaryVersion)\b(?!\s*=[^=])"
)
_BUILTIN_DECLARATION = re.compile(
    r"\bextern[ \t]+(?:const[ \t]+)?(?:dim3|uint3)[ \t]+(?:const[ \t]+)?"
    r"(?:threadIdx|blockIdx|blockDim|gridDim)[ \t]*;"
)
_LONGEST_GAP = 64
"""Characters from a directive to its first word."""

_DEVICE_FLAG = "__HIP_DEVICE_COMPILE__"
_IN_DEFINES = "CASS_CUDA_ARCH"
_LIST = "__CUDA_ARCH_LIST__"


def rewrite_guards(unit: Rewrite) -> None:
    """Rewrite the uses of ``__CUDA_ARCH__`` and of the version macros."""
    for offset in unit.words.get(ARCHITECTURE_MACRO, ()):
        _rewrite_architecture(unit, offset)
    _define_architecture(unit)
    _rewrite_attributes(unit)
    _report_features(unit)
    _remove_declarations(unit)
    for macro, value in {**VERSION_MACROS, _LIST: str(unit.architecture)}.items():
        for offset in unit.words.get(macro, ()):
            _rewrite_version(unit, offset, macro, value)


def _remove_declarations(unit: Rewrite) -> None:
    """Programs declare ``threadIdx`` for the host, where CUDA does not; HIP has it there too."""
    if unit.is_hip:
        return
    for found in _BUILTIN_DECLARATION.finditer(unit.source.code):
        unit.edits.replace(found.start(), found.end(), "")


def _rewrite_attributes(unit: Rewrite) -> None:
    """``cudaFuncAttributes::ptxVersion`` is ``__CUDA_ARCH__ / 10`` of the kernel, for the host.

    Programs choose by it what their kernels chose by the macro; HIP says 30 of every kernel.
    """
    if unit.is_hip or not {"ptxVersion", "binaryVersion"} & unit.words.keys():
        return
    for match in _ATTRIBUTE.finditer(unit.source.code):
        unit.edits.replace(*match.span(), f"{unit.architecture // 10} /* {match.group()} */")
        unit.converted(match.start("member"))


def _directive(unit: Rewrite, offset: int) -> str:
    """The name of the directive that the logical line of ``offset`` is; empty for code."""
    match = _DIRECTIVE.match(unit.source.code, unit.source.logical_line(offset))
    return match[1] if match else ""


def _is_flag(unit: Rewrite, offset: int, directive: str) -> bool:
    if directive in {"ifdef", "ifndef", "undef", "define"}:
        return True
    return directive in {"if", "elif"} and bool(
        _DEFINED.search(unit.source.code, max(0, offset - 16), offset)
    )


def _gives_attributes(unit: Rewrite, offset: int) -> bool:
    """Whether macros for ``__device__`` and the like are all that is defined for the device.

    nvcc's host pass does not look into kernels, so that what they call may be the host's there;
    clang's does.
    """
    code = unit.source.code
    end = code.find("\n", offset)
    return end >= 0 and _ATTRIBUTES.match(code, end + 1) is not None


def _add_attribute(unit: Rewrite, offset: int, directive: str) -> None:
    """A macro that is ``__device__`` in the device's pass, unless defined, is for both sides.

    The host's pass of nvcc has the functions for the host alone, kernels that call them or not.
    """
    if directive not in {"if", "ifdef"}:
        return
    end = unit.source.code.find("\n", offset)
    found = _DEFAULT_ATTRIBUTE.match(unit.source.code, end + 1) if end >= 0 else None
    if found is None:
        return
    macro = found["macro"]
    lines = (
        f"#if defined(__HIPCC__) && !defined({macro})",
        f"#define {macro} __host__ __device__",
        "#endif",
        "",
    )
    unit.edits.insert(unit.source.logical_line(offset), unit.source.newline.join(lines))


def _report_features(unit: Rewrite) -> None:
    for word, offsets in unit.words.items():
        if not _FEATURES.fullmatch(word):
            continue
        for offset in offsets:
            if not _is_defined_here(unit, offset):
                message = f"{word} is defined for one generation of Nvidia's cards alone"
                advice = "the code without it is taken on AMD: see that it does the same"
                unit.report(offset, word, Severity.WARNING, message, advice)
            unit.handled.add(offset)


def _is_defined_here(unit: Rewrite, offset: int) -> bool:
    return _directive(unit, offset) in {"define", "undef"} and _defines(unit, offset)


def _report_newer(unit: Rewrite, offset: int, word: str, value: int) -> None:
    """Report a comparison that no value which the port can have decides as a newer one would."""
    asked = _ASKED.match(unit.source.code, offset + len(word))
    if asked is None:
        return
    number = int(asked["value"])
    beyond = word == ARCHITECTURE_MACRO and asked["operator"] in {">", "<="}
    if number > value or (number == value and beyond):
        unit.report(
            offset,
            word,
            Severity.WARNING,
            f"a guard asks for more than {word} {value}, which is what the port stands for",
            "the code for older ones is taken: see that it does the same",
        )


def _define_architecture(unit: Rewrite) -> None:
    """What a ``#define`` makes of the architecture: a number on the device, 0 for the host."""
    places = [
        offset
        for offset in unit.words.get(ARCHITECTURE_MACRO, ())
        if _directive(unit, offset) == "define"
        and not _defines(unit, offset)
        and not _is_flag_of_define(unit, offset)
    ]
    if not places:
        return
    lines = (
        f"#ifndef {_IN_DEFINES}",
        f"#ifdef {_DEVICE_FLAG}",
        f"#define {_IN_DEFINES} {unit.architecture}",
        "#else",
        f"#define {_IN_DEFINES} 0",
        "#endif",
        "#endif",
    )
    text = "".join(f"{each}{unit.source.newline}" for each in lines)
    line = unit.source.logical_line(places[0])
    directive = unit.source.code.find("#", line, places[0])
    if directive >= 0 and unit.source.text[line:directive].strip():
        # A comment ends on the line: it stays whole.
        unit.edits.insert(directive, f"{unit.source.newline}{text}")
        return
    unit.edits.insert(line, text)


def _is_flag_of_define(unit: Rewrite, offset: int) -> bool:
    return bool(_DEFINED.search(unit.source.code, max(0, offset - 16), offset))


def _rewrite_architecture(unit: Rewrite, offset: int) -> None:
    word = ARCHITECTURE_MACRO
    directive = _directive(unit, offset)
    if directive == "define" and not _defines(unit, offset):
        directive = "definition"
    if _is_flag(unit, offset, directive):
        _add_attribute(unit, offset, directive)
        gives = directive in {"if", "ifdef"} and _gives_attributes(unit, offset)
        unit.rename(offset, word, "__HIPCC__" if gives else _DEVICE_FLAG)
        return
    architecture = unit.architecture
    if directive in {"if", "elif"}:
        # Zero in the host pass, as an undefined __CUDA_ARCH__ is.
        unit.rename(offset, word, f"({_DEVICE_FLAG} * {architecture})")
    elif directive == "definition" and _is_flag_of_define(unit, offset):
        unit.rename(offset, word, _DEVICE_FLAG)
        return
    elif directive == "definition":
        unit.rename(offset, word, _IN_DEFINES)
    else:
        unit.rename(offset, word, f"{architecture} /* {word} */")
    _report_newer(unit, offset, word, architecture)
    unit.report(
        offset,
        word,
        Severity.NOTE,
        f"code for Nvidia architecture {architecture // 10} is taken on AMD",
        "check that no other branch suits AMD better",
    )


def _defines(unit: Rewrite, offset: int) -> bool:
    """Whether the word at ``offset`` is the macro that a ``#define`` defines."""
    return bool(re.search(r"define[ \t]+\Z", unit.source.code[max(0, offset - 16) : offset]))


def _rewrite_version(unit: Rewrite, offset: int, macro: str, value: str) -> None:
    directive = _directive(unit, offset)
    if directive in {"define", "undef"} and _defines(unit, offset):
        return
    code = unit.source.code
    start = code.rfind(directive, max(0, offset - _LONGEST_GAP), offset) if directive else -1
    known = "1"
    if macro in _OF_HEADERS and headers.may_be_without_runtime(unit):
        known = "defined(HIP_VERSION)"
    if directive in {"ifdef", "ifndef"} and start >= 0:
        condition = known if directive == "ifdef" else "0" if known == "1" else f"!{known}"
        end = offset + len(macro)
        unit.edits.replace(start, end, f"if {condition} /* {macro} */")
        unit.converted(offset)
        return
    defined = _DEFINED.search(code, max(0, offset - 16), offset)
    if directive in {"if", "elif", "define"} and defined:
        end = offset + len(macro)
        if "(" in defined.group():
            end = code.find(")", end) + 1 or end
        unit.edits.replace(defined.start(), end, f"{known} /* {macro} */")
        unit.converted(offset)
        return
    _report_newer(unit, offset, macro, int(value))
    unit.rename(offset, macro, f"{value} /* {macro} */")
