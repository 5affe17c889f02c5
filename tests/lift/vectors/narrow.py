"""Narrow integers that are used as words, and conversions of halves that ptxas knows."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_ROUNDINGS = ("rni", "rzi", "rmi", "rpi")
_F16 = (0xC380, 0x4100, 0x3C01, 0x0001, 0x8003, 0x7C00, 0xFC00, 0x7E00, 0xFBFF, 0x5BF8, 0x6801)
_BF16 = (0xC070, 0x4020, 0x3F81, 0x0001, 0x8003, 0x7F80, 0xFF80, 0x7FC0, 0xC77F, 0x437F)
_PAIRS = (0x3C00C380, 0x00018003, 0x7C00FC00, 0x5F005F01, 0xE3FF1234)


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    for rounding, target, source in product(
        _ROUNDINGS, ("s8", "u8", "s16", "u16"), ("f16", "f32", "f64", "bf16")
    ):
        if source == "bf16" and target[1:] == "8":
            continue
        for width in "su":
            body = f"cvt.{rounding}.{target}.{source} %h0, %a; cvt.{width}32.{target} %d, %h0;"
            table.add(f"{width}32_of_{rounding}_{target}_{source}", source, "b32", body,
                      minimum=90 if source == "bf16" else 80)  # fmt: skip
    for bits in _F16:
        body = f"mov.b16 %h0, {bits};"
        for name, rounding, target in zip("def", _ROUNDINGS, ("s16", "u16", "s8"), strict=False):
            body += f" cvt.{rounding}.{target}.f16 %h1, %h0; cvt.s32.{target} %{name}, %h1;"
        body += " cvt.rpi.s32.f16 %g, %h0;"
        for name, rounding in zip("hijk", _ROUNDINGS, strict=True):
            body += f" cvt.{rounding}.f16.f16 %{name}, %h0;"
        table.add(f"literal_f16_{bits:04x}", "", "b32 " * 4 + "b16 " * 4, body)
    for bits in _BF16:
        body = f"mov.b16 %h0, {bits}; cvt.rmi.s32.bf16 %f, %h0; cvt.rpi.u32.bf16 %g, %h0;"
        for name, rounding, target in zip("de", _ROUNDINGS, ("s16", "u16"), strict=False):
            body += f" cvt.{rounding}.{target}.bf16 %h1, %h0; cvt.s32.{target} %{name}, %h1;"
        table.add(f"literal_bf16_{bits:04x}", "", "b32 " * 4, body, minimum=90)
    for bits in _PAIRS:
        body = f"mov.b32 %t0, {bits};"
        kinds = ("e4m3x2", "e5m2x2", "relu.e4m3x2", "relu.e5m2x2")
        for name, kind in zip("defg", kinds, strict=True):
            body += f" cvt.rn.satfinite.{kind}.f16x2 %{name}, %t0;"
        table.add(f"literal_f16x2_{bits:08x}", "", "b16 " * 4, body, minimum=89)
