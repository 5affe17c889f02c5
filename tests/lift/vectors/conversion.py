"""Conversions between all types, with rounding, saturation and flushing."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_INTEGERS = tuple(f"{sign}{size}" for sign, size in product("us", (8, 16, 32, 64)))
_FLOATS = ("f16", "f32", "f64")
_REGISTERS = {"8": "b16", "16": "b16", "32": "b32", "64": "b64"}
_OPERANDS = {"8": "i16", "16": "i16", "32": "i32", "64": "i64"}
_FLOAT_REGISTERS = {"f16": "b16", "bf16": "b16", "f32": "f32", "f64": "f64"}


def _contains(target: str, source: str) -> bool:
    """Whether ``target`` has all values of ``source``; saturation is not allowed then."""
    wider = int(target[1:]) > int(source[1:])
    return wider and (source[0] == "u" or target[0] == "s")


def _saturates(target: str, source: str) -> bool:
    return target[1:] != "64" and source != "bf16"


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _between_integers(table)
    _to_float(table)
    _to_integer(table)
    _between_floats(table)
    _to_packed(table)
    _eight_bit_floats(table)


def _between_integers(table: Table) -> None:
    for target, source in product(_INTEGERS, _INTEGERS):
        result, operand = _REGISTERS[target[1:]], _OPERANDS[source[1:]]
        for saturation in ("", ".sat"):
            if target != source and not (saturation and _contains(target, source)):
                name = f"cvt{saturation}.{target}.{source}"
                # An 8-bit result is extended, so that no bits are undefined.
                widen = f" cvt.{target[0]}16.{target} %d, %d;" if target[1:] == "8" else ""
                table.add(name, operand, result, f"{name} %d, %a;{widen}")


def _to_float(table: Table) -> None:
    for target, source in product(_FLOATS, _INTEGERS):
        for rounding in ("rn", "rz", "rm", "rp"):
            table.op(f"cvt.{rounding}.{target}.{source}", _OPERANDS[source[1:]],
                     _FLOAT_REGISTERS[target], floats=target)  # fmt: skip
        table.op(f"cvt.rn.sat.{target}.{source}", _OPERANDS[source[1:]], _FLOAT_REGISTERS[target],
                 floats=target)  # fmt: skip
    for source in _INTEGERS[1:4] + _INTEGERS[5:]:
        table.op(f"cvt.rn.bf16.{source}", _OPERANDS[source[1:]], "b16", minimum=90, floats="bf16")


def _to_integer(table: Table) -> None:
    for target, source in product(_INTEGERS, (*_FLOATS, "bf16")):
        if source == "bf16" and target[1:] == "8":
            continue
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            for ftz in ("", ".ftz") if source == "f32" else ("",):
                for saturation in ("", ".sat") if _saturates(target, source) else ("",):
                    name = f"cvt.{rounding}{ftz}{saturation}.{target}.{source}"
                    widen = f" cvt.{target[0]}16.{target} %d, %d;" if target[1:] == "8" else ""
                    table.add(name, source, _REGISTERS[target[1:]], f"{name} %d, %a;{widen}",
                              minimum=90 if source == "bf16" else 80)  # fmt: skip


def _between_floats(table: Table) -> None:
    for kind in _FLOATS:
        register = _FLOAT_REGISTERS[kind]
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            for ftz in ("", ".ftz") if kind == "f32" else ("",):
                for saturation in ("", ".sat"):
                    table.op(f"cvt.{rounding}{ftz}{saturation}.{kind}.{kind}", kind, register,
                             floats=kind)  # fmt: skip
    table.ops("cvt{,.ftz}{,.sat}.f32.f16", "f16", "f32", floats="f32")
    table.ops("cvt{,.sat}.f64.f16", "f16", "f64", floats="f64")
    table.ops("cvt{,.ftz}{,.sat}.f64.f32", "f32", "f64", floats="f64")
    table.ops("cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f16.f32", "f32", "b16", floats="f16")
    table.ops("cvt.{rn,rz,rm,rp}{,.sat}.f16.f64", "f64", "b16", floats="f16")
    table.ops("cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64", "f64", "f32", floats="f32")
    table.op("cvt.ftz.sat.f32.f32", "f32", "f32", floats="f32")
    table.op("cvt.sat.f32.f32", "f32", "f32", floats="f32")
    table.ops("cvt.{rn,rz}{,.relu}.bf16.f32", "f32", "b16", floats="bf16")
    table.ops("cvt.{rn,rz}.relu.f16.f32", "f32", "b16", floats="f16")
    table.op("cvt.f32.bf16", "bf16", "f32", minimum=90, floats="f32")
    # Exact but for NaN; their checksums were collected with NaN as it was.
    table.op("cvt.rn.bf16.f16", "bf16", "b16", minimum=90, floats="bf16", ulp=-126)
    table.op("cvt.rn.f16.bf16", "bf16", "b16", minimum=90, floats="f16", ulp=-126)
    table.ops("cvt.rn.bf16.f64", "f64", "b16", minimum=90, floats="bf16")
    table.add("widened_bf16", "bf16x2", "f32 f32",
              "shl.b32 %t0, %a, 16; and.b32 %t1, %a, 0xFFFF0000; mov.b32 %f0, %t0; mov.b32 %f1, %t1;\n"
              "add.f32 %d, %f0, %f1; mul.f32 %e, %f0, %f1;", floats="f32")  # fmt: skip
    table.add("widened_f16", "f16x2", "f32 f32",
              "mov.b32 {%h0, %h1}, %a; cvt.f32.f16 %d, %h0; cvt.f32.f16 %e, %h1;", floats="f32")  # fmt: skip


def _to_packed(table: Table) -> None:
    for kind in ("f16x2", "bf16x2"):
        table.ops(f"cvt.{{rn,rz}}{{,.relu}}.{kind}.f32", "f32 f32", "b32", floats=kind[:-2])
    table.ops("cvt.rna.tf32.f32", "f32", "b32", floats="f32")
    table.ops("cvt.{rn,rz}{,.relu}.tf32.f32", "f32", "b32", minimum=90, floats="f32")
    table.ops("cvt.pack.sat.{s16,u16}.s32", "i32 i32", "b32")
    table.ops("cvt.pack.sat.{s8,u8}.s32.b32", "i32 i32 i32", "b32")


def _eight_bit_floats(table: Table) -> None:
    table.ops("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "f32 f32", "b16", minimum=89)
    table.ops("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "f16x2", "b16", minimum=89)
    table.ops("cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", "fp8x2", "b32", minimum=89, floats="f16")
