"""Corrections to third-party HIP headers as they are unpacked.

Each is tied to the text of the version that :mod:`cass_ray.toolchain.hip.packages` fetches; another
version, which does not hold that text, is left as it is.
"""

from __future__ import annotations

import re
from pathlib import Path

# HIP 6 dropped hipDeviceProp_t::gcnArch, which Debian's rocPRIM 5.3 compares with 908 (MI100) to
# work around the first silicon of that one device.
_GCN_ARCH = re.compile(r"\b(\w+)\.gcnArch\b")
_GCN_ARCH_BY_NAME = r'(std::strncmp(\1.gcnArchName, "gfx908", 6) == 0 ? 908 : 0)'

# P1787: a template argument list is expected after a name prefixed by the keyword.
_TEMPLATE_WITHOUT_LIST = re.compile(r"(?<=\(\)\.)template (sort_single)\(")

# HIP 6.2 lacks votes and matches of tiles, which 6.3 has, and CUDA's newer names of the sizes.
_TILE_END = re.compile(
    r"(template <class T> __CG_QUALIFIER__ T shfl_xor\(T var, unsigned int laneMask\) const \{"
    r"[^}]*\})(\n\};)"
)
_TILE_MEMBERS = """

  __CG_QUALIFIER__ unsigned long long ballot(int predicate) const {
    return (static_cast<unsigned>(__ballot(predicate)) >> first_lane()) & all_lanes();
  }
  __CG_QUALIFIER__ int any(int predicate) const { return ballot(predicate) != 0; }
  __CG_QUALIFIER__ int all(int predicate) const { return ballot(!predicate) == 0; }
  template <class T> __CG_QUALIFIER__ unsigned long long match_any(T value) const {
    return (__match_any_sync(all_lanes() << first_lane(), value) >> first_lane()) & all_lanes();
  }

 private:
  __CG_STATIC_QUALIFIER__ unsigned int first_lane() {
    return __lane_id() & ~(numThreads - 1);
  }
  __CG_STATIC_QUALIFIER__ unsigned int all_lanes() { return ~0u >> (32 - numThreads); }"""
_SIZE = re.compile(
    r"(?P<line>[ ]*(?P<qualifier>__CG_(?:STATIC_)?QUALIFIER__) (?P<type>uint32_t|unsigned int)"
    r" size\(\)(?P<const> const)? \{)"
)
_USING_SIZE = "using tbtBase::size;"
_GROUP_DIM = re.compile(r"(?P<line>[ ]*__CG_QUALIFIER__ dim3 group_dim\(\) \{)")
_DIM_THREADS = "  __CG_QUALIFIER__ dim3 dim_threads() { return group_dim(); }\n"


def repair_rocprim(folder: Path) -> None:
    """Make rocPRIM 5.3 compile against HIP 6 headers."""
    for path in folder.rglob("*.hpp"):
        text = path.read_text(encoding="utf-8")
        repaired = _GCN_ARCH.sub(_GCN_ARCH_BY_NAME, text)
        if repaired != text:
            path.write_text("#include <cstring>\n" + repaired, encoding="utf-8")


def repair_radix_sort(folder: Path) -> None:
    """Make rocPRIM 6.2 compile with clang 19, which wants ``<`` after the word ``template``."""
    path = folder / "device" / "detail" / "device_radix_sort.hpp"
    text = path.read_text(encoding="utf-8")
    path.write_text(_TEMPLATE_WITHOUT_LIST.sub(r"\1(", text), encoding="utf-8")


# clang 21 dropped the macro that HIP 6's headers use; on the host side it was always 64.
_WAVEFRONT_SIZE = """
#if !defined(__AMDGCN_WAVEFRONT_SIZE)
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
#endif
"""


def define_wavefront_size(include: Path) -> None:
    """Give the headers under ``include`` the width of wavefronts, where clang does not say it."""
    header = include / "hip" / "hip_version.h"  # what all others include first
    header.write_text(header.read_text() + _WAVEFRONT_SIZE)


def repair_cooperative_groups(include: Path) -> None:
    """Add the members of groups that CUDA has and HIP 6.2 does not.

    Tiles get ``ballot``, ``any``, ``all`` and ``match_any`` (32-lane wavefronts); every group that
    has ``size`` gets ``num_threads``, blocks get ``dim_threads``.
    """
    path = include / "hip" / "amd_detail" / "amd_hip_cooperative_groups.h"
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if "num_threads" in text or not _TILE_END.search(text):
        return
    text = _TILE_END.sub(lambda match: match[1] + _TILE_MEMBERS + match[2], text)
    text = _GROUP_DIM.sub(lambda match: _DIM_THREADS + match["line"], text)
    text = text.replace(_USING_SIZE, f"{_USING_SIZE} using tbtBase::num_threads;")
    path.write_text(_SIZE.sub(_with_num_threads, text), encoding="utf-8")


def _with_num_threads(match: re.Match[str]) -> str:
    const = match["const"] or ""
    member = f"  {match['qualifier']} {match['type']} num_threads(){const} {{ return size(); }}\n"
    return member + match["line"]
