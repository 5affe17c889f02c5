"""Where build files ask nvcc for its version: they are told the one that HIP's interfaces are of.

hipcc says ROCm's version and clang's in other words, without a "release 11.8". Changed are
commands whose output is read; what only prints a version calls hipcc.
"""

from __future__ import annotations

import re

VERSION = "11.8"
"""As the version macros of translated sources say."""
SAID = f"Cuda compilation tools, release {VERSION}, V{VERSION}.89"
"""nvcc's own words."""

_ASKS = r"""["']?(?:--version|-V)["']?"""
_IN_SHELL = re.compile(
    r"(?P<head>\$\(shell\s+|\$\$?\(\s*|`\s*)"
    rf"""(?P<program>["']?(?:\$[({{]\w+[)}}]|\$\$?\w+|[\w./-])+["']?)\s+{_ASKS}(?=[\s)`|;]|$)""",
    re.MULTILINE,
)
_IN_CMAKE = re.compile(
    rf"""\bCOMMAND\s+(?P<program>"?(?:\$(?:ENV)?\{{\w+\}}|[\w./-])+"?)\s+{_ASKS}(?=[\s)])""",
    re.IGNORECASE,
)
_PARTS = r"(?:[^\[\],()\n]|\((?:[^()\n]|\([^()\n]*\))*\)){1,300}?"
_IN_PYTHON = (
    re.compile(rf"""\[\s*(?P<program>{_PARTS})\s*,\s*{_ASKS}\s*,?\s*\]"""),
    re.compile(
        r"""(?P<head>(?<!\w)[fF]?["'])(?P<program>(?:\{[^{}"'\n]*\}|[\w./-])*)\s+(?:--version|-V)\b"""
    ),
)
_NVCC = re.compile(r"nvcc|CMAKE_CUDA_COMPILER\b", re.IGNORECASE)


def _told(answer: str, match: re.Match[str]) -> str:
    if not _NVCC.search(match["program"]):
        return match[0]
    return match.groupdict().get("head", "") + answer


def in_shell(text: str) -> str:
    """A makefile, or a script of the shell."""
    return _IN_SHELL.sub(lambda match: _told(f"echo '{SAID}'", match), text)


def in_cmake(text: str) -> str:
    """A file of CMake."""
    return _IN_CMAKE.sub(
        lambda match: _told(f'COMMAND ${{CMAKE_COMMAND}} -E echo "{SAID}"', match), text
    )


def in_python(text: str) -> str:
    """A module of Python."""
    listed, written = _IN_PYTHON
    text = listed.sub(lambda match: _told(f'["echo", "{SAID}"]', match), text)
    return written.sub(lambda match: _told(f"echo {SAID}", match), text)
