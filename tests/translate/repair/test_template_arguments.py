"""Templates with numbers among their parameters, given for ``template <class...> class``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.repair.loop import diagnostics, repair

_MAPS = """namespace maps {
template <class K, class V, int Bucket = 16> struct map { K key; V value; };
template <class K, class V, class Hash = int, unsigned long Size = 8> struct table { K key; };
}  // namespace maps
"""
_TESTS = (
    _MAPS
    + """#include <type_traits>
namespace {
template <class Map, unsigned long Capacity> struct data { using type = Map; };
template <template <PARAMETERS> class Map, typename K, class V>
using make = data<Map<K, V>, 512ul>;
typedef std::tuple<make<maps::map, int, float>,
                   make<maps::map, long, float>,
                   make<maps::table, int, char>> all;
using first = std::tuple_element<0, all>::type::type;
static_assert(std::is_same<first, maps::map<int, float>>::value, "the same type");
}
int main() { return 0; }
"""
)


def _compile(source: str, folder: Path) -> str:
    file = folder / "a.cu"
    file.write_text(source)
    clang = find_amd().clang
    command = [str(clang), "-x", "c++", "-std=c++17", "-include", "tuple", "-fsyntax-only", "a.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("parameters", ["class...", "typename... Types"])
def test_an_alias_stands_in_between(parameters: str, tmp_path: Path) -> None:
    source = _TESTS.replace("PARAMETERS", parameters)
    assert _compile(source, tmp_path)
    made = repair(source, lambda text: _compile(text, tmp_path), filename="a.cu", attempts=2)
    assert made.compiles, made.diagnostic
    assert len(made.steps) == 1
    assert "make<cass_types_maps_map, long, float>" in made.source
    assert len(re.findall(r"using cass_types_\w+ =", made.source)) == 2


def test_a_template_of_numbers_alone_is_left(tmp_path: Path) -> None:
    source = """template <int N> struct vector {};
template <template <class...> class T> struct taken {};
taken<vector> x;
"""
    made = repair(source, lambda text: _compile(text, tmp_path), filename="a.cu", attempts=3)
    assert not made.compiles


def test_other_parameters_than_types_have_no_fix() -> None:
    message = (
        "a.cu:3:7: error: template template argument has different template parameters than its"
        " corresponding template template parameter\n"
        "a.cu:2:11: note: previous template template parameter is here\n"
        "    2 | template <template <int> class T> struct taken {};\n"
    )
    (error,) = diagnostics(message)
    source = "\ntemplate <template <int> class T> struct taken {};\ntaken<vector> x;\n"
    assert error.line == 3
    assert not repair(source, lambda _: message, filename="a.cu", attempts=1).steps[0].fixes
