"""How results of the public functions show themselves, in one line, a terminal and a notebook."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import cass_ray as cass
from cass_ray.execute.backends.base import Execution
from cass_ray.execute.grades import Grade
from cass_ray.execute.verification import RunRecord
from cass_ray.public.building import BuildResult
from cass_ray.public.compiling import CompileResult
from cass_ray.public.renderable import Renderable
from cass_ray.public.running import RunResult
from cass_ray.public.text_diff import changed_lines
from cass_ray.public.verifying import VerifyResult
from cass_ray.public.views import Mark, TextDiff
from cass_ray.toolchain.sandbox.executable import SandboxRun, SandboxVerdict

HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e&amp;"
SASS = """\
.target sm_90

Function : _Z3addPi
MOV R1, c[0x0][0x28]
EXIT
"""
RDNA3 = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.globl\t_Z3addPi
\t.type\t_Z3addPi,@function
_Z3addPi:
\ts_mov_b32 s0, 1
\ts_nop 0
\ts_endpgm
.Lfunc_end0:
\t.size\t_Z3addPi, .Lfunc_end0-_Z3addPi
\t.amdhsa_kernel _Z3addPi
\t.end_amdhsa_kernel
"""


class Tags(HTMLParser):
    """Checks that elements nest, and keeps tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def page(result: Renderable) -> str:
    """The text of its HTML, which is checked."""
    tags = Tags()
    tags.feed(result._repr_html_())
    tags.close()
    assert tags.open == []
    assert tags.seen <= {
        "div", "style", "p", "details", "summary", "pre", "span",
        "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    return "\n".join(tags.text)


def terminal(result: Any) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    console.print(result)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def run_of(stdout: bytes, verdict: SandboxVerdict = SandboxVerdict.OK) -> RunResult:
    ended = SandboxRun(verdict, 0, stdout, b"", 0.25, 0.2, 1 << 20)
    return RunResult(ended, filename="a.hip", backend="rdna3")


def verification(**fields: Any) -> VerifyResult:
    run = {"arguments": ["100"], "verdict": SandboxVerdict.OK, "status": 0}
    record = RunRecord(**run, exact=False, numeric=False, difference=HOSTILE)
    known: dict[str, Any] = {
        "ran": True, "exact": False, "numeric": False, "passed": False, "runs": [record],
        "grade": Grade.DIFFERS,
        "reference": "lifted", "reference_kind": "lifted sm_90", "independent": True,
        "candidate": "rdna3: gfx1100", "tolerance": "1e-5", "original_name": "a.cu",
        "port_name": "a.hip",
    }  # fmt: skip
    return VerifyResult(**{**known, **fields})


def test_a_translation_shows_findings_and_what_changed() -> None:
    made = cass.translate(
        "void f(void *p) {\n  cudaFree(p);\n  cudaGraphConditionalHandleCreate();\n}\n"
    )
    assert repr(made).startswith("<TranslateResult: text: ")
    assert "\n" not in repr(made)
    for text in (page(made), terminal(made)):
        assert "3:3" in text
        assert "CASS1012" in text
        assert "-  cudaFree(p);" in text
        assert "+  hipFree(p);" in text
        assert "void f(void *p) {\n" not in text.replace(" void f", "void f ")
    assert made.view().mark is Mark.BAD


@pytest.mark.parametrize(
    "result",
    [
        cass.translate(f"// {HOSTILE}\ncudaFree(p); // {HOSTILE}\n"),
        run_of(HOSTILE.encode()),
        verification(),
        CompileResult("", "", HOSTILE, "sm_90"),
        BuildResult(Path(HOSTILE), 1, 0, 0, {HOSTILE: 1}, {(HOSTILE, HOSTILE): 1}, {}),
    ],
    ids=lambda result: type(result).__name__,
)
def test_text_of_strangers_is_inert(result: Renderable) -> None:
    html = result._repr_html_()
    assert "<script" not in html
    for text in (html, terminal(result)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert(1)</script>" in page(result)
    assert "&amp;" in page(result)  # as it was written, not as an entity


def test_a_run_shows_how_it_ended() -> None:
    assert run_of(b"45\n").stdout == "45\n"
    assert repr(run_of(b"")) == ("<RunResult: a.hip on rdna3: ok, status 0, 0.25 s, 0 launch(es)>")
    assert run_of(b"").view().mark is Mark.GOOD
    assert run_of(b"", SandboxVerdict.TIME_LIMIT).view().mark is Mark.BAD
    assert isinstance(run_of(b""), Execution)


def test_a_verdict_names_what_it_rests_on() -> None:
    failed = verification(passed_over=["nvidia: no GPU"])
    for text in (page(failed), terminal(failed)):
        assert "a.hip against a.cu: with 100: " in text
        assert "lifted sm_90 (lifted)" in text
        assert "nvidia: no GPU" in text
        assert "not independent" not in text
    assert "not independent" in page(verification(independent=False))
    passed = verification(passed=True)
    assert repr(passed) == "<VerifyResult: a.hip against a.cu: the same>"
    assert passed.view().mark is Mark.GOOD
    assert failed.view().mark is Mark.BAD


def test_two_sides_stand_beside_each_other() -> None:
    nvidia = CompileResult("", SASS, "a.cu", "sm_90")
    amd = CompileResult("", RDNA3, "a.hip", "gfx1100")
    assert {name: code.instructions for name, code in nvidia.kernels.items()} == {"_Z3addPi": 2}
    assert {name: code.instructions for name, code in amd.kernels.items()} == {"_Z3addPi": 3}
    for both in (nvidia.beside(amd), amd.beside(nvidia)):
        assert repr(both) == (
            "<SideBySide: sm_90: 1 kernel(s), 2 instructions, gfx1100: 1 kernel(s), 3 instructions>"
        )
        for text in (page(both), terminal(both)):
            assert "MOV R1, c[0x0][0x28]" in text
            assert "s_mov_b32 s0, 1" in text
    with pytest.raises(ValueError, match="not gfx1100 and gfx1100"):
        amd.beside(amd)


def test_differences_are_bounded_and_say_so() -> None:
    before = "".join(f"{number}\n" for number in range(6000))
    after = before.replace("7\n", "seven\n")
    lines = list(changed_lines(TextDiff("", before, after), 10))
    assert len(lines) == 12
    assert lines[0][1].startswith("@@ -")
    assert lines[-2][1].endswith(" more lines")
    assert lines[-1] == (Mark.WARNING, "… 1000 lines at the end were not compared")
    assert list(changed_lines(TextDiff("", "a\n", "a\n"), 10)) == []


def test_a_build_shows_what_became_of_rows() -> None:
    built = BuildResult(
        Path("out"), 3, 1, 2, {"exact": 1}, {("translate", "untranslatable"): 1}, {"executed": 1}
    )
    assert repr(built) == "<BuildResult: out: 3 rows in, 1 pairs, 2 kernels>"
    assert "rejected at translate" in page(built)
