"""``import cass_ray``: what it offers, what it costs, and that each function does its work."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

import cass_ray as cass
from cass_ray.api.schema import TranslateRequest
from cass_ray.execute.grades import Grade
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import UnknownEngineError
from tests.folders import REPOSITORY

FUNCTIONS = {"build", "compile", "lift", "run", "translate", "verify"}
HEAVY = ("aiohttp", "datasets", "numpy", "pandas", "pyarrow", "pydantic", "ray", "torch", "typer")

SUM = """\
#include <cstdio>
#include <cstdlib>
__global__ void add(int *sum) { atomicAdd(sum, static_cast<int>(threadIdx.x)); }
int main(int argc, char **argv) {
    int *device, sum = 0, threads = argc > 1 ? atoi(argv[1]) : 4;
    cudaMalloc(&device, sizeof(int));
    cudaMemcpy(device, &sum, sizeof(int), cudaMemcpyHostToDevice);
    add<<<1, threads>>>(device);
    cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    printf("%d\\n", sum);
}
"""


@pytest.fixture
def cuda_file(tmp_path: Path) -> Path:
    path = tmp_path / "sum.cu"
    path.write_text(SUM)
    return path


@pytest.fixture
def both_compilers() -> None:
    try:
        find_nvidia(), find_amd()
        isolation.isolates()
    except (ToolMissing, isolation.IsolationUnavailableError) as error:
        pytest.skip(str(error))


def test_import_loads_nothing_heavy_and_takes_little_time() -> None:
    code = (
        "import sys, time; started = time.process_time(); import cass_ray;"
        "seconds = time.process_time() - started; import json;"
        "print(json.dumps([seconds, sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    seconds, modules = json.loads(done.stdout)
    assert not set(HEAVY) & set(modules)
    # CPU time, so that a busy machine makes no difference.
    assert seconds < 0.2


def test_every_public_name_resolves_and_says_what_it_raises() -> None:
    assert set(cass.__all__) == FUNCTIONS | {"__version__"}
    assert set(cass.__all__) <= set(dir(cass))
    for name in FUNCTIONS:
        assert callable(getattr(cass, name))
        function = cass._function(name)
        assert function.__name__ == name
        assert inspect.signature(getattr(cass, name)) == inspect.signature(function)
        assert "Raises:" in (inspect.getdoc(function) or "")
        assert f":func:`{name}`" in (cass.__doc__ or "")


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import cass_ray.translate, cass_ray.lift",
        "from cass_ray.translate.protocol import Finding; from cass_ray.lift import LiftError",
        "from cass_ray import translate, lift",
        "cass.translate; cass.lift",
    ],
)
def test_packages_of_the_same_name_do_not_hide_the_functions(before: str) -> None:
    code = (
        f"import cass_ray as cass; {before}\n"
        "assert 'hipFree(p);' in cass.translate('cudaFree(p);').source\n"
        "try: cass.lift('/no/such/file')\n"
        "except (OSError, RuntimeError): pass  # no such file, or no clang\n"
        "import cass_ray.lift as package, cass_ray.translate.protocol\n"
        "assert package is cass.lift and package.lift_cubin and cass.translate.protocol.Finding\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'translat'"):
        cass.translat  # noqa: B018


def test_translate_a_text_and_a_file(tmp_path: Path) -> None:
    text = "#include <cuda_runtime.h>\nvoid f(void *p) { cudaFree(p); }\n"
    wanted = "#include <hip/hip_runtime.h>\nvoid f(void *p) { hipFree(p); }\n"
    made = cass.translate(text)
    assert made.errors == ()
    assert made.source == wanted
    (tmp_path / "f.cu").write_text(text)
    assert cass.translate(tmp_path / "f.cu").source == wanted


@pytest.mark.parametrize(
    "given", ["vec.cu", "./vec.cu", "/home/me/a-b/vec.CU", "~/src/k.cuh", " x.cpp\n", "C:\\a\\b.cu"]
)
def test_a_path_is_no_text(given: str) -> None:
    with pytest.raises(ValueError, match=r"is a path, not a program's text: give pathlib[.]Path"):
        cass.translate(given)
    with pytest.raises(ValueError, match="a path: give the program's text"):
        TranslateRequest(source=given)


def test_a_file_that_is_there_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "my program"
    file.write_text(SUM)
    with pytest.raises(ValueError, match="is a path"):
        cass.translate(str(file))


@pytest.mark.parametrize(
    "text", ["", "x", "// see vec.cu", "a.cu;", '#include "a.cuh"', "k" * 9999]
)
def test_a_short_text_is_no_path(text: str) -> None:
    assert text in cass.translate(text).source


def test_the_card_has_one_name_in_all_functions(tmp_path: Path) -> None:
    for name in ("compile", "lift", "run", "verify"):
        assert "arch" in inspect.signature(getattr(cass, name)).parameters
    (tmp_path / "a.hip").write_text("int main() {}\n")
    for function, names in ((cass.run, ["arch"]), (cass.verify, ["arch", "architecture"])):
        for name in names:
            with pytest.raises(ValueError, match="test as gfx1100"):
                function(tmp_path / "a.hip", backend="rdna3", **{name: "rx7600"})
    with pytest.raises(
        ValueError, match="arch is mi300x and architecture, its former name, gfx1100"
    ):
        cass.verify(tmp_path / "a.hip", arch="mi300x", architecture="gfx1100")


def test_translate_reports_what_it_cannot_do() -> None:
    made = cass.translate("void f() {\n  cudaGraphConditionalHandleCreate(0, 0, 0);\n}\n")
    assert [finding.line for finding in made.errors] == [2]
    with pytest.raises(UnknownEngineError):
        cass.translate("", engine="rulez")


def test_compile_refuses_a_wrong_pair(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"give a [.]cu file for sm_"):
        cass.compile(tmp_path / "a.cu", "gfx1100")


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("both_compilers")
def test_compile_both_sides(cuda_file: Path) -> None:
    cuda = cass.compile(cuda_file, "sm_89")
    assert ".target\tsm_89" in cuda.device
    assert "main:" in cuda.host
    hip_file = cuda_file.with_suffix(".hip")
    hip_file.write_text(cass.translate(cuda_file).source)
    hip = cass.compile(hip_file)
    assert "s_endpgm" in hip.device
    assert "main:" in hip.host


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("both_compilers")
def test_lift_the_machine_code_of_an_executable(cuda_file: Path) -> None:
    executable = cuda_file.with_suffix("")
    unit = Unit(cuda_file.parent, PurePosixPath(cuda_file.name))
    find_nvidia().build_executable(unit, executable, ["sm_90"])
    [module] = cass.lift(executable)
    assert module.kernels == ("_Z3addPi",)
    assert "amdhsa_kernel _Z3addPi" in module.assembly


@pytest.mark.amd
@pytest.mark.usefixtures("both_compilers")
def test_run_and_verify(cuda_file: Path) -> None:
    for arch in (None, "mi300x"):
        done = cass.run(cuda_file, ["10"], backend="rdna3", arch=arch)
        assert done.ended.stdout == b"45\n"
    assert done.launch_count == 1
    right = cass.verify(cuda_file, inputs=[(), ("33",)], backend="rdna3", reference_backend="rdna3")
    # A translation is no reference for itself: the outputs agree, and nothing is proved.
    assert right.grade is Grade.AGREES
    assert not right.passed
    assert [run.arguments for run in right.runs if not run.kernel] == [[], ["33"]]
    port = cuda_file.with_name("port.hip")
    text = cass.translate(cuda_file).source
    port.write_text(text.replace("threadIdx.x)", "threadIdx.x + 1)"))
    wrong = cass.verify(cuda_file, port, backend="rdna3", reference_backend="rdna3")
    assert wrong.grade is Grade.DIFFERS


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("both_compilers")
def test_build_a_data_set_of_one_pair(cuda_file: Path, tmp_path: Path) -> None:
    code = (
        "import sys, cass_ray as cass; print(cass.build([sys.argv[1]], sys.argv[2],"
        " quiet=True, slots=1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"local:{cuda_file.parent}", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert "out: 1 rows in, 1 pairs, 1 kernels>" in done.stdout
    assert list((tmp_path / "out/pairs").glob("*.parquet"))
