"""CMake past what is not here: real CMake, on projects of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.builds.recording import BuildRecorder
from cass_ray.toolchain.sandbox import isolation
from tests.builds.test_recording import KERNEL, needs, project, recording

pytestmark = pytest.mark.skipif(not isolation.available(), reason="bubblewrap does not work here")

__all__ = ["recording"]

MINIMUM = "cmake_minimum_required(VERSION 3.18)\n"


def test_cmake_goes_on_past_packages_and_submodules_that_are_missing(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
find_package(NoSuchPackageAnywhere REQUIRED COMPONENTS part)
if(NoSuchPackageAnywhere_CXX_FOUND AND NoSuchPackageAnywhere_part_FOUND)
  add_compile_definitions(HAVE_ALL)
endif()
add_subdirectory(third_party/absent)
if(NOT EXISTS /opt/nothing)
  message(FATAL_ERROR "install something")
endif()
add_library(kernels a.cu)
target_link_libraries(kernels PRIVATE NoSuch::Target absent)
target_include_directories(absent PUBLIC x)
install(TARGETS kernels DESTINATION lib)
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert list(made.units) == ["a.cu"]
    assert made.units["a.cu"].definitions == ("HAVE_ALL",)
    assert any("install something" in entry for entry in made.log)


def test_cmake_that_is_newer_and_what_is_looked_for_in_vain(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    listing = """\
cmake_minimum_required(VERSION 4.99...5.1 FATAL_ERROR)
set(CMAKE_TOOLCHAIN_FILE external/vcpkg/scripts/buildsystems/vcpkg.cmake)
project(p LANGUAGES CXX CUDA)
include(cmake/NotThere.cmake)
find_path(NOWHERE_DIR nowhere.h REQUIRED)
find_library(NOWHERE_LIBRARY nowhere_at_all REQUIRED)
find_program(NOWHERE_TOOL no-such-program REQUIRED)
find_path(REGISTRY_DIR x.h PATHS "[HKEY_LOCAL_MACHINE\\\\SOFTWARE\\\\X;InstallPath]/inc" "")
find_path(OTHER_DIR nowhere_either.h)
find_library(OTHER_LIBRARY nowhere_either)
include_directories(${OTHER_DIR} ${NOWHERE_DIR} inc)
add_library(l a.cu)
target_link_libraries(l PRIVATE ${OTHER_LIBRARY} ${NOWHERE_LIBRARY})
set(BOTH "${CMAKE_SOURCE_DIR}/x;${CMAKE_SOURCE_DIR}/y")
set_target_properties(l PROPERTIES OUTPUT_NAME_DEBUG "" INCLUDE_DIRECTORIES "${BOTH}")
get_target_property(FOLDERS l INCLUDE_DIRECTORIES)
target_include_directories(l PRIVATE inc)
foreach(FOLDER ${FOLDERS})
  get_filename_component(FOLDER "${FOLDER}" NAME)
  target_compile_definitions(l PRIVATE HAS_${FOLDER}=1)
endforeach()
"""
    tree = project(
        tmp_path,
        CMakeLists_dot_txt=listing,
        a_dot_cu=KERNEL,
        inc__x_dot_h="",
        x__h_dot_h="",
        y__h_dot_h="",
    )

    made = recording.record(tree, [])

    assert made.units["a.cu"].include_directories == ("x", "y", "inc"), made.log
    assert made.units["a.cu"].definitions == ("HAS_x=1", "HAS_y=1")


NEWER = "set(CMAKE_CUDA_STANDARD 20)\nset(CMAKE_CUDA_STANDARD_REQUIRED ON)\n"


@pytest.mark.parametrize(
    "begin",
    [
        f"{NEWER}project(p LANGUAGES CXX CUDA)\n",
        f"project(p LANGUAGES CXX)\n{NEWER}enable_language(CUDA)\n",
    ],
)
def test_a_standard_that_cmake_does_not_know_is_set_before_the_language(
    recording: BuildRecorder, tmp_path: Path, begin: str
) -> None:
    """CMake 3.25 tries the compiler as that standard; newer ones know nvcc's option."""
    needs("cmake")
    lists = f"cmake_minimum_required(VERSION 3.18)\n{begin}add_library(l a.cu)\n"
    made = recording.record(project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL), [])
    assert made.units["a.cu"].standard == "c++20", made.log


def test_cmake_goes_on_past_commands_of_packages_that_are_not_here(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
find_package(nowhere_bind 2.12 CONFIG REQUIRED)
nowhere_bind_setup(SOMETHING ON)
nowhere_bind_add_module(bound MODULE NO_EXTRAS bindings.cpp kernels.cu)
target_compile_definitions(bound PRIVATE SIZE=32)
nowhere_strip(bound)
get_property(interface TARGET absent PROPERTY INTERFACE_INCLUDE_DIRECTORIES)
set_property(GLOBAL PROPERTY SEEN "x;y")
get_property(seen GLOBAL PROPERTY SEEN)
list(LENGTH seen COUNT)
configure_file(third_party/absent/version.h.in version.h)
configure_file(here.h.in here.h @ONLY)
target_compile_definitions(bound PRIVATE COUNT=${COUNT} INTERFACE_${interface}=1)
add_library(objects STATIC $<TARGET_OBJECTS:absent>)
add_library(faces INTERFACE)
add_library(two "")
target_sources(two PRIVATE third_party/absent/queue.hpp more.cu third_party/absent/a.cpp)
add_library(third STATIC third_party/absent/b.cu third.cu)
"""
    tree = project(
        tmp_path,
        CMakeLists_dot_txt=lists,
        kernels_dot_cu=KERNEL,
        more_dot_cu=KERNEL,
        third_dot_cu=KERNEL,
        bindings_dot_cpp="int bound;\n",
        here_dot_h_dot_in="#define COUNTED @COUNT@\n",
    )

    made = recording.record(tree, [])

    assert made.units["kernels.cu"].definitions == ("COUNT=2", "INTERFACE_=1", "SIZE=32"), made.log
    assert sorted(made.units) == ["kernels.cu", "more.cu", "third.cu"]
    assert made.generated["cass-build/here.h"] == b"#define COUNTED 2\n"
    said = "\n".join(made.log)
    assert "nowhere_bind_add_module" in said
    assert "third_party/absent/version.h.in is not here" in said


def test_cmake_of_before_quoted_words_were_words(recording: BuildRecorder, tmp_path: Path) -> None:
    """FindCUDA reads a property of a project whose CMake is older than 3.1 (CMP0054, CMP0057)."""
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 2.8)
project(p)
if(NOT EXISTS /opt/nothing)
  message(FATAL_ERROR "install something")
endif()
find_package(CUDA REQUIRED)
find_package(NoSuchPackageAnywhere REQUIRED)
cuda_add_library(kernels a.cu OPTIONS -DSIZE=4)
cuda_add_executable(program b.cu main.cpp)
add_library(plain INTERFACE IMPORTED)
"""
    files = {"a_dot_cu": KERNEL, "b_dot_cu": KERNEL, "main_dot_cpp": "int main() {}\n"}
    tree = project(tmp_path, CMakeLists_dot_txt=lists, **files)

    made = recording.record(tree, [])

    assert sorted(made.units) == ["a.cu", "b.cu"], made.log
    assert "SIZE=4" in made.units["a.cu"].definitions


def test_what_stands_before_cmakes_first_project(recording: BuildRecorder, tmp_path: Path) -> None:
    """A module that would be downloaded, and a newer CMake that a file of the tree asks for."""
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18 FATAL_ERROR)
include(cmake/settings.cmake)
include(fetched-module)
include("${CMAKE_CURRENT_LIST_DIR}/cmake/gone.cmake")
fetched_init_architectures(P)
project(p LANGUAGES CXX CUDA)
fetched_write_version(version.h)
write_macros(P)
own_macros(Q)
add_library(kernels a.cu)
target_include_directories(kernels PRIVATE ${CMAKE_BINARY_DIR})
"""
    macros = (
        "function({name} prefix)\n  if(prefix IN_LIST prefix OR TRUE)\n"
        "  configure_file(${{CMAKE_CURRENT_FUNCTION_LIST_DIR}}/macros.h.in ${{prefix}}_macros.h)\n"
        "  endif()\nendfunction()\n"
    )
    tree = project(
        tmp_path,
        CMakeLists_dot_txt=lists,
        cmake__settings_dot_cmake="cmake_minimum_required(VERSION 3.30.4...4.2)\n",
        a_dot_cu=KERNEL,
        tools__own_dot_cmake=macros.format(name="own_macros"),
        tools__macros_dot_h_dot_in="#define OWN ${prefix}\n",
    )
    folder = project(
        tree / ".cass-dependencies/macros",
        cmake__write_dot_cmake=macros.format(name="WRITE_MACROS"),
        cmake__macros_dot_h_dot_in="#define OF_DEPENDENCY ${prefix}\n",
    )

    made = recording.record(tree, [], {"https://github.com/n/macros.git": folder.name})

    assert made.units["a.cu"].include_directories == ("cass-build",), made.log
    assert made.generated["cass-build/P_macros.h"] == b"#define OF_DEPENDENCY P\n"
    assert made.generated["cass-build/Q_macros.h"] == b"#define OWN Q\n"
    assert any("fetched_init_architectures" in entry for entry in made.log)


@pytest.mark.parametrize(
    "call",
    [
        'CPMAddPackage(NAME Json GITHUB_REPOSITORY n/json VERSION 3 OPTIONS "JSON_SIZE 7")',
        'CPMFindPackage(NAME Json GIT_TAG v3 OPTIONS "JSON_SIZE 7")',
        'set(JSON_SIZE 7)\nCPMAddPackage("gh:n/Json#v3")',
        "set(JSON_SIZE 7)\nCPMAddPackage(gh:n/Json@3.1.2)\nCPMAddPackage(gh:n/Json@3.1.2)",
        "set(JSON_SIZE 7)\nCPMAddPackage(NAME Json SOURCE_SUBDIR .)",
    ],
)
def test_a_dependency_writes_its_headers_where_cpm_would_add_it(
    recording: BuildRecorder, tmp_path: Path, call: str
) -> None:
    needs("cmake")
    lists = f"""\
cmake_minimum_required(VERSION 3.18)
project(demo CXX CUDA)
include(cmake/get_cpm.cmake)
{call}
add_library(demo a.cu)
target_link_libraries(demo PRIVATE json)
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL)
    project(
        tree / ".cass-dependencies/Json",
        CMakeLists_dot_txt=(
            "cmake_minimum_required(VERSION 3.18)\nproject(json CXX)\nadd_library(json INTERFACE)\n"
            "configure_file(size.h.in generated/json/size.h)\n"
            "target_include_directories(json INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/generated)\n"
        ),
        size_dot_h_dot_in="#define SIZE ${JSON_SIZE}\n",
    )

    made = recording.record(tree, [], {"https://github.com/n/json.git": ".cass-dependencies/Json"})

    folder = "cass-build/_deps/json-build/generated"
    assert made.units["a.cu"].include_directories == (folder,), made.log
    assert made.generated[f"{folder}/json/size.h"] == b"#define SIZE 7\n"


def test_cmake_past_external_projects_and_with_a_standard_newer_than_it_knows(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_ARCHITECTURES native)
include(ExternalProject)
ExternalProject_Add(other GIT_REPOSITORY https://github.com/n/other.git
  PREFIX ${CMAKE_BINARY_DIR}/o CONFIGURE_COMMAND "" INSTALL_DIR x)
ExternalProject_Add_Step(other fix COMMAND false)
ExternalProject_Get_Property(other SOURCE_DIR INSTALL_DIR)
include(ExternalProject)
ExternalProject_Add(third URL https://nowhere/x.zip)
add_library(l STATIC a.cu)
add_dependencies(l other)
target_compile_features(l PUBLIC cuda_std_20)
target_include_directories(l PRIVATE ${SOURCE_DIR}/inc ${INSTALL_DIR}/include)
add_library(m STATIC b.cu)
set_target_properties(m PROPERTIES CUDA_STANDARD 23 CUDA_ARCHITECTURES native CUDA_EXTENSIONS OFF)
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL, b_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert made.units["a.cu"].include_directories == (
        "cass-build/o/src/other-source/inc",
        "cass-build/x/include",
    ), made.log
    assert {unit.standard for unit in made.units.values()} == {"c++20"}
    assert sorted(made.units) == ["a.cu", "b.cu"]
    assert any("third is not here" in entry for entry in made.log)


def test_statements_that_end_in_an_error_are_passed_over(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    """In files of the project and in functions of it, before project() and after, over lines."""
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
message(FATAL_ERROR "set NOWHERE_ROOT) first"
  # the parenthesis ) of a comment
)
project(p LANGUAGES CXX CUDA)
function(broken target)
  string(REGEX MATCH "(" found "x")
  target_compile_definitions(${target} PRIVATE INSIDE=1)
endfunction()
add_library(kernels a.cu)
set_property(TARGET nowhere PROPERTY X [=[ ) ]=])
list(GET)
set_target_properties(kernels PROPERTIES A)
broken(kernels)
add_subdirectory(sub)
add_custom_command(OUTPUT made.h COMMAND no-such-generator
  COMMAND ${CMAKE_COMMAND} -E touch made.h)
add_library(with_generated b.cu made.h)
"""
    tree = project(
        tmp_path,
        CMakeLists_dot_txt=lists,
        sub__CMakeLists_dot_txt='math(EXPR x "1 +")\nadd_library(sub c.cu)\n',
        a_dot_cu=KERNEL,
        b_dot_cu=KERNEL,
        sub__c_dot_cu=KERNEL,
    )

    made = recording.record(tree, [])

    assert sorted(made.units) == ["a.cu", "b.cu", "sub/c.cu"], made.log
    assert made.units["a.cu"].definitions == ("INSIDE=1",)
    said = "\n".join(made.log)
    for statement in ("message at CMakeLists.txt:2", "string at CMakeLists.txt:7",
                      "list at CMakeLists.txt:12", "math at sub/CMakeLists.txt:1"):  # fmt: skip
        assert statement in said


@pytest.mark.parametrize(
    ("option", "is_on"),
    [
        ("P_NVIDIA_BACKEND", True),
        ("USE_CUDA", True),
        ("P_AMD_BACKEND", False),
        ("ENABLE_HIP", False),
        ("USE_ROCM", False),
        ("WITH_GPU_SUPPORT", True),
    ],
)
def test_projects_for_several_vendors_are_built_for_nvidia(
    recording: BuildRecorder, tmp_path: Path, option: str, is_on: bool
) -> None:
    needs("cmake")
    lists = f"""\
cmake_minimum_required(VERSION 3.18)
option({option} "the vendor" {"OFF" if is_on else "ON"})
if(NOT {option})
  set(OTHER other.cu)
endif()
project(p LANGUAGES CXX CUDA)
if({option})
  add_library(kernels a.cu)
else()
  add_library(kernels ${{OTHER}})
endif()
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL, other_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert list(made.units) == ["a.cu" if is_on else "other.cu"], made.log


@pytest.mark.parametrize(
    "lists",
    [
        f"{MINIMUM}project(p Fortran CXX CUDA)\n",
        f"{MINIMUM}project(p VERSION 1.0\n LANGUAGES CXX CUDA Fortran)\n",
        f"{MINIMUM}project(p CXX CUDA)\nenable_language(Fortran)\n",
        f'{MINIMUM}project(p LANGUAGES Swift CUDA "CXX")\n',
        "project(p VERSION 1.2 LANGUAGES CXX CUDA)\n",
    ],
)
def test_languages_without_a_compiler_are_left_out(
    recording: BuildRecorder, tmp_path: Path, lists: str
) -> None:
    """The last one asks for no version of CMake (CMP0048)."""
    needs("cmake")
    text = f"{lists}add_library(kernels a.cu)\n"
    tree = project(tmp_path, CMakeLists_dot_txt=text, a_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert list(made.units) == ["a.cu"], made.log


def test_cmake_asks_python_of_pytorch(recording: BuildRecorder, tmp_path: Path) -> None:
    needs("cmake")
    lists = f"""\
{MINIMUM}project(p LANGUAGES CXX CUDA)
find_package(Torch REQUIRED)
foreach(question __version__ version.cuda _C._GLIBCXX_USE_CXX11_ABI)
  execute_process(COMMAND "${{PYTHON_EXECUTABLE}}" -c "import torch; print(torch.${{question}})"
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND answers "${{answer}}")
endforeach()
string(REPLACE ";" "_" answers "${{answers}}")
add_library(kernels a.cu)
target_compile_definitions(kernels PRIVATE OF_TORCH=${{answers}})
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert made.units["a.cu"].definitions == ("OF_TORCH=2.9.1_13.0_True",), made.log


def test_options_for_parts_that_have_cuda_sources(recording: BuildRecorder, tmp_path: Path) -> None:
    needs("cmake")
    listing = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
add_library(headers INTERFACE)
target_compile_definitions(headers INTERFACE BY_ITS_BUILD=1)
option(P_BUILD_TESTS "the tests" OFF)
option(P_BUILD_EXAMPLES "no sources of CUDA" OFF)
if(P_BUILD_TESTS)
  find_package(NoSuchTests REQUIRED)
  add_executable(t tests/unit/a.cu)
  target_link_libraries(t PRIVATE headers NoSuchTests::main)
endif()
if(P_BUILD_EXAMPLES)
  message(FATAL_ERROR "examples are not wanted")
endif()
"""
    tree = project(tmp_path, CMakeLists_dot_txt=listing)
    (tree / "tests/unit").mkdir(parents=True)
    (tree / "tests/unit/a.cu").write_text(KERNEL)

    made = recording.record(tree, [])

    assert list(made.units) == ["tests/unit/a.cu"]
    assert "BY_ITS_BUILD=1" in str(made.units["tests/unit/a.cu"])
    assert not any("examples are not wanted" in entry for entry in made.log)


def test_cmake_that_finds_the_project_by_a_variable_of_the_environment(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
if(NOT DEFINED ENV{PROJECT_HOME})
  message(FATAL_ERROR "set PROJECT_HOME")
endif()
set(HOME_OF_IT $ENV{PROJECT_HOME})
include(${HOME_OF_IT}/cmake/all.cmake)
add_library(kernels a.cu)
"""
    tree = project(
        tmp_path,
        part__CMakeLists_dot_txt=lists,
        part__a_dot_cu=KERNEL,
        cmake__all_dot_cmake="add_compile_definitions(FOUND=1)\n",
    )
    assert "FOUND=1" in recording.record(tree, []).units["part/a.cu"].definitions
