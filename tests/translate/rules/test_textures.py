"""Textures: software for programs that run where there are no image instructions."""

from __future__ import annotations

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.protocol import Context, Translation
from cass_ray.translate.rules.engine import RulesTranslator

BOTH, RDNA, CDNA = (32, 64), (32,), (64,)


def translate(
    source: str, wavefronts: tuple[int, ...] = BOTH, filename: str = "a.cuh"
) -> Translation:
    context = Context(wavefronts=wavefronts)
    return RulesTranslator().translate(source, filename=filename, context=context)


CALLS = {
    "v = tex2D<float>(t, x, y);": "v = cass::tex2D<float>(t, x, y);",
    "tex2D(&v, t, x, y);": "cass::tex2D(&v, t, x, y);",
    "v = ::tex3D<float4>(t, x, y, z);": "v = cass::tex3D<float4>(t, x, y, z);",
    "tex1DLod<T>(t, x, 0)": "cass::tex1DLod<T>(t, x, 0)",
    "surf2Dwrite(v, s, 4 * x, y, cudaBoundaryModeZero);": (
        "cass::surf2Dwrite(v, s, 4 * x, y, hipBoundaryModeZero);"
    ),
    "v = surf2Dread<int>(s, 4 * x, y);": "v = cass::surf2Dread<int>(s, 4 * x, y);",
    "CHECK(cudaMallocArray(&a, &f, w, h));": "CHECK(cass::malloc_array(&a, &f, w, h));",
    "p.dstArray = a; cudaMemcpy3D(&p);": "p.dstArray = a; cass::memcpy_3d(&p);",
}


@pytest.mark.parametrize("cuda", CALLS)
@pytest.mark.parametrize("wavefronts", [BOTH, CDNA])
def test_functions_are_those_of_the_software(cuda: str, wavefronts: tuple[int, ...]) -> None:
    result = translate(cuda, wavefronts)
    assert result.source.endswith(CALLS[cuda])
    assert result.source.count("#define CASS_IMAGES\n") == 1
    assert result.findings == ()


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("v = tex2D<float>(t, x, y);",) * 2,
        ("surf2Dwrite(v, s, x, y, cudaBoundaryModeZero);", "surf2Dwrite(v, s, x, y);"),
        ("cudaMalloc3DArray(&a, &f, e);", "hipMalloc3DArray(&a, &f, e, 0);"),
        ("cudaMallocArray(&a, &f, w, h);", "hipMallocArray(&a, &f, w, h);"),
        ("p.dstArray = a; cudaMemcpy3D(&p);", "p.dstArray = a; hipMemcpy3D(&p);"),
    ],
)
def test_a_program_for_rdna_alone_has_hips_own(cuda: str, hip: str) -> None:
    result = translate(cuda, RDNA)
    assert (result.source, result.findings) == (hip, ())


@pytest.mark.parametrize(
    "kept",
    [
        "cudaMemcpy3D(&p);",
        "v = image.tex2D(x, y);",
        "float tex2D(const float* image, int x, int y);\nfloat v = tex2D(image, 1, 2);",
    ],
)
def test_what_has_no_part_in_it_stays(kept: str) -> None:
    assert "cass::" not in translate(kept).source
    assert translate(kept).findings == ()


def test_hip_counts_gathered_components_from_one() -> None:
    """HIP's ``tex2Dgather`` of an object takes 1 for red (``texture_indirect_functions.h``)."""
    narrow = translate("v = tex2Dgather<float4>(t, x, y, 0);", RDNA).source
    assert narrow.endswith("v = cass::tex2Dgather<float4>(t, x, y, 0);")
    assert "CASS_TEXTURE_GATHER" in narrow and "CASS_IMAGES" not in narrow
    assert "CASS_TEXELS" in translate("v = tex2Dgather<float4>(t, x, y, 0);", CDNA).source


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("v = texCubemap<float>(t, x, y, z);", "texCubemap"),
        ("v = tex2DGrad<float>(t, x, y, a, b);", "tex2DGrad"),
        ("cudaMallocMipmappedArray(&m, &f, e, 4, 0);", "cudaMallocMipmappedArray"),
        ("cudaGetMipmappedArrayLevel(&a, m, 0);", "cudaGetMipmappedArrayLevel"),
        ("cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0);", None),
        ("cuTexObjectCreate(&t, &r, &d, 0);", "cuTexObjectCreate"),
        ("cuArray3DCreate(&a, &d);", "cuArray3DCreate"),
        ("texture.sRGB = 1;", "sRGB"),
        ("texture<float, 2> image;\nvoid f() { v = tex2D(image, x, y); }", "tex2D"),
        ("extern int image;\nvoid f() { v = tex1Dfetch(image, i); }", "tex1Dfetch"),
        ("cudaBindTextureToArray(image, array);", "cudaBindTextureToArray"),
    ],
)
def test_what_the_software_has_not_is_reported(source: str, construct: str | None) -> None:
    for wavefronts in (BOTH, CDNA):
        (found,) = translate(source, wavefronts).findings
        assert diagnostic_of(found).code == "CASS1028"
        assert construct in (found.construct, None)
        assert found.line == source.count("\n") + 1
    assert not [f for f in translate(source, RDNA).findings if "texture units" in f.message]


def test_no_srgb_is_no_finding() -> None:
    assert translate("texture.sRGB = 0; bool b = texture.sRGB == 1;").findings == ()


@pytest.mark.parametrize("call", ["tex2D<float>(t, x, y)", "surf2Dwrite(v, s, 4 * x, y)"])
def test_hip_is_reported_where_it_is_for_cdna_alone(call: str) -> None:
    source = f"#include <hip/hip_runtime.h>\nauto v = {call};\n"
    (found,) = translate(source, CDNA).findings
    assert (found.severity, found.line, diagnostic_of(found).code) == ("warning", 2, "CASS1028")
    assert translate(source).findings == ()
    assert translate(source, CDNA).source == source


def test_a_host_function_that_is_called_like_a_fetch() -> None:
    text = '#include "own.h"\nfloat f(float* p) { return 2 * tex3D(p, 1, 2, 3); }\n'
    assert RulesTranslator().translate(text, filename="a.cpp").source == text
