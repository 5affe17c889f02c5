"""Scans texts of a megabyte that expressions would read again and again; no output.

Its process has seconds of CPU time; reading any of them in quadratic time takes many minutes.
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.assembly.demangle import demangle_all
from cass_ray.bench.compile_errors import error_messages
from cass_ray.corpus.reading.include_paths import _from_cmake, _from_makefile
from cass_ray.execute.comparison.tokens import lines_of
from cass_ray.translate.project.build_files import translate_cmake, translate_makefile
from cass_ray.translate.repair.loop import diagnostics, repair

MIB = 1 << 20


def repeated(part: str) -> str:
    return part * (MIB // len(part))


PARTS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "CMake": (
        lambda text: (list(_from_cmake(text, "")), translate_cmake(text)),
        ("include_directories(", "$<BUILD_INTERFACE:", "find_package(", "${", "# ", '"', "[[", "("),
    ),
    "Make": (
        lambda text: (list(_from_makefile(text, "")), translate_makefile(text)),
        ("A = $(", "-I", '-I"', "a: \\\n", "\t", "A ", "$(A", "="),
    ),
    "messages": (error_messages, ("\n", "ld", "a:1:", "error", " ", "ptxas a, line 1; ", "a(1")),
    "diagnostics": (diagnostics, ("a:1:1: ", ":", "\n", "a", "a:1:1: error: ")),
    "repair": (
        lambda text: repair("f(x);", lambda _: text, filename="a", attempts=1),
        ("a:1:1: error: no known conversion from '' (aka ", "(aka ", "' to '"),
    ),
    "outputs": (lambda text: lines_of(text.encode()), ("0", "-", "1e", "1.", "0x", "a", " ", "+1")),
    "names": (lambda text: demangle_all([f"_Z{text}"]), ("T00", "S_", "1a", "N", "I")),
}


def main() -> None:
    for scan, parts in PARTS.values():
        for part in parts:
            scan(repeated(part))


if __name__ == "__main__":
    main()
