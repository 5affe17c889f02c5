from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly.align import align_kernels, align_names
from cass_ray.assembly.demangle import MAXIMUM_NAME_LENGTH, demangle
from tests.assembly.samples import read

CUB = "_ZN3cub17CUB_300000_SM_89011EmptyKernelIvEEvv"
THRUST = "_ZN6thrust23THRUST_300000_SM_800_NS8cuda_cub4core13_kernel_agentEv"
ROCPRIM = "_ZN7rocprim6detail19block_reduce_kernelILb0EEEvv"


@pytest.mark.parametrize("listing", ["cuobjdump", "nvdisasm"])
def test_kernels_of_the_sample_align(listing: str) -> None:
    alignment = align_kernels(read(f"kernels.sm_89.{listing}.sass"), read("kernels.gfx1100.s"))
    assert alignment.common == [
        "scale<float>",
        "scale<double>",
        "shift",
        "(anonymous namespace)::advance",
        "exchange",
        "choose",
    ]
    assert not alignment.kernels_differ


# Names as nvcc 13.0 and clang 19 mangle the same kernel.
SAME = {
    "vector types": ("_Z5shiftP6float4S_i", "_Z5shiftP15HIP_vector_typeIfLj4EES0_i"),
    "static": ("_Z2stPi", "_ZL2stPi"),
    "static, separate compilation": (
        "__nv_static_25__65bbf985_4_a_cu_73fc6ea7__Z2stPi",
        "_ZL2stPi.static.a1b2c3d4e5f60718",
    ),
    "anonymous namespace": (
        "_ZN36_GLOBAL__N__65bbf985_4_a_cu_73fc6ea74anonE1PPd",
        "_ZN12_GLOBAL__N_14anonE1PPd",
    ),
    "texture object": ("_Z3texyPf", "_Z3texP13__hip_texturePf"),
    "bfloat16": ("_Z1fP13__nv_bfloat16", "_Z1fP14__hip_bfloat16"),
    "half": ("_Z6halvesP6__halfP7__half2", "_Z6halvesP6__halfP7__half2"),
    "random state": ("_Z4initP17curandStateXORWOW", "_Z4initP21rocrand_state_xorwow"),
    "lambda": ("_Z5applyIZ4mainEUlfE_EvT_Pf", "_Z5applyIZ4mainEUlfE_EvT_Pf"),
    "extended lambda": ("_Z5applyIZ4mainEUnvdl0_PFivE4main1_EvT_Pf", "_Z5applyIZ4mainEUlfE_EvT_Pf"),
    "lambda wrapper": (
        "_Z5applyI17__nv_dl_wrapper_tI11__nv_dl_tagIPFivEXadL_Z4mainEELj1EEJEEEvT_Pf",
        "_Z5applyIZ4mainEUlfE_EvT_Pf",
    ),
    "plain C": ("plain", "plain"),
    # Of CUTLASS, whose kernels are static templates in a namespace.
    "static in a namespace": ("_ZN5space5applyIfEEvPT_", "_ZN5spaceL5applyIfEEvPT_"),
}


def test_static_kernels_that_no_demangler_reads() -> None:
    nvidia = ["_ZN5space5applyIQ1", "_ZN5space5applyIQ2"]
    alignment = align_names(nvidia, ["_ZN5spaceL5applyIQ2", "_ZN5spaceL5applyIQ1"])
    assert [pair.nvidia for pair in alignment.pairs] == nvidia[::-1]


@pytest.mark.parametrize(("nvidia", "amd"), SAME.values(), ids=SAME.keys())
def test_one_kernel_under_two_names(nvidia: str, amd: str) -> None:
    alignment = align_names([nvidia, "_Z5otherv"], ["_Z5otherv", amd])
    assert (nvidia, amd) in {(pair.nvidia, pair.amd) for pair in alignment.pairs}
    assert not alignment.kernels_differ


@pytest.mark.parametrize(
    ("nvidia", "amd"),
    [
        ("_Z5scaleIdEvPT_", "_Z5scaleIfEvPT_"),  # another instance of the template
        ("_Z3addPii", "_Z3addPfi"),  # another overload
        ("_Z3addPi", "_Z3subPi"),
        ("_ZN1a3addEPi", "_ZN1b3addEPi"),
        ("plain", "_Z5plainv"),  # C and C++ linkage
    ],
)
def test_different_kernels_do_not_match(nvidia: str, amd: str) -> None:
    alignment = align_names([nvidia], [amd])
    assert alignment.common == []
    assert alignment.only_nvidia == [nvidia]
    assert alignment.only_amd == [amd]
    assert alignment.kernels_differ


SPACE = "N34_INTERNAL_8fd47134_4_a_cu_6c25ed87"


def test_static_functions_among_template_arguments() -> None:
    """nvcc 13.0 and clang 19 name ``k<one, 32>``, ``k<two, 32>`` and ``k<both<one, 3>, 4>``."""
    nvidia = [
        f"_Z1kIXadL_Z{SPACE}3oneEPKcPcEELi32EEvS2_S3_",
        f"_Z1kIXadL_Z{SPACE}3twoEPKcPcEELi32EEvS2_S3_",
        f"_Z1kIXadL_Z{SPACE}4bothIXadL_ZNS0_3oneEPKcPcEELi3EEEvS3_S4_EELi4EEvS3_S4_",
    ]
    amd = [
        "_Z1kIXadL_ZL4bothIXadL_ZL3onePKcPcEELi3EEvS2_S3_EELi4EEvS2_S3_",
        "_Z1kIXadL_ZL3twoPKcPcEELi32EEvS1_S2_",
        "_Z1kIXadL_ZL3onePKcPcEELi32EEvS1_S2_",
    ]
    alignment = align_names(nvidia, amd)
    assert [(pair.nvidia, pair.amd) for pair in alignment.pairs] == [
        (nvidia[2], amd[0]),
        (nvidia[1], amd[1]),
        (nvidia[0], amd[2]),
    ]
    # Two overloads of one name: nothing says which is which.
    nvidia = [f"_Z1kIXadL_Z{SPACE}3oneEP{type_}EEEvPv" for type_ in "cf"]
    amd = [f"_Z1kIXadL_ZL3oneP{type_}EEEvPv" for type_ in "cf"]
    assert len(align_names(nvidia[:1], amd[:1]).common) == 1
    assert not align_names(nvidia, amd).common


@pytest.mark.parametrize(
    ("nvidia", "amd", "only"),
    [
        ([CUB], [ROCPRIM], True),
        ([CUB, THRUST], [ROCPRIM], True),
        ([CUB, "_Z1av"], [ROCPRIM, "_Z1av"], False),  # a pair with library kernels beside it
        ([CUB, "_Z1av"], [ROCPRIM], False),  # a kernel of the program on one side
        ([CUB], [], False),
        ([], [ROCPRIM], False),
        ([], [], False),
    ],
)
def test_programs_whose_kernels_are_the_libraries_alone(
    nvidia: list[str], amd: list[str], only: bool
) -> None:
    assert align_names(nvidia, amd).only_libraries is only


def test_a_kernel_on_one_side_is_a_difference_and_a_library_kernel_is_none() -> None:
    library = "_ZN3cub17CUB_300000_SM_89011EmptyKernelIvEEvv"
    alignment = align_names(["_Z1av", "_Z1bv", library], ["_Z1av"])
    assert alignment.common == ["a"]
    assert alignment.only_nvidia == ["_Z1bv"]
    assert align_names(["_Z1av", library], ["_Z1av"]).library_nvidia == [library]
    assert not align_names(["_Z1av", library], ["_Z1av"]).kernels_differ


@pytest.mark.parametrize(
    ("name", "of_a_library"),
    [
        # as nvcc 13 names them where CUB_WRAPPED_NAMESPACE and THRUST_CUB_WRAPPED_NAMESPACE are set
        ("_ZN6kaolin3cub17CUB_300001_SM_8006detail11EmptyKernelIvEEvv", True),
        ("_ZN14at_cuda_detail3cub17CUB_300001_SM_8006detail11EmptyKernelIvEEvv", True),
        ("_ZN1a1b6thrust23THRUST_300001_SM_800_NS8cuda_cub4core13_kernel_agentEv", True),
        ("_ZN4mine3cub4scanEv", False),  # a namespace of that name of the program's own
        ("_ZN4mine6thrust4pushEv", False),
        ("_Z4pushIN1a3cub17CUB_300001_SM_8004PairEEvT_", False),  # of the program, with its type
    ],
)
def test_a_library_in_a_namespace_of_the_program(name: str, of_a_library: bool) -> None:
    alignment = align_names(["_Z1av", name], ["_Z1av"])
    assert alignment.library_nvidia == ([name] if of_a_library else [])
    assert alignment.only_nvidia == ([] if of_a_library else [name])


def test_overloads_keep_distinct_names() -> None:
    names = ["_Z3addPii", "_Z3addPfi"]
    assert align_names(names, names).common == ["add(int*, int)", "add(float*, int)"]


@given(st.lists(st.text(min_size=1), unique=True), st.lists(st.text(min_size=1), unique=True))
def test_every_kernel_ends_in_one_place(nvidia: list[str], amd: list[str]) -> None:
    alignment = align_names(nvidia, amd)
    left = alignment.only_nvidia + alignment.library_nvidia
    assert sorted([pair.nvidia for pair in alignment.pairs] + left) == sorted(nvidia)
    left = alignment.only_amd + alignment.library_amd
    assert sorted([pair.amd for pair in alignment.pairs] + left) == sorted(amd)
    assert set(nvidia) & set(amd) <= {pair.amd for pair in alignment.pairs}


def test_demangling() -> None:
    # as `c++filt` of binutils 2.40 prints them
    assert demangle("_Z5scaleIfEvPT_S0_i") == "void scale<float>(float*, float, int)"
    assert demangle("_ZN12_GLOBAL__N_14anonEv") == "(anonymous namespace)::anon()"
    assert demangle("plain") == "plain"
    assert demangle("_Znonsense") == "_Znonsense"


def test_demangling_survives_hostile_names() -> None:
    nested = "_Z1f" + "P" * (MAXIMUM_NAME_LENGTH - 6) + "i"
    assert demangle(nested)
    too_long = "_Z1f" + "P" * MAXIMUM_NAME_LENGTH + "i"
    assert demangle(too_long) == too_long
    assert demangle("_Z\x00f") == "_Z\x00f"
    assert demangle("_Z1\udcff") == "_Z1\udcff"
