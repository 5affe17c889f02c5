"""Headers of libraries without a counterpart: types are there, calls that become code are not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.project.declarations import refuse_calls
from cass_ray.translate.project.refusals import errors_said

LIBRARY = {
    "lib.h": '#ifndef LIB_H\n#define LIB_H\n#include "types.h"\n#include <outside.h>\n'
    'extern "C" int libCreate(LibHandle* handle);\n#endif\n',
    "types.h": "#pragma once\n#include <cstdlib>\ntypedef struct Lib* LibHandle;\n"
    "struct LibGuard { LibGuard(); ~LibGuard(); void wait(); };\n#define LIB_VERSION 9\n",
}
USES = """#include "lib.h"
#if LIB_VERSION < 9
#error old
#endif
inline int unused() { LibHandle h; return libCreate(&h); }
LibHandle handle;
"""


def said(folder: Path, source: str) -> str:
    for name, text in refuse_calls(LIBRARY, "lib-package").items():
        (folder / name).write_text(text)
    (folder / "outside.h").write_text("#pragma once\ninline int outside() { return 1; }\n")
    (folder / "a.cpp").write_text(USES + source)
    command = [str(find_amd().clang), "-w", "-I.", "-c", "-o", "a.o", "a.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not done.stderr), done.stderr
    return done.stderr


@pytest.mark.amd
@pytest.mark.parametrize(
    "source", ["", "int calls() { return outside() + std::abs(LIB_VERSION); }\n"]
)
def test_what_calls_nothing_of_the_library_compiles(tmp_path: Path, source: str) -> None:
    assert not said(tmp_path, source)


@pytest.mark.amd
@pytest.mark.parametrize(
    "source",
    [
        "int calls() { return unused(); }\n",
        "int calls() { return libCreate(&handle); }\n",
        "void calls() { LibGuard guard; }\n",
        "void calls(LibGuard* guard) { guard->wait(); }\n",
    ],
)
def test_a_call_that_becomes_code_is_refused_with_the_package(tmp_path: Path, source: str) -> None:
    message = errors_said(said(tmp_path, source))
    assert message == "HIP has no counterpart of this function of lib-package"
