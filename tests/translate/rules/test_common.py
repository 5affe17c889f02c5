"""What the files of a tree are translated alike in."""

from __future__ import annotations

import pytest

from cass_ray.translate.protocol import Context
from cass_ray.translate.rules.common import with_common_choices

HIP = "#include <hip/hip_runtime.h>\nfloat4 f();\n"
CUDA = "#include <cuda_runtime.h>\nfloat4 g();\n"
BOTH = "#ifdef __HIP__\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif\n"
NEITHER = "float4 h();\n"


@pytest.mark.parametrize(
    ("texts", "plain"),
    [
        ([CUDA, NEITHER], True),
        ([HIP, NEITHER], False),
        ([HIP, HIP, CUDA, NEITHER], False),
        ([HIP, CUDA, CUDA], True),
        ([HIP, CUDA], True),
        ([BOTH, BOTH, NEITHER], True),
        (["#include <hip/hip_runtime_api.h>\n", NEITHER], False),
        (["#include <cuda.h>\n", "#include <hip/hip_fp16.h>\n", NEITHER], True),
        (["#include <torch/all.h>\n", CUDA], False),
        (["int a;\n"], False),
    ],
)
def test_vector_types_are_hips_where_the_tree_is_written_in_hip(
    texts: list[str], plain: bool
) -> None:
    named = [(f"{number}.h", text) for number, text in enumerate(texts)]
    assert with_common_choices(Context(), named).plain_vectors is plain
