"""Runs a ``setup.py`` with ``setuptools`` and ``torch.utils.cpp_extension`` that build nothing.

What extensions it names is written down as compile commands, also where it ends in an error before
it gives them to ``setup``; other packages that are not here are empty. Assertions are left out, and
so is a statement of the script that ends in an error: most ask for a GPU or a version. A program by
itself, for any Python 3; ``CASS_RECORD`` is the file that commands go to.
"""

import __future__

import ast
import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
import traceback
import types

NVCC_DEFAULTS = [
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",
]
"""What PyTorch's own builds give to nvcc (torch.utils.cpp_extension.COMMON_NVCC_FLAGS)."""
OF_PYTHON = frozenset(
    getattr(sys, "stdlib_module_names", ("msvcrt", "_winapi", "winreg", "nt"))
) - {"distutils"}
"""Modules of Python's own that this machine lacks are those of other systems, but for a package
that distributions part from it and that newer releases lack."""
SWITCH = re.compile(
    r"(?!.*(?:SKIP|NO_|DISABLE|HIP|ROCM))(?:[A-Z0-9]+_)*(?:(?:BUILD|FORCE|WITH|USE|ENABLE|COMPILE|KEEP)_"
    r"(?:[A-Z0-9]+_)*(?:CUDA|GPU)(?:_[A-Z]+)?|(?:CUDA|GPU)_EXT[A-Z]*|ALL_[A-Z0-9_]*EXT)"
)
"""Variables of the environment that scripts ask for before they build for CUDA."""
FLAG = re.compile(
    r"--(?!.*(?:no[_-]|cpu|skip|disable|hip|rocm|home|path|arch))\w*(?:cuda|gpu)[\w-]*"
)
"""Arguments of the kind."""
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

    def __getitem__(self, key):
        return Nothing()

    def __add__(self, other):
        return other

    __radd__ = __or__ = __ror__ = __add__

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False

    def __bool__(self):
        return False

    def __str__(self):
        return ""

    __repr__ = __fspath__ = __str__


class Version:
    """``packaging.version.Version`` as far as scripts compare versions."""

    def __init__(self, text=""):
        self.text = str(text)
        numbers = re.match(r"v?(\d+(?:\.\d+)*)", self.text)
        self.release = tuple(int(each) for each in numbers[1].split(".")) if numbers else ()
        self.major, self.minor, self.micro = (*self.release, 0, 0, 0)[:3]
        self.base_version = self.public = ".".join(map(str, self.release))
        self.version = list(self.release)

    def key(self):
        release = self.release
        while release and not release[-1]:
            release = release[:-1]
        return release

    def __eq__(self, other):
        return self.key() == Version(other).key()

    def __lt__(self, other):
        return self.key() < Version(other).key()

    def __le__(self, other):
        return self.key() <= Version(other).key()

    def __gt__(self, other):
        return self.key() > Version(other).key()

    def __ge__(self, other):
        return self.key() >= Version(other).key()

    def __hash__(self):
        return hash(self.key())

    def __str__(self):
        return self.text


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
        module.__getattr__ = lambda name: attribute(spec.name, name)
        return module

    def exec_module(self, module):
        for name, value in KNOWN.get(module.__name__, {}).items():
            setattr(module, name, value)


def attribute(module, name):
    """``from torch.utils import cpp_extension`` asks for an attribute before a module."""
    if f"{module}.{name}" in KNOWN:
        return importlib.import_module(f"{module}.{name}")
    return missing(module, name)


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


class Known(types.SimpleNamespace):
    """Stands for a module of PyTorch's: attributes that nobody gave are nothing."""

    def __getattr__(self, name):
        return missing("torch", name)


CUDA = Known(
    is_available=lambda: True,
    device_count=lambda: 1,
    current_device=lambda: 0,
    get_device_capability=lambda *arguments: (8, 0),
    get_device_name=lambda *arguments: "",
    get_arch_list=lambda: ["sm_80"],
)
CUDNN = Known(is_available=lambda: True, version=lambda: 91300)
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
    "packaging.version": {"parse": Version, "Version": Version},
    "distutils.version": {"LooseVersion": Version, "StrictVersion": Version},
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
    "torch.backends": {"cuda": Known(is_built=lambda: True), "cudnn": CUDNN},
    "torch.backends.cuda": {"is_built": lambda: True},
    "torch.backends.cudnn": vars(CUDNN),
    "torch.utils.cpp_extension": CPP_EXTENSION,
}


REPLACED = ("setuptools", "torch", "distutils", "wheel", "pkg_resources")
"""The last two read the real setuptools."""


class Replaced(Finder):
    """First of all: packages that would build."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in REPLACED:
            return super().find_spec(name, path, target)
        return None


def main():
    script = sys.argv[1]
    sys.argv = [script, "build_ext", "--inplace"]
    sys.path.insert(0, os.getcwd())
    sys.meta_path.insert(0, Replaced())
    sys.meta_path.append(Finder())
    if not run(script):
        for extension in Extension.made:
            note(extension)
        sys.exit(1)


def run(script):
    """Run the script, statement by statement; whether none ended in an error."""
    with open(script, "rb") as file:
        tree = ast.parse(file.read(), script)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    switch_on(tree)
    flags, complete = 0, True
    for statement in statements(tree.body):
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for name in statement.names:
                flags |= getattr(__future__, name.name).compiler_flag
            continue
        part = ast.Module([statement], [])
        code = compile(part, script, "exec", flags, dont_inherit=True, optimize=1)
        try:
            exec(code, vars(module))
        except KeyboardInterrupt:
            raise
        except BaseException:
            traceback.print_exc()
            print(f"{script}:{statement.lineno}: this statement is left out", file=sys.stderr)
            complete = False
    return complete


def switch_on(tree):
    """Give the script what it asks for to build for CUDA, as its own text names it."""
    compared = dict(filter(None, map(comparison, ast.walk(tree))))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for text in (text for text in texts if isinstance(text, str)):
        if SWITCH.fullmatch(text):
            os.environ.setdefault(text, compared.get(text, "1"))
        elif FLAG.fullmatch(text) and text not in sys.argv:
            sys.argv.append(text)


def comparison(node):
    """``os.getenv("NAME", "FALSE") == "TRUE"``: name and value."""
    if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Call):
        return None
    arguments = node.left.args
    parts = [*arguments[:1], *node.comparators]
    values = [each.value for each in parts if isinstance(each, ast.Constant)]
    texts = [each for each in values if isinstance(each, str)]
    return tuple(texts) if len(texts) == 2 and isinstance(node.ops[0], ast.Eq) else None


def statements(body):
    """Yield the statements of a script and of its ``if __name__ == "__main__"``."""
    for statement in body:
        test = getattr(statement, "test", None)
        names = [each.id for each in ast.walk(test) if isinstance(each, ast.Name)] if test else []
        if isinstance(statement, ast.If) and names == ["__name__"] and not statement.orelse:
            yield from statements(statement.body)
        else:
            yield statement


if __name__ == "__main__":
    main()
