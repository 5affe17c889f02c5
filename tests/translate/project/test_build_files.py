"""Build files of CUDA projects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cass_ray.translate.project.build_files import (
    kind_of,
    translate_cmake,
    translate_makefile,
    translate_module,
    translate_setup,
)
from cass_ray.translate.project.makefiles import translate_script
from cass_ray.translate.protocol import Severity, Translation


def test_a_cmake_project() -> None:
    source = """cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_ARCHITECTURES 70 80)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -Xcompiler -Wall --use_fast_math")
add_executable(demo src/main.cu util.cpp)
target_compile_options(demo PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
target_link_libraries(demo PRIVATE CUDA::cudart CUDA::cublas)
set_target_properties(demo PROPERTIES CUDA_ARCHITECTURES "70;80")
file(GLOB kernels kernels/*.cu)
"""
    expected = """cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES CXX HIP)
find_package(hip REQUIRED)
find_package(hipblas REQUIRED)
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES gfx1100)
  if(DEFINED ENV{HIP_ARCHITECTURES})
    set(CMAKE_HIP_ARCHITECTURES $ENV{HIP_ARCHITECTURES})
  endif()
endif()
set(CMAKE_HIP_STANDARD 17)
set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -Wall -fgpu-approx-transcendentals")
add_executable(demo src/main.cu util.cpp)
set_source_files_properties(src/main.cu PROPERTIES LANGUAGE HIP)
target_compile_options(demo PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-gline-tables-only>)
target_link_libraries(demo PRIVATE hip::host roc::hipblas)
set_target_properties(demo PROPERTIES HIP_ARCHITECTURES "${CMAKE_HIP_ARCHITECTURES}")
file(GLOB kernels kernels/*.cu)
set_source_files_properties(${kernels} PROPERTIES LANGUAGE HIP)
"""
    result = translate_cmake(source)
    assert result.source == expected
    assert not result.findings
    assert translate_cmake(expected).source == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("CMakeLists.txt", "project(a CUDA)\ntarget_compile_definitions(a PUBLIC {})\n"),
        ("Makefile", "a: a.cu\n\tnvcc -D{} -o a a.cu\n"),
        ("setup.py", "CUDAExtension('a', ['a.cu'], extra_compile_args={{'nvcc': ['-D{}']}})\n"),
    ],
)
def test_thrust_for_cuda_is_thrust_for_hip(path: str, text: str) -> None:
    translate = kind_of(path)
    assert translate is not None
    system = "THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_"
    assert f"{system}HIP" in translate(text.format(f"{system}CUDA")).source
    assert f"{system}OMP" in translate(text.format(f"{system}OMP")).source


def test_a_target_without_counterpart_is_an_error() -> None:
    (error,) = translate_cmake("x()\n  target_link_libraries(a CUDA::nppc)\n").findings
    assert (error.line, error.severity) == (2, Severity.ERROR)
    assert "CUDA::nppc" in error.message


def test_the_end_of_a_files_name_may_be_a_variable() -> None:
    source = "# CUDA\nadd_library(a_${device} STATIC b/${device}/make.${suffix})\n"
    assert translate_cmake(source).source == (
        f"{source}"
        'if("b/${device}/make.${suffix}" MATCHES "[.]cu$")\n'
        "  set_source_files_properties(b/${device}/make.${suffix} PROPERTIES LANGUAGE HIP)\n"
        "endif()\n"
    )


def test_device_code_by_cmake_is_c_plus_plus_17_at_least() -> None:
    source = (
        "project(x LANGUAGES CXX CUDA)\nset(CMAKE_CXX_STANDARD 11)\nset(CMAKE_CUDA_STANDARD 14)\n"
        "set_target_properties(x PROPERTIES CUDA_STANDARD 20)\n"
        'set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS} -O2 -std=c++0x")\n'
    )
    made = translate_cmake(source).source
    assert "set(CMAKE_CXX_STANDARD 11)\nset(CMAKE_HIP_STANDARD 17)\n" in made
    assert "HIP_STANDARD 20" in made
    assert 'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O2 -std=c++17")' in made


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("list(APPEND CMAKE_CUDA_ARCHITECTURES 70 75)", ""),
        ("LIST(PREPEND CMAKE_CUDA_ARCHITECTURES ${arch})", ""),
        ("list(REMOVE_ITEM CMAKE_CUDA_ARCHITECTURES 52)", ""),
        ("unset(CMAKE_CUDA_ARCHITECTURES)", ""),
        ("unset(CMAKE_CUDA_ARCHITECTURES CACHE)", ""),
        ('list(JOIN CMAKE_CUDA_ARCHITECTURES "," a)', 'list(JOIN CMAKE_HIP_ARCHITECTURES "," a)'),
        ("list(APPEND NUMBERS 70)", "list(APPEND NUMBERS 70)"),
    ],
)
def test_targets_are_not_for_the_project_to_change(line: str, left: str) -> None:
    """CMake 4 refuses a target whose ``HIP_ARCHITECTURES`` is empty, clang a target ``70``."""
    made = translate_cmake(f"project(x CUDA)\n{line}\nadd_executable(x x.cu)\n").source
    assert made.splitlines()[1] == left


def test_cmake_without_cuda_stays() -> None:
    source = "project(x LANGUAGES CXX)\nadd_executable(x a.cpp) # -lineinfo\n"
    assert translate_cmake(source).source == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("NVCC := nvcc\n", "NVCC := hipcc\n"),
        ("NVCC = $(CUDA_PATH)/bin/nvcc\n", "NVCC = hipcc\n"),
        ("a: a.cu\n\tnvcc -arch=sm_80 -O2 a.cu -o a -lcublas -lcudart\n",
         "a: a.cu\n\thipcc  -O2 a.cu -o a -lhipblas \n"),
        ("F = -gencode arch=compute_80,code=sm_80 -rdc=true # nvcc\n", "F =  -fgpu-rdc # hipcc\n"),
        ("a: a.cu\n\tnvcc -t=0 -std=c++17 a.cu -lnvidia-ml\n",
         "a: a.cu\n\thipcc  -std=c++17 a.cu -lrocm_smi64\n"),
        # CUDA's folders are named for g++, which knows neither of ROCm's.
        ("a: a.cpp\n\tg++ -I${CUDA}/include a.cpp -L/usr/local/cuda-12/lib64/stubs -lcudart\n",
         "ROCM_PATH ?= /opt/rocm\na: a.cpp\n\tg++ -I$(ROCM_PATH)/include -D__HIP_PLATFORM_AMD__"
         " a.cpp -L$(ROCM_PATH)/lib -lamdhip64\n"),
        ("a: a.cpp\n\tg++ -I$(GPU_INC) a.cpp -L$(GPU_LIB) -lcudart\nk.o: k.cu\n\tnvcc -c k.cu\n",
         "a: a.cpp\n\tg++ -D__HIP_PLATFORM_AMD__ -I$(GPU_INC) a.cpp -L$(GPU_LIB) -lamdhip64\n"
         "k.o: k.cu\n\thipcc -c k.cu\n"),
        ("a:\n\tnvcc -isystem ${NVIDIA_HOME}/include -I$(MINE) a.cu\n",
         "a:\n\thipcc -D__HIP_PLATFORM_AMD__ -isystem ${NVIDIA_HOME}/include -I$(MINE) a.cu\n"),
        ("a:\n\tnvcc -arch=sm_$(subst .,,${C}) -fatbin a.cu -o a.fatbin\n",
         "a:\n\thipcc  --genco a.cu -o a.fatbin\n"),
        # The architecture in a variable, which has Nvidia's name for one.
        ("A ?= sm_70\na:\n\tnvcc -arch=$(A) -I.. a.cu\nb:\n\tgcc -arch $(A) b.c\n",
         "A ?= sm_70\na:\n\thipcc  -I.. a.cu\nb:\n\tgcc -arch $(A) b.c\n"),
        ("a:\n\tnvcc -arch $(CUDA_ARCH) a.cu\nb:\n\tgcc -arch $(ARCH) b.c\n",
         "a:\n\thipcc  a.cu\nb:\n\tgcc -arch $(ARCH) b.c\n"),
        ("a:\n\tnvcc --gpu-architecture ${GPU} a.cu\n", "a:\n\thipcc  a.cu\n"),
        ("NVCCFLAGS += -arch ${ARCH} -w\n", "NVCCFLAGS +=  -w\n"),
        ('NVCCFLAGS = "-O0 -G"\n', 'NVCCFLAGS = "-O0 -g"\n'),
        # A word of the shell for nvcc, options of hipcc's own.
        ("a:\n\tnvcc -ccbin=$(CXX) -Xcompiler \"$(F) -w\" -Xcompiler '-fPIC,-O2' a.cu\n",
         "a:\n\thipcc  $(F) -w -fPIC -O2 a.cu\n"),
        ("F = -res-usage --forward-unknown-to-host-linker -src-in-ptx -w # nvcc\n",
         "F =    -w # hipcc\n"),
        # nvcc compiles C++ for the host alone, hipcc does so if it is told.
        ("a.o: a.cpp a.h\n\tnvcc -c $(F) $< -o $@\nb.o: b.cpp\n\t$(NVCC) -x cu -c $< -o $@\n"
         "c: c.cpp a.o\n\tnvcc $^ -o $@\n",
         "a.o: a.cpp a.h\n\thipcc -x c++ -c $(F) $< -o $@\n"
         "b.o: b.cpp\n\t$(NVCC) -x hip -c $< -o $@\n"
         "c: c.cpp a.o\n\thipcc $^ -o $@\n"),
        # nvcc links the device code of any objects, hipcc if it is told.
        ("NVCC ?= nvcc\n%.o: %.cu\n\t$(NVCC) --device-c -c $< -o $@\na: a.o\n\t$(NVCC) $^ -o $@\n",
         "NVCC ?= hipcc -fgpu-rdc --hip-link\n%.o: %.cu\n\t$(NVCC) -fgpu-rdc -c -c $< -o $@\n"
         "a: a.o\n\t$(NVCC) $^ -o $@\n"),
        ("%.o: %.cu\n\tnvcc -dc $< -o $@\na: a.o\n\tnvcc -O2 $^ -o $@\n\t@nvcc b.o -o b\n",
         "%.o: %.cu\n\thipcc -fgpu-rdc -c $< -o $@\n"
         "a: a.o\n\thipcc -fgpu-rdc --hip-link -O2 $^ -o $@\n"
         "\t@hipcc -fgpu-rdc --hip-link b.o -o b\n"),
        ("a: a.o\n\tnvcc -dc a.cu -o a.o\n\tnvcc -c b.cu\n\tnvcc -rdc=true a.o -o a\n",
         "a: a.o\n\thipcc -fgpu-rdc -c a.cu -o a.o\n\thipcc -c b.cu\n\thipcc -fgpu-rdc a.o -o a\n"),
        ("a: a.o\n\tnvcc -c b.cu\n\tnvcc a.o -o a\n",
         "a: a.o\n\thipcc -c b.cu\n\thipcc a.o -o a\n"),
        ("S = -gencode=arch=compute_52,code=\\\"sm_52,compute_52\\\" -O3 # nvcc\n",
         "S =  -O3 # hipcc\n"),
        ('F = -Xptxas="-dlcm=cg -v" -G -O0\n\tnvcc -O3 -dc a.cu -o a.o\n',
         "F =  -g -O0\n\thipcc -O3 -fgpu-rdc -c a.cu -o a.o\n"),
        ("a:\n\tcmake -G Ninja . # nvcc\n", "a:\n\tcmake -G Ninja . # hipcc\n"),
        ("CC = gcc -arch=x\n", "CC = gcc -arch=x\n"),
        # Device code by hipCUB and rocThrust wants C++17; the host's stays as it is.
        ("CC = nvcc\nA = $(B) -O2\nB = --std=c++11 -w\nH = -std=c++11\n"
         "a: a.cu\n\t$(CC) $A $(A) a.cu\nb: b.cpp\n\tg++ $(H) b.cpp\n",
         "CC = hipcc\nA = $(B) -O2\nB = --std=c++17 -w\nH = -std=c++11\n"
         "a: a.cu\n\t$(CC) $A $(A) a.cu\nb: b.cpp\n\tg++ $(H) b.cpp\n"),
        ("a:\n\tnvcc $(A) a.cu\nA = $(B) $(C)\nB = $(A) -std=c++14\nC = $(D)\nD = -std=c++11\n",
         "a:\n\thipcc $(A) a.cu\nA = $(B) $(C)\nB = $(A) -std=c++17\nC = $(D)\nD = -std=c++17\n"),
        ("C = g++ -std=c++11 -lcuda\nNVCCFLAGS = -O2 --std=c++14 -w\n",
         "C = g++ -std=c++11 \nNVCCFLAGS = -O2 --std=c++17 -w\n"),
    ],
)  # fmt: skip
def test_makefiles(source: str, expected: str) -> None:
    assert translate_makefile(source).source == expected


def test_setup_py_loses_nvccs_flags() -> None:
    flags = "'-O3', '--use_fast_math', '-lineinfo', '--expt-relaxed-constexpr'"
    source = f"CUDAExtension('x', extra_compile_args={{'nvcc': [{flags}]}})\n"
    result = translate_setup(source)
    assert "'-O3', '-fgpu-approx-transcendentals', '-gline-tables-only', ]" in result.source
    assert result.findings[0].severity is Severity.NOTE


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ('"-O3", "-Xfatbin", "-compress-all"', '"-O3", '),
        ("'--threads', '4', '-DX'", "'-DX'"),
        ('"-gencode", f"arch=compute_{cc},code=sm_{cc}", "-DX"', '"-DX"'),
        ('"-Xptxas", "-v", "-DX"', '"-DX"'),
        ('"-U__CUDA_NO_HALF_OPERATORS__"', '"-U__HIP_NO_HALF_OPERATORS__"'),
        ('*(f"-gencode=arch=compute_{x},code=sm_{x}" for x in (70, 80)), "-DX"', '*(()), "-DX"'),
    ],
)
def test_setup_py_loses_options_with_their_values(flags: str, expected: str) -> None:
    source = f"CUDAExtension('x', extra_compile_args={{'nvcc': [{flags}]}})\n"
    assert f"[{expected}]" in translate_setup(source).source


LISTS = """\
flags = [
    "-O3",
    "--expt-relaxed-constexpr",  # for std::max
    "--use_fast_math",  # as before
    f"-DÄ={x}", "-lineinfo",
    "--threads", str(jobs),
]
flags += [f"-gencode=arch=compute_{sm},code=sm_{sm}" for sm in sms if sm in range(70, 90)]
if hopper:
    flags.append("-gencode")
    flags.append("arch=compute_90,code=sm_90")
if ask():
    flags.append("-gencode")
    flags.append("arch=compute_90,code=sm_90")
if version >= Version("11.8") and not (old or version.major in [7, 8]):
    flags.append("-gencode")  # twice
    if newer: flags.append("arch=compute_90,code=sm_90")
if version >= Version("11.8"):
    flags.append("-gencode")
    flags.append("-DHOPPER")
elif version >= Version("11.6"):
    flags.append("-lineinfo"); flags.append("-gencode")
elif old:
    flags.append("-gencode")
flags.append('--use_fast_math')
flags.append("--verbose")
table.get("-gencode")
"""
LISTS_OF_HIPCC = """\
flags = [
    "-O3",
    "-fgpu-approx-transcendentals",  # as before
    f"-DÄ={x}", "-gline-tables-only",
]
flags += []
if ask():
    pass
if version >= Version("11.8"):
    flags.append("-DHOPPER")
elif version >= Version("11.6"):
    flags.append("-gline-tables-only"); pass
elif old:
    pass
flags.append('-fgpu-approx-transcendentals')
flags.append("--verbose")
table.get("-gencode")
"""


def test_setup_py_keeps_how_it_is_written() -> None:
    call = "CUDAExtension('x', extra_compile_args={'nvcc': flags})\n"
    assert translate_setup(LISTS + call).source == LISTS_OF_HIPCC + call


def test_setup_py_of_python_2_stays() -> None:
    source = "print 'CUDAExtension', ['--use_fast_math']\n"
    assert translate_setup(source).source == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('call(["nvcc"], stdout=DEVNULL)', 'call(["hipcc"], stdout=DEVNULL)'),
        ("check_output(['nvcc', '--help'])", "check_output(['hipcc', '--help'])"),
        (
            "check_output(['nvcc', '--version'])",
            'check_output(["echo", "Cuda compilation tools, release 11.8, V11.8.89"])',
        ),
        ('os.popen; shutil.which("nvcc")', 'os.popen; shutil.which("hipcc")'),
        ('flags["nvcc"].append("-O3")', 'flags["nvcc"].append("-O3")'),
        ('append({"nvcc": ["-O3"]})', 'append({"nvcc": ["-O3"]})'),
    ],
)
def test_setup_py_that_looks_for_nvcc_finds_hipcc(source: str, expected: str) -> None:
    assert translate_setup(source).source == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/CMakeLists.txt", translate_cmake),
        ("cmake/x.cmake", translate_cmake),
        ("Makefile", translate_makefile),
        ("rules.mk", translate_makefile),
        ("setup.py", translate_setup),
        ("a/b.py", translate_module),
        ("a.txt", None),
    ],
)
def test_build_files_are_known_by_name(path: str, expected: object) -> None:
    assert kind_of(path) is expected


@pytest.mark.parametrize(
    "head",
    [
        "from torch.utils.cpp_extension import load",
        "from torch.utils.cpp_extension import load_inline, _import_module_from_library",
        "from torch.utils.cpp_extension import (\n    BuildExtension,\n    load,\n)",
        "import torch\ntorch.utils.cpp_extension.load(name='a')",
        "from torch.utils import cpp_extension\ncpp_extension.load_inline(name='a')",
        # One that gives flags to what compiles (gsplat/cuda/build.py).
        "from torch.utils.cpp_extension import include_paths",
        "try:\n    import torch.utils.cpp_extension as jit\nexcept ImportError:\n    pass",
    ],
)
def test_modules_that_compile_an_extension_when_loaded(head: str) -> None:
    text = f'{head}\nflags = ["-O3", "--fmad", "false", "-lineinfo"]\n'
    made = translate_module(text).source
    assert made == f'{head}\nflags = ["-O3", "-ffp-contract=off", "-gline-tables-only"]\n'


@pytest.mark.parametrize(
    "text",
    [
        'import argparse\nflags = ["-t", "-lineinfo"]\n',
        '# torch.utils.cpp_extension of old\nflags = ["-lineinfo"]\n',
        'flags = ["-lineinfo"]  # from torch.utils.cpp_extension import load\n',
    ],
)
def test_other_modules_of_python_stay(text: str) -> None:
    assert translate_module(text).source == text


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ('"--fmad", "false"', '"-ffp-contract=off"'),
        ("'-O2', '-fmad', 'false', '-g'", "'-O2', '-ffp-contract=off', '-g'"),
        ('"-rdc", "true", "-O3"', '"-fgpu-rdc", "-O3"'),
        ('"--default-stream", "per-thread"', '"-fgpu-default-stream=per-thread"'),
        (
            '"--ftz", "true", "-use_fast_math"',
            '"-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals"',
        ),
        ('"false", "--fmad"', '"false", "--fmad"'),
    ],
)
def test_options_whose_value_is_the_next_item(items: str, expected: str) -> None:
    source = f"from torch.utils.cpp_extension import load\nflags = [{items}]\n"
    assert translate_module(source).source.endswith(f"flags = [{expected}]\n")


GENCODE = '"-gencode=arch=compute_70,code=sm_70"'


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (f'\n    "-O3",\n    {GENCODE},\n    {GENCODE},\n    {GENCODE},\n', '\n    "-O3",\n'),
        (f'\n    "-O3",\n    {GENCODE},\n    {GENCODE}\n', '\n    "-O3",\n'),
        (f'\n    {GENCODE},\n    {GENCODE},\n    "-O3",\n', '\n    "-O3",\n'),
        (f'\n    "-g",\n    {GENCODE}, {GENCODE},\n    "-O3"\n', '\n    "-g",\n    "-O3"\n'),
        (f'\n    {GENCODE},\n    {GENCODE},\n', "\n"),
        (f"{GENCODE}, {GENCODE}", ""),
        (f'"-O3", {GENCODE}, "-t", "4"', '"-O3", '),
        ('"-O3",\n    "-gencode",\n    "arch=compute_80,code=sm_80",\n    "-lineinfo",\n',
         '"-O3",\n    "-gline-tables-only",\n'),
    ],
)  # fmt: skip
def test_neighbours_that_go_leave_what_stands_behind_them(items: str, expected: str) -> None:
    head = "from torch.utils.cpp_extension import CUDAExtension\n"
    source = f"{head}flags = [{items}]\nmodules = [1]\n"
    assert translate_setup(source).source == f"{head}flags = [{expected}]\nmodules = [1]\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('a = cuda.get_gencode_flags().replace("compute=", "arch=").split()',
         'a = "".replace("compute=", "arch=").split()'),
        ("a = torch.cuda.get_gencode_flags().split(' ')", "a = \"\".split(' ')"),
        ("f = ['-O3'] + torch.cuda.get_gencode_flags().split()", "f = ['-O3'] + \"\".split()"),
        ("a = torch.cuda.get_arch_list()", "a = torch.cuda.get_arch_list()"),
    ],
)  # fmt: skip
def test_flags_that_pytorch_makes_for_nvcc(source: str, expected: str) -> None:
    head = "from torch.utils.cpp_extension import CUDAExtension\n"
    assert translate_setup(f"{head}{source}\n").source == f"{head}{expected}\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension",
         "from torch.utils.cpp_extension import ROCM_HOME as CUDA_HOME, CUDAExtension"),
        ("from torch.utils.cpp_extension import (\n    CUDA_HOME,\n    CUDAExtension,\n)",
         "from torch.utils.cpp_extension import (\n    ROCM_HOME as CUDA_HOME,\n"
         "    CUDAExtension,\n)"),
        ("from torch.utils.cpp_extension import CUDA_HOME as home, CUDAExtension",
         "from torch.utils.cpp_extension import ROCM_HOME as home, CUDAExtension"),
        ("a = torch.utils.cpp_extension.CUDA_HOME  # CUDAExtension",
         "a = torch.utils.cpp_extension.ROCM_HOME  # CUDAExtension"),
        ("a = cpp_extension.CUDA_HOME is None or cpp_extension.CUDAExtension",
         "a = cpp_extension.ROCM_HOME is None or cpp_extension.CUDAExtension"),
        ("from mine import CUDA_HOME  # CUDAExtension",
         "from mine import CUDA_HOME  # CUDAExtension"),
    ],
)  # fmt: skip
def test_where_pytorch_has_its_toolkit(source: str, expected: str) -> None:
    assert translate_setup(f"{source}\n").source == f"{expected}\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("NVCC=${NVCC:-nvcc}", "NVCC=${NVCC:-hipcc}"),
        (": ${CC:=nvcc}", ": ${CC:=hipcc}"),
        ('"${NVCC:-nvcc}" -o a a.cu', '"${NVCC:-hipcc}" -o a a.cu'),
        ("CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}; nvcc a.cu",
         "CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}; hipcc a.cu"),
        ("nvcc -arch=$ARCH -O3 a.cu", "hipcc  -O3 a.cu"),
        ("nvcc -arch=sm_$SM -g a.cu", "hipcc  -g a.cu"),
        ("module load my-nvcc; nvcc a.cu", "module load my-nvcc; hipcc a.cu"),
    ],
)  # fmt: skip
def test_scripts_that_let_the_caller_choose_the_compiler(line: str, expected: str) -> None:
    assert translate_script(f"{line}\n").source == f"{expected}\n"


@pytest.mark.parametrize(
    "flag",
    [
        "--extra-device-vectorization",
        "-restrict",
        "--keep --keep-dir=/tmp/kept",
        "--Ofast-compile=min",
        "--fmad=true --ftz=false",
        "--prec-div=true -prec-sqrt=false",
        "-dopt on",
        "--brief-diagnostics",
        "--jump-table-density 5",
    ],
)
def test_flags_of_nvcc_alone(flag: str) -> None:
    assert translate_makefile(f"NVCCFLAGS = -O3 {flag} -g\n").source.split() == [
        "NVCCFLAGS",
        "=",
        "-O3",
        "-g",
    ]
    listed = ", ".join(f'"{word}"' for word in flag.split())
    source = f"from torch.utils.cpp_extension import load\nflags = [{listed}]\n"
    assert translate_module(source).source.endswith("flags = []\n")


@pytest.mark.parametrize(
    "flag",
    [
        "-gencode;arch=compute_${CC},code=sm_${CC}",
        "-gencode;arch=compute_70,code=compute_70",
        "-Xptxas;-warn-spills",
        "--maxrregcount;64",
        "-arch;sm_80",
        "-Xcudafe;--display_error_number",
    ],
)
def test_options_and_values_in_lists_of_cmake(flag: str) -> None:
    made = translate_cmake(f'list(APPEND CUDA_FLAGS "-O3;{flag};-g")\n').source
    assert made == 'list(APPEND CUDA_FLAGS "-O3;;-g")\n'


@pytest.mark.parametrize("flag", ["--default-stream legacy", "-default-stream=legacy"])
def test_the_default_stream_is_legacy_by_itself(flag: str) -> None:
    made = translate_cmake(f'set(CMAKE_CUDA_FLAGS "-O3 {flag} -g")\n').source
    assert made.split() == ["set(CMAKE_HIP_FLAGS", '"-O3', '-g")']


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("extra_link_args=['-lcusparse', '-s']", "extra_link_args=['-lhipsparse', '-s']"),
        ('libraries=["cublas", "cuda"]', 'libraries=["hipblas", "amdhip64"]'),
        ("libraries=['cudart', 'm']", "libraries=['amdhip64', 'm']"),
        ('extra_link_args=["-lcurand"]', 'extra_link_args=["-lhiprand"]'),
        ('libraries=["mine"]', 'libraries=["mine"]'),
    ],
)
def test_libraries_of_an_extension_of_pytorch(given: str, expected: str) -> None:
    text = "CUDAExtension('a', ['a.cu'], {})\n"
    assert translate_setup(text.format(given)).source == text.format(expected)


def test_parentheses_in_comments_and_strings_do_not_end_a_cmake_command() -> None:
    text = (
        "# an open bracket add_library(\n"
        "add_executable(a # (not here\n  a.cu ${FLAGS}) # nor (\n"
        'set(NAME "a)" b.cu)\n'
    )
    made = translate_cmake(text).source
    assert made.startswith("# an open bracket add_library(\nadd_executable(a # (not here\n  a.cu")
    assert "set_source_files_properties(a.cu PROPERTIES LANGUAGE HIP)" in made
    assert "set_source_files_properties(b.cu PROPERTIES LANGUAGE HIP)" in made


def test_brackets_without_end_take_linear_time() -> None:
    # Backtracking over these took minutes.
    assert translate_cmake("CUDA" + "set((" * 100_000).source.startswith("CUDAset((")


def test_cpp_files_that_find_the_headers_by_a_variable() -> None:
    """They need what hip::host says, the platform, as well."""
    text = (
        "find_package(CUDAToolkit REQUIRED)\n"
        "target_include_directories(a PRIVATE ${CUDAToolkit_INCLUDE_DIRS})\n"
    )
    assert translate_cmake(text).source == (
        "find_package(hip REQUIRED)\n"
        "add_compile_definitions(__HIP_PLATFORM_AMD__=1)\n"
        "target_include_directories(a PRIVATE ${hip_INCLUDE_DIRS})\n"
    )


def test_variables_of_find_cuda_become_targets() -> None:
    text = """\
find_package(CUDA REQUIRED)
option(WITH_GPU "build for GPUs" ${CUDA_FOUND})
CUDA_ADD_EXECUTABLE(demo demo.cu)
target_link_libraries(demo ${CUDA_LIBRARIES} ${CUDA_CUBLAS_LIBRARIES})
CUDA_ADD_CUBLAS_TO_TARGET(demo)
cuda_select_nvcc_arch_flags(FLAGS "${CAPABILITY}")
set_target_properties(demo PROPERTIES CUDA_ARCHITECTURES ${CAPABILITY})
"""
    expected = """\
find_package(hip REQUIRED)
find_package(hipblas REQUIRED)
enable_language(HIP)
option(WITH_GPU "build for GPUs" ${hip_FOUND})
add_executable(demo demo.cu)
set_source_files_properties(demo.cu PROPERTIES LANGUAGE HIP)
target_link_libraries(demo ${CUDA_LINK_LIBRARIES_KEYWORD} hip::host)
target_link_libraries(demo hip::host roc::hipblas)
target_link_libraries(demo ${CUDA_LINK_LIBRARIES_KEYWORD} roc::hipblas)
set(FLAGS "")
set_target_properties(demo PROPERTIES HIP_ARCHITECTURES "${CMAKE_HIP_ARCHITECTURES}")
"""
    assert translate_cmake(text).source == expected


def test_sources_of_a_folder() -> None:
    text = "project(demo CUDA)\naux_source_directory(${PROJECT_SOURCE_DIR}/src SOURCES)\n"
    assert translate_cmake(text).source == (
        "project(demo HIP)\naux_source_directory(${PROJECT_SOURCE_DIR}/src SOURCES)\n"
        "file(GLOB SOURCES_HIP ${PROJECT_SOURCE_DIR}/src/*.cu)\n"
        "set_source_files_properties(${SOURCES_HIP} PROPERTIES LANGUAGE HIP)\n"
        "list(APPEND SOURCES ${SOURCES_HIP})\n"
    )


RESULT, VARIABLE, PARAMETER = (
    f"-Wno-error=unused-{kind}" for kind in ("result", "variable", "parameter")
)
KERNELS = "$<$<COMPILE_LANGUAGE:HIP>:-Wno-error>"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            "add_compile_options(-Wall -Werror)",
            f"add_compile_options(-Wall -Werror {RESULT} {KERNELS})",
        ),
        (
            "target_compile_options(a PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Werror>)",
            "target_compile_options(a PRIVATE"
            f" $<$<CXX_COMPILER_ID:GNU>:-Werror {RESULT} {KERNELS}>)",
        ),
        ('set(F "-Wall;-Werror")', f'set(F "-Wall;-Werror;{RESULT};{VARIABLE};{PARAMETER}")'),
        (
            'list(APPEND F "-Werror")',
            f'list(APPEND F "-Werror" "{RESULT}" "{VARIABLE}" "{PARAMETER}")',
        ),
        ("add_compile_options(-Werror=shadow)", "add_compile_options(-Werror=shadow)"),
        ("add_compile_options(-Wno-error)", "add_compile_options(-Wno-error)"),
        # clang's warnings are others than those of nvcc and its host compiler.
        (
            "list(APPEND CUDA_NVCC_FLAGS -Xcompiler -Wall,-Werror)",
            'string(APPEND CMAKE_HIP_FLAGS " -Wall -Werror -Wno-error")',
        ),
        (
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -Werror")',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -Werror -Wno-error")',
        ),
        ('set(CMAKE_CUDA_FLAGS "-O2 -Werror all-warnings")', 'set(CMAKE_HIP_FLAGS "-O2 ")'),
    ],
)
def test_what_cuda_does_not_warn_of_is_no_error(flags: str, expected: str) -> None:
    made = translate_cmake(f"enable_language(CUDA)\n{flags}\n").source
    assert made == f"enable_language(HIP)\n{expected}\n"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (r"-O2 -Xcompiler=\"${CMAKE_CXX_FLAGS}\"", "-O2 ${CMAKE_CXX_FLAGS}"),
        (r"--compiler-options \"-Wall,-fPIC -w\" -O2", "-Wall -fPIC -w -O2"),
    ],
)
def test_quoted_options_of_the_hosts_compiler_in_a_text_of_cmake(flags: str, expected: str) -> None:
    made = translate_cmake(f'enable_language(CUDA)\nset(CMAKE_CUDA_FLAGS "{flags}")\n').source
    assert made == f'enable_language(HIP)\nset(CMAKE_HIP_FLAGS "{expected}")\n'


def test_makefiles_spare_what_cuda_does_not_warn_of() -> None:
    made = translate_makefile("NVCC = nvcc\nCXXFLAGS = -Wall -Werror\n").source
    assert f"CXXFLAGS = -Wall -Werror {RESULT} {VARIABLE} {PARAMETER}\n" in made
    made = translate_makefile("NVCCFLAGS += -Xcompiler -Wall,-Werror\n").source
    assert made == "NVCCFLAGS += -Wall -Werror -Wno-error\n"
    made = translate_makefile("a.o: a.cu\n\t$(NVCC) -Werror -c a.cu\n").source
    assert "$(NVCC) -Werror -Wno-error -c a.cu" in made


def test_cmake_links_libraries_by_their_plain_names() -> None:
    source = (
        "find_package(CUDA REQUIRED)\n"
        "target_link_libraries(cublas_demo -lcublas curand own/libcublas.so ${cublas})\n"
    )
    assert translate_cmake(source).source.splitlines()[-1] == (
        "target_link_libraries(cublas_demo roc::hipblas hip::hiprand own/libcublas.so ${cublas})"
    )
    assert "find_package(hipblas REQUIRED)\nfind_package(hiprand REQUIRED)\n" in (
        translate_cmake(source).source
    )


def test_what_is_linked_is_found_first() -> None:
    source = "project(a LANGUAGES CXX CUDA)\nadd_library(a INTERFACE)\n"
    made = translate_cmake(f"{source}target_link_libraries(a\n    INTERFACE cuda)\n").source
    assert made.endswith(
        "find_package(hip REQUIRED)\ntarget_link_libraries(a\n    INTERFACE hip::host)\n"
    )


def test_a_target_of_the_projects_own_keeps_its_name() -> None:
    source = "# CUDA\nadd_library(nvrtc x.cpp)\ntarget_link_libraries(app nvrtc)\n"
    assert translate_cmake(source).source == source


@pytest.mark.parametrize(
    ("patterns", "filtered"),
    [
        ("*.cu", False),
        ('"${D}/one.cu" "${D}/two.cu"', False),
        ("src/*_kernel.cu", False),
        ("[a-k]*.cu", False),
        ("RELATIVE ${D} CONFIGURE_DEPENDS k?.cu", False),
        ("one.cu one.cpp", True),
        ("*.cu*", True),
        ("${D} *.cu", True),
    ],
)
def test_what_patterns_find_is_compiled(patterns: str, filtered: bool) -> None:
    """CMake leaves a .cu file out, without a word, where no language is said (fdtd3d)."""
    made = translate_cmake(f"# CUDA\nfile(GLOB KERNELS {patterns})\n").source
    name = "KERNELS_HIP" if filtered else "KERNELS"
    assert f"\nset_source_files_properties(${{{name}}} PROPERTIES LANGUAGE HIP)\n" in made
    assert ("list(FILTER KERNELS_HIP" in made) == filtered


@pytest.mark.parametrize("patterns", ["*.cuh", "*.cpp", "cu/*.c", "a.cubin"])
def test_patterns_of_other_files_stay(patterns: str) -> None:
    source = f"# CUDA\nfile(GLOB OTHERS {patterns})\n"
    assert translate_cmake(source).source == source


def test_cmake_sets_the_language_of_cuda_files_alone() -> None:
    source = (
        "file(GLOB SOURCES *.h* *.cu *.cpp) # CUDA\n"
        "function(add_test_of name file)\n  add_executable(${name} ${file} ${COMMON})\n"
        "endfunction()\nadd_test_of(a ${B}.cu)\n"
    )
    result = translate_cmake(source).source
    assert 'list(FILTER SOURCES_HIP INCLUDE REGEX "[.]cu$")\n' in result
    assert "set_source_files_properties(${SOURCES_HIP} PROPERTIES LANGUAGE HIP)" in result
    assert "foreach(source ${file})\n" in result
    assert "foreach(source ${name})" not in result
    assert "foreach(source ${COMMON})" not in result


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("configure", "test -x $d/nvcc\n", "test -x $d/hipcc\n"),
        ("configure.ac", "AC_PATH_PROG([NVCC], [nvcc])\n", "AC_PATH_PROG([NVCC], [hipcc])\n"),
        ("build.sh", "nvcc -arch=sm_70 a.cu -o a -lcufft\n", "hipcc  a.cu -o a -lhipfft\n"),
        ("build.sh", "./a --with-nvcc -arch=sm_70\n", "./a --with-nvcc -arch=sm_70\n"),
        ("run.sh", "./a --arch=sm_70\n", "./a --arch=sm_70\n"),
        ("Makefile.in", "NVCC = @NVCC@\nF = -arch=sm_70 -O2\n", "NVCC = @NVCC@\nF =  -O2\n"),
        ("Makefile.am", "a.o:\n\t$(NVCC) -dc a.cu\n", "a.o:\n\t$(NVCC) -fgpu-rdc -c a.cu\n"),
    ],
)  # fmt: skip
def test_what_autotools_and_scripts_hold(path: str, source: str, expected: str) -> None:
    build = kind_of(path)
    assert build is not None and build(source).source == expected


@pytest.mark.parametrize(
    ("translate", "text", "kept"),
    [
        (translate_cmake, "project(a CUDA)\n# set(CMAKE_CUDA_FLAGS -lineinfo)\n",
         "# set(CMAKE_CUDA_FLAGS -lineinfo)"),
        (translate_cmake, "project(a CUDA)\n  #target_link_libraries(a CUDA::cudart)\n",
         "  #target_link_libraries(a CUDA::cudart)"),
        (translate_makefile, "# nvcc -arch=sm_80 -lcudart\nall:\n\tnvcc a.cu\n",
         "# nvcc -arch=sm_80 -lcudart"),
        (translate_script, "nvcc a.cu\n# nvcc -lineinfo b.cu\n", "# nvcc -lineinfo b.cu"),
        (translate_setup, "# nvcc_flags = ['-lineinfo'], run(['nvcc'])\nrun(['nvcc'])\n",
         "# nvcc_flags = ['-lineinfo'], run(['nvcc'])"),
    ],
)  # fmt: skip
def test_lines_of_comments_stay(
    translate: Callable[[str], Translation], text: str, kept: str
) -> None:
    assert kept in translate(text).source.splitlines()
    assert translate(text).source != text
