"""Where a ``setup.py`` that calls nvcc itself looks for CUDA: ROCm's places in their place.

Such files look for a toolkit by an environment variable or by ``nvcc``, and take its headers and
libraries from there. ROCm has the same folders, but ``lib`` in the place of ``lib64``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from cass_ray.translate.project.python_edits import PythonEdit, PythonText
from cass_ray.translate.project.rocm_libraries import LIBRARIES

_RUNTIME = "amdhip64"
_PLACES = frozenset({"CUDA_HOME", "CUDA_PATH", "CUDAHOME", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"})
_ROCM = "ROCM_PATH"
_NAMES_A_FILE = frozenset(
    {"join", "pjoin", "joinpath", "Path", "which", "find_executable", "find_in_path", "exists"}
    | {"isfile", "access", "set_executable", "set_executables"}
)
"""Functions that are given names of files or programs, or parts of them."""
_NAMES = {"nvcc": "hipcc", "lib64": "lib"}
_MACRO = '("__HIP_PLATFORM_AMD__", "1")'
"""For C++ that includes HIP's headers and is not compiled by hipcc."""
_IN_TEXT = (
    (re.compile(r"(?<=[\w})\]]/bin/)nvcc\b"), "hipcc"),
    (re.compile(r"/usr/local/cuda(?:-[\d.]+)?/lib64\b"), "/opt/rocm/lib"),
    (re.compile(r"/usr/local/cuda(?:-[\d.]+)?(?![\w-])"), "/opt/rocm"),
    (re.compile(r"(\{[^{}\n]*(?:cuda|CUDA)[^{}\n]*\})/lib64\b"), r"\1/lib"),
)


def with_rocm(text: str) -> tuple[str, int] | None:
    """``text`` with ROCm's places and libraries, and how many were changed; None where it is no
    Python 3."""
    changed = 0
    for pattern, new in _IN_TEXT:
        text, count = pattern.subn(new, text)
        changed += count
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    edits = list(_Places(PythonText(text)).edits(tree))
    return PythonEdit.apply(edits, text), changed + len(edits)


def with_libraries(text: str) -> tuple[str, int] | None:
    """``text`` of an extension of PyTorch with ROCm's libraries and PyTorch's place of ROCm, and
    how many were changed; None where it is no Python 3."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    places = _Places(PythonText(text))
    edits = [
        edit for node in ast.walk(tree) for edit in (*places.libraries(node), *places.home(node))
    ]
    return PythonEdit.apply(edits, text), len(edits)


class _Places:
    def __init__(self, text: PythonText) -> None:
        self._text = text

    def edits(self, tree: ast.Module) -> Iterator[PythonEdit]:
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
                    yield from self._call(node, name, arguments)
                case ast.BinOp(op=ast.Div(), right=item):
                    yield from self._named(item, _NAMES)
                case ast.Subscript(value=owner, slice=item) if _is_environment(owner):
                    yield from self._named(item, dict.fromkeys(_PLACES, _ROCM))
                case ast.Compare(left=item, comparators=[owner]) if _is_environment(owner):
                    yield from self._named(item, dict.fromkeys(_PLACES, _ROCM))
            yield from self.libraries(node)

    def home(self, node: ast.AST) -> Iterator[PythonEdit]:
        """PyTorch's ``CUDA_HOME``, which PyTorch for ROCm has as None."""
        match node:
            case ast.ImportFrom(module="torch.utils.cpp_extension", names=names):
                for name in names:
                    if name.name == "CUDA_HOME":
                        alias = name.asname or name.name
                        yield PythonEdit(*self._text.span(name), f"ROCM_HOME as {alias}")
            case ast.Attribute(
                attr="CUDA_HOME",
                value=ast.Name(id="cpp_extension") | ast.Attribute(attr="cpp_extension"),
            ):
                end = self._text.span(node)[1]
                yield PythonEdit(end - len("CUDA_HOME"), end, "ROCM_HOME")

    def libraries(self, node: ast.AST) -> Iterator[PythonEdit]:
        """Edits at ``node`` itself where it is a list that holds libraries."""
        match node:
            case ast.List(elts=items):
                for item in items:
                    yield from self._library(item)
            case ast.keyword(arg="libraries", value=ast.List(elts=items)):
                for item in items:
                    yield from self._named(item, {"cuda": _RUNTIME})

    def _call(
        self, node: ast.Call, name: str, arguments: Sequence[ast.expr]
    ) -> Iterator[PythonEdit]:
        if name in _NAMES_A_FILE:
            for item in arguments:
                yield from self._named(item, _NAMES)
        asks = name == "getenv" or (
            name == "get"
            and isinstance(node.func, ast.Attribute)
            and _is_environment(node.func.value)
        )
        if asks and arguments:
            yield from self._named(arguments[0], dict.fromkeys(_PLACES, _ROCM))
        if name == "Extension":
            yield from self._defined(node)

    def _named(self, item: ast.expr, names: dict[str, str]) -> Iterator[PythonEdit]:
        if isinstance(item, ast.Constant) and item.value in names:
            yield PythonEdit(
                *self._text.span(item), self._text.quoted(item, names[str(item.value)])
            )

    def _library(self, item: ast.expr) -> Iterator[PythonEdit]:
        """A library of CUDA by a name that nothing else has."""
        if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
            return
        before = "-l" if item.value.startswith("-l") else ""
        name = item.value.removeprefix(before)
        if name in LIBRARIES and (before or name != "cuda"):
            new = before + (LIBRARIES[name] or _RUNTIME)
            yield PythonEdit(*self._text.span(item), self._text.quoted(item, new))

    def _defined(self, call: ast.Call) -> Iterator[PythonEdit]:
        """``Extension(...)`` whose sources know which of HIP's platforms it is."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if "define_macros" in given or None in given:
            if isinstance(known := given.get("define_macros"), ast.List):
                start = self._text.span(known)[0] + 1
                yield PythonEdit(start, start, _MACRO + (", " if known.elts else ""))
        elif last := [*call.args, *given.values()][-1:]:
            end = self._text.span(last[0])[1]
            yield PythonEdit(end, end, f", define_macros=[{_MACRO}]")


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="environ") | ast.Attribute(attr="environ"):
            return True
    return False
