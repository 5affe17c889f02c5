"""Code that looks like a root with its slow path and does something else besides."""

from __future__ import annotations

import pytest

from cass_ray.assembly.sass import SassInstruction
from cass_ray.lift.analysis.term_steps import State, TermSteps, Unread
from cass_ray.lift.analysis.terms import Terms
from cass_ray.lift.frontend.instruction import decode
from tests.lift.test_recognized_operations import ROOT, is_whole

_RETURN = "    /*0230*/ RET.REL.NODEC R8 `(_Z1kPf) ;\n"
_STORES_R6 = "    /*00d8*/ STG.E [R2.64+0x4], R6 ;\n"


def changed(*replacements: tuple[str, str]) -> str:
    text = ROOT
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return numbered(text)


def numbered(listing: str) -> str:
    """With the addresses that follow from the order of instructions."""
    lines = listing.splitlines()
    code = [number for number, line in enumerate(lines) if line.lstrip().startswith("/*")]
    for place, number in enumerate(code):
        instruction = lines[number].partition("*/")[2].replace("BEHIND", hex(16 * place + 32))
        lines[number] = f"    /*{16 * place:04x}*/{instruction}"
    return "\n".join([*lines, ""])


_CALLS = ("    /*0050*/ MOV R8, 0x70 ;", "    /*0050*/ MOV R8, BEHIND ;")


def test_the_listing_is_the_same_with_counted_addresses() -> None:
    assert numbered(ROOT) == ROOT
    assert is_whole(changed(_CALLS))


_STORES_R20 = ("    /*00d0*/", "    /*00d8*/ STG.E [R2.64+0x4], R20 ;\n    /*00d0*/")


def test_a_register_that_is_changed_behind_a_guarded_return_and_read_later() -> None:
    """Both returns have the same result, so that the condition is not part of it."""
    returns = _RETURN.replace("RET", "@!P0 RET") + "    /*0231*/ MOV R20, RZ ;\n" + _RETURN
    assert is_whole(changed(_CALLS, _STORES_R20))
    assert not is_whole(changed(_CALLS, _STORES_R20, (_RETURN, returns)))


_OUTER = """\
.L_5:
    /*0300*/ MOV R12, BEHIND ;
    /*0310*/ CALL.REL.NOINC `(.L_4) ;
    /*0320*/ MOV R20, RZ ;
    /*0330*/ MOV R9, RZ ;
    /*0340*/ RET.REL.NODEC R8 `(_Z1kPf) ;
"""


def test_a_subroutine_that_calls_the_known_one_and_changes_a_register_besides() -> None:
    inner = "    /*0228*/ MOV R13, RZ ;\n" + _RETURN.replace("R8", "R12")
    call = ("CALL.REL.NOINC `(.L_4)", "CALL.REL.NOINC `(.L_5)")
    assert not is_whole(changed(_CALLS, call, _STORES_R20, (_RETURN, inner + _OUTER)))


def test_a_register_that_another_subroutine_reads_behind_a_call_of_its_own() -> None:
    """R6, which the slow path changes: that the other is called under a condition like the slow
    path's is no reason to take it for one."""
    calls = (
        "    /*00d1*/ @P1 BRA `(.L_7) ;\n"
        "    /*00d2*/ MOV R14, BEHIND ;\n"
        "    /*00d3*/ CALL.REL.NOINC `(.L_6) ;\n"
        ".L_7:\n"
    )
    reads = (
        ".L_6:\n"
        "    /*0300*/ MOV R16, BEHIND ;\n"
        "    /*0310*/ CALL.REL.NOINC `(.L_8) ;\n"
        f"{_STORES_R6}"
        "    /*0330*/ MOV R15, RZ ;\n"
        "    /*0340*/ RET.REL.NODEC R14 `(_Z1kPf) ;\n"
        ".L_8:\n"
        "    /*0350*/ MOV R17, RZ ;\n"
        "    /*0360*/ RET.REL.NODEC R16 `(_Z1kPf) ;\n"
    )
    called = changed(_CALLS, ("    /*00e0*/", calls + "    /*00e0*/"), (_RETURN, _RETURN + reads))
    assert not is_whole(called)
    assert is_whole(called.replace("STG.E [R2.64+0x4], R6", "STG.E [R2.64+0x4], RZ"))


@pytest.mark.parametrize(("guard", "dead"), [("@!P0", True), ("@P0", False)])
def test_a_register_that_is_written_under_the_guard_of_the_branch_behind(
    guard: str, dead: bool
) -> None:
    """R6, where both ways meet: what it held is read if the branch is taken and it is not written,
    that is, under the other guard."""
    behind = (
        "    /*00d1*/ LDG.E R20, [R2.64] ;\n"
        "    /*00d2*/ ISETP.EQ.AND P0, PT, R20, RZ, PT ;\n"
        f"    /*00d3*/ {guard} MOV R6, RZ ;\n"
        "    /*00d4*/ @!P0 BRA `(.L_7) ;\n"
        "    /*00d5*/ MOV R6, R20 ;\n"
        ".L_7:\n"
        "    /*00d6*/ STG.E [R2.64+0x4], R6 ;\n"
    )
    assert is_whole(changed(_CALLS, ("    /*00e0*/", behind + "    /*00e0*/"))) == dead


def test_a_loop_that_begins_where_the_kernel_does() -> None:
    """The first round has no estimate yet."""
    estimate = "    /*0020*/ MUFU.RSQ R5, R4 ;\n"
    branch = "    /*0040*/ @!P0 BRA `(.L_1) ;\n"
    last = "    /*00e0*/ EXIT ;\n"
    once = changed(_CALLS)
    assert is_whole(once)
    header = "    /*0000*/ @P3 EXIT ;\n    /*0000*/ BRA `(.L_9) ;\n.L_9:\n"
    back = f"{estimate}    /*00e0*/ BRA `(.L_0) ;\n"
    load = "    /*0000*/ LDG.E R4, [R2.64] ;\n"
    looping = changed(
        _CALLS, (estimate, ""), (load, ".L_0:\n"), (last, load + back), (branch, header + branch)
    )
    assert not is_whole(looping)


# Single instructions


def steps_of(*texts: str) -> tuple[Terms, State]:
    terms = Terms()
    steps = TermSteps(terms)
    state = State(lambda name: terms.leaf(f"before {name}"))
    for number, text in enumerate(texts):
        steps.step(state, decode(SassInstruction(16 * number, text)))
    return terms, state


@pytest.mark.parametrize(
    "text",
    [
        # Of a register that holds the negative of a number, a sum would make a difference.
        "FSEL R5, -R4, R4, P0",
        "FSEL R5, R4, |R4|, P0",
        "IMAD.SHL R5, R4, -0x8, RZ",
        "IADD.64 R6, R4, -c[0x0][0x10]",
        "MOV.64 R6, -R4",
        "HFMA2 R5, -RZ, -RZ, 0, -0",
        "HFMA2.MMA R5, RZ, RZ, 0, 0",
        "IMAD.MOV.U32 R5, ~RZ, RZ, R4",
        "DADD R6, R4, 0x7ff8000000000001",
        "ISETP.EQ P0, PT, R4, RZ, PT",
        "ISETP.LT.AND.EX P0, PT, R4, RZ, PT, P1",
        "LOP3.LUT P0, R5, R4, R6, RZ, 0xc0, P1",
        "IADD3 R5, R4, R6, RZ, P0, P1",
        "LEA R5, P0, R4, R6, 0x3",
        "CALL.REL.NOINC `(.L_1)",
        "LDC R5, c[0x0][R4+0x10]",
        "LDC.U8 R5, c[0x0][0x10]",
        "ULDC UR5, -c[0x0][0x10]",
    ],
)
def test_what_is_not_known_to_be_one_of_the_steps(text: str) -> None:
    with pytest.raises(Unread):
        steps_of(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IADD3 R5, R4, -R6, RZ", "IADD3 R5, R4, R6, RZ"),
        ("FADD R5, R4, -R6", "FADD R5, R4, R6"),
        ("FADD R5, R4, 0", "FADD R5, R4, -0"),
        ("FFMA R5, R4, R6, R7", "FFMA R5, R4, R7, R6"),
        ("FFMA.RP R5, -R4, R6, R7", "FFMA.RP R5, R4, R6, -R7"),
        ("SHF.R.U32.HI R5, RZ, R4, R6", "SHF.R.U32.HI R5, RZ, R6, R4"),
        ("LOP3.LUT R5, R4, R6, R7, 0xca, !PT", "LOP3.LUT R5, R6, R4, R7, 0xca, !PT"),
        ("MUFU.RCP R5, R4", "MUFU.RCP R5, |R4|"),
    ],
)
def test_what_is_not_the_same_has_other_terms(one: str, other: str) -> None:
    terms, state = steps_of(one)
    others, second = steps_of(other)
    assert terms.digest(state["R5"]) != others.digest(second["R5"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IMAD R5, R4, -0x800000, R6", "LEA R5, -R4, R6, 0x17"),
        ("IMAD R5, R4, 0x800000, R6", "LEA R5, R4, R6, 0x17"),
        ("IMAD.SHL R5, R4, 0x8, RZ", "SHF.L.U32 R5, R4, 0x3, RZ"),
    ],
)
def test_shifts_are_spelled_as_products_too(one: str, other: str) -> None:
    terms, state = steps_of(one)
    others, second = steps_of(other)
    assert terms.digest(state["R5"]) == others.digest(second["R5"])


@pytest.mark.parametrize(
    "texts",
    [
        ("LDC R5, c[0x0][0x214]",),
        ("LDC.64 R4, c[0x0][0x210]",),
        ("ULDC UR4, c[0x0][0x214]", "IMAD.U32 R5, RZ, RZ, UR4"),
        ("ULDC.64 UR4, c[0x0][0x210]", "MOV R5, UR5"),
    ],
)
def test_a_constant_is_the_same_however_it_is_loaded(texts: tuple[str, ...]) -> None:
    terms, state = steps_of(*texts)
    others, second = steps_of("MOV R5, c[0x0][0x214]")
    assert terms.digest(state["R5"]) == others.digest(second["R5"])


def test_comparisons_of_numbers_that_are_none_are_not_each_others_opposites() -> None:
    """x < y and not x >= y differ where x is a NaN."""
    terms, state = steps_of("FSETP.LT.AND P0, PT, R4, R6, PT", "FSETP.GE.AND P1, PT, R4, R6, PT")
    assert state["P0"] != terms.make("not", state["P1"])
    terms, state = steps_of("FSETP.LT.AND P0, PT, R4, R6, PT", "FSETP.GEU.AND P1, PT, R4, R6, PT")
    assert state["P0"] == terms.make("not", state["P1"])


def test_terms_too_deep_to_be_followed_are_not_each_other() -> None:
    """The exclusive disjunction of two of them is not zero."""
    terms = Terms()
    one, other = terms.leaf("one"), terms.leaf("other")
    for _ in range(3):
        one, other = terms.make("inverse", one), terms.make("inverse", other)
    assert terms.renamed(one, {}, 2) != terms.renamed(other, {}, 2)
