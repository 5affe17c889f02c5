"""CMake's commands of CUDA that its HIP language lacks."""

from __future__ import annotations

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.project.build_files import translate_cmake

COMPILE = '"$<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>"'


def test_targets_of_findcuda_link_the_runtime() -> None:
    source = "find_package(CUDA REQUIRED)\ncuda_add_library(fit SHARED fit.cpp fit.cu OPTIONS -G)\n"
    assert translate_cmake(source).source == (
        "find_package(hip REQUIRED)\nenable_language(HIP)\n"
        "add_library(fit SHARED fit.cpp fit.cu)\n"
        "set_source_files_properties(fit.cu PROPERTIES LANGUAGE HIP)\n"
        "target_link_libraries(fit ${CUDA_LINK_LIBRARIES_KEYWORD} hip::host)\n"
        'target_compile_options(fit PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:-g>")\n'
    )


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("set_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION ON)", "a"),
        ("set_property(TARGET a PROPERTY CUDA_SEPARABLE_COMPILATION TRUE)", "a"),
        ("set_target_properties(${t} PROPERTIES X 1 CUDA_SEPARABLE_COMPILATION ${rdc})", "${t}"),
    ],
)
def test_separable_compilation_is_clangs(command: str, target: str) -> None:
    lines = translate_cmake(f"{command}\n").source.splitlines()
    assert lines[1] == f"target_compile_options({target} PRIVATE {COMPILE})"
    assert lines[2].startswith(f"target_link_options({target} PUBLIC ")
    assert "-fgpu-rdc;--hip-link;--offload-arch=" in lines[2]


def test_separable_compilation_of_every_target() -> None:
    made = translate_cmake("set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)\n").source
    assert f"add_compile_options({COMPILE})\nadd_link_options(" in made


@pytest.mark.parametrize(
    "command",
    [
        "set_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION OFF)",
        "set(CMAKE_CUDA_SEPARABLE_COMPILATION OFF)",
        "set_target_properties(a PROPERTIES X 1\n  # CUDA_SEPARABLE_COMPILATION ON\n)",
        "set_property(TARGET a PROPERTY X # CUDA_SEPARABLE_COMPILATION ON\n 1)",
        "get_target_property(x a CUDA_SEPARABLE_COMPILATION)",
        # Of a library of headers CMake compiles nothing, and users do not inherit it.
        "add_library(a INTERFACE)\nset_property(TARGET a PROPERTY CUDA_SEPARABLE_COMPILATION ON)",
    ],
)
def test_separable_compilation_that_nobody_asks_for(command: str) -> None:
    assert "-fgpu-rdc" not in translate_cmake(f"{command}\n").source


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("FetchContent_Declare(\n  googletest\n  URL x)", "googletest"),
        ('CPMAddPackage("gh:catchorg/Catch2@3.4")', "Catch2"),
        ("CPMAddPackage(NAME fmt GIT_TAG 1)", "fmt"),
        ("ExternalProject_Add(zlib URL x)", "zlib"),
        ("rapids_cpm_cccl(BUILD_EXPORT_SET x)", "cccl"),
        ("file(DOWNLOAD https://a.org/CPM.cmake ${place})", "CPM.cmake"),
    ],
)
def test_what_a_build_downloads_is_named(command: str, name: str) -> None:
    (finding,) = translate_cmake(f"# FetchContent_Declare(no)\n{command}\n").findings
    assert f"downloads {name}," in finding.message
    assert diagnostic_of(finding).code == "CASS1017"
    assert finding.line == 2


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "list(APPEND CUDA_NVCC_FLAGS --std=c++11 ${more})",
            'string(APPEND CMAKE_HIP_FLAGS " --std=c++17 ${more}")',
        ),
        (
            'set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS};-O3 -DA=\\"b\\"")',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O3 -DA=\\"b\\"")',
        ),
        (
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -arch ${SM_TYPE} -O1")',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS}  -O1")',
        ),
        (
            'set(CMAKE_CUDA_FLAGS "-arch ${KIND} -O1")',
            'set(CMAKE_HIP_FLAGS " -O1")',
        ),
        (
            'set(CMAKE_OSX_FLAGS "-arch ${KIND}")  # CUDA',
            'set(CMAKE_OSX_FLAGS "-arch ${KIND}")  # CUDA',
        ),
        # clang's -G would take the next flag for its number.
        (
            'set(CMAKE_CUDA_FLAGS_DEBUG "${CMAKE_CUDA_FLAGS_DEBUG} -G --keep")',
            'set(CMAKE_HIP_FLAGS_DEBUG "${CMAKE_HIP_FLAGS_DEBUG} -g ")',
        ),
        (
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-G;-O0>)",
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-g;-O0>)",
        ),
        (
            "add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--device-debug>)",
            "add_compile_options($<$<COMPILE_LANGUAGE:HIP>:-g>)",
        ),
        (
            "execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja ${CMAKE_CUDA_FLAGS})",
            "execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja ${CMAKE_HIP_FLAGS})",
        ),
        # A target has the flags of its language, which are one text with blanks.
        (
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${CUDA_NVCC_FLAGS}>)",
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:HIP>:>)",
        ),
        (
            'add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${CMAKE_CUDA_FLAGS};-O1>")',
            'add_compile_options("$<$<COMPILE_LANGUAGE:HIP>:;-O1>")',
        ),
        (
            "set_source_files_properties(a.c PROPERTIES LANGUAGE CUDA)",
            "set_source_files_properties(a.c PROPERTIES LANGUAGE HIP)",
        ),
    ],
)
def test_flags_and_languages(command: str, expected: str) -> None:
    assert translate_cmake(f"{command}\n").source == f"{expected}\n"


def test_the_version_that_build_files_ask_for_is_that_of_the_sources() -> None:
    source = 'find_package(CUDA)\nif(CUDA_VERSION VERSION_LESS "11.0")\nendif()\n'
    assert "\nset(CUDA_VERSION 11.8)  #" in translate_cmake(source).source


GIVEN = (
    "if(NOT DEFINED CUDA_VERSION)\n"
    "  set(CUDA_VERSION 11.8)  # of which HIP's interfaces are\n"
    "endif()"
)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (
            "cmake_minimum_required(VERSION 3.8)\n",
            f"cmake_minimum_required(VERSION 3.8)\n{GIVEN}\n",
        ),
        ("# CUDA's\nset(A 1)\n", f"# CUDA's\n{GIVEN}\nset(A 1)\n"),
        ("", f"{GIVEN}\n"),
    ],
)
def test_a_file_may_ask_for_the_version_that_another_one_finds(first: str, expected: str) -> None:
    """As MPPI-Generic's does; a comparison with nothing is an error of CMake's."""
    asks = 'if(${CUDA_VERSION} VERSION_GREATER "11.2")\nendif()\n'
    assert translate_cmake(f"{first}{asks}").source == f"{expected}{asks}"


def test_headers_of_cuda_are_not_compiled() -> None:
    source = "file(GLOB CUDA_HEADERS models/*.cuh)\n"
    assert translate_cmake(source).source == source


def test_cmakes_modules_of_cuda_by_their_files() -> None:
    source = """project(a DESCRIPTION "for CUDA" LANGUAGES CUDA CXX)
include(FindCUDA)
add_library(a INTERFACE)
target_include_directories(a INTERFACE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
target_link_libraries(a INTERFACE ${CUDA_LIBRARIES})
"""
    expected = """project(a DESCRIPTION "for CUDA" LANGUAGES HIP CXX)
find_package(hip REQUIRED)
enable_language(HIP)
add_compile_definitions(__HIP_PLATFORM_AMD__=1)
add_library(a INTERFACE)
target_include_directories(a INTERFACE ${hip_INCLUDE_DIRS})
target_link_libraries(a INTERFACE hip::host)
"""
    assert translate_cmake(source).source == expected


@pytest.mark.parametrize(
    ("head", "body", "variables"),
    [
        (
            'cmake_parse_arguments(T "" "NAME" "SOURCES;MORE" ${ARGN})',
            "add_executable(${T_NAME} ${T_SOURCES} ${T_MORE})",
            ["T_SOURCES", "T_MORE"],
        ),
        (
            'cmake_parse_arguments(PARSE_ARGV 1 T "" "" "SOURCES")',
            "add_library(a ${T_SOURCES})",
            ["T_SOURCES"],
        ),
        (
            'CMAKE_PARSE_ARGUMENTS(T "" "" "" ${ARGN})',
            "add_executable(a ${T_UNPARSED_ARGUMENTS})",
            ["T_UNPARSED_ARGUMENTS"],
        ),
        (
            'cmake_parse_arguments("T" "" ""\n  "SOURCES;LIBS" ${ARGN})',
            "add_executable(a ${T_SOURCES})",
            ["T_SOURCES"],
        ),
        ("set(T_SOURCES a.cpp)", "add_executable(a ${T_SOURCES})", []),
        ("", "add_library(${ARGV})", ["ARGV"]),
        ("", "add_library(${name} a.cpp)", []),
    ],
)
def test_sources_that_a_function_parses(head: str, body: str, variables: list[str]) -> None:
    text = f"project(p CUDA)\nfunction(add name)\n{head}\n{body}\nendfunction()\n"
    made = translate_cmake(text).source
    assert [line for line in made.splitlines() if line.startswith("foreach(source ")] == [
        f"foreach(source ${{{name}}})" for name in variables
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("find_dependency(CUDAToolkit)", "find_dependency(hip)"),
        ("find_dependency(CUDAToolkit REQUIRED)", "find_dependency(hip)"),
        ("find_dependency(CUDA 10.1)", "find_dependency(hip)"),
        (
            "find_dependency(CUDAToolkit)\nset(x CUDA::cufft)",
            "find_dependency(hip)\nfind_dependency(hipfft)\nset(x hip::hipfft)",
        ),
        ("find_dependency(Threads)", "find_dependency(Threads)"),
    ],
)
def test_what_an_installed_package_depends_on(text: str, expected: str) -> None:
    assert translate_cmake(f"{text}\n").source == f"{expected}\n"


def test_marks_for_profilers_are_linked_by_their_file() -> None:
    made = translate_cmake("find_package(CUDAToolkit)\ntarget_link_libraries(a CUDA::nvToolsExt)\n")
    assert made.source == (
        "find_package(hip)\ntarget_link_libraries(a ${hip_LIB_INSTALL_DIR}/libroctx64.so)\n"
    )


@pytest.mark.parametrize(
    ("command", "address"),
    [
        ("execute_process(COMMAND wget https://a.org/x/v1.6.zip -O ${D}/x.zip)",
         "https://a.org/x/v1.6.zip"),
        ("execute_process(\n  COMMAND curl -L -o x.tgz https://a.org/x.tgz\n  RESULT_VARIABLE r)",
         "https://a.org/x.tgz"),
        ('execute_process(COMMAND git clone --depth 1 "https://a.org/x.git" x)',
         "https://a.org/x.git"),
        ("add_custom_command(OUTPUT d COMMAND /usr/bin/wget -q http://a.org/d)", "http://a.org/d"),
        ("# execute_process(COMMAND wget https://a.org/x)", ""),
        ('message("see https://a.org/x")', ""),
    ],
)  # fmt: skip
def test_what_programs_of_a_build_fetch_is_named(command: str, address: str) -> None:
    findings = translate_cmake(f"{command}\n").findings
    named = [item for item in findings if "no network" in item.message]
    assert len(named) == bool(address)
    assert all(f"downloads {address}," in item.message for item in named)
    assert all(diagnostic_of(item).code == "CASS1017" for item in named)


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ('list(APPEND CMAKE_CUDA_FLAGS "-cudart static")', 'string(APPEND CMAKE_HIP_FLAGS " ")'),
        ("list(APPEND CMAKE_CUDA_FLAGS -O3)", 'string(APPEND CMAKE_HIP_FLAGS " -O3")'),
        (
            'list( APPEND CMAKE_CUDA_FLAGS "-O3 -lineinfo" "-DX=${X}")',
            'string(APPEND CMAKE_HIP_FLAGS " -O3 -gline-tables-only -DX=${X}")',
        ),
        (
            "list(APPEND CMAKE_CUDA_FLAGS_RELEASE\n  --use_fast_math\n  -DN)",
            'string(APPEND CMAKE_HIP_FLAGS_RELEASE " -fgpu-approx-transcendentals -DN")',
        ),
        ("list(APPEND MY_FLAGS -O3)", "list(APPEND MY_FLAGS -O3)"),
        ('list(APPEND CMAKE_CUDA_FLAGS -DX="y")', 'list(APPEND CMAKE_HIP_FLAGS -DX="y")'),
    ],
)
def test_flags_that_are_appended_as_to_a_list(command: str, made: str) -> None:
    source = translate_cmake(f"project(x CUDA)\n{command}\n").source
    assert source == f"project(x HIP)\n{made}\n"
