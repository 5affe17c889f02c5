"""Units of projects that clang takes after a rule mended what nvcc does not mind."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.dataset.row import Reason
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator

# As SlabHash's headers are written; clang goes by the C++ standard, [dcl.fct.default].
HEADER = """
template <class T> struct Table { __host__ __device__ int size(int n, int scale); };
template <class T>
__host__ __device__ int Table<T>::size(int n, int scale = 2) { return n * scale; }
"""
DEFAULT = '#include "table.h"\n__global__ void k(int* p) { Table<int> t; *p = t.size(1, 3); }\n'
SHIFT = "enum { low = -1 << 4 };\n__global__ void k(int* p) { *p = low; }\n"
BOTH = '#include "table.h"\nenum { low = -1 << 4 };\n' + DEFAULT.partition("\n")[2]
# icicle's; nvcc: "dynamic initialization is not supported for a __shared__ variable", a warning.
SHARED = """
struct Z { short v; __host__ __device__ constexpr Z() : v(0) {} };
__global__ void k(int* p) {
  __shared__ __align__(16) Z s[2][33];
  s[1][threadIdx.x].v = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[1][threadIdx.x ^ 1].v + sizeof(s);
}
"""
# As warpcore's, which adds to CUDA's what HIP has.
ATOMICS = """
#include <cstdint>
using long_word = unsigned long long;
// for the types of cstdint
__device__ inline std::uint64_t atomicAdd(std::uint64_t* p, std::uint64_t v) {
  return atomicAdd(reinterpret_cast<long_word*>(p), static_cast<long_word>(v));
}
__device__ inline std::uint64_t atomicCAS(std::uint64_t* p, std::uint64_t a, std::uint64_t b) {
  return atomicCAS(reinterpret_cast<long_word*>(p), long_word(a), long_word(b));
}
__global__ void k(std::uint64_t* p) { atomicAdd(p, std::uint64_t(1)); atomicCAS(p + 1, *p, *p); }
"""
# As CubbyFlow's and many others: nvcc warns of no sides where a member is defined (20040).
NUMBERS = range(130)
MEMBERS = "".join([
    "template <class T> struct Many {",
    *(f"\n  __host__ __device__ int f{n}();" for n in NUMBERS),
    "\n};",
    *(f"\ntemplate <class T> int Many<T>::f{n}() {{ return {n}; }}" for n in NUMBERS),
    "\n__global__ void k(int* p) { *p = Many<int>().f129(); }\n",
])  # fmt: skip
WRONG = "__global__ void k(int* p) { *p = not_there; }\n"
DEVICE_ALONE = "__global__ void k(int* p) { *p = 1; }\n"


def rows_of(folder: Path, files: dict[str, str], configured: str = "recorded") -> dict[str, Row]:
    source = folder / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    store = StoredTrees(Store(folder / "trees"))
    trees, rules = Workspace(store.get), make_translator("rules")
    programs = list(parse_source(f"local:{source}").iterate(folder / "work", store))
    rows = [{**each.to_row(), "configured": configured} for each in programs]
    settings = BuildSettings(sources=["shipped"], out=Path("unused"))
    done = TranslateStage(rules, trees).run(rows)
    return {row["path"]: row for row in AmdStage(find_amd(), trees, rules, settings).run(done)}


@pytest.mark.amd
def test_a_project_s_units_are_mended(tmp_path: Path) -> None:
    files = {"table.h": HEADER, "default.cu": DEFAULT, "shift.cu": SHIFT, "both.cu": BOTH}
    files |= {"shared.cu": SHARED, "atomics.cu": ATOMICS, "members.cu": MEMBERS}
    rows = rows_of(tmp_path, {**files, "wrong.cu": WRONG, "plain.cu": DEVICE_ALONE})
    for name in [*files, "plain.cu"][1:]:
        assert not rows[name]["reason"], rows[name]["diagnostic"]
        assert "s_endpgm" in rows[name]["hip_device"]
    assert "low = -(1 << 4)" in rows["shift.cu"]["hip_source"]
    assert "low = -(1 << 4)" in rows["both.cu"]["hip_source"]
    assert ".amdhsa_group_segment_fixed_size 132" in rows["shared.cu"]["hip_device"]  # 2 * 33 * 2
    assert rows["wrong.cu"]["reason"] == Reason.COMPILE_ERROR.value
    assert "not_there" in rows["wrong.cu"]["diagnostic"]


@pytest.mark.amd
def test_a_program_by_itself_is_compiled_as_it_was_translated(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, {"shift.cu": SHIFT}, configured="").values()
    assert row["reason"] == Reason.COMPILE_ERROR.value


def failing(*messages: str) -> tuple[list[str], object]:
    """Texts that were compiled, and a compiler that says ``messages`` in turn, then nothing."""
    seen: list[str] = []
    left = list(messages)

    def compile_unit(unit: Unit) -> str:
        seen.append((unit.root / unit.main).read_text())
        if left:
            raise CompileFailure(Reason.COMPILE_ERROR, left.pop(0), "clang")
        return "made"

    return seen, compile_unit


def test_the_tree_of_others_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(SHIFT)
    said = "./a.hip:1:14: error: enumerator value is not a constant expression\n1 | enum\n"
    note = "./a.hip:1:17: note: left shift of negative value -1\n"
    seen, compile_unit = failing(said + note)
    made, mended = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), compile_unit)  # type: ignore[arg-type]
    assert (made, "-(1 << 4)" in mended, len(seen)) == ("made", True, 2)
    assert (tmp_path / "a.hip").read_text() == SHIFT


@pytest.mark.parametrize(
    "said",
    [
        "a.hip:1:14: error: something else\n",
        "/usr/include/x.h:1:14: error: left shift of negative value\n",
        "../a.hip:1:14: error: e\nleft shift of negative value -1\n",
        "a.hip:1:14: error: cass-ray: a.h:1:1: error: it has no translation\n",
        "",
    ],
)
def test_what_no_rule_knows_is_the_compilers_error(tmp_path: Path, said: str) -> None:
    (tmp_path / "a.hip").write_text(SHIFT)
    seen, compile_unit = failing(said)
    with pytest.raises(CompileFailure) as failed:
        compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), compile_unit)  # type: ignore[arg-type]
    assert (failed.value.diagnostic, len(seen)) == (said, 1)


def test_the_error_that_is_left_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(SHIFT)
    mended = (
        "a.hip:1:14: error: enumerator value is no constant\nnote: left shift of negative value"
    )
    left = "a.hip:2:1: error: something else\n"
    _, compile_unit = failing(mended, left)
    with pytest.raises(CompileFailure, match="something else"):
        compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), compile_unit)  # type: ignore[arg-type]
