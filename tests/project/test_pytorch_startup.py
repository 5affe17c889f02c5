"""What interpreters of a port do when PyTorch compiles an extension while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project.pytorch.startup.cass_torch_device import Devices, with_own_headers

HEAD = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
"""What ``load_inline`` of PyTorch 2 puts before the text of ``cuda_sources``."""
HIP = "#include <hip/hip_runtime.h>\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("cuda.cu", HEAD + "int a;\n", f"#include <torch/types.h>\n{HIP}{HIP}int a;\n"),
        ("cuda.cu", HIP + "int a;\n", HIP + "int a;\n"),
        ("cuda.cu", "// #include <cuda.h> is not needed\n", "// #include <cuda.h> is not needed\n"),
        ("main.cpp", HEAD, HEAD),
        ("kernel.cu", HEAD, HEAD),
    ],
)
def test_headers_that_pytorch_puts_before_a_text(
    name: str, text: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert with_own_headers(project_directory="x", extra_files=[str(path)], clean_ctx=None) == {}
    assert path.read_text() == expected


def test_a_pytorch_built_without_cuda_has_places_of_rocm() -> None:
    # torch.utils.cpp_extension: ROCM_HOME = … if torch.cuda._is_compiled() and torch.version.hip
    assert Devices(backend=None).functions()["_is_compiled"]() is True
