"""Python's search for cycles is held back while something is lifted, and then is as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from cass_ray.bench.task import TASKS_FOLDER
from cass_ray.lift.frontend.nan_literals import with_bits_of_nans
from cass_ray.lift.gc_pause import gc_relaxed
from cass_ray.lift.module import ModuleBuilder
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit

_USUAL = (321, 12, 13)


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_USUAL)
    yield
    gc.set_threshold(*before)


def test_it_is_rare_inside_and_as_before_behind() -> None:
    with gc_relaxed():
        first, *others = gc.get_threshold()
        assert first > 100_000 and tuple(others) == _USUAL[1:]
        assert gc.isenabled()  # threads that lift without end do not fill the memory
    assert gc.get_threshold() == _USUAL


def test_of_several_the_last_one_sets_it_back() -> None:
    one, other = gc_relaxed(), gc_relaxed()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 100_000
    other.__exit__(None, None, None)
    assert gc.get_threshold() == _USUAL


def test_it_is_set_back_after_an_error() -> None:
    with pytest.raises(ValueError), gc_relaxed():
        raise ValueError
    assert gc.get_threshold() == _USUAL


def test_what_never_searches_does_not_begin_to() -> None:
    gc.set_threshold(0)
    with gc_relaxed():
        assert gc.get_threshold()[0] == 0


@pytest.mark.nvidia
@pytest.mark.parametrize(
    "task",
    [
        "data_structures/expression_trees_virtual",  # functions
        "scientific_computing/cholesky_warp_batched",  # operations with slow paths
        "dynamics/population_models_pointer_table",
    ],
)
def test_lifting_leaves_no_cycles(task: str) -> None:
    """What it made goes with it: in cycles it stayed, and the search for these took a tenth."""
    nvidia = find_nvidia()
    unit = Unit(TASKS_FOLDER / task, PurePosixPath("main.cu"))
    binary = nvidia.compile(unit, ("sm_80",)).cubins["sm_80"]
    cubin = Cubin.parse(binary)
    builder = ModuleBuilder(cubin, with_bits_of_nans(nvidia.disassemble([binary])[0], cubin))
    builder.lift(builder.kernel_names[0])  # what is kept for all kernels is there then
    gc.collect()
    gc.disable()
    try:
        for name in builder.kernel_names:
            builder.lift(name)
        assert gc.collect() == 0
    finally:
        gc.enable()
