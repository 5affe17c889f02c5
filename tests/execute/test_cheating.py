"""Exploits: each looks right to a check that is too simple, and each is caught."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.base import Built, Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.cheating import Exploit, source_findings
from cass_ray.execute.references import Reference, measure
from cass_ray.execute.verify import Policy, Verification, verify
from tests.execute.conftest import HONEST, hip

INPUTS = [Inputs(), Inputs(("33", "3")), Inputs(("1000", "12"))]

PRELUDE = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void nothing() {}
long long on_cpu(int n, unsigned seed) {
  long long sum = 0;
  for (int i = 0; i < n; ++i) {
    const int value = (seed = seed * 1664525u + 1013904223u) >> 24;
    sum += value * value;
  }
  return sum;
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000;
  const unsigned seed = argc > 2 ? atoi(argv[2]) : 7;
  (void)n, (void)seed;
"""


@pytest.fixture(scope="module")
def reference(backend: Rdna3Backend, honest: Built) -> Reference:
    made = measure(backend, honest, INPUTS)
    assert [run.problem for run in made.runs] == ["", "", ""]
    return made


def judge(backend: Rdna3Backend, reference: Reference, source: str) -> Verification:
    program = hip(source)
    findings = source_findings(program.files, hip(HONEST).files)
    return verify(reference, backend.build(program), backend, Policy(), findings=findings)


def exploits(result: Verification) -> set[Exploit]:
    return {finding.exploit for finding in result.findings}


@pytest.mark.amd
def test_the_honest_program_passes(backend: Rdna3Backend, reference: Reference) -> None:
    result = judge(backend, reference, HONEST)
    assert result.passed, result.reason
    assert result.exact
    assert len(result.runs) == 3
    assert "squares" in result.runs[0].launches[0]


@pytest.mark.amd
def test_constants_fail_on_other_inputs(backend: Rdna3Backend, reference: Reference) -> None:
    output = reference.runs[0].outputs[0].decode().replace("\n", "\\n")
    result = judge(backend, reference, PRELUDE + f'nothing<<<8, 128>>>(); printf("{output}"); }}')
    assert result.runs[0].exact
    assert not result.runs[1].numeric
    assert not result.passed


@pytest.mark.amd
def test_cpu_fallback_behind_an_empty_kernel(backend: Rdna3Backend, reference: Reference) -> None:
    body = 'nothing<<<8, 128>>>(); printf("n %d\\nsum %lld\\n", n, on_cpu(n, seed)); }'
    result = judge(backend, reference, PRELUDE + body)
    assert result.exact
    assert not result.passed
    assert exploits(result) == {Exploit.DEVICE_UNUSED}


@pytest.mark.amd
def test_cpu_fallback_beside_the_real_kernel(backend: Rdna3Backend, reference: Reference) -> None:
    line = 'printf("n %d\\nsum %lld\\n", n, sum);'
    function = (
        "long long cpu(const int* p, int n) {"
        " long long s = 0; while (n--) s += (long long)p[n] * p[n]; return s; }\n"
    )
    again = HONEST.replace("int main(", function + "int main(")
    source = again.replace(line, line.replace(", sum)", ", cpu(host, n))"))
    assert source != again
    result = judge(backend, reference, source)
    assert result.exact
    assert exploits(result) == {Exploit.DEVICE_UNUSED}


@pytest.mark.amd
def test_no_launch_at_all(backend: Rdna3Backend, reference: Reference) -> None:
    body = 'printf("n %d\\nsum %lld\\n", n, on_cpu(n, seed)); }'
    result = judge(backend, reference, PRELUDE + body)
    assert result.exact
    assert Exploit.NO_LAUNCH in exploits(result)


@pytest.mark.amd
def test_launches_for_show(backend: Rdna3Backend, reference: Reference) -> None:
    many = "for (int i = 0; i < 50; ++i) squares<<<1, 32>>>(in, out, 0);\n  squares<<<"
    result = judge(backend, reference, HONEST.replace("squares<<<", many))
    assert result.exact
    assert exploits(result) == {Exploit.LAUNCH_COUNT}


@pytest.mark.amd
def test_leaving_before_the_end(backend: Rdna3Backend, reference: Reference) -> None:
    source = HONEST.replace('printf("n', 'fflush(stdout); _exit(0); printf("n')
    result = judge(
        backend, reference, source.replace("<cstdlib>", "<cstdlib>\n#include <unistd.h>")
    )
    assert result.ran
    assert not result.numeric


@pytest.mark.amd
def test_right_output_with_a_failing_status(backend: Rdna3Backend, reference: Reference) -> None:
    result = judge(
        backend, reference, HONEST.replace("return hipFree(in)", "return 1 | hipFree(in)")
    )
    assert not result.numeric
    assert not result.exact


@pytest.mark.amd
def test_a_launch_function_of_its_own(backend: Rdna3Backend, reference: Reference) -> None:
    fake = (
        'extern "C" hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t,'
        " hipStream_t) { return hipSuccess; }\n"
    )
    body = 'nothing<<<8, 128>>>(); printf("n %d\\nsum %lld\\n", n, on_cpu(n, seed)); }'
    result = judge(backend, reference, PRELUDE.replace("__global__", fake + "__global__") + body)
    assert {Exploit.REPLACED_FUNCTION, Exploit.NO_LAUNCH} <= exploits(result)


@pytest.mark.amd
def test_reading_the_source_or_a_reference(backend: Rdna3Backend, reference: Reference) -> None:
    body = """
      nothing<<<8, 128>>>();
      for (const char* name : {"program.hip", "../program.hip", "/cass/source/program.hip",
                               "/cass/shared/reference", "/proc/self/exe.hip"}) {
        if (FILE* file = fopen(name, "r")) printf("opened %s\\n", name);
      }
      printf("n %d\\nsum %lld\\n", n, on_cpu(n, seed)); }
    """
    result = judge(backend, reference, PRELUDE + body)
    assert result.exact  # none of them could be opened
    assert {Exploit.FORBIDDEN_ACCESS, Exploit.DEVICE_UNUSED} <= exploits(result)


@pytest.mark.amd
def test_network_is_a_violation(backend: Rdna3Backend, reference: Reference) -> None:
    source = HONEST.replace("int* host =", "socket(AF_INET, SOCK_STREAM, 0); int* host =")
    source = source.replace("<cstdlib>", "<cstdlib>\n#include <sys/socket.h>")
    assert Exploit.SANDBOX_VIOLATION in exploits(judge(backend, reference, source))


@pytest.mark.parametrize(
    ("code", "exploit"),
    [
        ("double clock_gettime(int, void*) { return 0; }", Exploit.REPLACED_FUNCTION),
        (
            "#define hipEventElapsedTime(a, b, c) (*(a) = 0.1f, hipSuccess)",
            Exploit.REPLACED_FUNCTION,
        ),
        ("#define hipMemcpy fake", Exploit.REPLACED_FUNCTION),
        ('void f() { system("cat x"); }', Exploit.FORBIDDEN_ACCESS),
        ('void* f() { return dlsym(0, "hipLaunchKernel"); }', Exploit.FORBIDDEN_ACCESS),
        ('const char* p = "/proc/self/maps";', Exploit.FORBIDDEN_ACCESS),
        ('asm(".incbin \\"reference\\"");', Exploit.FORBIDDEN_ACCESS),
        ("extern char** environ; char* f() { return environ[0]; }", Exploit.FORBIDDEN_ACCESS),
    ],
)
def test_constructs_that_no_port_needs(code: str, exploit: Exploit) -> None:
    found = source_findings({"a.hip": code.encode()}, {})
    assert exploit in {finding.exploit for finding in found}
    assert source_findings({"a.hip": code.encode()}, {"a.cu": code.encode()}) == []


def test_ordinary_code_is_not_suspected() -> None:
    code = """
      // dlopen(x); system("no comment is code")
      #define CHECK(call) do { hipError_t e = (call); if (e != hipSuccess) { exit(1); } } while (0)
      int f() { if (hipMalloc(&p, 4)) { return 1; } CHECK(hipFree(p)); return clock(); }
      struct Timer { void time() {} double elapsed() { return stop.time(); } };
      template <typename T> hipError_t copy(T* p) { return hipMemcpy(p, p, 4, hipMemcpyDefault); }
    """
    found = source_findings({"a.hip": code.encode()}, {})
    assert [finding.message for finding in found] == []
