"""What a program prints and leaves behind, read by the verifier."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.evidence.counters import coverage_of, parse_counters
from cass_ray.toolchain.sandbox.outputs import read_written

OUTPUTS = {
    "a hexadecimal number beyond every float": b"0x" + b"f" * 300,
    "a longer one": b"0x" + b"f" * 100_000,
    "an exponent of 5,000 digits": b"1e" + b"9" * 5000,
    "a negative one": b"1.5e-" + b"9" * 5000,
    "an integer of 10,000 digits": b"7" * 10_000,
    "a fraction of 10,000 digits": b"0." + b"3" * 10_000,
    "points and signs": b".+-.e+-" * 1000,
    "no text at all": bytes(range(256)),
    "a single line of many numbers": b"1 " * 100_000,
    "separators that are line ends elsewhere": "1\u2028 2\x85 3\x0b 4\x1c".encode(),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_any_output_is_compared(name: str) -> None:
    """Equal to itself, different from a number, and never an error of ours."""
    output = OUTPUTS[name]
    assert compare([output], output).exact
    assert not compare([b"12345.5"], output).numeric
    assert not compare([output], b"12345.5").numeric


def _kernel(**changed: object) -> dict[str, object]:
    entry: dict[str, object] = {
        "kernel": "k",
        "launches": 1,
        "instructions": 10,
        "by_class": {"barrier": 0, "atomic": 0, "lds": 0},
        "by_mnemonic": {"s_endpgm": 1},
        "instruction_coverage": {"reached": 5, "of": 10},
    }
    return {**entry, **changed}


COUNTERS = {
    "a coverage of a million": {
        "kernels": [_kernel(instruction_coverage={"reached": 10**6, "of": 1})]
    },
    "negative launches": {"kernels": [_kernel(launches=-1)]},
    "launches as text": {"kernels": [_kernel(launches="many")]},
    "a number beyond 64 bits": {"kernels": [_kernel(instructions=10**40)]},
    "no classes": {"kernels": [_kernel(by_class=None)]},
    "a missing field": {"kernels": [{"kernel": "k"}]},
    "a list": [1, 2],
    "kernels that are none": {"kernels": {"k": 1}},
}


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_that_cannot_be_are_none(name: str) -> None:
    parsed = parse_counters(json.dumps(COUNTERS[name]).encode())
    assert parsed == {}
    assert coverage_of([parsed]).share == 0


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"kernels": ' * 10_000, b"\xff\xfe", b"{", b"", b"nan", b"1e999999"]
)
def test_counters_that_are_no_text_are_none(text: bytes) -> None:
    assert parse_counters(text) == {}


def test_honest_counters_are_read() -> None:
    [(name, counters)] = coverage_of(
        [parse_counters(json.dumps({"kernels": [_kernel()]}).encode())]
    ).kernels.items()
    assert (name, counters.reached, counters.size) == ("k", 5, 10)


def test_a_link_in_place_of_an_output_is_not_followed(tmp_path: Path) -> None:
    secret, link = tmp_path / "secret", tmp_path / "counters.json"
    secret.write_text("{}")
    link.symlink_to(secret)
    assert read_written(link, 100) is None


def test_a_second_name_of_a_file_of_the_host_is_not_read(tmp_path: Path) -> None:
    secret, link = tmp_path / "secret", tmp_path / "counters.json"
    secret.write_text("{}")
    link.hardlink_to(secret)
    assert read_written(link, 100) is None


def test_a_pipe_in_place_of_an_output_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "counters.json")
    assert read_written(tmp_path / "counters.json", 100) is None


def test_an_output_larger_than_agreed_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "counters.json").write_bytes(b"x" * 101)
    assert read_written(tmp_path / "counters.json", 100) is None
    assert read_written(tmp_path / "counters.json", 101) == b"x" * 101
