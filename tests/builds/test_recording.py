"""Builds of each kind, recorded: real make and CMake, on projects of our own."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
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
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/all/x.cu "#include <${CMAKE_CURRENT_SOURCE_DIR}/inc/x.h>\n")
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
    assert made.generated["cass-build/all/x.cu"] == b'#include "../../inc/x.h"\n'


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
        "import torch\nassert torch.ones(2, 2).cuda().min().item() == 2, 'needs CUDA 10'",
        "from no_such import count\nif count() < 1: raise SystemExit('needs a GPU')",
        "import torch\nn = torch.cuda.current_device() + len(torch.cuda.mem_get_info(0)[0])",
        "import torch\nif not torch.backends.cuda.is_built():\n    make = lambda: None",
        "from distutils.version import LooseVersion\nimport torch\n"
        "if LooseVersion(torch.__version__) < LooseVersion('1.5'): make = lambda: None",
        "from packaging.version import parse\nimport torch\n"
        "if not parse('9.2') < parse(torch.version.cuda) < parse('100'): make = lambda: None",
        "import distutils.command.clean\nclass C(distutils.command.clean.clean): pass",
        "from torch.utils import cpp_extension\nmake_of = cpp_extension.CUDAExtension\n"
        "make = lambda: make_of('x', ['a.cu'], extra_compile_args={'nvcc': ['-std=c++20']})",
        "import os\nif os.getenv('BUILD_CUDA', '0') != '1': make = lambda: None",
        "import os\nif os.environ.get('X_KEEP_CUDA_BUILD', 'FALSE') == 'TRUE': kept = make\n"
        "make = lambda: kept()",
        "import sys\nif '--cuda_ext' not in sys.argv: make = lambda: None",
        "import os\nif os.environ.get('SKIP_CUDA_BUILD', '0') == '1': make = lambda: None",
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

        with tempfile.NamedTemporaryFile(dir=Path.home(), prefix="cass-own-"):
            made = recording.record(tree, [])

        del os.environ["CASS_TEST_SECRET"]
        assert list(outside.iterdir()) == []
        assert not Path("/usr/written").exists()
        # Tools that are installed below the home folder are seen there.
        assert b"cass-own-" not in made.generated.pop("home.h", b"")
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
    assert not [path for path in made.generated if path.endswith(".cu")], "Meson's own checks"
    assert "cass-build" in unit.include_directories


MESSAGE = 'syntax = "proto3";\n{imports}package p;\nmessage {name} {{ int32 n = 1; {rest} }}\n'


@pytest.mark.parametrize("folder", ["", "core/", "src/lib/", "a/b/c/d/", "third/proto/"])
def test_headers_of_protocol_buffers_that_no_build_wrote(
    recording: BuildRecorder, tmp_path: Path, folder: str
) -> None:
    """Nothing configures this project; its files are included as its sources name them."""
    needs("protoc")
    if not Path("/usr/include/google/protobuf/any.proto").is_file():
        pytest.skip("protoc is here without the messages that come with it (libprotobuf-dev)")
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
