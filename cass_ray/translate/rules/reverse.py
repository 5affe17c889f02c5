"""HIP to CUDA, where the mapping is one to one: the tables of the ``rules`` engine turned round.

HIP is close to a subset of CUDA, so this direction is names, headers, launches through
``hipLaunchKernelGGL`` and warp functions without masks. What only AMD has (``__builtin_amdgcn_*``,
GCN assembly, ROCm's own libraries) is reported.
"""

from __future__ import annotations

import re
from functools import cache

from cass_ray.csv_tables import read_mapping
from cass_ray.translate.protocol import NO_CONTEXT, Context, Severity, Translation
from cass_ray.translate.rules import block_reductions, tables
from cass_ray.translate.rules.rewrite import Rewrite

HEADERS = read_mapping(tables.FOLDER / "reverse_headers.csv")
_VENDOR = re.compile(r"hip|HIP|roctx")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]', re.MULTILINE)
_PATH = re.compile(r"[^\">\n]*")
_WARP = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__ballot", "__any", "__all")
_LEFTOVER = re.compile(
    r"(?:hip(?:blas|fft|rand|sparse|solver|cub|rtc)?[A-Z]\w*|HIP_\w+|__builtin_amdgcn_\w+|__hip_\w+"
    r"|roc(?:blas|fft|rand|sparse|solver|prim|wmma)\w*|ROC\w+_\w+|miopen\w+|__ocml_\w+|__ockl_\w+)\Z"
)


@cache
def cuda_names() -> dict[str, str]:
    """HIP name -> CUDA name; of several the runtime's, then the shortest."""
    found: dict[str, str] = {}
    for cuda, hip in tables.names().items():
        if hip != cuda and _VENDOR.search(hip):
            found[hip] = min(found.get(hip, cuda), cuda, key=lambda name: _rank(name, hip))
    found["hipHostMalloc"] = "cudaMallocHost"
    found["__HIPCC__"] = "__CUDACC__"
    found["__HIP_DEVICE_COMPILE__"] = "__CUDA_ARCH__"
    return found


def _rank(cuda: str, hip: str) -> tuple[bool, bool, int, str]:
    is_driver = not cuda.startswith(("cuda", "__"))
    return is_driver, hip.endswith("_t") != cuda.endswith("_t"), len(cuda), cuda


class HipToCudaTranslator:
    """The ``rules`` engine in the other direction."""

    @property
    def name(self) -> str:
        return "rules-hip-to-cuda"

    @property
    def version(self) -> str:
        """A digest of the tables and of the code of the rules."""
        return tables.fingerprint()

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one HIP file to CUDA; what has no counterpart stays and is a finding."""
        unit = Rewrite(source, filename, context)
        _rewrite_includes(unit)
        _rewrite_launches(unit)
        _rewrite_warps(unit)
        block_reductions.restore_block_reductions(unit)
        for word, cuda in cuda_names().items():
            for offset in unit.words.get(word, ()):
                if offset not in unit.handled:
                    unit.rename(offset, word, cuda)
        _rewrite_namespaces(unit)
        _report_leftovers(unit)
        findings = tuple(sorted(unit.findings, key=lambda item: (item.line, item.column)))
        return Translation(unit.edits.apply(source), findings, unit.counts)


def _rewrite_includes(unit: Rewrite) -> None:
    for match in _INCLUDE.finditer(unit.source.code):
        path = _PATH.match(unit.source.text, match.end())
        if path and path.group() in HEADERS:
            unit.edits.replace(path.start(), path.end(), HEADERS[path.group()])
            unit.converted(match.start())


def _rewrite_launches(unit: Rewrite) -> None:
    """``hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)`` and its two macros."""
    for offset in unit.words.get("hipLaunchKernelGGL", ()):
        call = unit.call(offset, "hipLaunchKernelGGL")
        if call is None or len(call[0]) < 5:
            continue
        arguments = call[0]
        unit.edits.replace(offset, arguments[0][0], "")
        unit.edits.replace(arguments[0][1], arguments[1][0], "<<<")
        rest = arguments[5][0] if len(arguments) > 5 else arguments[4][1]
        unit.edits.replace(arguments[4][1], rest, ">>>(")
        unit.converted(offset)
    for word in ("HIP_KERNEL_NAME", "HIP_SYMBOL"):
        for offset in unit.words.get(word, ()):
            call = unit.call(offset, word)
            if call is not None and call[0]:
                unit.edits.replace(offset, call[0][0][0], "")
                unit.edits.replace(call[0][-1][1], call[2] + 1, "")
                unit.converted(offset)
    for offset in unit.words.get("HIP_DYNAMIC_SHARED", ()):
        call = unit.call(offset, "HIP_DYNAMIC_SHARED")
        if call is not None and len(call[0]) == 2:
            kind, name = (unit.text(span) for span in call[0])
            unit.edits.replace(offset, call[2] + 1, f"extern __shared__ {kind} {name}[]")
            unit.converted(offset)


def _rewrite_warps(unit: Rewrite) -> None:
    for word in _WARP:
        for offset in unit.words.get(word, ()):
            call = unit.call(offset, word)
            if call is not None and call[0] and not unit.is_member(offset):
                unit.edits.insert(call[0][0][0], "0xffffffffu, ")
                unit.rename(offset, word, f"{word}_sync")


def _rewrite_namespaces(unit: Rewrite) -> None:
    code = unit.source.code
    for offset in unit.words.get("hipcub", ()):
        unit.rename(offset, "hipcub", "cub")
    for offset in unit.words.get("hip", ()):
        if code[:offset].rstrip().endswith(("thrust::", "system::")):
            unit.rename(offset, "hip", "cuda")


def _report_leftovers(unit: Rewrite) -> None:
    for word, offsets in unit.words.items():
        if not _LEFTOVER.match(word) or unit.declares(word):
            continue
        for offset in offsets:
            if offset not in unit.handled:
                message = f"{word} has no counterpart in CUDA"
                unit.report(offset, word, Severity.ERROR, message)
    for word in ("asm", "__asm__"):
        for offset in unit.words.get(word, ()):
            unit.report(offset, word, Severity.ERROR, "GCN assembly has no counterpart in CUDA")
