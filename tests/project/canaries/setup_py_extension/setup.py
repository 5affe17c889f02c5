import os
from os.path import join as pjoin

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


def find_in_path(name, path):
    for folder in path.split(os.pathsep):
        if os.path.exists(pjoin(folder, name)):
            return pjoin(folder, name)
    return None


def locate():
    if "CUDAHOME" in os.environ:
        home = os.environ["CUDAHOME"]
        nvcc = pjoin(home, "bin", "nvcc")
    else:
        nvcc = find_in_path("nvcc", os.environ["PATH"])
        if nvcc is None:
            raise OSError("nvcc is not in PATH")
        home = os.path.dirname(os.path.dirname(nvcc))
    return {"nvcc": nvcc, "include": pjoin(home, "include"), "lib64": pjoin(home, "lib64")}


CUDA = locate()


class Build(build_ext):
    def build_extensions(self):
        self.compiler.src_extensions.append(".cu")
        usual, compile_one = self.compiler.compiler_so, self.compiler._compile

        def _compile(obj, src, ext, cc_args, extra, pp_opts):
            if src.endswith(".cu"):
                self.compiler.set_executable("compiler_so", CUDA["nvcc"])
            compile_one(
                obj, src, ext, cc_args, extra["nvcc" if src.endswith(".cu") else "gcc"], pp_opts
            )
            self.compiler.compiler_so = usual

        self.compiler._compile = _compile
        super().build_extensions()


setup(
    name="matches",
    version="1",
    ext_modules=[
        Extension(
            "matches",
            sources=["module.cpp", "matches.cu"],
            library_dirs=[CUDA["lib64"]],
            libraries=["cudart"],
            language="c++",
            runtime_library_dirs=[CUDA["lib64"]],
            extra_compile_args={
                "gcc": ["-std=c++17"],
                "nvcc": ["-arch=sm_70", "--ptxas-options=-v", "-c", "-Xcompiler", "-fPIC,-O2"],
            },
            include_dirs=[CUDA["include"]],
        )
    ],
    cmdclass={"build_ext": Build},
)
