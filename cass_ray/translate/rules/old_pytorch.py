"""Extensions of PyTorch written before 1.11, which took the TH and THC libraries away.

PyTorch for today's ROCm is newer. What these libraries gave extensions has other names in ATen and
c10; tensors of TH and its BLAS have none, and are reported. ``torch::linalg`` went later: its
functions are ATen's.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite

_HEADERS = {
    "TH/TH.h": "ATen/ATen.h",
    "THC/THC.h": "ATen/cuda/CUDAContext.h",
    "THC/THCGeneral.h": "ATen/cuda/CUDAContext.h",
    "THC/THCAtomics.cuh": "ATen/cuda/Atomic.cuh",
    "THC/THCDeviceUtils.cuh": "ATen/cuda/DeviceUtils.cuh",
}
_ADVICE = "PyTorch has no TH and THC since 1.11: write it with operators of ATen"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]*)', re.MULTILINE)
_TORCH = re.compile(r"(?:TH|THC|ATen|torch|c10)/")
_OLD = re.compile(
    r"\bTH(?:Cuda|C)?(?:Float|Double|Half|Int|Long|Short|Byte|Char|Bool)?"
    r"(?:Tensor|Storage|Blas|Vector|State|Generator|Malloc|Free|HostAlloc|Check|ArgCheck)"
    r"(?:_\w+)?\b"
)
_STATE = re.compile(
    r"^[ \t]*(?:(?:extern|static)\s+)?THCState\s*\*\s*\w+\s*(?:=[^;]*)?;[ \t]*\n?", re.MULTILINE
)
_LINALG = re.compile(r"(?:::)?\btorch\s*::\s*linalg\s*::\s*(?:linalg_)?(?=[a-z]\w*\s*\()")
_DISPATCH = re.compile(r"\bAT_DISPATCH_\w+\s*\(\s*[\w.\[\]]+?\s*\.\s*(type)\s*\(\s*\)\s*,")


def renew_pytorch(unit: Rewrite) -> None:
    """Give what PyTorch called otherwise before 1.11 the name that it has had since."""
    text, code = unit.source.text, unit.source.code
    includes = {
        text[match.start(1) : match.end(1)].strip(): match for match in _INCLUDE.finditer(code)
    }
    first = next((match for path, match in includes.items() if _TORCH.match(path)), None)
    if first is None and _DISPATCH.search(code):
        first = next(iter(includes.values()), None)  # a header of the project's brings PyTorch
    if first is None:
        return
    _renew_headers(unit, includes)
    for match in _DISPATCH.finditer(code):
        unit.edits.replace(match.start(1), match.end(1), "scalar_type")
        unit.converted(match.start(1))
    for match in _LINALG.finditer(code):
        unit.edits.replace(match.start(), match.end(), "at::linalg_")
        unit.converted(match.start())
    for match in _STATE.finditer(code):
        unit.edits.replace(match.start(), match.end(), "")
        unit.converted(code.index("THCState", match.start()))
    wanted = {header for word in tables.old_torch() if (header := _renew_name(unit, word))}
    there = {_HEADERS.get(path, path) for path in includes}
    for name in sorted(wanted - there - {""}):
        unit.edits.insert(first.start(), f"#include <{name}>{unit.source.newline}")
    for match in _OLD.finditer(code):
        if match.start() not in unit.handled and not unit.is_own(match[0]):
            message = f"{match[0]} was PyTorch's until 1.10"
            unit.report(match.start(), match[0], Severity.ERROR, message, _ADVICE)
            unit.handled.add(match.start())


def _renew_headers(unit: Rewrite, includes: dict[str, re.Match[str]]) -> None:
    seen = set(includes)
    for path, match in includes.items():
        if path not in _HEADERS:
            continue
        start = match.start(1)
        if _HEADERS[path] in seen:
            line, end = match.start(), unit.source.text.find("\n", start)
            unit.edits.replace(line, len(unit.source.text) if end < 0 else end + 1, "")
        else:
            unit.edits.replace(start, match.end(1), _HEADERS[path])
            seen.add(_HEADERS[path])
        unit.converted(start)


def _renew_name(unit: Rewrite, word: str) -> str:
    """Rename ``word`` where it is PyTorch's.

    Returns the header of its new name, where the file uses it and may lack the header.
    """
    if unit.is_own(word):
        return ""
    old = tables.old_torch()[word]
    found = False
    for offset in unit.words.get(word, ()):
        call = unit.call(offset, word)
        if call is None or offset in unit.handled or unit.is_member(offset):
            continue
        arguments, opening, closing = call
        if len(arguments) < old.drops:
            continue
        if old.drops:
            rest = arguments[old.drops][0] if len(arguments) > old.drops else closing
            unit.edits.replace(opening + 1, rest, "")
        unit.rename(offset, word, old.name)
        found = True
    return old.header if found else ""
