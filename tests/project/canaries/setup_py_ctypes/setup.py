import os
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))


class Build(build_py):
    def run(self):
        nvcc = CUDA / "bin" / "nvcc" if CUDA.exists() else "nvcc"
        command = [
            str(nvcc),
            "-shared",
            "-Xcompiler",
            "-fPIC",
            "-gencode",
            "arch=compute_70,code=sm_70",
        ]
        command += [f"-L{CUDA}/lib64", "-lcudart", "-o", "waves/libwaves.so", "waves/waves.cu"]
        subprocess.check_call(command)
        super().run()


setup(name="waves", version="1", packages=["waves"], cmdclass={"build_py": Build})
