from typing import Any

import pytest

from cass_ray.corpus.screening.filters import FilterSettings, first_objection
from cass_ray.dataset.row import Reason

KERNEL = "__global__ void k(int *a)\n{\n    a[0] = 1;\n}\n"
MAIN = "int main()\n{\n    k<<<1, 1>>>(nullptr);\n    return 0;\n}\n"
PROGRAM = KERNEL + "\n" + MAIN


def reason(row: dict[str, Any], **settings: Any) -> Reason | None:
    verdict = first_objection(row, FilterSettings(**settings))
    return verdict[0] if verdict else None


def row(source: str, **columns: Any) -> dict[str, Any]:
    return {"cuda_source": source, "header_kernels": 0, "forbidden_includes": [], **columns}


def test_an_ordinary_program_passes() -> None:
    assert PROGRAM.count("\n") == 10
    assert reason(row(PROGRAM)) is None


@pytest.mark.parametrize(("lines", "expected"), [(7000, None), (7001, Reason.TOO_LONG)])
def test_longest(lines: int, expected: Reason | None) -> None:
    source = PROGRAM + "//\n" * (lines - 10)
    assert reason(row(source)) is expected
    assert reason(row(source.removesuffix("\n"))) is expected


@pytest.mark.parametrize(("lines", "expected"), [(10, None), (9, Reason.TOO_SHORT)])
def test_shortest(lines: int, expected: Reason | None) -> None:
    source = KERNEL + "//\n" * (lines - 4)
    assert reason(row(source)) is expected
    assert reason(row(source), min_lines=lines) is None


def test_a_kernel_in_a_local_header_counts() -> None:
    assert reason(row(MAIN * 3)) is Reason.NO_KERNEL
    assert reason(row(MAIN * 3, header_kernels=1)) is None
    assert reason(row(MAIN * 3), require_kernel=False) is None
    commented = "// " + KERNEL.replace("\n", " ") + "\n" + MAIN * 3
    assert reason(row(commented)) is Reason.NO_KERNEL


def test_boilerplate() -> None:
    hello = '__global__ void hello()\n{\n    printf("Hello %d", threadIdx.x);\n}\n' + MAIN * 2
    assert reason(row(hello)) is Reason.BOILERPLATE
    assert reason(row(hello), boilerplate=False) is None
    assert reason(row(hello + KERNEL)) is None
    assert reason(row(hello, header_kernels=1)) is None
    empty = "__global__ void warm_up()\n{\n}\n" + MAIN * 2
    assert reason(row(empty)) is Reason.BOILERPLATE
    template = (
        PROGRAM.replace("void k(", "void addKernel(")
        + "const int b[5] = { 10, 20, 30, 40, 50 };\nauto status = addWithCuda(c, a, b, 5);\n"
    )
    assert reason(row(template)) is Reason.BOILERPLATE


def test_forbidden_includes_and_incbin() -> None:
    problem = 'a.cu:1: #include "/etc/passwd" is an absolute path'
    verdict = first_objection(row(PROGRAM, forbidden_includes=[problem]), FilterSettings())
    assert verdict == (Reason.FORBIDDEN_INCLUDE, problem)
    assembler = PROGRAM + 'asm(".incbin \\"/etc/passwd\\"");\n'
    assert reason(row(assembler)) is Reason.FORBIDDEN_INCLUDE
    assert reason(row(PROGRAM + '// asm(".incbin")\n')) is None


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="maximum_line"):
        FilterSettings(maximum_line=3)  # type: ignore[call-arg]
