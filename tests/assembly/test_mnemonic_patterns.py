"""Patterns of mnemonics."""

from __future__ import annotations

from cass_ray.assembly.mnemonic_patterns import expand


def test_patterns_expand_to_every_choice() -> None:
    assert sorted(expand("A{.B,.C}{,.D}")) == ["A.B", "A.B.D", "A.C", "A.C.D"]
    assert list(expand("NOP")) == ["NOP"]
