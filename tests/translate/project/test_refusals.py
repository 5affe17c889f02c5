"""Errors of a translation at the places that compilers see only where the code is active."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.refusals import RefusingTranslator, errors_said, with_errors
from cass_ray.translate.protocol import Finding, Severity

NOT_TRANSLATED = 'asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(a));'


def finding(line: int) -> Finding:
    return Finding(line, 1, "x", Severity.ERROR, "it has no translation")


def preprocessed(text: str, folder: Path, *options: str) -> str:
    """What g++ says about the marks that it meets."""
    compiler = shutil.which("g++")
    assert compiler
    (folder / "a.h").write_text(text)
    (folder / "main.cc").write_text('#include "a.h"\n')
    command = [compiler, "-E", "-o", "/dev/null", "main.cc", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return errors_said(done.stderr)


@pytest.mark.parametrize(
    ("text", "line", "options", "refused"),
    [
        ("int a;\nint b;\n", 2, (), True),
        ("#ifdef USED\nint a;\n#endif\n", 2, (), False),
        ("#ifdef USED\nint a;\n#endif\n", 2, ("-DUSED",), True),
        ("#define F(x) \\\n  g( \\\n  x)\n", 3, (), True),
        ("/* a comment\n of lines */ int b;\n", 2, (), True),
        ("/* all\n a comment */\n#if 0\nint b;\n#endif\n", 4, (), False),
        ("#if A\n#elif UNKNOWN\n#endif\n", 2, (), True),
        ("#if 0\n#if A\n#elif UNKNOWN\n#endif\n#endif\n", 3, (), False),
        ("#if A\n#if B\n#endif\n#elif UNKNOWN\n#endif\n", 4, ("-DA",), True),
        ('const char* s = R"(\n#if 0\n)"; int b;\n', 3, (), True),
        ("\ufeffint a;\r\nint b;\r\n", 1, (), True),
        ("int whole;\n", 0, (), True),
        ("#pragma once\nint b;", 2, (), True),
    ],
)
def test_a_compiler_meets_it_where_the_code_is_active(
    text: str, line: int, options: tuple[str, ...], refused: bool, tmp_path: Path
) -> None:
    marked = with_errors(text, [finding(line)], "a.h")
    said = preprocessed(marked, tmp_path, *options)
    assert said == (f"a.h:{line}:1: error: it has no translation" if refused else "")


def test_the_text_is_otherwise_the_same() -> None:
    text = "int a;\n#if B\n#elif C\nint d;\n#endif\n"
    marked = with_errors(text, [finding(3), finding(4), finding(4)], "a.h")
    lines = marked.splitlines(keepends=True)
    assert "".join(line for line in lines if "pragma" not in line) == text
    assert [number for number, line in enumerate(lines) if "pragma" in line] == [1, 4]


def test_a_message_is_a_string_on_one_line(tmp_path: Path) -> None:
    odd = Finding(1, 1, "x", Severity.ERROR, 'say "é" and \\\nmore', "*/ // ??/")
    marked = with_errors("int a;\n", [odd], "a.h")
    assert len(marked.splitlines()) == 2
    assert preprocessed(marked, tmp_path).startswith("a.h:1:1: error: say ''' and ''more")


def test_names_can_be_left_to_the_compiler() -> None:
    source = f"int a = __nvvm_foo(1);\n__device__ void f(unsigned a) {{ {NOT_TRANSLATED} }}\n"
    rules = make_translator("rules")
    assert RefusingTranslator(rules).translate(source).source.count("cass-ray: ") == 2
    known = RefusingTranslator(rules, names_are_known=True).translate(source)
    assert known.source.count("cass-ray: ") == 1
    assert "mbarrier" in known.source.partition("cass-ray: ")[2].splitlines()[0]
    assert [each.line for each in known.errors] == [1, 2]


def test_a_call_of_an_intrinsic_is_refused_as_inline_ptx_is() -> None:
    call = "__barrier_sync_count(n, 64)"
    source = f"__device__ void wait(int n) {{ {call}; }}\n#define SYNC __barrier_sync_count\n"
    known = RefusingTranslator(make_translator("rules"), names_are_known=True)
    made = known.translate(source)
    assert call not in made.source
    assert made.source.count("cass-ray: ") == 1
    assert "AMD has no named barriers" in made.source
    assert "#pragma" not in made.source

    own = "__device__ inline void __barrier_sync_count(int n, int m) {}\n"
    assert known.translate(own + source).source == "#include <hip/hip_runtime.h>\n" + own + source


HEADER = """
namespace a { namespace b {
__device__ inline void wait(int n) {
  asm volatile("bar.sync %0, %1;"
               :
               : "r"(n), "r"(64)
               : "memory");
}
template <class T> __device__ T half_done(T n) {
  if (n) asm("bar.arrive %0, 64;" : : "r"(n)); else n = 1;
  return n;
}
#define ARRIVE(n) \\
  asm volatile( \\
      "bar.arrive %0, 64;" : : "r"(n))
__device__ void never(int n) { ARRIVE(n); asm("bar.sync 1, %0;" :: "r"(n)); }
template <int W> __device__ void choose(int* p) { if (W == 3) wait(W); *p = W; }
} }
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        ("*p = 1;", 0),
        ("a::b::choose<2>(p);", 0),
        ("a::b::wait(2);", 4),
        ("a::b::choose<3>(p);", 4),
        ("*p = a::b::half_done(*p);", 10),
        ("ARRIVE(*p);", 14),
        ("a::b::never(2);", 16),
    ],
)
def test_inline_ptx_is_refused_where_it_becomes_machine_code(
    kernel: str, line: int, tmp_path: Path
) -> None:
    refusing = RefusingTranslator(make_translator("rules"), names_are_known=True)
    (tmp_path / "a.h").write_text(refusing.translate(HEADER, filename="a.h").source)
    source = f'#include "a.h"\n__global__ void k(int* p) {{ {kernel} }}\n'
    (tmp_path / "main.cu").write_text(refusing.translate(source).source)
    unit = Unit(tmp_path, PurePosixPath("main.cu"))
    if not line:
        assert "s_endpgm" in find_amd().compile(unit).device_assembly
        return
    with pytest.raises(CompileFailure) as failed:
        find_amd().compile(unit)
    said = errors_said(failed.value.diagnostic)
    assert f"a.h:{line}:" in said
    assert "inline PTX with named barriers has no translation" in said


def test_lines_of_a_statement_that_is_refused_have_no_marks() -> None:
    text = "void f() {\n  asm(\n  A,\n  B);\n  int b; }\n"
    found = [finding(3), finding(5), Finding(2, 3, "asm", Severity.ERROR, "no")]
    marked = with_errors(text, found, "a.h")
    assert marked.count("cass-ray: ") == 2
    assert "asm(" not in marked and "  int b; }\n" in marked
    assert next(line for line in marked.splitlines() if "pragma" in line).startswith("#pragma")


def test_a_version_that_both_sides_headers_define_stays_in_a_condition() -> None:
    source = (
        "#if CUDNN_VERSION >= 7000\nint a;\n#endif\n#if CUPTI_API_VERSION > 8\nint b;\n#endif\n"
    )
    rules = make_translator("rules")
    assert [each.line for each in rules.translate(source).errors] == [1, 4]
    made = RefusingTranslator(rules, names_are_known=True).translate(source)
    assert made.source.count("cass-ray: ") == 1
    assert "CUPTI_API_VERSION" in made.source.partition("cass-ray: ")[2].splitlines()[0]
