"""Flags of nvcc in lists of Python: an option and its value as two items."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.setup_flags import without_nvcc


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        # nvcc takes the value as the next argument, clang behind an equals sign alone.
        ('"-std", "c++17", "-O3"', '"-std=c++17", "-O3"'),
        ('"--std", "c++20"', '"-std=c++20"'),
        ("'-O3', '-std',\n 'gnu++17',  # why\n '-g'", "'-O3', '-std=gnu++17',  # why\n '-g'"),
        ('"-Xptxas", "-v", "-std", "c++17"', '"-std=c++17"'),
        ('"-std", "c++17", "-lineinfo"', '"-std=c++17", "-gline-tables-only"'),
        ('"-std", standard', '"-std=" + standard'),
        ('"-std", f"c++{year}", "-O2"', '"-std=" + f"c++{year}", "-O2"'),
        ('"-std", version()', '"-std=" + version()'),
        ('"--library", "m"', '"-lm"'),
        ('"--include-path", "inc"', '"-Iinc"'),
        ('"--machine", "64"', '"-m64"'),
        ('"-rdc", "true"', '"-fgpu-rdc"'),
        ('"-include", "a.h", "-O3"', '"-include", "a.h", "-O3"'),
        ('"-std=c++17", "c++17"', '"-std=c++17", "c++17"'),
        ('"-std"', '"-std"'),
    ],
)
def test_an_option_and_its_value(items: str, expected: str) -> None:
    made = without_nvcc(f"flags = [{items}]")
    assert made is not None and made[0] == f"flags = [{expected}]"
