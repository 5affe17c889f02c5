"""Operators on ``float4`` and its kin that the program defines and HIP has already.

CUDA's vector types have no operators, so programs (and CUDA's samples, in ``helper_math.h``)
define their own. HIP's have element-wise ones, some of them as members and friends: then a call of
``a * b`` or ``a += b`` is ambiguous. Such a definition is put behind a guard when it does element
by element what HIP does; one that means something else is reported.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

GUARD = "__HIP_PLATFORM_AMD__"

_VECTOR = r"u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]"
_DEFINITION = re.compile(r"operator\s*(?P<operator>[-+*/%&|^]=|<<=|>>=|[-*/~])\s*\(")
_PARAMETER = re.compile(
    rf"(?:const\s+)?(?P<type>{_VECTOR})\s*(?:const\s*)?(?P<reference>&?)\s*(?P<name>\w+)\Z"
)
_STATEMENT_END = re.compile(
    r"[;{}]|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*\n|^[ \t]*template\b", re.MULTILINE
)
_COMPONENTS = "xyzw"


def guard_operators(unit: Rewrite) -> None:
    """Put operators that HIP's vector types have behind ``#ifndef __HIP_PLATFORM_AMD__``."""
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
            unit.report(
                match.start(),
                f"operator{operator}",
                Severity.ERROR,
                f"HIP's {kind} has an operator{operator} of its own, which is element-wise",
                "make this operator a function with a name",
            )
            return
        end = closing
    unit.guard(start, end + 1, f"#ifndef {GUARD}  // HIP's vector types have this operator")
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
        or re.fullmatch(rf"(?:{_VECTOR})(\w+);{variable}return\1;", text)
    )
