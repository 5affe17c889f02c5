"""Comparison of outputs: what must pass, what must fail, and what is left out and listed."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.execute.comparison.compare import F16, F32, F64, Tolerance, compare
from cass_ray.execute.comparison.tokens import OutputTokenKind, tokens_of
from cass_ray.execute.comparison.tolerances import tolerance_for

SAME = [
    ("sum 1.00000", "sum 1.00005"),
    ("value -nan inf", "value nan inf"),
    ("Elapsed time: 0.34 ms, sum 3", "Elapsed time: 1.99 ms, sum 3"),
    ("kernel took 12ms", "kernel took 13ms"),
    ("bandwidth 512.3 GB/s", "bandwidth 3.1 GB/s"),
    ("Device 0: NVIDIA H200", "Device 0: AMD Radeon RX 7900 XTX"),
    ("Using device: NVIDIA A100-SXM4\nok", "Using device: gfx1100\nok"),
    ("pointer at 0x7f32ae000000", "pointer at 0x7ffe00000400"),
    ("x = 1e-5", "x = 0.00001"),
    ("a b  \n\n", "a b"),
    ("1\n2.5", "1.00001\n2.5"),
]
DIFFERENT = [
    ("sum 1.00000", "sum 1.00050"),
    ("count 5", "count 6"),
    ("value nan", "value 0.0"),
    ("value inf", "value -inf"),
    ("value inf", "value 1e300"),
    ("Elapsed time: 0.34 ms, sum 3", "Elapsed time: 1.99 ms, sum 4"),
    ("took 5 ms", "took long ms"),
    ("device: drained 3072, waiting 512", "device: drained 3072, waiting 513"),
    ("hash 12e45f67", "hash 12e46f67"),
    ("digest 123e4567890", "digest 123e4567891"),
    ("mask 0xff", "mask 0xfe"),
    ("verify: OK", "verify: MISMATCH"),
    ("a\nb", "a"),
    ("a\nb", "a\nb\nc"),
    ("a 1", "a 1 1"),
    ("mean 0.1", "mean 0.2"),
    ("mean 0.123", "mean 0.124"),
    ("1", "1.0"),
    ("sum 332833500", "sum 332833501.0"),
    ("mask 0x13d6ae5c", "mask 332834000.0"),
    ("rest 1e-9", "rest 2e-9"),
    ("small 0.0000000001", "small 0.0"),
    ("big 9007199254740993", "big 9007199254740992"),
    ("x 1\ny 2", "y 2\nx 1"),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_numerically_equal(reference: str, candidate: str) -> None:
    result = compare([reference.encode()], candidate.encode())
    assert result.numeric, result.difference
    assert result.exact == (reference == candidate)


@pytest.mark.parametrize(("reference", "candidate"), DIFFERENT)
def test_different(reference: str, candidate: str) -> None:
    result = compare([reference.encode()], candidate.encode())
    assert not result.numeric
    assert not result.exact
    assert result.difference


def test_what_is_left_out_is_listed() -> None:
    result = compare([b"Elapsed time: 0.34 ms\nsum 3"], b"Elapsed time: 0.35 ms\nsum 3")
    assert result.freed == ("time or rate: Elapsed time: 0.34 ms",)


def test_a_candidate_frees_nothing_by_what_it_prints() -> None:
    assert not compare([b"sum 3.5 units"], b"sum 9.5 ms").numeric
    assert not compare([b"total 3.5"], b"Device: NVIDIA H200").numeric


def test_tolerance_by_type() -> None:
    for tolerance, close, far in (
        (F16, b"1.005", b"1.02"),
        (F32, b"1.00005", b"1.0002"),
        (F64, b"1.0000000005", b"1.000000002"),
    ):
        assert compare([b"1.000000000000"], close, tolerance).numeric
        assert not compare([b"1.000000000000"], far, tolerance).numeric


def test_few_numbers_may_differ_in_their_last_digit() -> None:
    reference = b" ".join([b"0.500"] * 100)
    assert not compare([reference], reference.replace(b"0.500", b"0.501", 1)).numeric
    two, three = (reference.replace(b"0.500", b"0.501", count) for count in (2, 3))
    assert compare([reference], two, same_data=True).numeric
    result = compare([reference], three, same_data=True)
    assert not result.numeric
    assert "last digit" in result.difference


def test_errors_are_reported() -> None:
    result = compare([b"1.0 2.0 4.0"], b"1.0 2.0001 4.0")
    assert result.max_error == pytest.approx(5e-5)
    assert result.mean_error == pytest.approx(5e-5 / 3)
    assert result.floats == 3


def test_variation_of_the_reference_does_not_fail_a_candidate() -> None:
    references = [b"order 3 1 2\nsum 1.00010\n", b"order 1 2 3\nsum 1.00040\n"]
    result = compare(references, b"order 2 3 1\nsum 1.00000\n")
    assert result.numeric
    assert result.varying == ("order 3 1 2", "sum 1.00010")
    assert not compare(references, b"order 2 3 1\nsum 1.1\n").numeric
    assert not compare(references, b"order 2 3\nsum 1.00010\n").numeric


def test_lines_that_only_some_runs_print() -> None:
    references = [b"start\nretry\nend 1", b"start\nend 1"]
    assert compare(references, b"start\nretry\nretry\nend 1").numeric
    assert not compare(references, b"start\nretry\nend 2").numeric
    assert not compare(references, b"retry\nend 1").numeric
    assert not compare(references, b"start\nend 1\nmore").numeric


def test_order_free_is_a_multiset() -> None:
    assert compare([b"a 1\nb 2\nb 3"], b"b 3\na 1\nb 2", order_free=True).numeric
    assert not compare([b"a 1\nb 2\nb 3"], b"b 3\na 1\nb 3", order_free=True).numeric


def test_words_are_not_numbers() -> None:
    kinds = [(token.text, token.kind) for token in tokens_of("v1.2 a-5 0x1F 3e2, .5 1.5f sha1e5")]
    assert kinds == [
        ("v1.2", OutputTokenKind.TEXT),
        ("a", OutputTokenKind.TEXT),
        ("-", OutputTokenKind.TEXT),
        ("5", OutputTokenKind.INTEGER),
        ("0x1F", OutputTokenKind.INTEGER),
        ("3e2", OutputTokenKind.FLOAT),
        (",", OutputTokenKind.TEXT),
        (".5", OutputTokenKind.FLOAT),
        ("1.5f", OutputTokenKind.FLOAT),
        ("sha1e5", OutputTokenKind.TEXT),
    ]


@given(st.binary(max_size=400))
def test_every_output_equals_itself(output: bytes) -> None:
    result = compare([output], output)
    assert result.exact
    assert result.numeric, result.difference


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_never_raises(reference: bytes, candidate: bytes) -> None:
    compare([reference, candidate], candidate)
    compare([reference], candidate, order_free=True)


@given(st.lists(st.integers(-(10**18), 10**18), min_size=1, max_size=8), st.data())
def test_any_changed_integer_is_seen(values: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    changed = [*values]
    changed[place] += data.draw(st.sampled_from([-1, 1, 10, 1 << 32]))
    lines = ["v " + " ".join(map(str, each)) for each in (values, changed)]
    assert not compare([lines[0].encode()], lines[1].encode()).numeric


def test_tolerance_from_the_types_in_a_source() -> None:
    double = "__global__ void k(double* p) { p[0] = 1.0; }\nint main() { float ms = 0.0f; }"
    assert tolerance_for([double]) is F64
    assert tolerance_for(["__global__ void k(float* p) {}  // double"]) is F32
    assert tolerance_for(["__global__ void k(int* p) { int half = 2; }"]) is F32
    assert tolerance_for(["#include <cuda_fp16.h>\n__global__ void k(half* p) {}"]) is F16
    assert tolerance_for(["__global__ void k(__half* p, double* q) {}"]) is F16


def test_of_varied_runs_only_what_differs_is_free() -> None:
    runs = [
        b"Device: AMD Radeon 7900\nspectral peak: 440.5 Hz\ntook 0.31 ms\nL2 cache model hits: 12",
        b"Device: Varied Radeon 7900\nspectral peak: 440.5 Hz\ntook 0.93 ms\n"
        b"L2 cache model hits: 12",
    ]
    right = b"Device: Other\nspectral peak: 440.5 Hz\ntook 7.25 ms\nL2 cache model hits: 12"
    assert compare(runs, right, varied=True).numeric
    for before, after in ((b"440.5", b"1.5"), (b"12", b"13")):
        assert not compare(runs, right.replace(before, after), varied=True).numeric
    same = [runs[0], runs[0].replace(b"0.31", b"0.93")]
    assert not compare(same, right, varied=True).numeric  # the device's name did not vary


@given(
    st.lists(st.floats(0.5, 1e6), min_size=4, max_size=40),
    st.data(),
    st.sampled_from([F16, F32, F64]),
)
def test_a_single_change_beyond_the_tolerance_is_seen(
    values: list[float], data: st.DataObject, tolerance: Tolerance
) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    factor = 1 + tolerance.relative * data.draw(st.floats(4.0, 1e4)) * data.draw(
        st.sampled_from([-1, 1])
    )
    changed = [*values]
    changed[place] *= factor
    one, two = (" ".join(f"{each:.17g}" for each in each) for each in (values, changed))
    assert not compare([one.encode()], two.encode(), tolerance).numeric


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=200), st.randoms())
def test_sums_in_another_order_are_equal(values: list[float], random: Random) -> None:
    import numpy as np

    shuffled = [*values]
    random.shuffle(shuffled)
    positive = [np.float32(abs(each)) for each in values], [np.float32(abs(x)) for x in shuffled]
    one, two = (f"sum {float(np.cumsum(each, dtype=np.float32)[-1]):.9g}" for each in positive)
    assert compare([f"{one}\nsum 0.5".encode()], f"{two}\nsum 0.5".encode()).numeric


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        # Results near 4 as floats: their rounding is 2**-24 * 4 each, four of them 9.5e-7.
        ("RMS error: 7.180754e-06", "RMS error: 7.136262e-06", True),
        ("largest error 0.00000119", "largest error 0.00000095", True),
        ("residual -2.3e-07", "residual 1.1e-07", True),
        ("errors 1.1e-06 4.8e-07", "errors 1.6e-06 9.5e-07", True),
        ("norm 0", "norm 4.7e-07", False),  # a whole number is no float
        ("RMS error: 7.18e-06", "RMS error: 9.18e-06", False),  # two millionths apart
        ("step 0.001", "step 0.0010005", False),  # too large to be rounding alone
        ("mean 3.5000", "mean 3.5009", False),
        ("mismatches 3", "mismatches 4", False),
    ],
)
def test_errors_of_results_that_agree_may_differ_as_roundings_do(
    one: str, two: str, equal: bool
) -> None:
    """By hand: four roundings of a float, and 64 times that, of results whose median is 4."""
    reference, other = one.encode(), two.encode()
    made = compare([reference], other, F32, same_data=True, data_size=4.0)
    assert made.numeric is equal, made.difference
    assert not compare([reference], other, F32, same_data=True).numeric  # their size is not known
    assert not compare([reference], other, F32, data_size=4.0).numeric  # the results differ


def _table(values: dict[int, str], lines: int = 12, fixed: str = "") -> bytes:
    rows = [f"{line}, {values.get(line, fixed or f'{line}.5')}" for line in range(lines)]
    return "\n".join(rows).encode()


@pytest.mark.parametrize(
    ("lines", "near", "other", "equal"),
    [
        (12, {5: "5.001"}, {5: "9.9"}, True),  # nearly the same by chance, among eleven
        (12, {5: "5.001", 7: "7.001"}, {5: "9.9", 7: "1.1"}, True),
        (12, {5: "5.0"}, {5: "9.9"}, False),  # it does not vary
        (7, {5: "5.001"}, {5: "9.9"}, False),  # too few lines to be a table of times
        (12, {each: f"{each}.001" for each in range(1, 6)}, {5: "9.9"}, False),  # five of twelve
    ],
)
def test_in_a_column_of_times_one_that_varies_little_by_chance_is_free(
    lines: int, near: dict[int, str], other: dict[int, str], equal: bool
) -> None:
    one = {line: f"{line}.0" for line in range(lines)}
    two = {line: f"{line * 3 + 1}.7" for line in range(lines)} | near
    three = {line: f"{line * 5 + 2}.3" for line in range(lines)} | near | other
    references = [_table(one, lines), _table(two, lines)]
    made = compare(references, _table(three, lines), varied=True)
    assert made.numeric is equal, made.difference


@pytest.mark.parametrize(
    ("printed", "drawn", "agrees"),
    [
        (b"x 1.0\ny 99.5\nn 7 PASSED\n", True, True),
        (b"x 1.0\ny 99.5\nn 7 PASSED\n", False, False),  # 2.001 and 2.002: rounding
        (b"x 5.5\ny 2.001\nn 7 PASSED\n", False, True),
        (b"x 1.0\ny 99.5\nn 8 PASSED\n", True, False),  # no number of that line varies
        (b"x 1.0\ny 99.5\nn 7 FAILED\n", True, False),
        (b"x 1.0\nn 7 PASSED\n", True, False),
    ],
)
def test_what_varies_is_free_where_runs_draw_their_inputs(
    printed: bytes, drawn: bool, agrees: bool
) -> None:
    runs = [b"x 3.25\ny 2.001\nn 7 PASSED\n", b"x 0.5\ny 2.002\nn 7 PASSED\n"]
    assert compare(runs, printed, varied=True, drawn=drawn).numeric is agrees


def test_drawn_numbers_that_are_the_same_by_chance_are_free() -> None:
    runs = [b"[0, 2, 1]\n[1, 1, 0]\nwrong 0\n", b"[0, 1, 1]\n[1, 1, 0]\nwrong 0\n"]
    printed = b"[2, 2, 2]\n[0, 0, 2]\nwrong 0\n"
    assert compare(runs, printed, varied=True, drawn=True).numeric
    assert not compare(runs, printed, varied=True).numeric
    assert not compare(runs, printed.replace(b"g 0", b"g 1"), varied=True, drawn=True).numeric
