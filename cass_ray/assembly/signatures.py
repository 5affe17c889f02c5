"""Kernel names in a form that is the same for CUDA and HIP compilers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from cass_ray.assembly.demangle import demangle

_VECTOR_ELEMENTS = {
    "char": "char",
    "signed char": "char",
    "unsigned char": "uchar",
    "short": "short",
    "unsigned short": "ushort",
    "int": "int",
    "unsigned int": "uint",
    "long": "long",
    "unsigned long": "ulong",
    "long long": "longlong",
    "unsigned long long": "ulonglong",
    "float": "float",
    "double": "double",
}
"""Element type of HIP_vector_type -> stem of the CUDA name (amd_hip_vector_types.h)."""

_VECTOR = re.compile(r"HIP_vector_type<([a-z ]+), (\d)u>")

_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    # internal linkage in separate compilation (nvcc -rdc=true), inline namespaces of libraries
    (re.compile(r"\b_INTERNAL_\w+::"), ""),
    (re.compile(r"\b(?:THRUST|CUB|HIPCUB)_\w+_NS::|\bCUB_\d+_\w+::"), ""),
    (re.compile(r"__device_stub__"), ""),
    # handles that are integers in CUDA and pointers in HIP
    (re.compile(r"\b__hip_(?:texture|surface)\s*(?:const)?\*"), "unsigned long long"),
    (re.compile(r"\b_*(?:nv|hip)_(bfloat162?(?:_raw)?|fp8\w*?|half2?\w*?)(?:_fnuz)?\b"), r"\1"),
    (re.compile(r"\bhipcub::"), "cub::"),
    (re.compile(r"\b(?:hip|roc|cu)rand(?=[A-Z_])"), "rand"),
    (re.compile(r"\b(?:hip|cuda|cu)(?=[A-Z])"), "gpu"),
    (re.compile(r"\s+(?=[>)])|(?<=[(<])\s+"), ""),
)

_VENDOR = re.compile(
    r"lambda|\{|__nv_|^_Z|\b_*hip(?=[A-Z_])|\b(?:roc|hip|cu)rand|\bcu(?:da)?(?=[A-Z])"
    r"|\b(?:hip)?cub::|\bthrust::|\brocprim::"
)
"""Spellings that may differ between the vendors in ways that no table settles."""

_LIBRARY = re.compile(
    r"(?:void )?(?:(?:hip)?cub|thrust|rocprim|rocthrust|cuda::std)::"
    # in a namespace of the program's (CUB_WRAPPED_NAMESPACE, THRUST_CUB_WRAPPED_NAMESPACE)
    r"|(?:void )?(?:\w+::)+(?:cub::CUB_\d|thrust::THRUST_\d)"
    r"|__cuda_|__internal_|__ockl_|__ocml_"
)

_NVCC_STATIC = re.compile(r"__nv_static_(\d+)_")
_CLANG_STATIC = re.compile(r"(?:\.|__)(?:static|intern)(?:\.|__)[0-9a-f]+$")
_PREFIX = re.compile(r"_Z(N?)[VK]*L?")
_LENGTH = re.compile(r"[0-9]{1,5}")
_STATIC_MEMBER = re.compile(r"L[0-9]")
_FUNCTION = "&("
"""A function among template arguments begins with it."""
_MOST_FUNCTIONS = 64


@dataclass(frozen=True)
class Signature:
    """A kernel's name with the readings that matching needs, computed when asked for."""

    mangled: str

    @cached_property
    def plain(self) -> str:
        """The mangled name without what says that the kernel is static, which nvcc leaves out of
        templates in namespaces, and without what separate compilation adds."""
        name = _CLANG_STATIC.sub("", self.mangled)
        if static := _NVCC_STATIC.match(name):  # the number is the length of the file's tag
            name = name[static.end() + int(static[1]) + 1 :]
        return _without_linkage(name)

    @cached_property
    def canonical(self) -> str:
        """The demangled declaration in vendor-neutral spelling: ``scale<float>(float*, int)``."""
        text = demangle(self.plain)
        if text == self.plain and text.startswith("_Z"):
            return _source_name(text) or text
        text = _VECTOR.sub(_cuda_vector, text).removeprefix("void ")
        for pattern, replacement in _SPELLINGS:
            text = pattern.sub(replacement, text)
        return text

    @cached_property
    def with_bare_functions(self) -> str:
        """:attr:`canonical` with functions among the arguments by name alone: ``apply<&add>``.

        nvcc puts static functions in a namespace, and of a function in one the demangler leaves the
        parameters out: ``&add`` for what is ``&(add(int, int))`` elsewhere.
        """
        text = self.canonical
        for _ in range(_MOST_FUNCTIONS):
            start = text.rfind(_FUNCTION)
            end = _closing(text, start + 1) if start >= 0 else -1
            if end < 0:
                break
            declared = text[start + len(_FUNCTION) : end]
            name = _last_word(declared[: _parameters_start(declared)])
            text = f"{text[:start]}&{name}{text[end + 1 :]}"
        return text

    @cached_property
    def template(self) -> str:
        """Qualified name with template arguments: ``scale<float>``."""
        return self.canonical[: _parameters_start(self.canonical)].strip()

    @cached_property
    def base(self) -> str:
        """Qualified name alone: ``scale``."""
        return _without_template_arguments(self.template)

    @property
    def is_demangled(self) -> bool:
        """Whether the name is plain C or could be demangled."""
        return not self.plain.startswith("_Z") or demangle(self.plain) != self.plain

    @property
    def has_vendor_spelling(self) -> bool:
        """Whether something in the name may be spelt otherwise by the other vendor's compiler."""
        return not self.is_demangled or bool(_VENDOR.search(demangle(self.plain)))

    @property
    def is_library(self) -> bool:
        """Whether the kernel comes with a vendor's library, not with the program."""
        return bool(_LIBRARY.match(demangle(self.plain)))


def _cuda_vector(match: re.Match[str]) -> str:
    stem = _VECTOR_ELEMENTS.get(match[1])
    return f"{stem}{match[2]}" if stem else match[0]


def _parameters_start(text: str) -> int:
    """Index of the parenthesis that opens the parameter list; the length when there is none."""
    depth = 0
    if not text.endswith(")"):
        return len(text)
    for index in range(len(text) - 1, -1, -1):
        if text[index] == ")":
            depth += 1
        elif text[index] == "(":
            depth -= 1
            if depth == 0:
                return index
    return len(text)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if not depth:
            return index
    return -1


def _last_word(text: str) -> str:
    """A function's name without the type in front of it; spaces in brackets part nothing."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] in ")>") - (text[index] in "(<")
        if text[index] == " " and not depth:
            return text[index + 1 :]
    return text


def _without_template_arguments(text: str) -> str:
    kept: list[str] = []
    depth = 0
    for character in text:
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def _without_linkage(mangled: str) -> str:
    """``_ZN5spaceL5applyEv`` as ``_ZN5space5applyEv``."""
    prefix = _PREFIX.match(mangled)
    if prefix is None:
        return mangled
    head, position = mangled[: prefix.end()].rstrip("L"), prefix.end()
    while digits := _LENGTH.match(mangled, position):
        end = digits.end() + int(digits[0])
        head += mangled[position:end]
        position = end + bool(prefix[1] and _STATIC_MEMBER.match(mangled, end))
        if not prefix[1]:
            break
    return head + mangled[position:]


def _source_name(mangled: str) -> str:
    """The leading identifiers of a name that the demangler refuses, ``space::apply``.

    nvcc names extended lambdas in a way of its own (``Unvdl…``) that no demangler reads.
    """
    prefix = _PREFIX.match(mangled)
    if prefix is None:
        return ""
    position = prefix.end()
    names: list[str] = []
    while digits := _LENGTH.match(mangled, position):
        position = digits.end() + int(digits[0])
        names.append(mangled[digits.end() : position])
        if not prefix[1]:  # not nested: what follows are the parameters
            break
    names = ["(anonymous namespace)" if n.startswith("_GLOBAL__N_") else n for n in names]
    return "::".join(names)
