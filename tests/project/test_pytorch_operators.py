"""PyTorch's own operators on the CPU backend's devices, without an extension: expected values are
those of the same program on the CPU, or counted by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.project.pytorch.backend import find_torch, torch_backend
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator

TESTS = """\
from typing import List, Optional

import pytest
import torch


def masked(x, mask):
    return x[mask]


def pairs(x, rows, columns):
    return x[rows, columns]


def columns(x, index):
    return x[:, index]


def put(x, index):
    x = x.clone()
    x[index] = 0.5
    return x


def joined(x, index):
    parts: List[torch.Tensor] = []
    for i in range(2):
        parts.append(x[i])
    return torch.cat(parts)


CALLS = {
    masked: lambda x, i: (x, x > 2),
    pairs: lambda x, i: (x, i, i),
    columns: lambda x, i: (x, i),
    put: lambda x, i: (x, i),
    joined: lambda x, i: (x, i),
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_torchscript_does_what_the_cpu_does(function):
    x, index = torch.arange(6.0).view(2, 3), torch.tensor([1, 0])
    scripted = torch.jit.script(function)
    expected = function(*CALLS[function](x, index))
    for _ in range(3):  # the interpreter specializes after the first runs
        found = scripted(*CALLS[function](x.cuda(), index.cuda()))
        assert found.is_cuda
        assert torch.equal(found.cpu(), expected)


LIBRARY = torch.library.Library("containers", "DEF")
TWICE = {
    "dict(Tensor x, Dict(str, Tensor) d) -> Dict(str, Tensor)": lambda x, d: {
        key: value + x for key, value in d.items()
    },
    "lists(Tensor x, Tensor[][] l) -> Tensor[][]": lambda x, l: [
        [value + x for value in part] for part in l
    ],
    "tuple(Tensor x, (Tensor, int) t) -> (Tensor, int)": lambda x, t: (t[0] + x, t[1]),
    "optional(Tensor x, Tensor?[] l) -> Tensor?[]": lambda x, l: [
        None if value is None else value + x for value in l
    ],
}
for schema, kernel in TWICE.items():
    LIBRARY.define(schema)
    LIBRARY.impl(schema.partition("(")[0], kernel, "CPU")


NUMBERS = (
    lambda x: 1 - x,
    lambda x: 1.5 - torch.exp(x),
    lambda x: torch.tensor(2.0) * x,
    lambda x: torch.tensor(2.0) / x,
    lambda x: torch.maximum(torch.tensor(0.5), x),
    lambda x: torch.where(x > 0, torch.tensor(1.0), x),
)


@pytest.mark.parametrize("call", NUMBERS)
def test_a_number_comes_before_a_tensor(call):
    here = torch.tensor([0.25, -3.0], requires_grad=True)
    there = here.detach().cuda().requires_grad_()
    made, expected = call(there), call(here)
    assert made.is_cuda and torch.equal(made.cpu(), expected)
    made.sum().backward()
    expected.sum().backward()
    assert there.grad.is_cuda and torch.equal(there.grad.cpu(), here.grad)


def test_a_number_decides_the_type_of_whole_numbers():
    made = 1.5 - torch.tensor([1, 2], device="cuda")
    assert made.is_cuda and made.dtype == torch.float32 and made.tolist() == [0.5, -0.5]


def test_operators_with_containers_of_tensors():
    x, ops = torch.ones(2, device="cuda"), torch.ops.containers
    two = [2.0, 2.0]
    made = ops.dict(x, {"k": x})
    assert made["k"].is_cuda and made["k"].tolist() == two
    (first, second), (third,) = ops.lists(x, [[x, x], [x]])
    assert all(each.is_cuda and each.tolist() == two for each in (first, second, third))
    made, number = ops.tuple(x, (x, 3))
    assert made.is_cuda and made.tolist() == two and number == 3
    made, nothing = ops.optional(x, [x, None])
    assert made.is_cuda and made.tolist() == two and nothing is None


def test_pytorchs_compiler_is_there():
    @torch.compile(backend="eager")
    def twice(x):
        return 2 * x

    assert twice(torch.ones(2, device="cuda")).tolist() == [2.0, 2.0]


def test_operators_of_an_installed_package():
    torchvision = pytest.importorskip("torchvision")
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]], device="cuda")
    kept = torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7], device="cuda"), 0.5)
    assert kept.is_cuda and kept.tolist() == [0, 2]  # the second one covers 81 of 100


def one(x):
    return x.add_(1)


WRITTEN = {
    "row of a row": lambda x: one(x[1][2]),
    "view": lambda x: one(x.view(3, 2)),
    "reshape": lambda x: one(x.reshape(6)),
    "as_strided": lambda x: one(x.as_strided((2,), (4,), 1)),
    "unfold": lambda x: one(x.view(6).unfold(0, 2, 4)),
    "diagonal": lambda x: one(x.diagonal()),
    "transposed": lambda x: one(x.t()[1]),
    "split": lambda x: [one(part) for part in x.split(1, dim=1)[:2]],
    "complex": lambda x: one(torch.view_as_complex(x.view(3, 2)).real),
    "real": lambda x: one(torch.view_as_real(torch.view_as_complex(x.view(3, 2)))[0]),
    "in place": lambda x: one(x.t_()[0]),
    "data": lambda x: one(x.data[0]),
    "set": lambda x: one(torch.empty(0, device=x.device).set_(x)),
    "storage": lambda x: one(torch.empty(0, device=x.device).set_(x.untyped_storage())),
    "through an index": lambda x: x[0].__setitem__(torch.tensor([2], device=x.device), 7),
}


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_what_is_written_through_a_view_is_the_tensors(write):
    here = torch.arange(6.0).view(2, 3)
    there, start = here.cuda(), here.clone()
    write(here)
    write(there)
    assert not torch.equal(here.reshape(2, 3), start) or here.shape != start.shape
    assert torch.equal(there.cpu(), here)


def test_storages_are_told_apart():
    x = torch.zeros(3, device="cuda")
    same = torch.empty(0, device="cuda").set_(x)
    assert same.is_set_to(x) and not x.clone().is_set_to(x)
    assert same.set_().numel() == 0 and same.is_cuda and x.numel() == 3


def test_a_view_of_an_extension_without_a_kernel_for_devices_is_refused():
    LIBRARY.define("first(Tensor(a) x) -> Tensor(a)")
    LIBRARY.impl("first", lambda x: x[0], "CPU")
    with pytest.raises(NotImplementedError, match="containers::first returns a view"):
        torch.ops.containers.first(torch.ones(2, device="cuda"))


def test_what_is_written_is_seen_or_refused():
    def add(x, tensors):
        tensors[0].add_(x)

    LIBRARY.define("written(Tensor x, Tensor(a!)?[] l) -> ()")
    LIBRARY.impl("written", add, "CPU")
    LIBRARY.define("nested(Tensor x, Tensor(a!)[][] l) -> ()")
    LIBRARY.impl("nested", lambda x, l: add(x, l[0]), "CPU")
    x, y = torch.ones(2, device="cuda"), torch.zeros(2, device="cuda")
    torch.ops.containers.written(x, [y, None])
    assert y.tolist() == [1.0, 1.0]
    with pytest.raises(NotImplementedError, match="containers::nested writes to tensors of"):
        torch.ops.containers.nested(x, [[y]])
"""


@pytest.mark.slow
def test_operators(tmp_path: Path) -> None:
    install = find_torch()
    if install is None:
        pytest.skip("PyTorch is not installed")
    toolchain = find_amd(architectures=("gfx1100",))
    backend = torch_backend(
        install, toolchain, runtime_library(), make_translator(), toolchain.cache
    )
    (tmp_path / "test_operators.py").write_text(TESTS)
    variables = {**backend.variables("gfx1100", tmp_path), "CASS_DEVICES": "gfx1100"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "failed" not in done.stdout
    # Without torchvision, and with it.
    assert "32 passed" in done.stdout or "33 passed" in done.stdout
