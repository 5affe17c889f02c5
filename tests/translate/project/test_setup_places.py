"""What a ``setup.py`` that looks for CUDA itself finds in its place."""

from __future__ import annotations

import ast

import pytest

from cass_ray.translate.project.build_files import translate_setup
from cass_ray.translate.project.setup_places import with_rocm


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('os.environ["CUDA_HOME"]', 'os.environ["ROCM_PATH"]'),
        ('"CUDAHOME" in os.environ', '"ROCM_PATH" in os.environ'),
        ('os.environ.get("CUDA_PATH", "/usr/local/cuda-12.4")',
         'os.environ.get("ROCM_PATH", "/opt/rocm")'),
        ("os.getenv('CUDA_HOME')", "os.getenv('ROCM_PATH')"),
        ('os.path.join(home, "bin", "nvcc")', 'os.path.join(home, "bin", "hipcc")'),
        ('pjoin(home, "lib64")', 'pjoin(home, "lib")'),
        ('Path(home) / "bin" / "nvcc"', 'Path(home) / "bin" / "hipcc"'),
        ('find_in_path("nvcc", path)', 'find_in_path("hipcc", path)'),
        ('f"{home}/bin/nvcc"', 'f"{home}/bin/hipcc"'),
        ('f"-L{CUDA_HOME}/lib64"', 'f"-L{CUDA_HOME}/lib"'),
        ('["-lcudart", "-lcufft", "-lm"]', '["-lamdhip64", "-lhipfft", "-lm"]'),
        ('Extension("a", libraries=["cuda", "m"], define_macros=[])',
         'Extension("a", libraries=["amdhip64", "m"],'
         ' define_macros=[("__HIP_PLATFORM_AMD__", "1")])'),
        ('extra["nvcc"]', 'extra["nvcc"]'),  # a table of the file's own
        ('{"nvcc": flags}', '{"nvcc": flags}'),
        ('print("nvcc")', 'print("nvcc")'),
        ('config["lib64"]', 'config["lib64"]'),
        ('os.environ["HOME"]', 'os.environ["HOME"]'),
    ],
)  # fmt: skip
def test_places(source: str, expected: str) -> None:
    made = with_rocm(f"{source}\n")
    assert made is not None and made[0] == f"{expected}\n"


@pytest.mark.parametrize(
    "arguments",
    ['"a", ["a.c"]', '"a", sources=["a.c"],', "name, define_macros=macros", "**everything", ""],
)
def test_extensions_stay_python(arguments: str) -> None:
    """The platform is added where nothing else gives macros."""
    made = with_rocm(f"Extension({arguments})\n")
    assert made is not None
    (call,) = [node for node in ast.walk(ast.parse(made[0])) if isinstance(node, ast.Call)]
    names = [keyword.arg for keyword in call.keywords]
    assert names.count("define_macros") <= 1
    assert ("__HIP_PLATFORM_AMD__" in made[0]) == (arguments.startswith('"a"'))


def test_options_for_the_host_compiler_are_words() -> None:
    """nvcc hands its value to a shell, and makes words of it at commas."""
    source = (
        """flags = ["nvcc", "-c", "--compiler-options", "'-fPIC'", "-Xcompiler", "-O2,-Wall"]\n"""
    )
    assert translate_setup(source).source == 'flags = ["nvcc", "-c", "-fPIC", "-O2", "-Wall"]\n'


def test_extensions_of_pytorch_look_for_themselves() -> None:
    source = 'x = CUDAExtension("a", ["a.cu"])\nhome = os.environ["CUDA_HOME"]  # nvcc\n'
    assert translate_setup(source).source == source
