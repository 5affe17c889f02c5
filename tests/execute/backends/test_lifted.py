"""The original's machine code as a reference: it says what a GPU said, or why it says nothing."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.originals import attempt, measure_original, reference_backends
from cass_ray.execute.references import STORED_FOLDER, measure, read_references
from cass_ray.execute.references_json import from_json, to_json
from cass_ray.execute.selftest.selftest import Fate, Subject, run_selftest, summarize
from cass_ray.execute.verify import verify
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.execute.conftest import HONEST
from tests.execute.drivers.test_generated import SMOOTH

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

SUM = HONEST.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda")
"""The HIP runtime's names differ in their first letters alone; this is the CUDA program."""


def cuda(source: str, name: str = "program.cu") -> Sources:
    return Sources(PurePosixPath(name), {name: source.encode()})


@pytest.fixture(scope="session")
def lifted() -> LiftedBackend:
    made = LiftedBackend(threads=1)
    if problem := made.problem():
        pytest.skip(problem)
    return made


@pytest.mark.parametrize("name", ["block_reduce", "sobel_edges", "montgomery_primes"])
def test_prints_what_a_gpu_printed(lifted: LiftedBackend, name: str) -> None:
    stored = read_references(STORED_FOLDER / "references.json")
    [program] = [each for each in stored.programs if name in each.path]
    [entry] = [each for each in load_manifest() if each.path == program.path]
    folder, domain, file = entry.path.split("/")
    sources = gather(Unit(SHIPPED_ROOT / folder / domain, PurePosixPath(file)))
    wanted = [each.run() for each in program.nvidia.runs]
    made = measure(lifted, lifted.build(sources), [run.inputs for run in wanted])
    assert made.kind == "lifted sm_90"
    assert [run.outputs[0] for run in made.runs] == [run.outputs[0] for run in wanted]
    assert [run.launch_count for run in made.runs] == [run.launch_count for run in wanted]


def squares(count: int, seed: int) -> int:
    """What the program computes, here: squares of the high bytes of a linear generator."""
    total = 0
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) % 2**32
        total += (seed >> 24) ** 2
    return total


def test_the_reference_of_a_program_without_a_gpu(
    lifted: LiftedBackend, backend: Rdna3Backend
) -> None:
    inputs = [Inputs(), Inputs(("50", "2"))]
    made = measure_original(cuda(SUM), [lifted, backend], inputs)
    wanted = [f"n {n}\nsum {squares(n, seed)}\n".encode() for n, seed in ((1000, 7), (50, 2))]
    assert [run.outputs[0] for run in made.runs] == wanted
    assert (made.kind, made.independent, made.passed_over) == ("lifted sm_90", True, ())
    assert from_json(to_json(made)) == made


def test_a_wrong_port_is_found_and_the_evidence_names_the_reference(
    lifted: LiftedBackend, backend: Rdna3Backend
) -> None:
    reference = measure_original(cuda(SUM), [lifted, backend], [Inputs(("129",))])
    wrong = HONEST.replace("if (i < n)", "if (i < n - 1)")
    results = [
        verify(reference, backend.build(cuda(text, "port.hip")), backend)
        for text in (HONEST, wrong)
    ]
    assert [each.passed for each in results] == [True, False]
    assert {each.reference_kind for each in results} == {"lifted sm_90"}
    assert all(each.independent and "sm_90" in each.reference for each in results)


ANSWER = """
#include <cstdio>
__global__ void answer(int* p) { *p = 42; }
int main() {
  int *p, value = 0;
  %s
  cudaMalloc(&p, sizeof value);
  answer<<<1, 1>>>(p);
  cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
  printf("%%d\\n", value);
}
"""


def test_a_call_that_lifted_programs_do_not_have_is_no_reference(
    lifted: LiftedBackend, backend: Rdna3Backend
) -> None:
    program = cuda(ANSWER % 'int device; cudaDeviceGetByPCIBusId(&device, "0000:01:00.0");')
    made = measure_original(program, [lifted, backend], [Inputs()])
    assert (made.kind, made.independent) == ("translation", False)
    [why] = made.passed_over
    assert why == "lifted sm_90: cudaDeviceGetByPCIBusId is not supported"
    assert made.runs[0].outputs[0] == b"42\n"


SEVERAL_GPUS = """
#include <cstdio>
__global__ void plain(int* p) { *p = 42; }
__global__ void everywhere(int* p) {
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(*p) : "l"(p));
}
int main(int argc, char**) {
  int *p, value = 0;
  cudaMalloc(&p, 1024);
  if (argc > 1) everywhere<<<1, 32>>>(p); else plain<<<1, 1>>>(p);
  cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
  printf("%d\\n", value);
}
"""
"""A sum in the memory of several GPUs, which AMD's do not have."""


def test_a_kernel_that_is_left_out_matters_only_where_it_is_launched(lifted: LiftedBackend) -> None:
    made = measure(lifted, lifted.build(cuda(SEVERAL_GPUS)), [Inputs(), Inputs(("everywhere",))])
    plain, everywhere = (run.problem for run in made.runs)
    assert plain == ""
    assert "everywhere" in everywhere
    assert everywhere.endswith("a kernel is used that has not been lifted")
    assert made.runs[0].outputs[0] == b"42\n"


def test_what_has_no_machine_code_is_refused_with_the_reason(lifted: LiftedBackend) -> None:
    with pytest.raises(CompileFailure, match="it has no kernel"):
        lifted.build(cuda('#include <cstdio>\nint main() { puts("42"); }\n'))


def test_order_of_references(backend: Rdna3Backend) -> None:
    names = [each.name for each in reference_backends(None, backend)]
    assert names == ["nvidia", "lifted", "rdna3"]
    with pytest.raises(ValueError, match="no backend 'gpu'"):
        reference_backends("gpu", backend)


@pytest.mark.slow
def test_planted_faults_are_found_against_the_lifted_original(
    lifted: LiftedBackend, backend: Rdna3Backend
) -> None:
    inputs = (Inputs(), Inputs(("77", "5")))
    subject = Subject("honest", cuda(HONEST, "port.hip"), inputs, original=cuda(SUM))
    outcome = summarize(list(run_selftest([subject], backend, originals=lifted)))
    assert outcome.false_alarms == {}
    assert outcome.kill_rate() >= 0.9, outcome.mutants


@pytest.mark.slow
def test_faults_that_only_generated_inputs_show_are_caught(
    lifted: LiftedBackend, backend: Rdna3Backend
) -> None:
    """One block runs: of all that is drawn, no other input tells what the second one does."""
    port = "\n".join(SMOOTH.split("namespace {\n")).partition("__global__ void scatter")[0]
    port += SMOOTH[SMOOTH.index("int main()") :]
    original = port.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda")
    subject = Subject("smooth", cuda(port, "port.hip"), (Inputs(),), original=cuda(original))

    def survivors(originals: LiftedBackend | None) -> set[tuple[int, str]]:
        tried = run_selftest([subject], backend, per_fault=3, originals=originals)
        mutants = [each for *_, found in tried for each in found]
        return {(each.line, each.change) for each in mutants if each.fate is Fate.SURVIVED}

    without, with_them = survivors(None), survivors(lifted)
    last = port[: port.index("if (i < n) out[i]")].count("\n") + 1
    assert with_them < without
    assert (last, "< -> <=") in without - with_them  # the program has as many numbers as threads


def test_a_program_of_nvidias_libraries_is_told_what_is_in_the_way() -> None:
    program = cuda("#include <cublas_v2.h>\nint main() { cublasHandle_t h; cublasCreate(&h); }\n")
    said = attempt(program, LiftedBackend(threads=1), [Inputs()])
    told = "it calls a library of NVIDIA's ({}), whose code cannot be lifted"
    # The library's headers may be there, and the library not.
    assert said in [told.format("cublas_v2.h"), told.format("cublasCreate_v2()")]
