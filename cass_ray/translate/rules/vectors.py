"""CUDA's vector types: ``float4`` and its kin, and complex numbers, which are ``float2``.

They are plain structs without operators; HIP's are classes with constructors and element-wise
operators. A port has structs of its own in their place (``cass_vectors.h``), put before HIP's
headers, so that braces, traits and the operators that programs define mean what they mean in CUDA.

Where somebody else's headers bring HIP's first, an operator of the program's that does element by
element what HIP's does is left to HIP.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

GUARD = "__HIP_PLATFORM_AMD__"
_NO_OPERATORS = f"#if defined(CASS_PLAIN_VECTORS) || !defined({GUARD})"

_VECTOR = r"u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]"
_NAMES = re.compile(rf"\b(?:make_)?(?:{_VECTOR})\b|\b(?:make_)?cu(?:Float|Double)?Complex\b")
_BRINGS_HIP = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10|mma\.h)\b", re.MULTILINE
)
"""PyTorch's headers and rocWMMA are written for HIP's own types."""
_ELABORATED = re.compile(rf"\bstruct\s+(?P<name>{_VECTOR})\b(?!\s*(?:\{{|:(?!:)))(?P<alone>\s*;)?")
_WHOLE = re.compile(
    r"(?:\buint3\s+\w+\s*[=({]\s*|(?P<made>\bmake_u?(?:char|short|int|long|longlong|float|double)[1-4]"
    r"\s*\(\s*))(?P<name>(?:threadIdx|blockIdx|blockDim|gridDim)\b)(?(made)(?=\s*\))|(?!\s*\.))"
)
"""As a variable, and for conversions as those of CUDA's ``helper_math.h``."""
_DEFINITION = re.compile(r"operator\s*(?P<operator>[-+*/%&|^]=|<<=|>>=|[-*/~])\s*\(")
_PARAMETER = re.compile(
    rf"(?:const\s+)?(?P<type>{_VECTOR})\s*(?:const\s*)?(?P<reference>&?)\s*(?P<name>\w+)\Z"
)
_STATEMENT_END = re.compile(
    r"[;{}]|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*\n|^[ \t]*template\b", re.MULTILINE
)
_COMPONENTS = "xyzw"
_ONE = re.compile(r"\b(?:u?(?:char|short|int|long|longlong)|float|double)1\s+\w+(\s*=\s*)\{")
_BINDING = re.compile(
    r"\bauto\s*(?:const\s*)?&{0,2}\s*\[\s*\w+(?:\s*,\s*\w+){0,3}\s*\]\s*(?:[({]|[:=](?![:=]))"
)


def uses_vectors(text: str) -> bool:
    """Whether a file names CUDA's vector types."""
    return _NAMES.search(text) is not None


def keeps_hips(text: str) -> bool:
    """Whether a file includes headers that want HIP's types."""
    return _BRINGS_HIP.search(text) is not None


def are_plain(unit: Rewrite) -> bool:
    """Whether the file is to have CUDA's vector types, where it includes HIP's headers."""
    if unit.is_hip or unit.filename.endswith(".c") or keeps_hips(unit.source.text):
        return False
    of_the_tree = unit.context.plain_vectors
    return uses_vectors(unit.source.code) if of_the_tree is None else of_the_tree


def declares_forward(unit: Rewrite) -> bool:
    """Whether the file declares ``struct float4;`` in place of including what defines it."""
    return any(match["alone"] for match in _ELABORATED.finditer(unit.source.code))


def bind_elements(unit: Rewrite) -> None:
    """Structured bindings, ``auto [x, y] = float2``, of HIP's types, which are no plain structs."""
    code = unit.source.code
    if not unit.is_hip and not are_plain(unit) and uses_vectors(code) and _BINDING.search(code):
        unit.snippets.add("vector_bindings")


def name_types(unit: Rewrite) -> None:
    """``struct float3`` is ``float3``: a name of a template's class. And ``threadIdx`` as a whole.

    HIP's variables of coordinates become ``dim3`` alone. ``uint1 x = {1}`` is ``uint1 x{1}``: HIP's
    constructor of one number is explicit.
    """
    if unit.is_hip or unit.filename.endswith(".c"):
        return
    for match in _ELABORATED.finditer(unit.source.code):
        unit.edits.replace(
            match.start(), match.end() if match["alone"] else match.start("name"), ""
        )
        unit.converted(match.start("name"))
    for match in _ONE.finditer(unit.source.code):
        unit.edits.replace(*match.span(1), "")
        unit.converted(match.start())
    for match in _WHOLE.finditer(unit.source.code):
        name = match["name"]
        parts = ", ".join(f"{name}.{each}" for each in "xyz")
        unit.edits.replace(match.start("name"), match.end("name"), f"make_uint3({parts})")
        unit.converted(match.start("name"))


def guard_operators(unit: Rewrite) -> None:
    """Leave operators to HIP's vector types where these are there."""
    if "operator" not in unit.words or unit.is_hip:
        return
    code = unit.source.code
    for offset in unit.words["operator"]:
        match = _DEFINITION.match(code, offset)
        if match is None:
            continue
        parsed = unit.source.arguments(match.end() - 1)
        if parsed is None:
            continue
        spans, closing = parsed
        brace = re.compile(r"\s*(?:noexcept\s*)?(?=[{;])").match(code, closing + 1)
        parameters = [_PARAMETER.match(code[start:end]) for start, end in spans]
        names = [item["name"] for item in parameters if item]
        kinds = {item["type"] for item in parameters if item}
        if brace is None or len(names) != len(spans) or len(kinds) != 1:
            continue
        operator = match["operator"]
        if len(names) != (1 if operator == "~" else 2) and not (
            operator == "-" and len(names) == 1
        ):
            continue
        if operator == "-" and len(names) == 2:
            continue  # HIP's is a template: the program's own is preferred.
        _guard(unit, match, brace.end(), operator, kinds.pop(), names)


def _guard(
    unit: Rewrite, match: re.Match[str], end: int, operator: str, kind: str, names: list[str]
) -> None:
    code = unit.source.code
    start = definition_start(code, match.start())
    if f"#ifndef {GUARD}" in code[max(0, start - 120) : start]:
        return
    if code[end] == "{":
        closing = unit.source.closing(end)
        if closing < 0:
            return
        if not _is_elementwise(code[end + 1 : closing], operator, int(kind[-1]), names):
            if not are_plain(unit):
                unit.report(
                    match.start(),
                    f"operator{operator}",
                    Severity.ERROR,
                    f"HIP's {kind} has an operator{operator} of its own, which is element-wise",
                    "make this operator a function with a name",
                )
            return
        end = closing
    unit.guard(start, end + 1, f"{_NO_OPERATORS}  // HIP's vector types have this operator")
    unit.converted(match.start())


def definition_start(code: str, offset: int) -> int:
    """Where the declaration that names what stands at ``offset`` begins."""
    start = 0
    for end in _STATEMENT_END.finditer(code, max(0, offset - 400), offset):
        start = end.end()
    while start < offset and code[start].isspace():
        start += 1
    return start


def _is_elementwise(body: str, operator: str, size: int, names: list[str]) -> bool:
    """Whether the body applies the operator component by component, and does nothing else."""
    text = re.sub(r"\s+", "", body.replace("return", "return "))
    if operator.endswith("="):
        binary = operator[:-1]
        left, right = names
        parts = [f"{left}.{c}{operator}{right}.{c};" for c in _COMPONENTS[:size]]
        forms = ["".join(parts), f"{left}={left}{binary}{right};"]
        forms += [f"{form}return{left};" for form in forms]
        return text in forms
    if len(names) == 1:
        parts = [f"{operator}{names[0]}.{c}" for c in _COMPONENTS[:size]]
    else:
        parts = [f"{names[0]}.{c}{operator}{names[1]}.{c}" for c in _COMPONENTS[:size]]
    inside = re.escape(",".join(parts))
    variable = "".join(
        rf"\1\.{c}={re.escape(part)};" for c, part in zip("xyzw", parts, strict=False)
    )
    return bool(
        re.fullmatch(rf"return(?:\(?make_\w+|\w+|\(\w+\))[({{]{inside}[)}}]+;", text)
        or re.fullmatch(rf"(?:{_VECTOR})(\w+)=?[({{]{inside}[)}}];return\1;", text)
        or re.fullmatch(rf"(?:{_VECTOR})(\w+);{variable}return\1;", text)
    )
