"""FindCUDA's commands (``cmake-modules(7)`` of CMake 3.26) as the HIP language has them."""

from __future__ import annotations

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.project.build_files import translate_cmake
from cass_ray.translate.protocol import Severity

HIP = "$<COMPILE_LANGUAGE:HIP>"

KEYWORD = "${CUDA_LINK_LIBRARIES_KEYWORD}"


def made(command: str) -> str:
    """What becomes of ``command`` behind ``find_package(CUDA)``."""
    source = translate_cmake(f"find_package(CUDA)\n{command}\n").source
    return source.partition("enable_language(HIP)\n")[2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-DA=1", f'"$<{HIP}:-DA=1>"'),
        ('"-DA;-DB"', f'"$<{HIP}:-DA;-DB>"'),
        ("-arch=sm_50 -DA", f'"$<{HIP}:-DA>"'),
        ("-Xcompiler -Wall,-fPIC", f'"$<{HIP}:-Wall;-fPIC>"'),
        ("-gencode arch=compute_60,code=sm_60 --use_fast_math",
         f'"$<{HIP}:-fgpu-approx-transcendentals>"'),
        ("DEBUG -G RELEASE -DR", f'"$<$<AND:{HIP},$<CONFIG:DEBUG>>:-g>"'
         f' "$<$<AND:{HIP},$<CONFIG:RELEASE>>:-DR>"'),
        ("${MINE}", f'"$<{HIP}:${{MINE}}>"'),
        ("-DA # why\n  -DB", f'"$<{HIP}:-DA;-DB>"'),
    ],
)  # fmt: skip
def test_options_are_for_what_is_hip(options: str, expected: str) -> None:
    text = made(f"cuda_add_library(a STATIC a.cu OPTIONS {options})")
    assert f"target_compile_options(a PRIVATE {expected})\n" in text
    assert "OPTIONS " not in text.replace("_options", "")


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("cuda_add_executable(${name} EXCLUDE_FROM_ALL ${files} OPTIONS -DA)", "files"),
        ("cuda_add_library(${name} SHARED ${files})", "files"),
        ("cuda_add_executable(${name} ${ARGN})", "ARGN"),
        ("CUDA_ADD_LIBRARY(${name} ${common} ${files})", "files"),
        ("cuda_compile(objects ${files})", "files"),
    ],
)
def test_sources_that_a_macro_is_called_with(command: str, variable: str) -> None:
    text = made(f"macro(make_one name files)\n  {command}\nendmacro()")
    assert text.count("foreach(source ") == 1
    assert f"foreach(source ${{{variable}}})\n" in text


@pytest.mark.parametrize(
    "command", ["cuda_compile(OBJS", "CUDA_COMPILE(OBJS", "cuda_wrap_srcs(t OBJ OBJS"]
)
def test_objects_are_those_of_a_target(command: str) -> None:
    text = made(f"{command} a.cu b.cu OPTIONS -DX)")
    assert "add_library(${OBJS_TARGET} OBJECT a.cu b.cu)\n" in text
    assert "set_source_files_properties(a.cu b.cu PROPERTIES LANGUAGE HIP)\n" in text
    assert f'target_compile_options(${{OBJS_TARGET}} PRIVATE "$<{HIP}:-DX>")\n' in text
    assert text.endswith("set(OBJS $<TARGET_OBJECTS:${OBJS_TARGET}>)\n")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        # The module's documentation: the keyword "to use for internal target_link_libraries calls".
        ("cuda_add_cufft_to_target(a)", f"target_link_libraries(a {KEYWORD} hip::hipfft)\n"),
        (
            "CUDA_ADD_CUBLAS_TO_TARGET(${NAME})",
            f"target_link_libraries(${{NAME}} {KEYWORD} roc::hipblas)\n",
        ),
        ("cuda_build_clean_target()", "\n"),
        ("cuda_include_directories(a b)", "include_directories(a b)\n"),
        ("cuda_select_nvcc_arch_flags(FLAGS Auto)", 'set(FLAGS "")\n'),
        ("set(CUDA_NVCC_FLAGS_DEBUG -g)", 'string(APPEND CMAKE_HIP_FLAGS_DEBUG " -g")\n'),
        ('set(CUDA_NVCC_FLAGS "-O3;-DX" CACHE STRING "flags" FORCE)',
         'set(CMAKE_HIP_FLAGS "-O3 -DX")\n'),
        ("set_source_files_properties(a.c PROPERTIES CUDA_SOURCE_PROPERTY_FORMAT OBJ)",
         "set_source_files_properties(a.c PROPERTIES LANGUAGE HIP)\n"),
        ("include(FindCUDA/select_compute_arch)", "\n"),
    ],
)  # fmt: skip
def test_other_commands(command: str, expected: str) -> None:
    assert made(command) == expected


@pytest.mark.parametrize(
    "command",
    ["cuda_compile_ptx(P a.cu)", "cuda_wrap_srcs(t PTX P a.cu)", "cuda_compile_fatbin(F a.cu)",
     "find_cuda_helper_libs(cupti)"],
)  # fmt: skip
def test_what_only_nvidias_cards_have_is_refused(command: str) -> None:
    (finding,) = translate_cmake(f"find_package(CUDA)\n{command}\n").findings
    assert finding.severity is Severity.ERROR
    assert finding.line == 2
    assert diagnostic_of(finding).code == "CASS2003"


@pytest.mark.parametrize(
    ("before", "use", "expected"),
    [
        ("project(a LANGUAGES CXX CUDA)\n", "target_link_libraries(a ${CUDA_LIBRARIES})\n",
         "project(a LANGUAGES CXX HIP)\nfind_package(hip REQUIRED)\n"
         "target_link_libraries(a hip::host)\n"),
        ("enable_language(CUDA)\n", "target_link_libraries(a PRIVATE CUDA::cufft)\n",
         "enable_language(HIP)\nfind_package(hip REQUIRED)\nfind_package(hipfft REQUIRED)\n"
         "target_link_libraries(a PRIVATE hip::hipfft)\n"),
        ("", "target_link_libraries(a ${CUDA_CUDART_LIBRARY})\n",
         "find_package(hip REQUIRED)\ntarget_link_libraries(a hip::host)\n"),
        ("project(a LANGUAGES CUDA CXX)\n", "include_directories(/usr/local/cuda/include)\n",
         "project(a LANGUAGES HIP CXX)\nfind_package(hip REQUIRED)\n"
         "add_compile_definitions(__HIP_PLATFORM_AMD__=1)\n"
         "include_directories(${CMAKE_HIP_COMPILER_ROCM_ROOT}/include)\n"),
        ("project(a LANGUAGES CUDA CXX)\n", "link_directories($ENV{CUDA_HOME}/lib64)\n",
         "project(a LANGUAGES HIP CXX)\nfind_package(hip REQUIRED)\n"
         "add_compile_definitions(__HIP_PLATFORM_AMD__=1)\n"
         "link_directories(${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib)\n"),
    ],
)  # fmt: skip
def test_what_no_find_package_finds_is_found(before: str, use: str, expected: str) -> None:
    assert translate_cmake(before + use).source == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('cuda_find_library_local_first(RT cudadevrt "doc")', "set(RT hip::host)\n"),
        ("cuda_find_library_local_first(X cufft doc)", "set(X hip::hipfft)\n"),
        (
            'CUDA_FIND_LIBRARY_LOCAL_FIRST(N "nvToolsExt;nvtx" "x")',
            "set(N ${hip_LIB_INSTALL_DIR}/libroctx64.so)\n",
        ),
        (
            "cuda_find_library_local_first_with_path_ext(B cublas doc lib64)",
            "set(B roc::hipblas)\n",
        ),
        ("cuda_find_library_local_first(O mine doc)", "find_library(O mine)\n"),
    ],
)
def test_libraries_that_its_own_command_finds(command: str, expected: str) -> None:
    assert made(command).endswith(expected)


def test_the_package_of_a_library_that_its_own_command_finds() -> None:
    source = translate_cmake(
        "find_package(CUDA)\ncuda_find_library_local_first(X cufft d)\n"
    ).source
    assert "find_package(hipfft)\n" in source


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cuda_add_library(a ${sources} STATIC)", "add_library(a STATIC ${sources})"),
        ("cuda_add_library(a b.cu SHARED OPTIONS -O2)", "add_library(a SHARED b.cu)"),
        ("cuda_add_library(a\n  b.cu\n  STATIC\n)", "add_library(a STATIC\n  b.cu)"),
        ("cuda_add_library(a STATIC b.cu)", "add_library(a STATIC b.cu)"),
        ("cuda_add_executable(a b.cu EXCLUDE_FROM_ALL)", "add_executable(a EXCLUDE_FROM_ALL b.cu)"),
    ],
)
def test_the_kind_of_a_target_stands_before_its_sources(command: str, expected: str) -> None:
    assert expected in translate_cmake(f"find_package(CUDA)\n{command}\n").source


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # FindCUDA gives .cu files nvcc's own flags, and none of the target's.
        ("PRIVATE -Wall ${MORE}", 'PRIVATE "$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:-Wall;${MORE}>"'),
        (
            "PUBLIC -Wextra INTERFACE -Wno-class-memaccess",
            'PUBLIC "$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:-Wextra>" '
            'INTERFACE "$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:-Wno-class-memaccess>"',
        ),
        (
            "PRIVATE\n\n  PUBLIC  # all\n -g",
            'PRIVATE PUBLIC "$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:-g>"',
        ),
        ("PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall>", "PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall>"),
    ],
)
def test_options_of_a_target_are_for_the_hosts_files(options: str, expected: str) -> None:
    text = f"cuda_add_library(a a.cu b.cpp)\ntarget_compile_options(a {options})\n"
    assert f"target_compile_options(a {expected})" in translate_cmake(text).source
    other = text.replace("options(a", "options(other")
    assert "NOT:$<COMPILE_LANGUAGE:HIP>" not in translate_cmake(other).source


FLAGS = 'set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} ${OpenMP_CXX_FLAGS}")\n'


@pytest.mark.parametrize(
    ("before", "flags", "added"),
    [
        ("find_package(CUDA 8.0)\n", FLAGS, "${OpenMP_CXX_FLAGS}"),
        (
            "include(FindCUDA)\n",
            'SET(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -O3 -fopenmp")\n',
            "-fopenmp",
        ),
        ("find_package(CUDA)\nset(CUDA_PROPAGATE_HOST_FLAGS OFF)\n", FLAGS, ""),
        ("find_package(CUDAToolkit)\n", FLAGS, ""),
        ("find_package(CUDA)\n", 'set(CMAKE_C_FLAGS "${OpenMP_C_FLAGS}")\n', ""),
        ("find_package(CUDA)\n", 'set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -O3")\n', ""),
    ],
)
def test_flags_of_openmp_that_the_module_hands_on(before: str, flags: str, added: str) -> None:
    made = translate_cmake(f"{before}{flags}cuda_add_executable(a a.cu)\n").source
    line = f'set(CMAKE_HIP_FLAGS "${{CMAKE_HIP_FLAGS}} {added}")\n'
    assert made.count("CMAKE_HIP_FLAGS") == (2 if added else 0)
    assert (f"{flags}{line}" in made) == bool(added)
