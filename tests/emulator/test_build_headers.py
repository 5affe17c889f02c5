"""System headers that are parsed once for many sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.emulator.build_headers import precompile, shared_headers
from cass_ray.toolchain.amd.clang import find_clang

FLAGS = ("-std=c++20", "-O2", "-fPIC")


def test_what_three_sources_include_is_shared() -> None:
    text = '#include <map>\n#include "wave.hpp"\n'
    beside = "  #  include <vector>\n// #include <set>\n"
    assert shared_headers([[text, text, beside], [text, beside], [text]]) == ["<map>"]


@pytest.mark.amd
def test_a_source_sees_what_was_parsed_before(tmp_path: Path) -> None:
    compiler = str(find_clang().clang)
    source = tmp_path / "source.cpp"
    source.write_text("std::map<int, std::string> of_all;\n")
    flags = precompile(compiler, FLAGS, ["<map>", "<string>"], tmp_path)
    command = [compiler, *FLAGS, *flags, "-x", "c++", "-fsyntax-only", str(source)]
    assert flags and subprocess.run(command, check=False).returncode == 0


@pytest.mark.amd
def test_what_cannot_be_parsed_is_left_to_the_sources(tmp_path: Path) -> None:
    assert precompile(str(find_clang().clang), FLAGS, ["<no_such_header>"], tmp_path) == ()
