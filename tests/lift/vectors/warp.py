"""Operations across the lanes of a warp, and barriers."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_FULL = "0xFFFFFFFF"
_ODD = "0xAAAAAAAA"
_DIVERGED = "and.b32 %t8, %lane, 1; setp.ne.u32 %p7, %t8, 0; mov.b32 %d, 0;\n@!%p7 bra skip;\n"
_JOINED = "\nskip:"


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _shuffles(table)
    _votes(table)
    _matches(table)
    _reductions(table)
    _barriers(table)


def _shuffles(table: Table) -> None:
    for mode in ("up", "down", "bfly", "idx"):
        table.add(f"shfl.{mode}.variable", "i32 shift i32", "b32 b32",
                  f"shfl.sync.{mode}.b32 %d|%p0, %a, %b, %c, {_FULL}; selp.b32 %e, 1, 0, %p0;")  # fmt: skip
        for distance, width in product((0, 1, 5, 16, 31), (32, 16, 8, 2)):
            clamp = 32 - width << 8 | (0 if mode == "up" else 0x1F)
            table.add(f"shfl_{mode}_{distance}_of_{width}", "i32", "b32 b32",
                      f"shfl.sync.{mode}.b32 %d|%p0, %a, {distance}, {clamp}, {_FULL};\n"
                      "selp.b32 %e, 1, 0, %p0;")  # fmt: skip
        table.add(f"shfl_{mode}_some_lanes", "i32", "b32",
                  f"{_DIVERGED}shfl.sync.{mode}.b32 %d, %a, 2, {'0' if mode == 'up' else '31'}, {_ODD};{_JOINED}")  # fmt: skip
    table.add("shfl_double", "f64 shift", "b64",
              "mov.b64 {%t0, %t1}, %a; shfl.sync.idx.b32 %t2, %t0, %b, 31, 0xFFFFFFFF;\n"
              "shfl.sync.idx.b32 %t3, %t1, %b, 31, 0xFFFFFFFF; mov.b64 %d, {%t2, %t3};")  # fmt: skip
    table.add("shfl_predicated", "i32 i32", "b32",
              "mov.b32 %d, %b; setp.lt.s32 %p0, %b, 0; shfl.sync.bfly.b32 %t0|%p1, %a, 3, 31, 0xFFFFFFFF;\n"
              "@%p0 add.u32 %d, %d, %t0;")  # fmt: skip


def _votes(table: Table) -> None:
    for mode in ("all", "any", "uni"):
        table.add(f"vote.{mode}", "few", "b32",
                  f"setp.gt.u32 %p0, %a, 3; vote.sync.{mode}.pred %p1, %p0, {_FULL};\n"
                  "selp.b32 %d, 1, 0, %p1;")  # fmt: skip
        table.add(f"vote.{mode}.lanes", "i32", "b32",
                  f"shr.u32 %t0, %lane, 5; and.b32 %t0, %t0, 3; setp.gt.u32 %p0, %t0, 1;\n"
                  f"vote.sync.{mode}.pred %p1, %p0, {_FULL}; selp.b32 %d, 1, 0, %p1;")  # fmt: skip
        table.add(f"vote_{mode}_some_lanes", "i32", "b32",
                  f"{_DIVERGED}setp.lt.u32 %p0, %a, 0; vote.sync.{mode}.pred %p1, !%p0, {_ODD};\n"
                  f"selp.b32 %d, 3, 5, %p1;{_JOINED}")  # fmt: skip
    table.add("vote.ballot", "i32", "b32 b32",
              f"setp.lt.s32 %p0, %a, 0; vote.sync.ballot.b32 %d, %p0, {_FULL};\n"
              f"vote.sync.ballot.b32 %e, !%p0, {_FULL};")  # fmt: skip
    table.add("vote_ballot_some_lanes", "i32", "b32",
              f"{_DIVERGED}setp.lt.s32 %p0, %a, 0; vote.sync.ballot.b32 %d, %p0, {_ODD};{_JOINED}")  # fmt: skip
    table.add("activemask", "i32", "b32",
              "mov.b32 %d, 0; setp.lt.s32 %p0, %a, 0; @%p0 bra skip;\nactivemask.b32 %d;\nskip:")  # fmt: skip
    table.add("elect", "i32", "b32 b32",
              f"elect.sync %d|%p0, {_FULL}; selp.b32 %e, 1, 0, %p0;", minimum=90)  # fmt: skip
    table.add("elect_some_lanes", "i32", "b32",
              f"{_DIVERGED}elect.sync %t1|%p0, {_ODD}; selp.b32 %d, %a, %t1, %p0;{_JOINED}",
              minimum=90)  # fmt: skip


def _matches(table: Table) -> None:
    table.add("match.any.b32", "few", "b32", f"match.any.sync.b32 %d, %a, {_FULL};")
    table.add("match.all.b32", "few", "b32 b32",
              f"shr.u32 %t0, %lane, 6; and.b32 %t0, %t0, %a; match.all.sync.b32 %d|%p0, %t0, {_FULL};\n"
              "selp.b32 %e, 1, 0, %p0;")  # fmt: skip
    table.add("match.any.b64", "few few", "b32",
              f"mov.b64 %x0, {{%a, %b}}; match.any.sync.b64 %d, %x0, {_FULL};")  # fmt: skip
    table.add("match.all.b64", "few few", "b32 b32",
              f"shr.u32 %t0, %lane, 6; and.b32 %t0, %t0, 1; and.b32 %t1, %b, %t0; mov.b64 %x0, {{%t1, %t0}};\n"
              f"match.all.sync.b64 %d|%p0, %x0, {_FULL}; selp.b32 %e, 1, 0, %p0;")  # fmt: skip
    table.add("match_any_some_lanes", "few", "b32",
              f"{_DIVERGED}match.any.sync.b32 %d, %a, {_ODD};{_JOINED}")  # fmt: skip


def _reductions(table: Table) -> None:
    for name in ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32",
                 "or.b32", "xor.b32"):  # fmt: skip
        table.add(f"redux.{name}", "i32", "b32", f"redux.sync.{name} %d, %a, {_FULL};")
        table.add(f"redux.{name}.some_lanes", "i32", "b32",
                  f"{_DIVERGED}redux.sync.{name} %d, %a, {_ODD};{_JOINED}")  # fmt: skip
    table.add("warp_tree", "f32", "f32",
              "mov.f32 %d, %a;\n" + "\n".join(
                  f"mov.b32 %t0, %d; shfl.sync.down.b32 %t1, %t0, {distance}, 31, {_FULL}; mov.b32 %f0, %t1; add.f32 %d, %d, %f0;"
                  for distance in (16, 8, 4, 2, 1)), floats="f32")  # fmt: skip


def _barriers(table: Table) -> None:
    memory = "shl.b32 %t0, %thread, 2; mov.u32 %t1, tile; add.u32 %t0, %t0, %t1;\n"
    exchange = "xor.b32 %t2, %thread, {}; shl.b32 %t2, %t2, 2; add.u32 %t2, %t2, %t1;\n"
    tile = ".shared .align 16 .b8 tile[512];"

    def exchanged(name: str, partner: int, before: str) -> None:
        shared = f"{tile}\n{memory}{exchange.format(partner)}st.shared.b32 [%t0], %a;\n"
        table.add(name, "i32", "b32", f"{shared}{before}\nld.shared.b32 %d, [%t2];")

    exchanged("bar_sync", 127, "bar.sync 0;")
    exchanged("barrier_sync", 64, "barrier.sync 0;")
    exchanged("barrier_sync_aligned_count", 64, "barrier.sync.aligned 0, 128;")
    exchanged("bar_warp_sync", 31, f"bar.warp.sync {_FULL};")
    exchanged("bar_sync_named_count", 127, "bar.sync 3, 128;")
    exchanged("bar_sync_half", 63,
              "shr.u32 %t3, %thread, 6; add.u32 %t3, %t3, 1; bar.sync %t3, 64;")  # fmt: skip
    exchanged("bar_sync_quarter", 31,
              "shr.u32 %t3, %thread, 5; add.u32 %t3, %t3, 1; bar.sync %t3, 32;")  # fmt: skip
    exchanged("bar_producers_and_consumers", 64,
              "setp.lt.u32 %p0, %thread, 64; @%p0 bar.arrive 2, 128; @!%p0 bar.sync 2, 128;\n"
              "@%p0 bar.sync 4, 128; @!%p0 bar.arrive 4, 128;")  # fmt: skip
    table.add("bar_red_popc", "i32", "b32",
              "setp.lt.s32 %p0, %a, 0; bar.red.popc.u32 %d, 0, %p0;")  # fmt: skip
    for mode in ("and", "or"):
        table.add(f"bar_red_{mode}", "i32", "b32",
                  f"setp.ne.u32 %p0, %thread, %block; bar.red.{mode}.pred %p1, 0, %p0; selp.b32 %d, 1, 0, %p1;")  # fmt: skip
    table.add("bar_red_repeated", "i32", "b32 b32 b32",
              "setp.lt.s32 %p0, %a, 0; bar.red.popc.u32 %d, 0, %p0; bar.red.popc.u32 %e, 0, !%p0;\n"
              "bar.red.or.pred %p1, 1, %p0; selp.b32 %f, 1, 0, %p1;")  # fmt: skip
    table.add("bar_red_counted", "i32", "b32",
              "shr.u32 %t3, %thread, 6; add.u32 %t3, %t3, 1; setp.lt.s32 %p0, %a, 0;\n"
              "bar.red.popc.u32 %d, %t3, 64, %p0;")  # fmt: skip
