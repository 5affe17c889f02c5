"""Builds of each kind, recorded: real make and CMake, on projects of our own."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from cass_ray.builds.recording import BuildRecorder, RecordedBuild
from cass_ray.cache import default_directory
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.provided.packages_table import packages_of_programs
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Limits

pytestmark = pytest.mark.skipif(not isolation.available(), reason="bubblewrap does not work here")

MINIMUM = "cmake_minimum_required(VERSION 3.18)\n"
KERNEL = "__global__ void k(int *a) { a[0] = N; }\n"
LIMITS = Limits(
    cpu_seconds=120, wall_seconds=240, memory_bytes=4 << 30, address_space_bytes=None, processes=128
)


@pytest.fixture(scope="module")
def recording() -> BuildRecorder:
    try:
        nvidia = find_nvidia()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    store = HeaderStore(default_directory())
    return BuildRecorder(nvidia.nvcc, nvidia.home, nvidia.library_directories, store, LIMITS)


def project(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def test_make_with_a_switch_that_is_off_and_a_compiler_by_its_path(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("make")
    makefile = """\
GPU=0
CUDA_DIR ?= /usr/local/cuda
NVCC = $(CUDA_DIR)/bin/nvcc
all: config.h
ifeq ($(GPU), 1)
all: a.o b.o
endif
config.h:
\techo '#define N 7' > config.h
a.o: src/a.cu
\t$(NVCC) -DGPU -Iinclude -gencode arch=compute_30,code=sm_30 -c $< -o $@
b.o: src/b.cu
\tfalse
"""
    tree = project(
        tmp_path, Makefile=makefile, src__a_dot_cu=KERNEL, src__b_dot_cu=KERNEL, include__x_dot_h=""
    )

    made = recording.record(tree, [])

    assert made.units["src/a.cu"].definitions == ("GPU",)
    assert made.units["src/a.cu"].include_directories == ("include",)
    assert made.generated == {"config.h": b"#define N 7\n"}
    assert "src/b.cu" not in made.units


def test_cmake_with_cudas_language_a_generated_header_and_an_option(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX)
option(WITH_CUDA "use the GPU" OFF)
configure_file(config.h.in generated/config.h)
if(WITH_CUDA)
  enable_language(CUDA)
  add_library(kernels src/a.cu)
  target_include_directories(kernels PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated inc)
  target_compile_definitions(kernels PRIVATE COUNT=3)
  add_executable(generate generate.cpp)
endif()
"""
    tree = project(
        tmp_path,
        CMakeLists_dot_txt=lists,
        config_dot_h_dot_in="#define N 5\n",
        src__a_dot_cu=KERNEL,
        inc__x_dot_h="",
        generate_dot_cpp="int main() {}\n",
    )

    made = recording.record(tree, [])

    unit = made.units["src/a.cu"]
    assert unit.include_directories == ("cass-build/generated", "inc")
    assert "COUNT=3" in unit.definitions
    assert made.generated["cass-build/generated/config.h"] == b"#define N 5\n"


def test_cmake_goes_on_past_packages_and_submodules_that_are_missing(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
find_package(NoSuchPackageAnywhere REQUIRED)
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


def test_configure_tries_compilers_for_real(recording: BuildRecorder, tmp_path: Path) -> None:
    needs("make")
    configure = """\
#!/bin/sh
echo 'int main(void) { return 0; }' > conftest.c
${CC-cc} conftest.c -o conftest && ./conftest && echo '#define WORKS 1' > config.h
echo 'int main(void) { return absent_function(); }' > conftest.c
${CC-cc} -Werror conftest.c -o conftest 2>/dev/null || echo '#define ABSENT 1' >> config.h
printf 'all:\\n\\tnvcc -DHAVE_CONFIG_H -I. -c a.cu\\n' > Makefile
"""
    tree = project(tmp_path, configure=configure, a_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert made.generated == {"config.h": b"#define WORKS 1\n#define ABSENT 1\n"}
    assert made.units["a.cu"].definitions == ("HAVE_CONFIG_H",)


@pytest.mark.parametrize("first", ["#!/bin/bash", "#! /usr/bin/env bash"])
def test_a_configure_that_bash_alone_reads(
    recording: BuildRecorder, tmp_path: Path, first: str
) -> None:
    needs("make")
    configure = f"""\
{first}
files=(a.cu)
[[ $1 == --with-cuda=* ]] && exit 1
printf 'all:\\n\\tnvcc -DWORKS -c %s\\n' "${{files[0]}}" > Makefile
"""
    made = recording.record(project(tmp_path, configure=configure, a_dot_cu=KERNEL), [])
    assert made.units["a.cu"].definitions == ("WORKS",)


def test_autotools_from_their_sources(recording: BuildRecorder, tmp_path: Path) -> None:
    packages = packages_of_programs(["autoconf", "automake"])
    if not all(recording.store.has(package) for package in packages):
        pytest.skip("cass setup headers has not been run")
    tree = project(
        tmp_path,
        configure_dot_ac="AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n"
        "AC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        config_dot_h_dot_in="#undef PACKAGE\n",
        Makefile_dot_am="bin_PROGRAMS = p\np_SOURCES = a.cu\n.cu.o:\n"
        "\tnvcc -I$(top_srcdir)/inc -c $< -o $@\n",
        a_dot_cu=KERNEL,
        inc__x_dot_h="",
    )

    made = recording.record(tree, packages)

    assert made.units["a.cu"].include_directories == ("inc",)
    assert b'#define PACKAGE "p"' in made.generated["config.h"]


def test_extensions_of_a_setup_script(recording: BuildRecorder, tmp_path: Path) -> None:
    setup = """\
import os
from setuptools import find_packages, setup
import numpy
import torch
from torch.utils.cpp_extension import BuildExtension, CUDAExtension, CUDA_HOME
assert torch.cuda.is_available() and CUDA_HOME and torch.__version__ >= "2"
here = os.path.dirname(os.path.abspath(__file__))
setup(
    name="x",
    packages=find_packages(),
    ext_modules=[
        CUDAExtension(
            "x._C",
            ["csrc/a.cpp", os.path.join(here, "csrc/a.cu")],
            include_dirs=[os.path.join(here, "csrc"), numpy.get_include()],
            define_macros=[("WITH_CUDA", None), ("COUNT", "3")],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "-DINNER"]},
        )
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
"""
    tree = project(tmp_path, setup_dot_py=setup, csrc__a_dot_cu=KERNEL, csrc__a_dot_cpp="")

    made = recording.record(tree, [])

    unit = made.units["csrc/a.cu"]
    assert unit.include_directories == ("csrc",)
    assert {"WITH_CUDA", "COUNT=3", "INNER", "TORCH_EXTENSION_NAME=_C"} <= set(unit.definitions)


@pytest.mark.parametrize(
    "before",
    [
        "import subprocess\nassert subprocess.check_output(['echo', 'x']) == b'x\\n'",
        "import platform, torch\nassert torch.__config__.parallel_info().find('OpenMP') != 1",
        "import cmake_like\nassert cmake_like.__file__\ncmake_like.Tool.version.major",
        "from wheel.bdist_wheel import bdist_wheel\nclass B(bdist_wheel): pass",
        "extension = make()\nimport no_such.module\nraise SystemExit('needs a GPU')",
        "import asyncio, multiprocessing, shutil, sysconfig",
    ],
)
def test_setup_scripts_that_ask_more_of_this_machine(
    recording: BuildRecorder, tmp_path: Path, before: str
) -> None:
    setup = f"""\
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
def make():
    return CUDAExtension("x", ["a.cu"], extra_compile_args={{"nvcc": ["-std=c++20"]}})
{before}
setup(name="x", ext_modules=[make()])
"""
    tree = project(tmp_path, setup_dot_py=setup, a_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert made.units["a.cu"].standard == "c++20", made.log


def test_what_cannot_be_built_says_why_and_keeps_what_there_is(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("make")
    makefile = "all:\n\techo '#define N 1' > made.h\n\tnvcc -c a.cu\n\tthere-is-no-such-program\n"
    tree = project(tmp_path, Makefile=makefile, a_dot_cu=KERNEL, c_dot_cu=KERNEL)

    made = recording.record(tree, [])

    assert set(made.units) == {"a.cu"}
    assert set(made.generated) == {"made.h"}
    assert "there-is-no-such-program" in made.log[0]


def test_a_record_comes_back_from_the_cache_as_it_was() -> None:
    made = RecordedBuild(generated={"a.h": bytes(range(256))}, log=["make"])

    assert RecordedBuild.model_validate_json(made.model_dump_json()) == made


class TestHostile:
    """A project's build is a stranger's program."""

    def test_it_sees_and_writes_nothing_of_this_machine(
        self, recording: BuildRecorder, tmp_path: Path
    ) -> None:
        needs("make")
        secret = tmp_path / "secret.h"
        secret.write_text("secret")
        outside = tmp_path / "outside"
        outside.mkdir()
        makefile = f"""\
all:
\t-cat {secret} > stolen.h
\t-ln -s {secret} linked.h
\t-ln {secret} hard.h
\t-mkfifo pipe.h
\t-cp /etc/passwd passwd.h
\t-ls -a {Path.home()} > home.h
\t-touch {outside}/written /usr/written /cass/recorders/written /cass/cuda/written
\t-env > environment.h
\tnvcc -c a.cu
"""
        tree = project(tmp_path / "tree", Makefile=makefile, a_dot_cu=KERNEL)
        os.environ["CASS_TEST_SECRET"] = "secret"

        made = recording.record(tree, [])

        del os.environ["CASS_TEST_SECRET"]
        assert list(outside.iterdir()) == []
        assert not Path("/usr/written").exists()
        assert made.generated.get("home.h", b"") == b""
        assert set(made.generated) == {"environment.h"}
        assert b"secret" not in made.generated["environment.h"]
        assert set(made.units) == {"a.cu"}

    def test_it_has_no_network(self, recording: BuildRecorder, tmp_path: Path) -> None:
        needs("cmake")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            lists = f"""\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES NONE)
file(DOWNLOAD http://127.0.0.1:{port}/x ${{CMAKE_SOURCE_DIR}}/x.h TIMEOUT 3)
execute_process(COMMAND sh -c "echo > /dev/tcp/127.0.0.1/{port}")
"""
            tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL)

            made = recording.record(tree, [])

            server.settimeout(0)
            with pytest.raises(BlockingIOError):
                server.accept()
        assert made.generated == {}

    def test_records_that_it_forges_name_no_file_outside(
        self, recording: BuildRecorder, tmp_path: Path
    ) -> None:
        needs("make")
        forged = (
            '{"compiler": "nvcc", "directory": "/etc", '
            '"arguments": ["-I/etc", "-I/cass/source/.."],'
            ' "sources": ["/etc/passwd", "/cass/source/../x.cu", "/cass/source/b.cu"]}'
        )
        makefile = f"all:\n\techo '{forged}' >> $$CASS_RECORD\n\tnvcc -c a.cu\n"
        tree = project(tmp_path, Makefile=makefile, a_dot_cu=KERNEL, b_dot_cu=KERNEL)

        made = recording.record(tree, [])

        assert set(made.units) == {"a.cu", "b.cu"}
        assert made.units["b.cu"].include_directories == ()

    def test_a_build_without_end_is_ended(self, recording: BuildRecorder, tmp_path: Path) -> None:
        needs("make")
        makefile = "all: a.o\n\twhile :; do :; done\na.o:\n\tnvcc -c a.cu\n"
        tree = project(tmp_path, Makefile=makefile, a_dot_cu=KERNEL, b_dot_cu=KERNEL)
        short = Limits(cpu_seconds=3, wall_seconds=30, address_space_bytes=None)
        from dataclasses import replace

        made = replace(recording, limits=short).record(tree, [])

        assert set(made.units) == {"a.cu"}
        assert "time_limit" in made.log[0]

    def test_a_record_that_is_a_link_is_not_read(
        self, recording: BuildRecorder, tmp_path: Path
    ) -> None:
        needs("make")
        makefile = "all:\n\tln -sf /etc/passwd $$CASS_RECORD; nvcc -c a.cu\n"
        tree = project(tmp_path, Makefile=makefile, a_dot_cu=KERNEL)

        assert recording.record(tree, []).units == {}


def test_what_a_build_would_clone_is_copied(recording: BuildRecorder, tmp_path: Path) -> None:
    needs("make")
    makefile = """\
all: a.o
a.o: a.cu
\tgit submodule update --init --recursive
\tgit clone --depth 1 -q https://github.com/f/Fmt fmt_here
\tcp fmt_here/core.h fmt_core.h
\t-git clone https://github.com/f/other.git
\tnvcc -Iother -c a.cu
"""
    tree = project(
        tmp_path,
        Makefile=makefile,
        a_dot_cu=KERNEL,
        _dot_cass_dependencies__fmt__core_dot_h="int core;\n",
    )
    (tree / ".cass_dependencies").rename(tree / ".cass-dependencies")
    (tree / ".cass-dependencies/fmt/b.cu").write_text(KERNEL)

    made = recording.record(tree, [], {"https://github.com/f/fmt.git": ".cass-dependencies/fmt"})

    assert made.units["a.cu"].include_directories == ("other",)
    assert made.generated["fmt_core.h"] == b"int core;\n"
    assert not (tree / "other").exists()
    assert len(made.log) == 1
    assert "other.git: not brought before the build" in made.log[0]


@pytest.mark.parametrize("here", [True, False])
def test_cmake_finds_what_it_would_fetch(
    recording: BuildRecorder, tmp_path: Path, here: bool
) -> None:
    needs("cmake")
    lists = """\
cmake_minimum_required(VERSION 3.18)
project(demo CXX CUDA)
include(FetchContent)
FetchContent_Declare(Json GIT_REPOSITORY https://github.com/n/json.git GIT_TAG v3)
FetchContent_MakeAvailable(Json)
add_library(demo a.cu)
if(TARGET json)
  target_link_libraries(demo json)
endif()
"""
    tree = project(tmp_path, CMakeLists_dot_txt=lists, a_dot_cu=KERNEL)
    places = {}
    if here:
        project(
            tree / ".cass-dependencies/Json",
            CMakeLists_dot_txt=(
                "cmake_minimum_required(VERSION 3.18)\nproject(json CXX)\n"
                "add_library(json INTERFACE)\n"
                "target_include_directories(json INTERFACE include)\n"
            ),
            include__json_dot_h="int json;\n",
        )
        places = {"https://github.com/n/json.git": ".cass-dependencies/Json"}

    made = recording.record(tree, [], places)

    assert made.units["a.cu"].include_directories == (
        (".cass-dependencies/Json/include",) if here else ()
    ), made.log


def test_meson(recording: BuildRecorder, tmp_path: Path) -> None:
    needs("ninja")
    packages = packages_of_programs({"meson", "pkg-config"})
    if not all(recording.store.has(each) for each in packages):
        pytest.skip("the package meson is not in the cache (cass setup headers meson)")
    build = """\
project('demo', 'cpp', 'cuda')
cc = meson.get_compiler('cpp')
sizes = configuration_data()
sizes.set('N', cc.sizeof('int') + 3)
configure_file(output: 'config.h', configuration: sizes)
library('demo', 'src/a.cu', include_directories: 'include', cpp_args: '-DHOST',
        cuda_args: ['-DWITH_CUDA=1'])
"""
    tree = project(
        tmp_path, meson_dot_build=build, src__a_dot_cu=KERNEL, include__x_dot_h="int x;\n"
    )

    made = recording.record(tree, packages)

    unit = made.units["src/a.cu"]
    assert "include" in unit.include_directories, made.log
    assert "WITH_CUDA=1" in unit.definitions
    assert "HOST" not in unit.definitions
    assert b"#define N 7" in made.generated["cass-build/config.h"]
    assert "cass-build" in unit.include_directories


MESSAGE = 'syntax = "proto3";\n{imports}package p;\nmessage {name} {{ int32 n = 1; {rest} }}\n'


@pytest.mark.parametrize("folder", ["", "core/", "src/lib/", "a/b/c/d/", "third/proto/"])
def test_headers_of_protocol_buffers_that_no_build_wrote(
    recording: BuildRecorder, tmp_path: Path, folder: str
) -> None:
    """Nothing configures this project; its files are included as its sources name them."""
    needs("protoc")
    named = "" if folder == "src/lib/" else folder
    files = {
        f"{folder}one.proto": MESSAGE.format(imports="", name="One", rest=""),
        f"{folder}two.proto": MESSAGE.format(
            imports=f'import "{named}one.proto";\nimport "google/protobuf/any.proto";\n',
            name="Two",
            rest="One one = 2; google.protobuf.Any any = 3;",
        ),
        f"{folder}lost.proto": MESSAGE.format(
            imports='import "nowhere/lost.proto";\n', name="Lost", rest=""
        ),
        "CMakeLists.txt": "project(p)\nmessage(FATAL_ERROR no)\n",
        "src/a.cu": KERNEL,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    made = recording.record(tmp_path, [])

    assert f"{folder}one.pb.h" in made.generated
    assert f'#include "{named}one.pb.h"' in made.generated[f"{folder}two.pb.h"].decode()
    assert f"{folder}lost.pb.h" not in made.generated
    assert f"{folder}lost.proto: a file that it imports is missing" in made.log[-1]


def test_headers_that_a_build_wrote_are_not_written_again(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    needs("protoc")
    needs("make")
    makefile = "all:\n\tmkdir -p out\n\techo '// of the build' > out/one.pb.h\n\tnvcc -c a.cu\n"
    (tmp_path / "Makefile").write_text(makefile)
    (tmp_path / "a.cu").write_text(KERNEL)
    (tmp_path / "one.proto").write_text(MESSAGE.format(imports="", name="One", rest=""))

    made = recording.record(tmp_path, [])

    assert [path for path in made.generated if path.endswith(".pb.h")] == ["out/one.pb.h"]


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


@pytest.mark.parametrize("folder", ["build-cuda", "Code/CMake", "linux", "make/gpu"])
def test_a_build_beside_the_sources(recording: BuildRecorder, tmp_path: Path, folder: str) -> None:
    """Of two build files the one that speaks of CUDA, wherever it lies."""
    needs("make")
    up = "/".join(".." for _ in folder.split("/"))
    rule = f"all:\n\t{{}} -I{up}/src/inc -DN=3 -c {up}/src/{{}} -o out.o\n"
    tree = project(tmp_path, src__a_dot_cu=KERNEL, src__b_dot_cpp="int b;\n")
    for place, words in ((folder, ("nvcc", "a.cu")), ("cpu", ("g++", "b.cpp"))):
        (tree / place).mkdir(parents=True)
        (tree / place / "Makefile").write_text(rule.format(*words))

    made = recording.record(tree, [])

    assert list(made.units) == ["src/a.cu"], made.log
    assert made.units["src/a.cu"].include_directories == ("src/inc",)
    assert [entry.partition(":")[0] for entry in made.log] == [f"make in {folder}"]


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
