"""Ranges of NVTX for C++ are ranges of roctx: how deep they are nested is roctx's own answer."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <utility>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
struct mine { static constexpr char const* name{"mine"}; };
__global__ void nothing() {}
static int depth() { int level = nvtxRangePushA("probe"); nvtxRangePop(); return level; }
static int in_function() { NVTX3_FUNC_RANGE(); return depth(); }
static int in_domain() {
  NVTX3_FUNC_RANGE_IN(mine);
  nvtx3::scoped_range_in<mine> inner;
  return depth();
}
int main() {
  nothing<<<1, 1>>>();
  std::printf("levels: %d", depth());
  {
    nvtx3::scoped_range outer("outer");
    std::printf(" %d", depth());
    nvtx3::event_attributes colored{"colored", nvtx3::rgb{1, 2, 3}, nvtx3::payload{1.5}};
    nvtx3::scoped_range inner{colored};
    std::printf(" %d %d %d", depth(), in_function(), in_domain());
    nvtx3::unique_range apart("not nested");
    nvtx3::unique_range moved = std::move(apart);
    std::printf(" %d", depth());
  }
  std::printf(" %d\n", depth());
}
"""


@pytest.mark.amd
def test_ranges_are_nested() -> None:
    assert output_of(SOURCE) == {"levels": "0 1 2 3 4 2 0"}
