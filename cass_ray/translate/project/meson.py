"""Meson's build files: CUDA's libraries become ROCm's packages."""

from __future__ import annotations

import re

from cass_ray.translate.project.build_text import BuildText
from cass_ray.translate.project.rocm_libraries import PACKAGES, TARGETS
from cass_ray.translate.protocol import Severity, Translation

_NAMES = {name: target for name, target in TARGETS.items() if "$" not in target}
_NAMES["cuda"] = TARGETS["cuda_driver"]
_ARGUMENTS = r"(?P<rest>(?:[^()'\n]|'[^'\n]*'|\n)*)\)"
_LIBRARY = re.compile(
    rf"(?<![\w.])[A-Za-z_]\w*\.find_library\(\s*'(?P<name>{'|'.join(_NAMES)})'{_ARGUMENTS}"
)
_OF_CUDA = re.compile(rf"(?<![\w.])dependency\(\s*'cuda'{_ARGUMENTS}")
_MODULE = re.compile(r"'(\w+)'")
_MODULES = re.compile(r"\bmodules\s*:\s*\[(?P<names>[^\[\]]*)\]")
_REQUIRED = re.compile(r"\brequired\s*:\s*[^,()\n]+")
_LANGUAGE = re.compile(r"\b(?:project|add_languages)\((?:[^()'\n]|'[^'\n]*'|\n)*?'cuda'")


def translate_meson(text: str) -> Translation:
    """``find_library('cublas')`` and ``dependency('cuda')`` become ROCm's packages of CMake."""
    file = BuildText(text)
    file.substitute(_LIBRARY, lambda found: _package(_NAMES[found["name"]], found["rest"]))
    file.substitute(_OF_CUDA, lambda found: _packages(found["rest"]))
    if found := _LANGUAGE.search(text):
        file.report(
            found.group().split("(")[0],
            Severity.ERROR,
            "Meson has no language for HIP: its files of CUDA are not built",
            "compile them by custom_target with hipcc",
        )
    return file.done()


def _packages(rest: str) -> str:
    listed = _MODULES.search(rest)
    names = _MODULE.findall(listed["names"]) if listed else []
    targets = dict.fromkeys(("hip::host", *(_NAMES[name] for name in names if name in _NAMES)))
    made = ", ".join(_package(target, rest) for target in targets)
    return made if len(targets) == 1 else f"declare_dependency(dependencies: [{made}])"


def _package(target: str, rest: str) -> str:
    required = _REQUIRED.search(rest)
    more = f", {required.group().strip()}" if required else ""
    return (
        f"dependency('{PACKAGES.get(target, 'hip')}', method: 'cmake', modules: ['{target}']{more})"
    )
