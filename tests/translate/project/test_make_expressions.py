"""Flags inside of make's functions: what make 4.3 makes of the text before and after."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.project.make_expressions import is_balanced, rewrite
from cass_ray.translate.project.makefiles import logical_lines, translate_makefile
from cass_ray.translate.protocol import Severity


def value(text: str, name: str, folder: Path) -> list[str]:
    """The words that make gives the variable ``name`` of the makefile ``text``."""
    file = folder / "Makefile"
    file.write_text(f"{text}\nshown:\n\t@:$(info $({name}))\n")
    command = [shutil.which("make") or pytest.skip("no make"), "-f", str(file), "shown"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    return done.stdout.split()


FLAGS = [
    ("F = -O2 $(SMS:%=-gencode arch=compute_%,code=sm_%) -lineinfo", ["-O2", "-gline-tables-only"]),
    ("F = $(foreach s,$(SMS),-gencode arch=compute_$(s),code=sm_$(s)) -O3", ["-O3"]),
    ("$(foreach s,$(SMS),$(eval F += -gencode=arch=compute_$(s),code=sm_$(s)))\nF += -g", ["-g"]),
    ("F = $(addprefix --gpu-code=sm_,$(SMS)) -arch=compute_70 -O1", ["-O1"]),
    ("F = $(addprefix -Xcompiler ,-Wall -fPIC)", ["-Wall", "-fPIC"]),
    ("F = $(addprefix -Xcompiler=,-Wall -fPIC)", ["-Wall", "-fPIC"]),
    ("F = $(patsubst %,-code=sm_%,$(SMS)) -c", ["-c"]),
    ("F = $(if $(SMS),-arch=sm_$(firstword $(SMS)),-O0) -O2", ["-O2"]),
    ("F = $(if $(NONE),-arch=sm_70,-O0)", ["-O0"]),
    ("g = -gencode arch=compute_$(1),code=[sm_$(1),compute_$(1)]\nF = $(call g,80) -O2", ["-O2"]),
    ("A = sm_70\nF = -arch=$(A) -O2", ["-O2"]),
    ("A = 70\nF = -arch=sm_$(A) -Xptxas -v,-dlcm=ca -O2", ["-O2"]),
    ("F = -gencode \\\n  arch=compute_70,code=sm_70 \\\n  -O2 -maxrregcount \\\n 32", ["-O2"]),
    ('F = -ffast-math --ptxas-options="-v" -O2', ["-ffast-math", "-O2"]),
    ("F = -std c++17 -O2", ["-std=c++17", "-O2"]),
    ("F = --std c++20 --machine 64 -O2", ["-std=c++20", "-m64", "-O2"]),
    ("F = -m 64 --std=gnu++17", ["-m64", "--std=gnu++17"]),
    ("F = --include-path=inc --library-path lib --library z", ["-Iinc", "-Llib", "-lz"]),
    ("F = --pre-include a.h --system-include=b -O2", ["-include", "a.h", "-isystem", "b", "-O2"]),
    ("F = --ptxas-options='-v,-dlcm=ca' -O2", ["-O2"]),
    ('F = -O2 -arch="sm_70"', ["-O2"]),
    ("F = --gpu-architecture='compute_70' --gpu-code=\"sm_70,sm_80\" -O2", ["-O2"]),
    ('F = --maxrregcount "32" -Xptxas "-v" --nvlink-options="-v" -O2', ["-O2"]),
    ("F = -Xcompiler -Wall,-fPIC,-O2", ["-Wall", "-fPIC", "-O2"]),
    ("H = -Wall\nF = -Xcompiler $(H) --compiler-options=-fPIC", ["-Wall", "-fPIC"]),
    ("F = $(strip -rdc=true   -use_fast_math)", ["-fgpu-rdc", "-fgpu-approx-transcendentals"]),
    ("F = -ccbin $(CXX) -cudart shared -O2", ["-O2"]),
    ("F = ${SMS:%=-gencode=arch=compute_%,code=sm_%} -O2", ["-O2"]),
    ("define F\n-O2 -gencode arch=compute_70,code=sm_70\nendef", ["-O2"]),
    ("L = cudart cublas m\nF = $(addprefix -l,$(L))", ["-lhipblas", "-lm"]),
    ("L = cublas m\nF = $(L:%=-l%)", ["-lhipblas", "-lm"]),
    ("F = $(addprefix -l,cufft m)", ["-lhipfft", "-lm"]),
]


@pytest.mark.parametrize(("text", "words"), FLAGS)
def test_flags_in_expressions(text: str, words: list[str], tmp_path: Path) -> None:
    source = f"SMS ?= 70 80\nNVCC = nvcc\n{text}\n"
    made = translate_makefile(source)
    assert value(made.source, "F", tmp_path) == words
    assert not made.findings


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("F = $(subst X,-gencode arch=compute_70$(comma)code=sm_70,X)", "-gencode arch=compute_70"),
        ("F = -odir $(@D) -M", "-odir"),
        ("a:\n\tnvcc -ptx a.cu", "-ptx"),
        ("F = $(filter-out -Xptxas,$(G))", "-Xptxas"),
    ],
)
def test_what_is_left_is_said(text: str, option: str) -> None:
    made = translate_makefile(f"NVCC = nvcc\n{text}\n")
    (finding,) = made.findings
    assert finding.severity is Severity.WARNING
    assert finding.construct == option
    assert finding.line > 1


@pytest.mark.parametrize(
    "text",
    [
        "F = $(foreach s,70,-gencode arch=compute_$(s",  # never ends
        "ifeq ($(GENCODE_FLAGS),-arch=sm_70)",
        "# -gencode arch=compute_70,code=sm_70 is the oldest",
        "F = a\U00020001 -arch=sm_70",  # a letter of the kind that stands for expressions
    ],
)
def test_what_is_not_understood_stays(text: str) -> None:
    assert text in translate_makefile(f"NVCC = nvcc\n{text}\n").source


def test_no_expression_is_broken() -> None:
    text = "A = $(x) $(foreach a,b,$(call c,d)) ${e:%.o=%.d} $$(f) `g` $(h"
    assert rewrite(text, lambda part: part.replace(" ", "")) == text
    assert not is_balanced(text)
    assert is_balanced(text.removesuffix(" $(h"))


def test_lines_go_on_behind_a_backslash() -> None:
    assert logical_lines("a \\\n b\nc\n\td \\\\\ne") == ["a \\\n b\n", "c\n", "\td \\\\\n", "e"]


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("app: a.o b.o l.o\n\tg++ -o $@ $^", "g++ -o $@ $(filter-out a.o b.o,$^)"),
        ("app: l.o\n\tg++ a.o b.o l.o -o app", "g++   l.o -o app"),
        ("x.a: a.o b.o l.o\n\tar rcs $@ $+", "ar rcs $@ $(filter-out a.o b.o,$^)"),
        ("b: a.o b.o\n\tg++ a.o b.o", "g++ a.o b.o"),
    ],
)
def test_linked_device_code_is_linked_once(recipe: str, expected: str) -> None:
    """Clang's object of ``--hip-link -r`` holds its inputs, nvcc's of ``-dlink`` does not."""
    rule = "l.o: a.o b.o\n\tnvcc -arch=sm_80 -dlink a.o b.o -o l.o\n"
    made = translate_makefile(f"{rule}{recipe}\n").source
    assert "hipcc -fgpu-rdc --hip-link -r a.o b.o -o l.o" in " ".join(made.split())
    assert made.splitlines()[-1] == f"\t{expected}"


@pytest.mark.parametrize("option", ["-lib", "--lib"])
def test_a_static_library_by_nvcc(option: str) -> None:
    """nvcc's ``-lib``; clang makes one of HIP's objects by ``--emit-static-lib``."""
    made = translate_makefile(f"lib/a.a: a.o\n\tnvcc $< -o $@ -arch=sm_80 {option}\n")
    assert made.source.splitlines()[-1].split() == [
        "hipcc", *("$<", "-o", "$@", "--emit-static-lib")
    ]  # fmt: skip
    assert not [each for each in made.findings if each.severity == "error"]


@pytest.mark.parametrize(
    ("flag", "made"),
    [
        ("-Xlinker -rpath=.", "-Wl,-rpath=."),
        ("-Xlinker=-z,now", "-Wl,-z,now"),
        ("--linker-options -rpath,$(DIR)", "-Wl,-rpath,$(DIR)"),
        ("--linker-options=--as-needed", "-Wl,--as-needed"),
        ("-Xlinker $(RPATH)", "-Xlinker $(RPATH)"),
        ("$(addprefix -Xlinker ,$(LDFLAGS))", "$(addprefix -Xlinker ,$(LDFLAGS))"),
    ],
)
def test_options_of_the_linker(flag: str, made: str) -> None:
    """nvcc hands what is between commas to the linker one by one, as ``-Wl`` does."""
    text = translate_makefile(f"a: a.cu\n\tnvcc -O2 {flag} a.cu -o a\n").source
    assert text == f"a: a.cu\n\thipcc -O2 {made} a.cu -o a\n"
