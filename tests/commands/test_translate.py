"""``cass translate`` and the engines by name."""

from __future__ import annotations

import errno
import json
import shlex
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from cass_ray.api.schema import EXAMPLE
from cass_ray.commands.translate import app
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines import hipify
from cass_ray.translate.engines.registry import UnknownEngineError, make_translator
from cass_ray.translate.protocol import TranslatorError

RUN = CliRunner()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.cu"
    path.write_text("#include <cuda_runtime.h>\nint main() { cudaFree(0); nvmlInit(); }\n")
    return path


def test_a_file_goes_to_standard_output(source: Path) -> None:
    result = RUN.invoke(app, [str(source)])
    assert result.exit_code == 1
    assert result.stdout.startswith("#include <hip/hip_runtime.h>\nint main() { hipFree(0); nvml")
    assert "a.cu:2:27: error: nvmlInit" in result.stderr
    assert "1 unsupported" in result.stderr


@pytest.mark.parametrize(
    ("line", "plain", "strict"),
    [
        ("cudaFree(0);", 0, 0),
        ("nvmlInit();", 1, 1),
        ("cudaFooBar(1);", 1, 1),
        ("cuFooBar(1);", 1, 1),
        ("cublasFooBar(1);", 1, 1),
        ("cudaFree(0)", 1, 1),
        ("cudaFree(0;", 1, 1),
        ("{ cudaFree(0);", 1, 1),
    ],
)
def test_what_is_left_or_does_not_parse_is_a_status(
    source: Path, line: str, plain: int, strict: int
) -> None:
    source.write_text(f"int main() {{ {line} }}\n")
    assert RUN.invoke(app, [str(source)]).exit_code == plain
    assert RUN.invoke(app, [str(source), "--strict"]).exit_code == strict


def test_the_report_as_json(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.hip"
    result = RUN.invoke(app, [str(source), "-o", str(out), "--json", "--report", "none"])
    report = json.loads(result.stdout)
    assert report["engine"] == "rules"
    (file,) = report["files"]
    assert file["counts"] == {"converted": 2, "unchanged": 0, "unsupported": 1}
    assert file["findings"][0]["line"] == 2
    assert out.read_text().startswith("#include <hip/hip_runtime.h>")


def test_a_folder_needs_an_output(source: Path) -> None:
    result = RUN.invoke(app, [str(source.parent)])
    assert result.exit_code == 2
    assert "-o" in result.stderr


def test_verify_is_of_one_file(source: Path, tmp_path: Path) -> None:
    result = RUN.invoke(app, [str(tmp_path), "-o", str(tmp_path.with_name("out")), "--verify"])
    assert result.exit_code == 2
    assert "cass project" in result.stderr
    assert RUN.invoke(app, [str(source), "--verify"]).exit_code == 2


@pytest.mark.amd
@pytest.mark.nvidia
def test_verify_runs_the_file_beside_its_original(tmp_path: Path) -> None:
    path = tmp_path / "square.cu"
    path.write_text(EXAMPLE)
    result = RUN.invoke(app, [str(path), "-o", str(tmp_path / "square.hip"), "--verify"])
    assert result.exit_code == 0, result.stderr
    assert "verified (lifted sm_90, 1 input, " in result.stderr


def test_a_folder(source: Path, tmp_path: Path) -> None:
    folder = source.parent / "in"
    folder.mkdir()
    source.write_text("int main() { cudaFree(0); }\n")
    source.rename(folder / "a.cu")
    result = RUN.invoke(app, [str(folder), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0
    assert "hipFree" in (tmp_path / "out/a.cu").read_text()


def test_a_full_disk_is_said_in_a_line(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("cass_ray.overwriting.write_whole", full)
    result = RUN.invoke(app, [str(source), "-o", str(tmp_path / "a.hip")])
    assert result.exit_code == 1
    said = f"cass translate: {tmp_path / 'a.hip'}: No space left on device: free some space"
    assert result.stderr.startswith(said)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    assert RUN.invoke(app, [str(tmp_path / "no.cu")]).exit_code == 2


def test_an_unknown_engine_names_the_nearest(source: Path) -> None:
    with pytest.raises(UnknownEngineError, match="did you mean hipify-perl"):
        make_translator("hipify-pearl")
    result = RUN.invoke(app, [str(source), "--engine", "rulez"])
    assert result.exit_code == 2
    assert "did you mean rules" in result.stderr


def test_a_missing_engine_is_status_3(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(hipify, "_PLACES", ())
    with pytest.raises(ToolMissing, match="hipify-perl"):
        make_translator("hipify-perl")
    assert RUN.invoke(app, [str(source), "--engine", "hipify-perl"]).exit_code == 3


def test_hipify_runs_as_an_engine(tmp_path: Path) -> None:
    """A stand-in program: what matters here is how it is called and what is made of its output."""
    program = tmp_path / "hipify-perl"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo HIP version 6.2 && exit\n'
        'sed s/cudaFree/hipFree/ "$2"\necho "warning: a.cu:3: unsupported x" >&2\n'
    )
    program.chmod(0o755)
    engine = hipify.HipifyTranslator("hipify-perl", program)
    result = engine.translate("cudaFree(0);\n", filename="d/a.cu")
    assert result.source == "hipFree(0);\n"
    latin_1 = b"cudaFree(0); // \xb5s".decode("utf-8", "surrogateescape")
    assert engine.translate(latin_1).source.encode("utf-8", "surrogateescape").endswith(b"// \xb5s")
    assert engine.version == "HIP version 6.2"
    assert result.findings[0].line == 3


def test_a_failing_hipify_is_a_translator_error(tmp_path: Path) -> None:
    program = tmp_path / "hipify-perl"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 2\n")
    program.chmod(0o755)
    engine = hipify.HipifyTranslator("hipify-perl", program)
    with pytest.raises(TranslatorError, match=r"failed on a\.cu: broken"):
        engine.translate("x", filename="a.cu")


def test_the_report_as_sarif(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.hip"
    result = RUN.invoke(app, [str(source), "-o", str(out), "--report", "sarif"])
    report = json.loads(result.stdout)
    assert report["version"] == "2.1.0"
    (run,) = report["runs"]
    (finding,) = run["results"]
    assert finding["level"] == "error"
    place = finding["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a.cu"
    assert place["region"] == {"startLine": 2, "startColumn": 27}
    assert finding["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


@pytest.mark.amd
def test_repair_makes_a_file_compile(tmp_path: Path) -> None:
    source = tmp_path / "t.cu"
    source.write_text(
        "__global__ void k(float* a) { a[threadIdx.x] += 1; }\n"
        "int main() { timeval t; gettimeofday(&t, 0); k<<<1, 32>>>(nullptr); }\n"
    )
    out = tmp_path / "out/t.hip"
    assert RUN.invoke(app, [str(source), "-o", str(out), "--check"]).exit_code == 1
    result = RUN.invoke(app, [str(source), "-o", str(out), "--repair", "3"])
    assert "add #include <sys/time.h>" in result.stderr
    assert result.exit_code == 0
    assert "#include <sys/time.h>" in out.read_text()


def test_the_source_and_a_persons_port_stay(source: Path, tmp_path: Path) -> None:
    source.write_text("int main() { cudaFree(0); }\n")
    before = source.read_text()
    for name in (str(source), f"{source.parent}/./{source.name}"):
        result = RUN.invoke(app, [str(source), "-o", name, "--overwrite"])
        assert (result.exit_code, source.read_text()) == (2, before)
        assert "the input itself" in result.stderr
    port = tmp_path / "port.hip"
    port.write_text("// a port by hand\n")
    result = RUN.invoke(app, [str(source), "-o", str(port)])
    assert (result.exit_code, port.read_text()) == (2, "// a port by hand\n")
    assert "--overwrite" in result.stderr
    assert RUN.invoke(app, [str(source), "-o", str(port), "--overwrite"]).exit_code == 0
    assert RUN.invoke(app, [str(source), "-o", str(port)]).exit_code == 0  # cass wrote it


def test_a_folder_with_a_persons_files_is_left_whole(source: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    source.rename(folder / "a.cu")
    (folder / "b.h").write_text("int b;\n")
    (out / "a.cu").write_text("// by hand\n")
    result = RUN.invoke(app, [str(folder), "-o", str(out)])
    assert result.exit_code == 2
    assert str(out / "a.cu") in result.stderr
    assert [path.name for path in out.iterdir()] == ["a.cu"]
    assert (out / "a.cu").read_text() == "// by hand\n"


ADD = """\
#include <hip/hip_runtime.h>
extern "C" __global__ void add(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
}
extern "C" __global__ void plain(int* b) { *b = 7; }
"""
BACK = ("--level", "assembly", "--direction", "hip-to-cuda")


@pytest.fixture(scope="module")
def rdna3(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What clang makes of two kernels."""
    if not isolation.available():
        pytest.skip(isolation.problem())
    folder = tmp_path_factory.mktemp("add")
    (folder / "add.hip").write_text(ADD)
    try:
        unit = Unit(folder, PurePosixPath("add.hip"))
        return find_amd().compile_device(unit, optimization="-O2").device_assembly
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.parametrize("name", ["add.s", "add.hip"])
def test_rdna3_becomes_a_cubin_with_the_same_kernels(name: str, rdna3: str, tmp_path: Path) -> None:
    source, out = tmp_path / name, tmp_path / "add.cubin"
    source.write_text(rdna3 if name.endswith(".s") else ADD)
    result = RUN.invoke(app, [str(source), *BACK, "--arch", "sm_90", "-o", str(out)])
    assert result.exit_code == 0, result.stderr
    assert "2 kernel(s) translated" in result.stderr
    (listing,) = find_nvidia().disassemble([out.read_bytes()])
    assert "sm_90" in listing
    assert ".text.add" in listing and ".text.plain" in listing
    assert "STG.E" in listing


@pytest.mark.amd
def test_rdna3_becomes_ptx(rdna3: str, tmp_path: Path) -> None:
    source = tmp_path / "add.s"
    source.write_text(rdna3)
    result = RUN.invoke(app, [str(source), *BACK])
    assert result.exit_code == 0
    assert ".target sm_80\n" in result.stdout
    assert ".visible .entry add(.param .b64 argument0, .param .b64 argument1" in result.stdout


@pytest.mark.amd
def test_a_kernel_that_has_no_translation_is_named(rdna3: str, tmp_path: Path) -> None:
    source, out = tmp_path / "add.s", tmp_path / "add.ptx"
    unknown = "v_wmma_f32_16x16x16_f16 v[0:7], v[0:7], v[0:7], v[0:7]"
    source.write_text(rdna3.replace("\nadd:", f"\nadd:\n\t{unknown}", 1))
    result = RUN.invoke(app, [str(source), *BACK, "-o", str(out)])
    assert result.exit_code == 1
    assert "left out of" in result.stderr and "add: v_wmma_f32_16x16x16_f16" in result.stderr
    assert ".entry plain(" in out.read_text() and ".entry add(" not in out.read_text()


@pytest.mark.amd
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("amdhsa--gfx1100", "amdhsa--gfx942", "is code of gfx942"),
        (".amdhsa_kernel", ".amdhsa_ker", "has no kernel"),
    ],
)
def test_other_assembly_is_refused_by_name(
    old: str, new: str, message: str, rdna3: str, tmp_path: Path
) -> None:
    source = tmp_path / "add.s"
    source.write_text(rdna3.replace(old, new))
    result = RUN.invoke(app, [str(source), *BACK])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*BACK, "--engine", "lift"], "--engine is rdna3-to-ptx"),
        ([*BACK, "--arch", "gfx1100"], "sm_"),
        ([*BACK, "--server", "http://127.0.0.1:9"], "translated here alone"),
        (["--direction", "hip-to-cuda", "--engine", "hipify-perl"], "rules-hip-to-cuda"),
        (list(BACK), "is none of .s, .hip, .cu, .cpp"),
    ],
)
def test_wrong_use_of_the_other_direction(options: list[str], message: str, tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("\n")
    result = RUN.invoke(app, [str(source), *options])
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_other_direction_of_sources(tmp_path: Path) -> None:
    source = tmp_path / "a.hip"
    source.write_text("#include <hip/hip_runtime.h>\nint main() { hipFree(0); }\n")
    result = RUN.invoke(app, [str(source), "--direction", "hip-to-cuda"])
    assert result.exit_code == 0
    assert result.stdout == "#include <cuda_runtime.h>\nint main() { cudaFree(0); }\n"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.cu", "a.hip"),
        ("a b.cu", "a b.hip"),
        ("a.cuh", "a.cuh"),
        ("a.h", "a.h"),
        ("a.hip", "a.hip"),
    ],
)
def test_a_file_in_a_folder_is_called_what_it_is(tmp_path: Path, name: str, written: str) -> None:
    (tmp_path / name).write_text("int main() { cudaFree(0); }\n")
    (tmp_path / "out").mkdir()
    done = RUN.invoke(app, [str(tmp_path / name), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert [each.name for each in (tmp_path / "out").iterdir()] == [written]
    if name.endswith(".cu"):
        port = tmp_path / "out" / written
        assert f"cass verify {shlex.quote(str(tmp_path / name))} {shlex.quote(str(port))} " in (
            done.stderr
        )


def test_cuda_of_hip_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text("int main() { hipFree(0); }\n")
    (tmp_path / "out").mkdir()
    arguments = [str(tmp_path / "a.hip"), "--direction", "hip-to-cuda", "-o", str(tmp_path / "out")]
    assert RUN.invoke(app, arguments).exit_code == 0
    assert "cudaFree" in (tmp_path / "out/a.cu").read_text()
