"""Runs a ``setup.py`` with ``setuptools`` and ``torch.utils.cpp_extension`` that build nothing.

What extensions it names is written down as compile commands, also where it ends in an error before
it gives them to ``setup``; other packages that are not here are empty. A program by itself, for any
Python 3; ``CASS_RECORD`` is the file that commands go to.
"""

import importlib.abc
import importlib.machinery
import json
import os
import runpy
import sys
import types

NVCC_DEFAULTS = [
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",
]
"""What PyTorch's own builds give to nvcc (torch.utils.cpp_extension.COMMON_NVCC_FLAGS)."""
OF_PYTHON = frozenset(getattr(sys, "stdlib_module_names", ("msvcrt", "_winapi", "winreg", "nt")))
"""Modules of Python's own that this machine lacks are those of other systems."""
TORCH_VERSION = "2.9.1"
CUDA_VERSION = "13.0"


class NothingOfClass(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Nothing(metaclass=NothingOfClass):
    """Stands for whatever a package has that is not here."""

    def __init__(self, *arguments, **named):
        pass

    def __call__(self, *arguments, **named):
        return Nothing()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __index__(self):
        return 0

    __int__ = __index__

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __bool__(self):
        return False

    def __str__(self):
        return ""

    __repr__ = __fspath__ = __str__


class Extension:
    """A named list of sources, with what they are compiled with."""

    made = []
    """All of the script that ``setup`` was not given."""

    def __init__(self, name="", sources=(), *arguments, **named):
        self.made.append(self)
        self.name = name
        self.sources = list(sources)
        for key in ("include_dirs", "define_macros", "extra_compile_args", "undef_macros",
                    "library_dirs", "libraries", "extra_link_args", "depends"):  # fmt: skip
            value = named.pop(key, None)
            setattr(self, key, value if value is not None else [])
        self.language = named.get("language")


def setup(*arguments, **named):
    for extension in named.get("ext_modules") or ():
        if isinstance(extension, Extension):
            note(extension)
            if extension in Extension.made:
                Extension.made.remove(extension)
    return Nothing()


def note(extension):
    options = extension.extra_compile_args
    options = options.get("nvcc", []) if isinstance(options, dict) else options
    folders = [os.fspath(path) for path in extension.include_dirs]
    words = [f"-I{path}" for path in folders if path]
    for macro in extension.define_macros:
        name, value = macro if isinstance(macro, (tuple, list)) else (macro, None)
        words.append(f"-D{name}" if value is None else f"-D{name}={value}")
    words += NVCC_DEFAULTS + [str(word) for word in options]
    words.append(f"-DTORCH_EXTENSION_NAME={extension.name.split('.')[-1]}")
    sources = [os.fspath(path) for path in extension.sources]
    for source in sources:
        if source.endswith(".cu"):
            write([*words, "-c", source], source)


def write(arguments, source):
    entry = {"compiler": "nvcc", "directory": os.getcwd(), "arguments": arguments}
    entry["sources"] = [source]
    descriptor = os.open(os.environ["CASS_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (json.dumps(entry) + "\n").encode())
    os.close(descriptor)


def find_packages(*arguments, **named):
    return []


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last of all: modules that are not here, and those that must not build."""

    def find_spec(self, name, path=None, target=None):
        # subprocess takes a machine with msvcrt for one of Windows.
        if name.split(".")[0] in OF_PYTHON and name not in KNOWN:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__file__ = f"/cass/python/{spec.name.replace('.', '/')}/__init__.py"
        module.__getattr__ = lambda name: missing(spec.name, name)
        return module

    def exec_module(self, module):
        for name, value in KNOWN.get(module.__name__, {}).items():
            setattr(module, name, value)


def missing(module, name):
    if name.startswith("__") and name not in ("__version__", "__config__"):
        raise AttributeError(name)
    return "4.9.0" if name == "__version__" else Nothing


class BuildExtension(Nothing):
    @classmethod
    def with_options(cls, **named):
        return cls


class Command(Nothing):
    user_options = []


CPP_EXTENSION = {
    "CUDAExtension": Extension,
    "CppExtension": Extension,
    "BuildExtension": BuildExtension,
    "CUDA_HOME": os.environ.get("CUDA_HOME", ""),
    "ROCM_HOME": None,
    "IS_HIP_EXTENSION": False,
    "include_paths": lambda *arguments, **named: [],
    "library_paths": lambda *arguments, **named: [],
    "check_compiler_abi_compatibility": lambda *arguments: True,
    "get_compiler_abi_compatibility_and_version": lambda *arguments: (True, "12"),
}
VERSION = types.SimpleNamespace(cuda=CUDA_VERSION, hip=None, __version__=TORCH_VERSION, debug=False)
CUDA = types.SimpleNamespace(
    is_available=lambda: True,
    device_count=lambda: 1,
    get_device_capability=lambda *arguments: (8, 0),
    get_device_name=lambda *arguments: "",
    get_arch_list=lambda: ["sm_80"],
)
SETUPTOOLS = {
    "setup": setup,
    "Extension": Extension,
    "find_packages": find_packages,
    "find_namespace_packages": find_packages,
    "Command": Command,
}
KNOWN = {
    "setuptools": SETUPTOOLS,
    "distutils.core": SETUPTOOLS,
    "setuptools.extension": {"Extension": Extension},
    "setuptools.command.build_ext": {"build_ext": Command},
    "setuptools.command.install": {"install": Command},
    "setuptools.command.develop": {"develop": Command},
    "wheel.bdist_wheel": {"bdist_wheel": Command},
    "setuptools.command.build_py": {"build_py": Command},
    "setuptools.command.sdist": {"sdist": Command},
    "torch": {
        "__version__": TORCH_VERSION,
        "__path__": ["/cass/python/torch"],
        "__file__": "/cass/python/torch/__init__.py",
        "version": VERSION,
        "cuda": CUDA,
        "_C": types.SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=True),
        "compiled_with_cxx11_abi": lambda: True,
    },
    "torch.version": vars(VERSION),
    "torch.cuda": vars(CUDA),
    "torch.utils.cpp_extension": CPP_EXTENSION,
}


REPLACED = ("setuptools", "torch", "wheel", "pkg_resources")
"""The last two read the real setuptools."""


class Replaced(Finder):
    """First of all: packages that would build."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in REPLACED or name == "distutils.core":
            return super().find_spec(name, path, target)
        return None


def main():
    script = sys.argv[1]
    sys.argv = [script, "build_ext", "--inplace"]
    sys.path.insert(0, os.getcwd())
    sys.meta_path.insert(0, Replaced())
    sys.meta_path.append(Finder())
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException:
        for extension in Extension.made:
            note(extension)
        raise


if __name__ == "__main__":
    main()
