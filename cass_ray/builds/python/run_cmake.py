"""Runs CMake (``run_cmake.py cmake -S . …``), again with a definition of each command that no file
of the project and no module that is here defines, as long as that is what stops it.

A package that is missing may define commands: ``pybind11_add_module``. What ends in ``module``,
``library`` or ``executable`` adds a library of the sources among its arguments; others do nothing.
``lenient.cmake`` reads the definitions. Standard library alone.
"""

from __future__ import annotations

import re
import subprocess
import sys

DEFINITIONS = ".cass-commands.cmake"
_UNKNOWN = re.compile(r"Unknown CMake command\s+\"(\w+)\"")
_MOST = 12
_ADDS = re.compile(r"(?:module|library|executable|lib)s?$", re.IGNORECASE)
_LIBRARY = """function({name} _cass_target)
  set(_cass_words ${{ARGN}})
  list(FILTER _cass_words INCLUDE REGEX "\\\\.(cu|cc|cpp|cxx|c)$")
  if(_cass_words AND NOT TARGET ${{_cass_target}})
    add_library(${{_cass_target}} STATIC ${{_cass_words}})
  endif()
endfunction()
"""
_NOTHING = "macro({name})\nendmacro()\n"


def definition(name: str) -> str:
    """CMake's text of a command ``name``."""
    return (_LIBRARY if _ADDS.search(name) else _NOTHING).format(name=name)


def main(command: list[str]) -> int:
    """CMake's exit status in the end."""
    open(DEFINITIONS, "w", encoding="utf-8").close()
    defined: set[str] = set()
    while True:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        unknown = set(_UNKNOWN.findall(done.stderr)) - defined
        if not unknown or len(defined) >= _MOST:
            sys.stdout.write(done.stdout)
            sys.stderr.write(done.stderr)
            return done.returncode
        defined |= unknown
        with open(DEFINITIONS, "a", encoding="utf-8") as file:
            file.writelines(definition(name) for name in sorted(unknown))
        print("commands of CMake files that are not here:", " ".join(sorted(unknown)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
