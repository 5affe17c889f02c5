"""Calls as a program, and the program's output as arrays.

A call is a statement of CUDA, which shows arrays under its name, and the values that are right.
Arrays are filled by one rule in both languages, so that neither passes data to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Kind:
    """A type of elements: its letter in the names of functions, and what it is in C++."""

    letter: str
    name: str
    dtype: type[np.generic]
    tolerance: float

    @property
    def is_complex(self) -> bool:
        return np.issubdtype(self.dtype, np.complexfloating)

    @property
    def real(self) -> Kind:
        """The type of its absolute values."""
        return {"C": SINGLE, "Z": DOUBLE}.get(self.letter, self)


SINGLE = Kind("S", "float", np.float32, 2e-5)
DOUBLE = Kind("D", "double", np.float64, 1e-12)
KINDS = (
    SINGLE,
    DOUBLE,
    Kind("C", "cuComplex", np.complex64, 2e-5),
    Kind("Z", "cuDoubleComplex", np.complex128, 1e-12),
)


@dataclass(frozen=True)
class Call:
    """``code`` shows ``name``; ``expected`` are the values, in the order of the program's."""

    name: str
    code: str
    expected: Array
    tolerance: float


def values(kind: Kind, size: int, seed: int) -> Array:
    """What ``Array<T>(size, seed)`` of the programs holds."""
    found = pattern(np.arange(size), seed)
    if kind.is_complex:
        found = found + 1j * pattern(np.arange(size) + 5, seed + 1)
    return found.astype(kind.dtype).astype(exact(kind))


def pattern(index: Array, seed: int) -> Array:
    found: Array = ((index * 37 + index // 5 * 11 + seed * 101) % 23 - 11) / 4.0
    return found


def exact(kind: Kind) -> type[np.generic]:
    """The type in which expectations are computed."""
    return np.complex128 if kind.is_complex else np.float64


def matrix(memory: Array, rows: int, columns: int, leading: int) -> Array:
    """A view of column-major ``memory``; what is written to it is in ``memory``."""
    return memory[: leading * columns].reshape(columns, leading).T[:rows]


def heavy(memory: Array, n: int, leading: int) -> Array:
    """As ``Array::heavy``."""
    memory = memory.copy()
    for i in range(n):
        memory[i * leading + i] = 16 + i
    return memory


def scalar(kind: Kind, real: float, imaginary: float) -> tuple[str, Any]:
    """A number in C++ and in Python."""
    text = f"make<{kind.name}>({real}, {imaginary})"
    return text, complex(real, imaginary) if kind.is_complex else real


def operated(array: Array, operation: str) -> Array:
    """``array`` as it is, transposed or adjoint."""
    if operation == "N":
        return array
    return array.T if operation == "T" else array.conj().T


def program(headers: Sequence[str], calls: Sequence[Call], start: str) -> str:
    """One program that makes the calls; a status that is no success is shown in their place."""
    includes = "".join(f"#include <{header}>\n" for header in headers)
    bodies = "".join(
        f'static void call_{i}() {{\n  const char* const label = "{call.name}";\n{call.code}\n}}\n'
        for i, call in enumerate(calls)
    )
    runs = "".join(f"  call_{i}();\n" for i in range(len(calls)))
    return (
        f'{includes}#include "prelude.cuh"\n\n'
        "#define CHECK(call) do { if (int status = static_cast<int>(call)) {"
        ' printf("%s ! %d in %s\\n", label, status, #call); return; } } while (0)\n\n'
        f"{start}\n{bodies}\nint main() {{\n"
        f'  const char* const label = "start";\n  (void)label;\n  if (!begin()) return 1;\n'
        f"{runs}  return 0;\n}}\n"
    )


def outputs(text: str) -> dict[str, str]:
    """What a program showed, by label."""
    lines = (line.partition(" ") for line in text.splitlines())
    return {label: rest for label, _, rest in lines}


def wrong(call: Call, said: dict[str, str]) -> str:
    """Why what the program showed for ``call`` is not right; empty if it is."""
    text = said.get(call.name)
    if text is None:
        return "it was not reached"
    if text.startswith("!"):
        return text
    numbers = [float(word) for word in text.split()]
    expected = np.ascontiguousarray(call.expected).ravel()
    if np.iscomplexobj(expected):
        expected = expected.view(np.float64)
    if len(numbers) != expected.size:
        return f"{len(numbers)} numbers for {expected.size}"
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    error = float(np.abs(np.array(numbers) - expected).max(initial=0)) / scale
    return "" if error <= call.tolerance else f"off by {error:.2g} of the largest value"


def expecting(name: str, code: str, found: Any, kind: Kind, slack: float = 1.0) -> Call:
    """A call of elements of ``kind``."""
    return Call(name, code, np.asarray(found), kind.tolerance * slack)


Maker = Callable[[Kind], list[Call]]
