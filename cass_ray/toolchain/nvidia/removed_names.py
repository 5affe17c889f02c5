"""What newer releases of CUDA took away from its headers, given back to units that need it.

Headers of the folder ``removed``; docs/decisions/0016-texture-references.md says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cass_ray.toolchain import older_standard
from cass_ray.toolchain.given_headers import contents, with_headers
from cass_ray.toolchain.unit import Unit

_FOLDERS = (Path(__file__).parent / "removed", older_standard.FOLDER)
_MASKS = "cass_removed_masks.h"
_SHUFFLE = re.compile(r"(?<=[;{}])(\s*)shfl\.((?:up|down|bfly|idx)\.b32\s[^;{}]+);")
"""None that has a condition: its threads are others than those that are active around it."""
_CALLS = "cuCtxCreate|cuMemPrefetchAsync|cuMemAdvise"
_OF_THRUST = (
    r"adjacent_difference|lower_bound|upper_bound|binary_search|copy(?:_if|_n)?|count(?:_if)?"
    r"|device_(?:pointer_cast|ptr|vector)|raw_pointer_cast|device|host|seq|(?:max|min|minmax)_element"
    r"|fill(?:_n)?|find(?:_if)?|for_each(?:_n)?|maximum|minimum|plus|gather(?:_if)?|generate"
    r"|host_vector|inner_product|(?:make_)?(?:constant|counting|permutation|transform|zip)_iterator"
    r"|merge|(?:stable_)?partition|reduce(?:_by_key)?|remove(?:_if|_copy|_copy_if)?|replace(?:_if)?"
    r"|reverse|(?:exclusive|inclusive)_scan(?:_by_key)?|scatter(?:_if)?|sequence"
    r"|(?:stable_)?sort(?:_by_key)?|tabulate|transform(?:_if|_reduce)?"
    r"|transform_(?:exclusive|inclusive)_scan|make_tuple|tuple|unique(?:_by_key|_copy)?"
)
"""What a header of Thrust declares that programs name without including it."""

_HEADERS_OF_THRUST = (
    r"thrust/(?:system/cuda/experimental/pinned_allocator|detail/config/host_device"
    r"|detail/cstdint|detail/type_traits/has_trivial_assign)\.h"
)

_TRAITS_OF_THRUST = (
    r"and_|or_|add_(?:const|volatile)|conditional|enable_if|remove_(?:const|cv|reference|volatile)"
    r"|is_(?:arithmetic|base_of|const|convertible|floating_point|integral|pointer|reference|same"
    r"|void|volatile)"
)
_HEADERS_OF_TORCH = r"TH/TH\.h|THC/THC(?:General)?\.h"

_NEEDED = {
    "cass_removed_thrust.h": re.compile(
        rf"error: (?:namespace \"thrust\" has no member(?: class)? \"(?:{_OF_THRUST})\""
        rf"|qualified name is not allowed\n[^\n]*thrust::(?:{_OF_THRUST})\b"
        r"|namespace \"thrust::(?:\w+::)?cuda\" has no member \"par(?:_nosync)?\")"
    ),
    "cass_removed_thrust_traits.h": re.compile(
        r"error: (?:namespace \"thrust::(?:\w+::)?detail\" has no member(?: class)? "
        rf"\"(?:{_TRAITS_OF_THRUST})\""
        rf"|qualified name is not allowed\n[^\n]*thrust::detail::(?:{_TRAITS_OF_THRUST})\b"
        r"|enable_if is not a template)"
    ),
    "cass_removed.h": re.compile(
        r"error: (?:texture is not a template"
        r"|identifier \"(?:texture(?:Reference)?|cuda(?:Unb|B)indTexture\w*)\")"
    ),
    "cass_removed_runtime.h": re.compile(
        r"error: (?:class \"cudaDeviceProp\" has no member \"(?:clockRate|deviceOverlap"
        r"|kernelExecTimeoutEnabled|computeMode|maxTexture1DLinear|memoryClockRate"
        r"|singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch)\""
        r"|no suitable constructor exists to convert from [^\n]+ to \"cudaMemLocation\")"
    ),
    "cass_removed_graphs.h": re.compile(
        r"error: (?:argument of type [^\n]+ is incompatible with parameter of type"
        r" \"(?:const )?cudaGraphEdgeData \*"
        r"|identifier \"cudaStreamGetCaptureInfo_v2\")"
    ),
    "cass_removed_warp.h": re.compile(
        r"error: identifier \"__shfl(?:_up|_down|_xor)?\" is undefined"
        r"|Instruction 'vote' without '\.sync'"
    ),
    _MASKS: re.compile(r"Instruction 'shfl' without '\.sync'"),
    "cass_removed_cufft.h": re.compile(
        r"error: identifier \"CUFFT_(?:INCOMPLETE_PARAMETER_LIST|PARSE_ERROR|LICENSE_ERROR)\""
    ),
    "cass_removed_nvtx.h": re.compile(
        r"fatal error: nvToolsExt\w{0,6}\.h: No such file"
        r"|could not open source file \"nvToolsExt\w{0,6}\.h\""
        r"|cannot open source file \"nvToolsExt\w{0,6}\.h\""
    ),
    "cass_removed_torch.h": re.compile(
        rf"(?:fatal error: (?:{_HEADERS_OF_TORCH}): No such"
        rf"|cannot open source file \"(?:{_HEADERS_OF_TORCH})\")"
        r"|error: no suitable conversion function from \"const at::DeprecatedTypeProperties\""
        r"|error: identifier \"(?:AT_CHECK|THC(?:udaCheck|CeilDiv|udaMalloc|udaFree|State\w*))\""
    ),
    "cass_removed_thrust_headers.h": re.compile(
        rf"(?:fatal error: (?:{_HEADERS_OF_THRUST}): No such"
        rf"|cannot open source file \"(?:{_HEADERS_OF_THRUST})\")"
    ),
    "cass_removed_driver.h": re.compile(
        r"error: (?:argument of type [^\n]+ is incompatible with parameter of type"
        r" \"CUctxCreateParams \*\""
        r"|no suitable constructor exists to convert from [^\n]+ to \"CUmemLocation(?:_st)?\""
        rf"|too few arguments in function call\n[^\n]*\b(?:{_CALLS})\w*)"
    ),
    **older_standard.NEEDED,
}
"""Header -> what nvcc says of a unit that needs it."""


def with_removed(unit: Unit, diagnostic: str) -> Unit:
    """``unit`` with those headers before it that nvcc's ``diagnostic`` asks for."""
    return with_headers(unit, diagnostic, _NEEDED, _FOLDERS) or unit


def with_masks(unit: Unit, ptx: str) -> str:
    """``ptx`` of ``unit`` with masks where its inline PTX has none and ptxas asked for them."""
    if _MASKS not in unit.forced:
        return ptx
    active = r"{ .reg .b32 cass_active; activemask.b32 cass_active;"
    return _SHUFFLE.sub(rf"\1{active} shfl.sync.\2, cass_active; }}", ptx)


def removed_flags(unit: Unit) -> tuple[str, ...]:
    """Options of nvcc for the headers that ``unit`` was given."""
    return tuple(word for name in unit.forced if name in _NEEDED for word in ("-include", name))


def removed_headers() -> Iterator[bytes]:
    """Content of all headers that a unit may be given, for keys of caches."""
    return contents(_FOLDERS)
