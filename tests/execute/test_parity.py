"""Parity: medians, intervals, and counters on the CPU backend."""

from __future__ import annotations

import random

import pytest

from cass_ray.execute.backends.base import BuiltProgram
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.parity import ParityError, measure_parity, ratio_of_medians
from tests.execute.conftest import HONEST, hip


def test_equal_samples_do_not_differ() -> None:
    generator = random.Random(1)
    samples = [generator.gauss(1.0, 0.05) for _ in range(40)]
    result = ratio_of_medians(samples[:20], samples[20:], generator)
    assert result.low <= 1.0 <= result.high
    assert not result.differs


def test_a_slower_candidate_is_seen_and_one_outlier_is_not() -> None:
    generator = random.Random(2)
    reference = [generator.gauss(1.0, 0.02) for _ in range(20)]
    slower = [value * 1.2 for value in reference]
    result = ratio_of_medians(reference, slower, generator)
    assert result.ratio == pytest.approx(1.2)
    assert result.low > 1.1
    assert result.differs
    outlier = [*reference[:-1], 50.0]
    assert not ratio_of_medians(reference, outlier, generator).differs


def test_a_median_must_be_positive() -> None:
    with pytest.raises(ValueError, match="not positive"):
        ratio_of_medians([0.0, 0.0], [1.0, 1.0], random.Random(0))


@pytest.mark.amd
def test_counters_on_the_cpu(backend: Rdna3Backend, honest: BuiltProgram) -> None:
    same = measure_parity(backend, honest, honest)
    assert same.seconds is None
    assert {ratio.ratio for ratio in same.counters.values()} == {1.0}
    twice = HONEST.replace("squares<<<", "squares<<<1, 1>>>(in, out, 0); squares<<<")
    more = measure_parity(backend, honest, backend.build(hip(twice)))
    assert more.counters["launches"].ratio == 2.0
    assert more.counters["instructions"].ratio > 1.0


@pytest.mark.amd
def test_a_failing_program_has_no_parity(backend: Rdna3Backend, honest: BuiltProgram) -> None:
    failing = backend.build(hip(HONEST.replace("return hipFree(in)", "return 3 + hipFree(in)")))
    with pytest.raises(ParityError, match="candidate ended with exit"):
        measure_parity(backend, honest, failing)
