"""The page in headless Chromium, with answers that are given: what it keeps, sends and shows."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.machine_code import AssemblyFunction, AssemblyRequest, AssemblySide
from cass_ray.api.schema import (
    EXAMPLE,
    CompileReport,
    ExecutionReport,
    RunReport,
    TargetInfo,
    TranslateResponse,
)
from serve.check.stages import CheckRequest, CheckStage
from serve.settings import ShareSettings
from tests.serve.conftest import Api, make_services, make_settings
from tests.serve.ui.conftest import served

playwright = pytest.importorskip("playwright.sync_api")

_REMEDY = "gfx1030 needs a thing: install it"
_TARGETS = (
    ("gfx1100", "RDNA 3", 32, True, ""),
    ("gfx1030", "RDNA 2", 32, False, _REMEDY),
    ("gfx942", "CDNA 3", 64, True, ""),
)


class GivenChecker:
    """Every program compiles, complains on standard error, and prints its arguments."""

    async def stages(self, check: CheckRequest) -> AsyncIterator[CheckStage]:
        request = check.request
        for target in ["", *request.further_targets]:
            architecture = target or request.architecture
            compiled = CompileReport(
                passed=True, architecture=architecture, compiler="19", seconds=0.1
            )
            yield CheckStage(name="compile", target=target)
            yield CheckStage(
                name="compile", target=target, compile=compiled, source=check.translation
            )
            yield CheckStage(name="execute", target=target)
            yield CheckStage(name="execute", target=target, execution=_executed(request.inputs))

    async def listings(self, request: AssemblyRequest) -> AsyncIterator[AssemblySide]:
        line = 1 + EXAMPLE.splitlines().index("  if (i < n) out[i] = in[i] * in[i];")
        for vendor, text in (("amd", "v_mul_f32"), ("nvidia", "FMUL")):
            kernel = AssemblyFunction(name="square", instructions=[text, "end"], lines=[line, 0])
            given = {"vendor": vendor, "architecture": request.arch, "functions": [kernel]}
            yield AssemblySide.model_validate(given)

    async def backends(self) -> dict[str, str]:
        return {"rdna3": ""}

    async def targets(self) -> list[TargetInfo]:
        names = ("name", "family", "wavefront", "executed", "problem")
        return [TargetInfo.model_validate(dict(zip(names, each, strict=True))) for each in _TARGETS]


def _executed(inputs: list[Any]) -> ExecutionReport:
    run = RunReport(
        arguments=inputs[0].arguments if inputs else [],
        verdict="ok",
        status=0,
        matched=True,
        exact=True,
        stdout="printed",
        expected=inputs[0].expected_stdout if inputs else "printed",
        stderr="first line\nsecond line",
        seconds=0.1,
        peak_memory_bytes=1,
    )
    return ExecutionReport(
        ran=True,
        matched=True,
        backend="rdna3: given",
        reference="given",
        reference_kind="given" if inputs else "lifted sm_90",
        independent=True,
        runs=[run],
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("serve")
    shares = ShareSettings(enabled=True, folder=folder / "shares")
    settings = make_settings(folder, shares=shares)
    with served(Api(make_services(settings, GivenChecker())).app) as address:
        yield address


def _write(page: Any, text: str) -> None:
    page.locator("#source .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def _translated(page: Any) -> None:
    page.click("#go")
    playwright.expect(page.locator("#label.good, #label.bad")).to_be_visible()


def test_the_program_and_its_settings_outlive_a_reload(page: Any) -> None:
    _write(page, EXAMPLE)
    page.fill("#arguments", "7 'two words'")
    page.select_option("#arch", "gfx942")
    _translated(page)
    page.reload()
    playwright.expect(page.locator("#source .cm-content")).to_contain_text("square<<<1, 4>>>")
    assert page.input_value("#arguments") == "7 'two words'"
    assert page.input_value("#arch") == "gfx942"


def test_a_change_takes_the_verdict_back(page: Any) -> None:
    _write(page, EXAMPLE)
    _translated(page)
    assert page.locator("#stages .good").count() == 4
    page.locator("#source .cm-content").click()
    page.keyboard.type(" ")
    label = page.locator("#label")
    playwright.expect(label).to_have_text("Changed since it was translated.")
    assert page.locator("#stages .good").count() == 0
    assert "printed" not in page.locator("#panel-output").inner_text()
    _translated(page)
    page.fill("#arguments", "9")
    playwright.expect(label).to_have_text("Changed since it was translated.")


def _shown(page: Any, source: str, **known: Any) -> None:
    """The page as an answer of the service makes it."""
    fixed = {"id": "1", "engine_version": "1", "architecture": "gfx1100", "timings": {"total": 1.0}}
    given = {**fixed, **known}
    answer = TranslateResponse.model_validate(given).model_dump(mode="json")
    page.evaluate(
        "async given => (await import('/static/show.js')).result(given, {})",
        {**answer, "source": source},
    )


def test_another_engines_answer_says_why(page: Any) -> None:
    failed = {"verification": "failed", "label": "best attempt, not verified: it does not compile"}
    good = {"verification": "compiled", "label": "compiled"}
    attempts = [
        {"engine": "small", "verification": "failed", "problem": failed["label"]},
        {"engine": "rules", "verification": "compiled"},
    ]
    _shown(page, "", translation="", engine="rules", verdict=good, attempts=attempts)
    label = page.locator("#label").inner_text()
    assert "answered by rules, small had failed (see Messages)" in label
    page.click("#tab-messages")
    assert page.locator("#panel-messages").inner_text() == "small failed: it does not compile"
    _shown(page, "", translation="", engine="small", verdict=failed, attempts=attempts[:1])
    assert "had failed" not in page.locator("#label").inner_text()


def test_an_error_in_a_line_of_the_original_says_so(page: Any) -> None:
    says = [
        {"severity": "error", "line": line, "column": 1, "message": "expected ';'"}
        for line in (1, 2)
    ]
    compiled = {
        "passed": False,
        "architecture": "gfx1100",
        "compiler": "19",
        "seconds": 0.1,
        "diagnostics": says,
    }
    verdict = {"verification": "failed", "label": "it does not compile", "compile": compiled}
    source, made = "  int a = 1\ncudaFree(p)\n", "int a = 1\nhipFree(p)\n"
    _shown(page, source, translation=made, engine="rules", verdict=verdict)
    first, second = page.locator("#panel-messages button").all_inner_texts()
    assert "the original has the same line: check that it compiles" in first
    assert "original" not in second


def test_history_brings_a_program_back_and_forgets(page: Any) -> None:
    _write(page, EXAMPLE)
    _translated(page)
    _write(page, "int main() {}")
    page.click("#history")
    entries = page.locator("#history-list button")
    assert entries.count() == 1
    entries.first.click()
    playwright.expect(page.locator("#source .cm-content")).to_contain_text("square<<<1, 4>>>")
    page.click("#history")
    page.click("#forget")
    page.click("#history")
    assert page.locator("#history-list").inner_text() == "Nothing yet."
    assert page.evaluate("localStorage.length") == 0


def test_arguments_and_expected_output_are_sent_and_named(page: Any) -> None:
    _write(page, EXAMPLE)
    page.fill("#arguments", "7 'two words' \"\"")
    page.click("#expected-box summary")
    page.fill("#expected", "1\n2\n")
    with page.expect_request("**/v1/translate") as asked:
        _translated(page)
    [given] = json.loads(asked.value.post_data)["inputs"]
    assert given == {"arguments": ["7", "two words", ""], "expected_stdout": "1\n2\n"}
    assert "printed what the request expects" in page.locator("#label").inner_text()
    shown = page.locator("#panel-output")
    assert "Your expected output" in shown.inner_text()
    assert shown.locator("pre").nth(1).inner_text() == "1\n2\n"
    assert "first line\nsecond line" in shown.locator("pre").all_inner_texts()


def test_files_and_standard_input_are_sent_until_another_program_comes(page: Any) -> None:
    _write(page, EXAMPLE)
    page.click("#inputs-box summary")
    page.fill("#stdin", "5 6\n")
    given = [{"name": "a b.txt", "mimeType": "text/plain", "buffer": b"7\xff\n"}]
    page.set_input_files("#input-files", given)
    with page.expect_request("**/v1/translate") as asked:
        _translated(page)
    [sent] = json.loads(asked.value.post_data)["inputs"]
    assert sent == {"arguments": [], "stdin": "5 6\n", "files": {"a b.txt": "N/8K"}}
    page.set_input_files("#input-files", [])
    label = page.locator("#label")
    playwright.expect(label).to_have_text("Changed since it was translated.")
    page.select_option("#example", "block_reduce.cu")
    assert page.input_value("#stdin") == ""
    assert not page.locator("#stdin").is_visible()


def test_both_wave_widths(page: Any) -> None:
    _write(page, EXAMPLE)
    page.select_option("#check", "both")
    with page.expect_request("**/v1/translate") as asked:
        _translated(page)
    assert json.loads(asked.value.post_data)["targets"] == ["gfx942"]
    assert page.locator("#stages .good").count() == 5
    shown = page.locator("#panel-output").inner_text()
    assert "gfx1100, wavefronts of 32 lanes" in shown
    assert "gfx942, wavefronts of 64 lanes" in shown
    assert "machine code (sm_90), lifted" in shown


def test_listings_that_take_their_time_count_it(page: Any) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/v1/assembly", hold)
    page.clock.install()
    _write(page, EXAMPLE)
    _translated(page)
    page.click("#tab-assembly")
    said = page.locator("#asm-sides")
    playwright.expect(said).to_contain_text("line tables")
    page.clock.fast_forward(42_000)
    playwright.expect(said).to_contain_text(re.compile(r"line tables … 4[2-9] s"))
    held.pop().continue_()
    playwright.expect(page.locator(".asm")).to_have_count(2)
    page.clock.fast_forward(42_000)
    playwright.expect(page.locator(".asm")).to_have_count(2)


def test_targets_that_are_not_here_say_what_they_need(page: Any) -> None:
    missing = page.locator('#arch option[value="gfx1030"]')
    assert missing.is_disabled()
    page.click("#targets")
    assert _REMEDY in page.locator("#targets-list").inner_text()


_NO_TRANSLATION = """\
#include <cuda_runtime.h>
__global__ void k(double* p) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(p[0]), "+d"(p[1]) : "d"(p[2]), "d"(p[3]));
}
"""


def test_findings_stand_under_their_numbers(page: Any) -> None:
    _write(page, _NO_TRANSLATION)
    page.select_option("#check", "none")
    page.click("#go")
    playwright.expect(page.locator("#label")).to_contain_text("ot checked")
    page.click("#tab-messages")
    group = page.locator(".group").first
    assert "CASS1001" in group.inner_text()
    assert "Inline PTX without a translation" in group.inner_text()
    group.locator("button").first.click()
    assert "mma.sync" in page.locator("#source .cm-activeLine").inner_text()


def test_a_zip_is_translated_and_its_files_open(page: Any, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("src/main.cu", EXAMPLE)
        archive.writestr("README.md", "text\n")
    archive_file = {"name": "mine.zip", "mimeType": "application/zip"}
    page.select_option("#check", "none")
    page.set_input_files("#file", {**archive_file, "buffer": packed.getvalue()})
    page.locator("text=2 files, 1 translated").wait_for()
    with page.expect_download() as saved:
        page.click("text=Download a patch")
    assert saved.value.suggested_filename == "mine-translated.patch"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.cu").write_text(EXAMPLE)
    subprocess.run(["git", "apply", str(saved.value.path())], cwd=tmp_path, check=True)
    assert "hipMalloc" in (tmp_path / "src" / "main.cu").read_text()
    page.click("text=src/main.cu")
    playwright.expect(page.locator("#source .cm-content")).to_contain_text("cudaMalloc")
    playwright.expect(page.locator("#translation .cm-content")).to_contain_text("hipMalloc")


def test_the_focus_ring_of_the_editor_lies_over_its_gutters(page: Any) -> None:
    page.locator("#source .cm-content").click()
    style = "([of, part]) => { const found = getComputedStyle(document.querySelector(of), part);"
    style += " return [found.borderLeftWidth, found.position, Number(found.zIndex)] }"
    width, position, above = page.evaluate(style, ["#source .cm-editor", "::after"])
    gutter = page.evaluate(style, ["#source .cm-gutters", None])[2]
    assert (width, position) == ("2px", "absolute")
    assert above > gutter


def test_everything_by_keyboard(page: Any) -> None:
    """Tab reaches every control, also out of the editor; arrows go through the tabs."""
    seen = []
    page.locator("#task").focus()
    for _ in range(26):
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        page.keyboard.press("Tab")
    for name in ("engine", "arch", "targets", "check", "history", "go", "example", "arguments",
                 "open", "folder", "diff", "copy", "download", "tab-output"):  # fmt: skip
        assert name in seen, name
    page.locator("#tab-output").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert page.locator("#panel-assembly").is_visible()


def test_a_phone_shows_everything_without_scrolling_sideways(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for name in (
        "#go",
        "#history",
        "#targets",
        "#open",
        "#expected-box",
        "#inputs-box",
        "#download",
        "#tab-files",
    ):
        box = page.locator(name).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    page.click("#inputs-box summary")
    page.click("#expected-box summary")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    _write(page, EXAMPLE)
    _translated(page)
    page.click("#tab-evidence")
    panel = page.locator("#panel-evidence")
    assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0


def test_an_example_is_there_to_begin_with(page: Any) -> None:
    assert "__global__" in page.locator("#source .cm-content").inner_text()
    assert page.input_value("#example") == "block_reduce.cu"
    assert page.locator("#label").inner_text().startswith("This is an example")
    assert page.evaluate("localStorage.length") == 0  # nobody wrote it


@pytest.mark.parametrize("height", [844, 664, 1200])
def test_the_verdict_is_in_view_on_a_phone(page: Any, height: int) -> None:
    page.set_viewport_size({"width": 390, "height": height})
    _write(page, EXAMPLE)
    _translated(page)
    page.evaluate("scrollTo(0, 0)")
    for name in ("#label", "#stages"):
        playwright.expect(page.locator(name)).to_be_in_viewport(ratio=1)


def test_toolbars_are_one_row_at_1280(page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    for bar in ("header", ".bar >> nth=0", ".bar >> nth=1"):
        rows = page.locator(bar).evaluate(
            """bar => new Set([...bar.querySelectorAll("select, input, button, summary")]
                .filter(each => each.offsetParent && each.getBoundingClientRect().height)
                .filter(each => !each.closest("details") || each.tagName === "SUMMARY")
                .map(each => { const box = each.getBoundingClientRect();
                               return Math.round((box.top + box.bottom) / 2 / 8); })).size"""
        )
        assert rows == 1, bar
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_targets_have_the_names_of_cards(page: Any) -> None:
    texts = page.locator("#arch option").all_inner_texts()
    assert "gfx1100 (RX7900XTX, runs here)" in texts
    page.click("#targets")
    assert "mi300x" in page.locator("#targets-list").inner_text()


def test_a_stage_says_how_long_it_takes(page: Any) -> None:
    page.evaluate("localStorage.setItem('cass-pace', JSON.stringify({execute: 41.6}))")
    page.reload()
    said = page.evaluate("""async () => {
        const show = await import("/static/show.js");
        show.timing(true);
        show.checkStage({name: "execute", target: "", compile: null, execution: null});
        await new Promise(done => setTimeout(done, 700));
        return document.getElementById("elapsed").textContent; }""")
    assert said.endswith("this stage takes about 42 s")


def test_a_link_brings_program_settings_and_answer(page: Any) -> None:
    _write(page, EXAMPLE)
    page.fill("#arguments", "7 'two words'")
    _translated(page)
    page.click("#share")
    label = page.locator("#label")
    playwright.expect(label).to_contain_text("#share=")
    link = label.inner_text().partition("answer: ")[2]
    page.goto("about:blank")
    page.goto(link)
    playwright.expect(page.locator("#stages .good")).to_have_count(4)
    assert page.input_value("#arguments") == "7 'two words'"
    assert "hip/hip_runtime.h" in page.locator("#translation .cm-content").inner_text()


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    _write(page, EXAMPLE)
    page.click("#inputs-box summary")
    page.click("#expected-box summary")
    _translated(page)
    for tab in ("output", "messages", "assembly", "evidence", "files"):
        page.click(f"#tab-{tab}")
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    for opened, dialog in (("#history", "#history-dialog"), ("#targets", "#targets-dialog")):
        page.click(opened)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.click(f"{dialog} button.primary")
