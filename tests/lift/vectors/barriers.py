"""Barrier objects in shared memory, one a lane, so that nothing depends on who comes first.

And what only happens beside them: waits with a time, copies that several lanes ask for.
"""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

HOPPER = 90
_BARRIERS = (
    ".shared .align 16 .b64 bars[512];\nmov.u32 %t0, bars; mad.lo.u32 %t1, %thread, 8, %t0;\n"
    "and.b32 %t2, %a, 3; add.u32 %t2, %t2, 1;\n"
)
"""%t1 is the lane's barrier, another is 1,024 bytes further; %t2 is a count from 1 to 4."""
_PLACES = {"first": "%t1", "second": "%t1+1024"}
_BIT = "selp.b32 %t5, 1, 0, %p0; mad.lo.u32 %d, %d, 2, %t5;\n"


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    for name, place in _PLACES.items():
        _phases(table, name, place)
        _transactions(table, name, place)
    _shared_by_block(table)
    _copies_by_lanes(table)


def _asked(place: str, state: str) -> str:
    """Whether the phase of a state is over, and those of each parity, as bits of %d."""
    return (
        f"mbarrier.test_wait.shared.b64 %p0, [{place}], {state};\n{_BIT}"
        + "".join(f"mbarrier.test_wait.parity.shared.b64 %p0, [{place}], {parity};\n{_BIT}" for parity in (0, 1))
        + f"and.b32 %t6, %b, 1; mbarrier.test_wait.parity.shared.b64 %p0, [{place}], %t6;\n{_BIT}"
    )  # fmt: skip


def _tried(place: str, state: str) -> str:
    """The same by waits that a time limits: nobody else comes."""
    return (
        f"mbarrier.try_wait.shared.b64 %p0, [{place}], {state};\n{_BIT}"
        f"mbarrier.try_wait.shared.b64 %p0, [{place}], {state}, 20;\n{_BIT}"
        f"and.b32 %t6, %b, 1; mbarrier.try_wait.parity.shared.b64 %p0, [{place}], %t6;\n{_BIT}"
        f"mbarrier.try_wait.parity.shared.b64 %p0, [{place}], %t6, 20;\n{_BIT}"
    )


def _phases(table: Table, name: str, place: str) -> None:
    """Arrivals of the lane alone, one after the other: whose phase is over, what is pending."""
    begin = f"{_BARRIERS}mbarrier.init.shared.b64 [{place}], %t2; mov.b32 %d, 0; mov.b32 %e, 0;\n"
    pending = "mbarrier.pending_count.b64 %t7, {state}; mad.lo.u32 %e, %e, 8, %t7;\n"
    arrivals = {
        "arrive": "mbarrier.arrive.shared.b64 {state}, [{place}];\n",
        "sink": "mbarrier.arrive.shared.b64 {state}, [{place}]; mbarrier.arrive.shared.b64 _, [{place}];\n",
        "drop": "mbarrier.arrive_drop.shared.b64 {state}, [{place}];\n",
        "noinc": "mbarrier.arrive.noComplete.shared.b64 {state}, [{place}], 1;\n",
    }  # fmt: skip
    for (arrival, text), (asks, ask) in product(
        arrivals.items(), (("test", _asked), ("try", _tried))
    ):
        minimum = HOPPER if asks == "try" or arrival == "sink" else 80
        rounds = 1 if arrival == "noinc" else 2
        # Undefined: a phase that ends by noComplete, a state of two phases ago, no count left.
        first = {"noinc": "add.u32 %t2, %t2, 4;\n", "drop": "add.u32 %t2, %t2, 4;\n",
                 "sink": "add.u32 %t2, %t2, 1;\n"}.get(arrival, "")  # fmt: skip
        body = begin.replace("mbarrier.init", f"{first}mbarrier.init")
        for number in range(rounds):
            state = f"%x{number}"
            body += text.format(state=state, place=place) + pending.format(state=state)
            body += ask(place, state)
        table.add(f"barrier_{arrival}_{asks}_{name}", "i32 i32", "b32 b32",
                  f"{body}mbarrier.inval.shared.b64 [{place}];", minimum=minimum)  # fmt: skip


def _transactions(table: Table, name: str, place: str) -> None:
    """Bytes that are expected and that come."""
    begin = f"{_BARRIERS}mbarrier.init.shared.b64 [{place}], %t2; mov.b32 %d, 0; and.b32 %t3, %b, 1023;\n"
    for kind, text in {
        "with_arrival": f"mbarrier.arrive.expect_tx.shared.b64 %x0, [{place}], %t3;\n",
        "with_literal": f"mbarrier.arrive.expect_tx.shared.b64 %x0, [{place}], 48; mov.b32 %t3, 48;\n",
        "alone": f"mbarrier.expect_tx.relaxed.cta.shared.b64 [{place}], %t3; mbarrier.arrive.shared.b64 %x0, [{place}];\n",
        "several": f"mbarrier.expect_tx.relaxed.cta.shared.b64 [{place}], %t3; mbarrier.arrive.shared.b64 %x0, [{place}], %t2;\n",
    }.items():  # fmt: skip
        for complete in ("%t3", "%t4"):
            body = (
                f"{begin}{text}shr.u32 %t4, %t3, 1;\n{_asked(place, '%x0')}"
                f"mbarrier.complete_tx.relaxed.cta.shared.b64 [{place}], {complete};\n"
                f"{_asked(place, '%x0')}"
            )
            table.add(f"barrier_bytes_{kind}_{complete[1:]}_{name}", "i32 i32", "b32",
                      f"{body}mbarrier.inval.shared.b64 [{place}];", minimum=HOPPER)  # fmt: skip


def _shared_by_block(table: Table) -> None:
    """One barrier for the block: waits until all lanes have come, and what they then see."""
    for rounds, literal in product((1, 3), ("128", "%t2")):
        loop = (
            ".shared .align 8 .b64 gate; .shared .align 16 .b32 cells[128];\n"
            "mov.u32 %t0, gate; mov.u32 %t1, cells; mad.lo.u32 %t1, %thread, 4, %t1; mov.u32 %t2, %ntid.x;\n"
            f"setp.eq.u32 %p1, %thread, 0; @%p1 mbarrier.init.shared.b64 [%t0], {literal};\nbar.sync 0; mov.b32 %d, %a;\n"
        )  # fmt: skip
        for number in range(rounds):
            loop += (
                f"st.shared.b32 [%t1], %d; mbarrier.arrive.shared.b64 %x0, [%t0];\n"
                f"wait{number}:\nmbarrier.try_wait.shared.b64 %p0, [%t0], %x0; @!%p0 bra wait{number};\n"
                f"xor.b32 %t3, %thread, {number + 1}; mov.u32 %t4, cells; mad.lo.u32 %t3, %t3, 4, %t4; ld.shared.b32 %t5, [%t3]; mad.lo.u32 %d, %d, 3, %t5;\n"
                "mbarrier.arrive.shared.b64 _, [%t0];\n"
                f"last{number}:\nmbarrier.try_wait.parity.shared.b64 %p0, [%t0], 1; @!%p0 bra last{number};\n"
            )  # fmt: skip
        table.add(f"barrier_of_block_{rounds}_{literal}", "i32", "b32", loop, minimum=HOPPER)


def _copies_by_lanes(table: Table) -> None:
    """Bulk copies that every lane, or some of a warp, ask for."""
    stage = (".shared .align 16 .b8 stage[4096];\nmov.u32 %t1, stage; mad.lo.u32 %t0, %thread, 16, %t1;\n"
             "st.shared.v4.b32 [%t0], {%a, %b, %lane, %a};\nfence.proxy.async.shared::cta; bar.sync 0;\n")  # fmt: skip
    copy = ("{guard}cp.async.bulk.global.shared::cta.bulk_group [{to}], [%t0], 16;\n"
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bar.sync 0;")  # fmt: skip
    for name, guard in (("all", ""), ("some", "setp.lt.s32 %p0, %b, 0; @%p0 ")):
        table.add(f"bulk_copy_by_lanes_{name}", "i32 i32", "",
                  f"st.global.v4.b32 [%out], {{%b, %b, %b, %b}};\n{stage}fence.proxy.async;\n{copy.format(guard=guard, to='%out')}",
                  words=4, minimum=HOPPER)  # fmt: skip
    for name, guard in (("all", ""), ("some", "setp.lt.s32 %p0, %b, 0;\n@%p0 ")):
        table.add(f"bulk_load_by_lanes_{name}", "i32 i32", "b32 b32 b32 b32",
                  ".shared .align 16 .b8 stage[4096]; .shared .align 8 .b64 bars[128];\nmov.u32 %t1, stage; mad.lo.u32 %t0, %thread, 16, %t1;\n"
                  "mov.u32 %t2, bars; mad.lo.u32 %t2, %thread, 8, %t2; mov.u64 %x1, %in; and.b64 %x1, %x1, -16;\n"
                  "st.shared.v4.b32 [%t0], {%b, %b, %b, %b}; mbarrier.init.shared.b64 [%t2], 1; fence.proxy.async.shared::cta; bar.sync 0;\n"
                  f"mov.b32 %t3, 0;\n{guard}mov.b32 %t3, 16;\nmbarrier.arrive.expect_tx.shared.b64 %x0, [%t2], %t3;\n"
                  f"{guard}cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t0], [%x1], 16, [%t2];\n"
                  "wait:\nmbarrier.try_wait.shared.b64 %p1, [%t2], %x0; @!%p1 bra wait;\nld.shared.v4.b32 {%d, %e, %f, %g}, [%t0];",
                  minimum=HOPPER)  # fmt: skip
