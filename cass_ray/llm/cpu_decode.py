"""Steps of decoding on a CPU with int8 weights, in C++ that is compiled for this processor once.

``cpu_decode.cpp`` says why. Where there is no clang, PyTorch makes the same steps, several times
slower.
"""

from __future__ import annotations

import ctypes
import functools
import re
import subprocess
import tempfile
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_float, c_int8, c_int32, c_void_p
from pathlib import Path
from typing import Any, Protocol

import torch

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.amd.clang import Clang, find_clang
from cass_ray.toolchain.errors import ToolMissing

_SOURCE = Path(__file__).with_suffix(".cpp")
# Sums may be made in any order, as PyTorch's are; infinities and NaN stay what they are.
_FLAGS = (
    *("-std=c++20", "-O3", "-march=native", "-fPIC", "-shared", "-Wall", "-Wextra"),
    *("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno"),
)


class _Matrix(Structure):
    _fields_ = [
        ("integers", POINTER(c_int8)),
        ("sums", POINTER(c_int32)),
        ("scales", POINTER(c_float)),
        ("bias", POINTER(c_float)),
        ("outs", c_int32),
        ("ins", c_int32),
    ]


MATRICES = ("q", "k", "v", "o", "gate", "up", "down")
_NORMS = ("before", "behind", "q_norm", "k_norm")


class _Layer(Structure):
    _fields_ = [(name, _Matrix) for name in MATRICES] + [
        (name, POINTER(c_float)) for name in _NORMS
    ]


class _Shape(Structure):
    _fields_ = [
        *((name, c_int32) for name in ("hidden", "heads", "groups", "width", "longest")),
        ("epsilon", c_float),
    ]


class Int8Matrix(Protocol):
    """A matrix as :mod:`cass_ray.llm.int8_weights` holds it."""

    integers: torch.Tensor
    sums: torch.Tensor
    scales: torch.Tensor
    bias: torch.Tensor | None


class Int8Steps:
    """The layers of a decoder, all of whose matrices are int8."""

    def __init__(
        self, layers: Sequence[Any], heads: int, groups: int, width: int, epsilon: float
    ) -> None:
        """``layers``: with an :class:`Int8Matrix` under each name of ``MATRICES``, and the weights
        of their norms. Raises ``ToolMissing``: there is no clang.
        """
        self._library = _library()
        self._layers = (_Layer * len(layers))(*map(_layer, layers))
        self._held = layers  # what the pointers point to
        self._shape = {"heads": heads, "groups": groups, "width": width, "epsilon": epsilon}

    def __call__(
        self,
        x: torch.Tensor,
        places: torch.Tensor,
        rotation: tuple[torch.Tensor, torch.Tensor],
        keys: Sequence[torch.Tensor],
        values: Sequence[torch.Tensor],
    ) -> torch.Tensor:
        """``x`` (rows, hidden) behind the last layer.

        Args:
            x: fp32, of the new tokens.
            places: int64, of the tokens in their rows.
            rotation: cosines and sines of the places, (rows, width).
            keys: caches of the layers, (rows, groups, longest, width), where those of the new
                tokens are put; ``values`` likewise.
            values: see ``keys``.
        """
        longest = keys[0].shape[2]
        shape = _Shape(hidden=x.shape[1], longest=longest, **self._shape)
        made = x.contiguous().clone()
        cos, sin = (each.contiguous() for each in rotation)
        caches = [
            (c_void_p * len(self._layers))(*(cache.data_ptr() for cache in each))
            for each in (keys, values)
        ]
        self._library.cass_decode(
            self._layers,
            len(self._layers),
            ctypes.byref(shape),
            len(x),
            c_void_p(made.data_ptr()),
            c_void_p(places.data_ptr()),
            c_void_p(cos.data_ptr()),
            c_void_p(sin.data_ptr()),
            *caches,
        )
        return made


def multiply(matrix: Int8Matrix, x: torch.Tensor) -> torch.Tensor:
    """The product of ``x`` (rows, ins), fp32, with an int8 matrix. Raises ``ToolMissing``."""
    x = x.contiguous()
    out = x.new_empty((len(x), len(matrix.integers)))
    _library().cass_multiply(
        ctypes.byref(_matrix(matrix)),
        len(x),
        c_void_p(x.data_ptr()),
        c_void_p(out.data_ptr()),
    )
    return out


def is_at_hand() -> bool:
    """Whether there is a compiler for it, or a build."""
    try:
        _library()
    except ToolMissing:
        return False
    return True


def _layer(layer: Any) -> _Layer:
    made = _Layer()
    for name in MATRICES:
        setattr(made, name, _matrix(getattr(layer, name)))
    for name in _NORMS:
        setattr(made, name, _pointer(getattr(layer, name), torch.float32, c_float))
    return made


def _matrix(matrix: Int8Matrix) -> _Matrix:
    return _Matrix(
        _pointer(matrix.integers, torch.int8, c_int8),
        _pointer(matrix.sums, torch.int32, c_int32),
        _pointer(matrix.scales, torch.float32, c_float),
        _pointer(matrix.bias, torch.float32, c_float),
        *matrix.integers.shape,
    )


def _pointer(tensor: torch.Tensor | None, dtype: torch.dtype, kind: Any) -> Any:
    if tensor is None:
        return POINTER(kind)()
    assert tensor.is_contiguous() and tensor.dtype == dtype and tensor.device.type == "cpu"
    return ctypes.cast(tensor.data_ptr(), POINTER(kind))


@functools.cache
def _library() -> ctypes.CDLL:
    """Raises ``ToolMissing``."""
    clang = find_clang()
    parts = (clang.version, _processor(), *_FLAGS, _SOURCE.read_bytes())
    target = default_directory() / "int8" / f"{digest(parts)[:24]}.so"
    if not target.exists():
        _build(clang, target)
    library = ctypes.CDLL(str(target))
    pointers = (c_void_p,) * 4
    library.cass_decode.argtypes = [
        *(POINTER(_Layer), c_int32, POINTER(_Shape), c_int32),
        *pointers,
        *(POINTER(c_void_p), POINTER(c_void_p)),
    ]
    library.cass_decode.restype = None
    library.cass_multiply.argtypes = [POINTER(_Matrix), c_int32, c_void_p, c_void_p]
    library.cass_multiply.restype = None
    return library


def _build(clang: Clang, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        linker = f"--ld-path={clang.linker}"
        command = [str(clang.clang), "-x", "c++", *_FLAGS, linker, str(_SOURCE), "-o", str(made)]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolMissing("A C++ compiler for this processor", "", done.stderr.strip())
        made.replace(target)


def _processor() -> str:
    """What ``-march=native`` depends on: a cache may be another machine's too."""
    found = re.search(r"^(flags|Features)\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return " ".join(sorted(found[2].split())) if found else ""
