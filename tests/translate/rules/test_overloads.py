"""Functions that the standard library has as well; a compiler says what it takes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.rules import RulesTranslator

ENGINE = RulesTranslator()
GUARD = "#if __cplusplus < 202002L"


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        (
            "inline __device__ __host__ float lerp(float a, float b, float t)\n{\n  return a;\n}\n",
            1,
        ),
        (
            "__device__ double lerp(const double a, const double b, double t) { return a; }\n",
            1,
        ),
        ("float lerp(float, float, float);\n", 1),
        ("__device__ float lerp(float a, float b, float t);\nint other;\n", 1),
        # Other types are overloads of the library's.
        ("__device__ float3 lerp(float3 a, float3 b, float t) { return a; }\n", 0),
        ("__device__ float lerp(float a, float b, double t) { return a; }\n", 0),
        ("template <class T> __device__ float lerp(float a, float b, float t) { return a; }\n", 0),
        # At another scope it hides the library's.
        ("namespace my {\n__device__ float lerp(float a, float b, float t) { return a; }\n}\n", 0),
        ("struct S {\n  __device__ float lerp(float a, float b, float t) { return a; }\n};\n", 0),
        ("__device__ float f() { return lerp(1.0f, 2.0f, 0.5f); }\n", 0),
    ],
)
def test_the_librarys_interpolation(source: str, guarded: int) -> None:
    made = ENGINE.translate(source, filename="a.cuh").source
    assert made.count(GUARD) == guarded
    assert made.count("#endif") == guarded
    assert source.strip() in made if not guarded else "lerp" in made


PROGRAM = """
#include <math.h>
inline float lerp(float a, float b, float t) { return a + t * (b - a); }
inline double lerp(double a, double b, double t)
{
  return a + t * (b - a);
}
int main() { return lerp(1.0f, 3.0f, 0.5f) != 2.0f || lerp(1.0, 4.0, 0.25) != 1.75; }
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_both_standards_compile(standard: str, tmp_path: Path) -> None:
    command = ["g++", f"-std={standard}", "-o", tmp_path / "a", tmp_path / "a.cpp"]
    (tmp_path / "a.cpp").write_text(PROGRAM)
    original = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ("conflicts" in original.stderr) == (standard == "c++20")
    (tmp_path / "a.cpp").write_text(ENGINE.translate(PROGRAM, filename="a.cuh").source)
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "a"], check=True)
