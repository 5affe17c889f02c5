"""Names in conditions: a project's own options, and what Nvidia's headers define."""

import pytest

import cass_ray
from cass_ray.translate.protocol import Severity


def _names(text: str) -> set[str]:
    return {each.message.split()[0] for each in cass_ray.translate(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        "#if defined(CUDNN_HALF) && defined(CUDNN)\nint a;\n#endif\n",  # -D of darknet
        "#if defined(CUDNN_HALF) && \\\n  defined CUBLAS_GEMM\n#endif\n",
        "# if !defined( CUSPARSE_ENABLED )\n#endif\n",
        "#if 0\n#elif CUFFT_STATIC\n#endif\n",
        "#ifndef NVTX_OFF\n#endif\n",
    ],
)
def test_options_of_the_build_are_no_names_of_cuda(text: str) -> None:
    assert _names(text) == set()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("#if CUDNN_MAJOR >= 7\n#endif\n", "CUDNN_MAJOR"),  # cudnn_version.h
        ("#if NVTX_VERSION > 2\n#endif\n", "NVTX_VERSION"),  # nvToolsExt.h
        ("#if defined(CUDNN_DIM_MAX)\n#endif\n", "CUDNN_DIM_MAX"),  # cudnn_graph.h
        ("int x = CUDNN_HALF;\n", "CUDNN_HALF"),
        ("#if defined(CUDNN_HALF)\nint x = CUDNN_HALF;\n#endif\n", "CUDNN_HALF"),
        ("// #ifdef\nint x = CUDNN_FOO;\n", "CUDNN_FOO"),
    ],
)
def test_other_names_are_reported(text: str, name: str) -> None:
    assert _names(text) == {name}


@pytest.mark.parametrize(
    "condition",
    ["__has_include(<cupti_profiler_host.h>)", "defined(A) && __has_include( <cudnn_v9.h> )"],
)
def test_a_header_that_hip_lacks_makes_the_condition_false(condition: str) -> None:
    """nvbench asks for CUPTI in this way; what stands below the condition is reported, too."""
    text = f"#if {condition}\nint x = cupti_foo;\n#endif\n"
    asked, used = cass_ray.translate(text).findings
    assert asked.severity is Severity.WARNING
    assert asked.message.endswith("the condition is false")
    assert used.message.startswith("cupti_foo ")
