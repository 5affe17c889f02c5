"""One source for both vendors: what the C preprocessor makes of it is each vendor's own text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.shared import (
    HEADER,
    SharedError,
    common_names,
    header_text,
    share_file,
    share_tree,
)
from cass_ray.translate.project.tree import translate_tree

AMD = "-D__HIP_PLATFORM_AMD__"
INCLUDED = f'#include "{HEADER}"\n'
MAIN = """\
// A license.

#include <cuda_runtime.h>
#include <cub/cub.cuh>
#define CHECK(call) check(call, #call)
#define TWO_LINES(x) \\
  cudaFree(x)
#if defined(USE_SHUFFLE)
__global__ void sum(int* out, const char* name) {
  int value = __shfl_down_sync(0xffffffff, out[threadIdx.x], 1);
  out[threadIdx.x] = value;
}
#else
__global__ void sum(int* out, const char* name) {}
#endif
int main() {
  // cudaMalloc in a comment
  int *device = nullptr, count = sizeof "cudaMalloc";
  CHECK(cudaMalloc(&device,
                   count));
  sum<<<1, 32>>>(device, R"(
    cudaMalloc ")");
  cub::Sum add;
  TWO_LINES(device);
}"""


def preprocessed(path: Path, *options: str) -> str:
    """What the system's preprocessor makes of a file, headers not read, without white space."""
    text = re.sub(r"^#include *<", "INCLUDE <", path.read_text(), flags=re.MULTILINE)
    command = ["g++", "-E", "-P", "-x", "c++", *options, "-iquote", str(path.parent), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return re.sub(r"\s+", "", done.stdout)


@pytest.mark.parametrize("options", [[], ["-DUSE_SHUFFLE"]])
def test_each_compiler_sees_its_own_text(tmp_path: Path, options: list[str]) -> None:
    cuda, hip, shared = (tmp_path / name for name in ("cuda", "hip", "shared"))
    (cuda / "src").mkdir(parents=True)
    (cuda / "src/main.cu").write_text(MAIN)
    translate_tree(cuda, hip, make_translator())
    share_tree(cuda, hip, shared)
    one = shared / "src/main.cu"
    assert preprocessed(one, *options) == preprocessed(cuda / "src/main.cu", *options)
    # ``#call`` is of what stands in the source, which is CUDA's name for both.
    wanted = preprocessed(hip / "src/main.cu", *options).replace('"hipMalloc(&', '"cudaMalloc(&')
    assert preprocessed(one, AMD, *options) == wanted
    text = one.read_text()
    assert text.startswith(f'// A license.\n\n#include "../{HEADER}"\n')
    assert text.count("cudaMalloc(&device") == 1 and "hipMalloc" not in text
    assert "#define cudaMalloc hipMalloc\n" in (shared / HEADER).read_text()


def both(tmp_path: Path, cuda: str, hip: str) -> None:
    """Holds the shared text of ``cuda`` and ``hip`` to the preprocessor's reading of each."""
    names = common_names({"a.cu": (cuda, hip)})
    for name, text in {
        "cuda.cu": cuda,
        "hip.cu": hip,
        "one.cu": share_file(cuda, hip, names, INCLUDED),
        HEADER: header_text(names),
    }.items():
        (tmp_path / name).write_text(text)
    assert preprocessed(tmp_path / "one.cu") == preprocessed(tmp_path / "cuda.cu")
    assert preprocessed(tmp_path / "one.cu", AMD) == preprocessed(tmp_path / "hip.cu")


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        pytest.param("a\n#if CUDA_A\nb\n#endif\nc\n", "a\n#if HIP_A\nb\n#endif\nc\n", id="if"),
        pytest.param(
            "a\n#if X\nb\n#elif CUDA_A\nc\n#else\nd\n#endif\n",
            "a\n#if X\nb\n#elif HIP_A\nc\n#else\nd\n#endif\n",
            id="elif",
        ),
        pytest.param("f(a,\n  b,\n  c)\nd\n", "f(a,\n  e,\n  c)\nd\n", id="arguments"),
        pytest.param("int a;\n", "int a;\nint b;\n", id="added"),
        pytest.param(
            "a = 1'000; /* b\n' */ c\nd\n", "a = 1'000; /* b\n' */ e\nd\n", id="digit separator"
        ),
        pytest.param("int a;\nint b;\n", "int b;\n", id="removed"),
        pytest.param("/* a\n*/ cudaFree(b);", "/* a\n*/ hipFree(b);", id="no line end"),
        pytest.param("cudaA cudaB(cudaA)\n", "hipA hipB(hipC)\n", id="two meanings"),
        pytest.param(
            "#define cudaA 1\ncudaA cudaB\n", "#define hipA 1\nhipA hipB\n", id="own macro"
        ),
    ],
)
def test_whole_conditions_and_calls(tmp_path: Path, cuda: str, hip: str) -> None:
    both(tmp_path, cuda, hip)


def test_blanks_in_the_brackets_of_a_launch_are_a_difference() -> None:
    cuda = "void f() {\n  k<T> << <1, 32 >> > (p);\n}\n"
    hip = "void f() {\n  k<T> <<<1, 32 >>> (p);\n}\n"
    shared = share_file(cuda, hip, {}, INCLUDED)
    assert "#ifdef CASS_HIP\n  k<T> <<<1, 32 >>> (p);\n#else\n" in shared


def test_the_runtime_is_included_once_for_all_files_of_cuda(tmp_path: Path) -> None:
    cuda, hip, shared = (tmp_path / name for name in ("cuda", "hip", "shared"))
    cuda.mkdir()
    kernel = "__global__ void sum(int* out) { out[threadIdx.x]++; }\n"
    for name in ("one.cu", "two.cu", "three.cuh"):
        (cuda / name).write_text(kernel)
    translate_tree(cuda, hip, make_translator())
    share_tree(cuda, hip, shared)
    assert (shared / "one.cu").read_text() == f'#include "{HEADER}"\n{kernel}'
    header = (shared / HEADER).read_text()
    # A host's compiler that knows the platform, but not HIP, gets the names alone.
    assert "#if defined(__HIP__)\n#include <hip/hip_runtime.h>\n#endif\n" in header


@pytest.mark.parametrize(
    ("name", "there"), [("sum.cu.in", "sum.cu"), ("sum.cuh", "sum.cuh"), ("sum.h", "sum.h")]
)
def test_what_is_copied_or_installed_needs_no_header(name: str, there: str, tmp_path: Path) -> None:
    cuda, hip, shared = (tmp_path / name for name in ("cuda", "hip", "shared"))
    (cuda / "src").mkdir(parents=True)
    (cuda / "src" / name).write_text(MAIN)
    translate_tree(cuda, hip, make_translator())
    share_tree(cuda, hip, shared, headers_leave=lambda name: True)
    made = tmp_path / there  # as configure_file or an installation writes it
    shutil.copy(shared / "src" / name, made)
    shutil.copy(cuda / "src" / name, tmp_path / "cuda.cu")
    shutil.copy(hip / "src" / name, tmp_path / "hip.cu")
    assert preprocessed(made) == preprocessed(tmp_path / "cuda.cu")
    wanted = preprocessed(tmp_path / "hip.cu").replace('"hipMalloc(&', '"cudaMalloc(&')
    assert preprocessed(made, AMD) == wanted
    assert made.read_text().count("#define cuda") == 2  # malloc and free, which it uses


def test_a_name_that_stays_somewhere_is_no_macro() -> None:
    pairs = {"a.cu": ("cudaFree(p);\n", "hipFree(p);\n")}
    assert common_names(pairs) == {"cudaFree": "hipFree"}
    mine = "struct A { void cudaFree(); };\n"
    assert common_names({**pairs, "b.h": (mine, mine)}) == {}


def test_a_condition_that_is_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SharedError, match="condition"):
        share_file("#if CUDA_A\nb\n", "#if HIP_A\nb\n", {}, INCLUDED)


def test_a_header_of_that_name_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / HEADER).write_text("")
    with pytest.raises(SharedError, match=HEADER):
        share_tree(tmp_path, tmp_path, tmp_path / "out")


def test_a_byte_order_mark_stays_the_first_character() -> None:
    cuda, hip = "int main() { cudaFree(0); }\n", "int main() { hipFree(0); }\n"
    names = {"cudaFree": "hipFree"}
    plain = share_file(cuda, hip, names, INCLUDED)
    assert plain.startswith("#include")
    assert share_file(f"\ufeff{cuda}", f"\ufeff{hip}", names, INCLUDED) == f"\ufeff{plain}"
