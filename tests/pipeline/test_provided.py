"""Which of PyTorch's headers are translated for the AMD side."""

from __future__ import annotations

import pytest

from cass_ray.pipeline import provided


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        # ATen/cuda/Atomic.cuh names nothing of CUDA's runtime beside the header.
        ("#pragma once\n\n#include <cuda.h>\n", True),
        ("#include <cuda_fp16.h>\n", True),
        ("#  include <cuda_bf16.h>\n", True),
        ('#include "cuda.h"\n', True),
        ("#include <cuda/std/complex>\n", True),
        ("cudaStream_t s;\n", True),
        ("#include <ATen/cuda/Atomic.cuh>\n", False),
        ("#include <c10/cuda/CUDAStream.h>\n", False),
        ("// include cuda.h\n", False),
        ("namespace at::cuda {}\n", False),
    ],
)
def test_headers_that_name_cuda_are_translated(text: str, translated: bool) -> None:
    assert (provided._OF_CUDA.search(text) is not None) is translated
