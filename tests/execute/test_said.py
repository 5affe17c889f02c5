"""Files that programs leave are part of what they say."""

from __future__ import annotations

import struct

from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.said import said
from cass_ray.toolchain.sandbox.executable import SandboxRun, SandboxVerdict


def _run(**files: bytes) -> SandboxRun:
    return SandboxRun(SandboxVerdict.OK, 0, b"done\n", b"", 0.1, 0.1, 1, files)


def test_what_is_printed_alone_stays_as_it_is() -> None:
    assert said(_run()) == b"done\n"


def test_a_text_is_compared_as_what_is_printed_is() -> None:
    original = said(_run(out=b"0 0.5\n1 1.25\n"))
    assert original == b"done\n\nout:\n0 0.5\n1 1.25\n"
    assert compare([original], said(_run(out=b"0 0.5\n1 1.2500001\n"))).numeric
    for other in (_run(out=b"0 1.25\n1 0.5\n"), _run(out=b"0 0.5\n"), _run(), _run(to=b"0 0.5\n")):
        assert not compare([original], said(other)).numeric


def test_floats_are_compared_by_value_and_other_bytes_by_their_number() -> None:
    original = said(_run(out=struct.pack("<3f", 0.5, -2.0, 0.0)))
    assert original == b"done\n\nout:\n0.5\n-2\n0\n"
    assert compare([original], said(_run(out=struct.pack("<3f", 0.5, -2.0000002, 0)))).numeric
    assert not compare([original], said(_run(out=struct.pack("<3f", -2, 0.5, 0)))).numeric
    doubles = said(_run(out=struct.pack("<40d", *(1 / k for k in range(1, 41)))))
    assert doubles.startswith(b"done\n\nout:\n1\n0.5\n0.333333333\n0.25\n")
    assert said(_run(out=b"P6\0\xff\xfe")) == b"done\n\nout:\n5 bytes\n"


def test_a_large_file_is_compared_in_evenly_spaced_places() -> None:
    text = said(_run(out=struct.pack("<40000f", *range(40000)))).decode()
    assert text.splitlines()[3:6] == ["0", "3", "6"] and text.count("\n") < 16_400
