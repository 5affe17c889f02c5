"""CUDA programs that call cuBLAS and others: translated, and run with AMD's own libraries.

Expected values are NumPy's. The libraries are those of ``cass setup libraries``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cass_ray.cache import default_directory
from cass_ray.cli import app
from cass_ray.toolchain.archive.library_root import find_library_root

PROGRAMS = Path(__file__).parent / "programs"
ROOT = find_library_root(default_directory())

pytestmark = [pytest.mark.amd, pytest.mark.slow]


def output(part: str, program: str) -> dict[str, list[float]]:
    """The lines of a program: what stands before its numbers, and those."""
    if ROOT is None or part not in ROOT.parts:
        pytest.skip(f"needs cass setup libraries {part}")
    done = CliRunner().invoke(app, ["run", str(PROGRAMS / f"{program}.cu")])
    assert done.exit_code == 0, done.stderr
    lines: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        label = words[0] if words and words[0][0].isalpha() else f"line {len(lines)}"
        numbers = words[1:] if label == words[0] else words
        lines[label] = [complex_or_real(word) for word in numbers]
    return lines


def complex_or_real(word: str) -> complex:
    return complex(word.replace("i", "j")) if word[-1:] in {"i", "j"} else float(word)


def test_cublas() -> None:
    m, n, k = 3, 4, 5
    a = np.array([i % 7 - 3 for i in range(m * k)], float).reshape(k, m).T
    b = np.array([i % 5 - 2 for i in range(k * n)], float).reshape(n, k).T
    x = np.arange(1.0, 6)
    c = 2 * a @ b + 0.5
    z = np.array([i + 1j * (1 - i) for i in range(4)]).reshape(2, 2).T
    half = 2 * a @ b
    batched = 2 * a @ b + 0.5 * c
    y = 2 * a @ x
    lower = np.tril(a[:, :3], -1) + np.eye(3)
    said = output("blas", "cublas")
    expected = {
        "sgemm": c.T.ravel(),
        "sgemv": y,
        "sdot": [x @ x],
        "snrm2": [np.linalg.norm(x)],
        "isamax": [5],  # counted from one
        "sasum": [x.sum()],
        "x": x * 2 * 3,
        "dgemm": (a @ b).T.ravel(),
        "gemmex": half.T.ravel(),
        "cgemm": (z.conj().T @ z).T.ravel(),
        "batched": batched.T.ravel(),
        "strsm": np.linalg.solve(lower, 2 * y),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(said[name], values, rtol=1e-5, err_msg=name)


def test_cufft() -> None:
    values = np.array([i % 5 - 2 + 1j * (i % 3) for i in range(16)])
    said = output("fft", "cufft")
    assert said.pop("error") == [1]  # there and back within 1e-12
    lines = [complex(*pair) for pair in said.values()]
    np.testing.assert_allclose(lines, np.fft.fft(values), atol=2e-4)


def test_curand() -> None:
    if ROOT is None or "rand" not in ROOT.parts:
        pytest.skip("needs cass setup libraries rand")
    done = CliRunner().invoke(app, ["run", str(PROGRAMS / "curand.cu")])
    # 65,536 samples: the mean within 0.002 of 1/2, and of N(1, 2²).
    assert done.stdout.split()[1] in {"0.499", "0.500", "0.501"}
    mean, variance = done.stdout.splitlines()[1].split()[1::2]
    assert abs(float(mean) - 1) < 0.04 and abs(float(variance) - 4) <= 0.2


def test_cusparse() -> None:
    matrix = np.array([[1, 0, 2, 3], [0, 4, 0, 0], [5, 0, 6, 7], [0, 8, 0, 9.0]])
    [product] = output("sparse", "cusparse").values()
    np.testing.assert_allclose(product, matrix @ [1, 2, 3, 4])


def test_cusolver() -> None:
    matrix = np.array([[4, 2, 1], [2, 5, 3], [1, 3, 6.0]])
    solution, eigenvalues = output("solver", "cusolver").values()
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, [1, 2, 3]), atol=1e-6)
    np.testing.assert_allclose(eigenvalues, np.linalg.eigvalsh(matrix), atol=1e-6)


def test_a_library_that_is_not_there_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cass_ray.toolchain.amd.toolchain.find_library_root", lambda cache: None)
    done = CliRunner().invoke(app, ["run", "-D", "OTHER=1", str(PROGRAMS / "cusparse.cu")])
    assert done.exit_code == 3
    assert "hipsparse" in done.stderr and "cass setup libraries" in done.stderr
