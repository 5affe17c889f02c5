"""What porting costs is counted from the translator's own findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cass_ray.cli import app
from cass_ray.project.build_system import BuildSystem
from cass_ray.project.cost import MINUTES_BY_SEVERITY, cost_of
from cass_ray.project.cost_report import cost_text
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Severity

PLAIN = "#include <cuda_runtime.h>\nint main() { cudaFree(0); return 0; }\n"
PTX = """\
__global__ void k(int *p) {
  int clock;
  asm volatile("mov.u32 %0, %%pm0;" : "=r"(clock));
  asm("add.s32 %0, %1, %1;" : "=r"(p[0]) : "r"(p[1]));
}
"""
LIBRARY = "#include <cublas_v2.h>\nint main() { cublasHandle_t h; cublasCreate(&h); }\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "plain.cu").write_text(PLAIN)
    (root / "ptx.cu").write_text(PTX)
    (root / "library.cu").write_text(LIBRARY)
    (root / "notes.txt").write_text("nothing\n")
    (root / "Makefile").write_text("all:\n\tnvcc plain.cu -lcufft -o plain\n")
    return root


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def test_a_project_in_numbers(project: Path) -> None:
    before = sorted(path.name for path in project.iterdir())
    cost, tree = cost_of(project, make_translator())
    assert cost.build_system is BuildSystem.MAKE
    assert cost.libraries == {"cublas": "hipblas", "cufft": "hipfft"}
    assert (cost.inline_ptx, cost.ptx_by_person) == (2, 1)
    assert cost.by_rules == tree.counts.converted >= 5
    assert cost.by_person == tree.errors == 1
    assert cost.hours_by_person == round(MINUTES_BY_SEVERITY[Severity.ERROR] / 60, 1)
    assert cost.files[0].path == "ptx.cu"
    assert "notes.txt" not in {each.path for each in cost.files}
    assert cost.commands == ["cass setup libraries", f"cass project {project}"]
    assert sorted(path.name for path in project.iterdir()) == before


def test_the_cost_of_a_project_is_the_sum_of_its_files(project: Path) -> None:
    cost, _ = cost_of(project, make_translator())
    for key in (
        "by_rules",
        "by_person",
        "to_look_at",
        "warp_size",
        "inline_ptx",
        "ptx_by_person",
        "device_code",
    ):
        assert sum(getattr(each, key) for each in cost.files) == getattr(cost, key)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.cu", PLAIN, "(100%)"),
        ("a.cu", "int main() { return 0; }\n", "no CUDA is there: nothing to port"),
        ("a.cu", "", "no CUDA is there: nothing to port"),
        ("a.cu", "int main() { nvmlInit(); }\n", "a person ports 1 place(s)"),
        ("a.cuh", PTX, "inline PTX 2 statement(s), 1 not rewritten"),
        ("a.cu", LIBRARY, "cublas -> hipblas"),
    ],
)
def test_one_file(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    cost, _ = cost_of(tmp_path / name, make_translator())
    assert said in cost_text(cost)


KERNEL = "__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"
LAUNCH = "void go(float *a) { k<<<1, 2>>>(a); }\n"


@pytest.mark.parametrize(
    ("name", "text", "device_code"),
    [
        ("a.cu", KERNEL + LAUNCH, 2),
        ("a.cu", KERNEL, 1),
        ("a.cu", LAUNCH, 1),
        ("a.cuh", "__device__ float f() { __shared__ float s[3]; return s[0]; }\n", 2),
        ("a.h", "__constant__ int c;\n__managed__ int m;\n", 2),
        ("a.cu", "// __global__ and k<<<1, 2>>>()\n", 0),
        ("a.cu", 'const char *s = "__global__ k<<<1, 2>>>";\n', 0),
        ("a.cu", "int __global__x, a = 1 << 2 >> 1;\n", 0),
        ("a.hip", "#include <hip/hip_runtime.h>\n" + KERNEL + LAUNCH, 0),
        ("a.txt", KERNEL, 0),
    ],
)
def test_kernels_and_launches_are_cuda(
    tmp_path: Path, name: str, text: str, device_code: int
) -> None:
    (tmp_path / name).write_text(text)
    for path in (tmp_path, tmp_path / name):
        cost, _ = cost_of(path, make_translator())
        assert cost.device_code == device_code
        if device_code:
            assert f"{device_code} construct(s) are the same in HIP" in cost.verdict
            assert cost.commands
        else:
            assert cost.verdict == "no CUDA is there: nothing to port"


def test_a_file_goes_on_with_its_translation(tmp_path: Path) -> None:
    (tmp_path / "a b.cu").write_text(PLAIN)
    cost, _ = cost_of(tmp_path / "a b.cu", make_translator())
    assert cost.commands == [
        f"cass translate '{tmp_path}/a b.cu' -o '{tmp_path}/a b.hip'",
        f"cass verify '{tmp_path}/a b.cu' '{tmp_path}/a b.hip'",
    ]


def test_the_reports(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(project, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads((out / "report.json").read_text())
    findings = json.loads((out / "report.sarif").read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in findings if each["level"] == "error"] == ["CASS1001"]
    page = (out / "report.html").read_text()
    assert "What will porting project cost?" in page
    assert "ptx.cu:3" in page
    (out / "report.html").write_text("mine\n")
    assert run(project, "-o", out).exit_code == 2
    assert (out / "report.html").read_text() == "mine\n"


def test_all_files_under_verbose(project: Path) -> None:
    for number in range(12):
        (project / f"more{number}.cu").write_text(PLAIN)
    cost, _ = cost_of(project, make_translator())
    assert "more9.cu" not in cost_text(cost)
    assert "more9.cu" in cost_text(cost, everything=True)


def test_what_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    for path in (tmp_path / "a.bin", tmp_path / "missing.cu"):
        result = run(path)
        assert result.exit_code == 2
        assert "give a CUDA file or a folder" in result.output


def test_compilation_at_run_time_needs_no_library(tmp_path: Path) -> None:
    program = tmp_path / "rtc.cu"
    program.write_text("#include <nvrtc.h>\nnvrtcProgram program;\n")
    cost, _ = cost_of(program, make_translator("rules"))
    assert cost.libraries == {"nvrtc": "hiprtc"}
    assert not any("setup libraries" in command for command in cost.commands)


@pytest.mark.parametrize("given", [".", "..", "./", "../project", "sub/.."])
def test_the_port_of_the_current_folder_lies_beside_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    (project / "Makefile").unlink()
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub" if given == ".." else project)
    cost, _ = cost_of(Path(given), make_translator())
    port = Path(cost.commands[-1].split(" -o ")[1].strip("'"))
    assert port.resolve() == project.with_name("project_hip")
