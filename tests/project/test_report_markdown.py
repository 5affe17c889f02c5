"""What a maintainer reads in a pull request."""

from __future__ import annotations

from cass_ray.project.build_system import BuildPlan, BuildSystem
from cass_ray.project.checking import Violation
from cass_ray.project.report import ProjectResult, TargetResult
from cass_ray.project.report_markdown import markdown
from cass_ray.project.steps import Step, StepOutcome
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.tree import FileResult, TreeResult
from cass_ray.translate.protocol import Counts, Finding, Severity

GOOGLETEST = "[==========] 5 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] {} tests.\n"
PATCH = """\
diff --git a/sum.cu b/sum.cu
--- a/sum.cu
+++ b/sum.cu
@@ -1,2 +1,3 @@
-#include <cuda_runtime.h>
+#include <hip/hip_runtime.h>
+#include <hip/hip_fp16.h>
"""


def result(passed: int) -> ProjectResult:
    outcome = StepOutcome.PASSED if passed == 5 else StepOutcome.FAILED
    race = Violation("sum", "two waves write address 0x40 without a barrier", 2)
    targets = tuple(
        TargetResult(
            name,
            Step("make", StepOutcome.PASSED, 12.3),
            Step("make check", outcome, 1.0, GOOGLETEST.format(passed)),
            violations=() if passed == 5 else (race,),
        )
        for name in ("gfx1100", "gfx90a")
    )
    findings = tuple(
        Finding(line, 1, "asm", Severity.ERROR, "inline PTX has no translation", "")
        for line in range(1, 26)
    )
    file = FileResult("sum.cu", "translated", findings, Counts(7, 0, 25))
    plan = BuildPlan(BuildSystem.MAKE, "make -j 2", "make check")
    return ProjectResult("sums", plan, TreeResult([file]), targets, PATCH, tools="clang 19.1.7")


def test_counts_places_and_the_command_are_there() -> None:
    text = markdown(result(5), make_translator("rules"))
    assert "| gfx1100 | 32 | passed, 12 s | passed: 5 of 5 (GoogleTest) |" in text
    assert "| gfx90a | 64 | passed, 12 s | passed: 5 of 5 (GoogleTest) |" in text
    assert "- 1 files, 2 lines added, 1 removed" in text
    assert "- 7 uses of CUDA converted, 25 without a translation" in text
    assert text.count("inline PTX has no translation") == 20
    assert "- and 5 more in `report.html`" in text
    targets = "--arch gfx1100 --arch gfx90a"
    command = f"cass project . --style hip {targets} --build 'make -j 2' --test 'make check'"
    assert f"```sh\n{command}\n```\n" in text
    assert "Found on the way" not in text


def test_races_are_shown_beside_tests_that_fail() -> None:
    text = markdown(result(4), make_translator("rules"))
    assert "| gfx90a | 64 | passed, 12 s | failed: 4 of 5 (GoogleTest) |" in text
    assert "- `sum` (gfx1100): two waves write address 0x40 without a barrier" in text
