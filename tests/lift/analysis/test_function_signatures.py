"""What functions of a kernel take, leave as it was and give back, of SASS written by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from cass_ray.assembly.sass import SassFunction, SassInstruction
from cass_ray.lift.analysis.function_signatures import FunctionSignature, function_signatures
from cass_ray.lift.analysis.kernel_graph import (
    CallFrame,
    CallPlace,
    CallSite,
    KernelGraph,
    entry_of,
)
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock, RegisterAccess
from cass_ray.lift.analysis.stack_frames import FrameAnalysis
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import decode

Line = tuple[str, str, str]
"""An instruction, the registers that it reads and those that it writes."""

KERNEL: CallPlace = ((), "k", 0)
BEHIND: CallPlace = ((), "k", 0x80)
FIRST: CodePlace = ("f", 0)
SECOND: CodePlace = ("g", 0)

PUSH = ("IADD3 R1, PT, PT, R1, -0x10, RZ", "R1", "R1")
POP = ("IADD3 R1, PT, PT, R1, 0x10, RZ", "R1", "R1")
SAVE = ("STL [R1+0x4], R16", "R1 R16", "")
CHANGE = ("FADD R16, R4, R4", "R4", "R16")
RESTORE = ("LDL R16, [R1+0x4]", "R1", "R16")
RETURN = ("RET.REL.NODEC R20 `(k)", "R20 R21", "")


class Program:
    """Blocks of a kernel and of functions, in the order in which they are given."""

    def __init__(self) -> None:
        self.blocks: dict[CodePlace, LivenessBlock] = {}
        self.successors: dict[CallPlace, set[CallPlace]] = {}
        self.returns: set[CallPlace] = set()
        self.calls: dict[CallPlace, list[CallSite]] = {}
        self._instructions: dict[str, list[SassInstruction]] = defaultdict(list)

    def block(
        self,
        place: CallPlace,
        *lines: Line,
        successors: Iterable[CallPlace] = (),
        calls: CodePlace | None = None,
        or_calls: CodePlace | None = None,
    ) -> None:
        """A block; one that calls a function, or one of two, goes on to its first successor."""
        successors = list(successors)
        block = LivenessBlock()
        for number, (text, reads, writes) in enumerate(lines):
            _, name, address = place
            written = SassInstruction(address + 0x10 * number, text)
            i = decode(written)
            guard = (i.guard.name, i.guard.inverted) if i.guard else None
            access = RegisterAccess(guard, set(reads.split()), set(writes.split()))
            self._instructions[name].append(written)
            block.accesses.append(((name, i.address), access))
            if i.opcode == "RET":
                self.returns.add(place)
        self.blocks[place[1:]] = block
        self.successors[place] = set(successors)
        for callee in filter(None, (calls, or_calls)):
            self.calls.setdefault(place, []).append(CallSite(callee, successors[0]))
            self.successors[place].add(entry_of(callee))

    def flow(self, by_pointer: Iterable[CodePlace] = ()) -> KernelGraph:
        functions = {call.callee for calls in self.calls.values() for call in calls}
        return KernelGraph(
            KERNEL[1],
            self._section,
            self.blocks,
            self.successors,
            frozenset(self.returns),
            calls=self.calls,
            functions=frozenset(functions),
            by_pointer=frozenset(by_pointer),
        )

    def _section(self, name: str) -> CodeSection:
        instructions = self._instructions[name]
        return CodeSection(0, SassFunction(name, "sm_80", sorted(instructions), {}))


def program_of(*lines: Line, behind: Line = ("STG.E [R2.64], R4", "R2 R3 R4 R16", "")) -> Program:
    """A kernel that calls a function of these lines, and then reads R4 and R16."""
    made = Program()
    made.block(KERNEL, successors=[BEHIND], calls=FIRST)
    made.block(BEHIND, behind)
    made.block(entry_of(FIRST), *lines)
    return made


def preserved(*lines: Line) -> frozenset[str]:
    return FrameAnalysis(program_of(*lines).flow()).conduct[FIRST].preserved


def signature(made: Program, part: CodePlace = FIRST) -> FunctionSignature:
    return function_signatures(made.flow(), drops_stores=True).of[part]


def test_a_register_that_is_saved_and_loaded_again_is_preserved() -> None:
    assert preserved(PUSH, SAVE, CHANGE, RESTORE, POP, RETURN) == {"R1", "R16"}


def test_its_store_is_dead_and_nobody_passes_it() -> None:
    made = program_of(PUSH, SAVE, CHANGE, RESTORE, POP, ("MOV R4, R5", "R5", "R4"), RETURN)
    found = function_signatures(made.flow(), drops_stores=True)
    assert found.dead_stores == {("f", 0x10)}
    assert found.of[FIRST] == FunctionSignature(
        frozenset({"R1", "R4", "R5", "R20", "R21"}), frozenset({"R4"})
    )


def test_stores_stay_where_they_are_not_to_be_dropped() -> None:
    made = program_of(PUSH, SAVE, CHANGE, RESTORE, POP, RETURN)
    found = function_signatures(made.flow(), drops_stores=False)
    assert not found.dead_stores
    assert "R16" in found.of[FIRST].live_in


def test_another_word_is_loaded() -> None:
    other = ("LDL R16, [R1+0x8]", "R1", "R16")
    assert "R16" not in preserved(PUSH, SAVE, CHANGE, other, POP, RETURN)


def test_another_register_is_loaded() -> None:
    other = ("LDL R17, [R1+0x4]", "R1", "R17")
    assert preserved(PUSH, SAVE, CHANGE, other, POP, RETURN) == {"R1"}


def test_the_word_is_overwritten_in_part() -> None:
    byte = ("STL.U8 [R1+0x6], R4", "R1 R4", "")
    assert "R16" not in preserved(PUSH, SAVE, CHANGE, byte, RESTORE, POP, RETURN)


def test_the_word_is_overwritten_by_a_wider_store() -> None:
    wide = ("STL.64 [R1], R4", "R1 R4 R5", "")
    assert "R16" not in preserved(PUSH, SAVE, CHANGE, wide, RESTORE, POP, RETURN)


def test_the_word_is_overwritten_under_a_guard() -> None:
    guarded = ("@P0 STL [R1+0x4], R4", "R1 R4", "")
    assert "R16" not in preserved(PUSH, SAVE, CHANGE, guarded, RESTORE, POP, RETURN)


def test_it_is_saved_under_a_guard_only() -> None:
    guarded = ("@P0 STL [R1+0x4], R16", "R1 R16", "")
    assert "R16" not in preserved(PUSH, guarded, CHANGE, RESTORE, POP, RETURN)


def test_it_is_loaded_under_a_guard_only() -> None:
    guarded = ("@P0 LDL R16, [R1+0x4]", "R1", "R16")
    assert "R16" not in preserved(PUSH, SAVE, CHANGE, guarded, POP, RETURN)


def test_a_pointer_into_the_frame_is_made() -> None:
    # R6 = R1 + R5: what is stored there may be any word of the frame.
    pointer = ("IADD3 R6, PT, PT, R1, R5, RZ", "R1 R5", "R6")
    through = ("STL [R6], R4", "R4 R6", "")
    lines = (PUSH, SAVE, CHANGE, pointer, through, RESTORE, POP, RETURN)
    assert preserved(*lines) == {"R1"}
    assert not function_signatures(program_of(*lines).flow(), drops_stores=True).dead_stores


def test_a_pointer_is_passed_to_what_is_called() -> None:
    made = program_of()
    inside: CallPlace = (entry_of(FIRST)[0], "f", 0x80)
    pointer = ("IADD3 R6, PT, PT, R1, 0x4, RZ", "R1", "R6")
    made.block(entry_of(FIRST), PUSH, SAVE, CHANGE, pointer, successors=[inside], calls=SECOND)
    made.block(inside, RESTORE, POP, RETURN)
    made.block(entry_of(SECOND), ("STL [R6], R4", "R4 R6", ""), RETURN)
    assert "R16" not in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def with_call(*callee: Line) -> Program:
    """The function saves R16, calls another one, and loads R16 again."""
    made = program_of()
    inside: CallPlace = (entry_of(FIRST)[0], "f", 0x80)
    made.block(entry_of(FIRST), PUSH, SAVE, CHANGE, successors=[inside], calls=SECOND)
    made.block(inside, RESTORE, POP, RETURN)
    made.block(entry_of(SECOND), *callee)
    return made


def test_what_is_called_has_a_frame_of_its_own() -> None:
    made = with_call(PUSH, ("STL [R1+0x4], R4", "R1 R4", ""), POP, RETURN)
    assert "R16" in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_what_is_called_stores_to_the_frame_of_its_caller() -> None:
    made = with_call(("STL [R1+0x4], R4", "R1 R4", ""), RETURN)
    assert "R16" not in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_what_is_called_reads_the_frame_of_its_caller() -> None:
    made = with_call(("LDL R4, [R1+0x4]", "R1", "R4"), RETURN)
    assert not function_signatures(made.flow(), drops_stores=True).dead_stores


def test_what_is_called_changes_the_stack_pointer() -> None:
    made = with_call(PUSH, RETURN)
    conduct = FrameAnalysis(made.flow()).conduct
    assert "R1" not in conduct[SECOND].preserved
    assert "R16" not in conduct[FIRST].preserved


POINTER = ("IADD3 R6, PT, PT, R1, R5, RZ", "R1 R5", "R6")
"""To any word of an array, by its index."""
THROUGH = ("STL [R6], R4", "R4 R6", "")


def with_copy(*copied: Line) -> Program:
    """The function saves R16, goes through a copy of another one, and loads R16 again."""
    made = program_of()
    stack = entry_of(FIRST)[0]
    inside: CallPlace = (stack, "f", 0x80)
    copy: CallPlace = ((*stack, CallFrame(SECOND, "f", 0x80)), "g", 0)
    made.block(entry_of(FIRST), PUSH, SAVE, CHANGE, successors=[copy])
    made.block(copy, *copied, successors=[inside])
    made.block(inside, RESTORE, POP, RETURN)
    return made


def test_an_array_of_code_that_is_called_by_a_copy_lies_in_its_own_frame() -> None:
    made = with_copy(PUSH, POINTER, THROUGH, POP)
    assert "R16" in FrameAnalysis(made.flow()).conduct[FIRST].preserved
    assert function_signatures(made.flow(), drops_stores=True).dead_stores == {("f", 0x10)}


def test_what_it_saves_itself_lies_there_too() -> None:
    saved = ("STL [R1], R17", "R1 R17", "")
    change, restore = ("MOV R17, R4", "R4", "R17"), ("LDL R17, [R1]", "R1", "R17")
    made = with_copy(PUSH, saved, change, POINTER, THROUGH, restore, POP)
    found = FrameAnalysis(made.flow()).conduct[FIRST].preserved
    assert "R16" in found and "R17" not in found
    made = with_copy(PUSH, saved, change, restore, POP)
    assert "R17" in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_code_without_a_frame_indexes_that_of_its_caller() -> None:
    made = with_copy(POINTER, THROUGH)
    assert "R16" not in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_a_pointer_above_its_own_frame_leads_to_its_caller_s() -> None:
    above = ("IADD3 R7, PT, PT, R1, 0x10, RZ", "R1", "R7")
    indexed = ("IADD3 R6, PT, PT, R7, R5, RZ", "R7 R5", "R6")
    made = with_copy(PUSH, above, indexed, THROUGH, POP)
    assert "R16" not in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_arguments_in_the_frame_are_read_and_what_is_saved_above_them_is_kept() -> None:
    made = program_of()
    inside: CallPlace = (entry_of(FIRST)[0], "f", 0x80)
    passed = ("STL [R1], R17", "R1 R17", "")
    reused = ("LDL R9, [R1]", "R1", "R9")  # nobody wants it
    made.block(entry_of(FIRST), PUSH, SAVE, passed, CHANGE, successors=[inside], calls=SECOND)
    made.block(inside, reused, RESTORE, POP, RETURN)
    made.block(entry_of(SECOND), ("LDL R4, [R1]", "R1", "R4"), RETURN)
    assert "R16" in FrameAnalysis(made.flow()).conduct[FIRST].preserved
    assert function_signatures(made.flow(), drops_stores=True).dead_stores == {("f", 0x10)}


def test_arguments_that_are_indexed_are_stored() -> None:
    made = program_of()
    inside: CallPlace = (entry_of(FIRST)[0], "f", 0x80)
    passed = ("STL [R1], R17", "R1 R17", "")
    made.block(entry_of(FIRST), PUSH, passed, successors=[inside], calls=SECOND)
    made.block(inside, POP, RETURN)
    load = ("LDL R4, [R6]", "R6", "R4")
    made.block(entry_of(SECOND), PUSH, POINTER, load, POP, RETURN)
    assert not function_signatures(made.flow(), drops_stores=True).dead_stores


def test_recursion_reads_arguments_that_each_call_stores() -> None:
    made = program_of()
    stack = entry_of(FIRST)[0]
    again, end = (stack, "f", 0x80), (stack, "f", 0x100)
    argument = ("LDL R16, [R1+0x10]", "R1", "R16")
    made.block(entry_of(FIRST), PUSH, SAVE, argument, successors=[again, end])
    passed = ("STL [R1], R16", "R1 R16", "")
    made.block(again, passed, successors=[end], calls=FIRST)
    made.block(end, ("FADD R4, R4, R16", "R4 R16", "R4"), RESTORE, POP, RETURN)
    conduct = FrameAnalysis(made.flow()).conduct[FIRST]
    assert conduct.preserved == {"R1", "R16"}
    assert (conduct.reads_above, conduct.writes_above) == (4, 0)
    assert function_signatures(made.flow(), drops_stores=True).dead_stores == {("f", 0x10)}


def recursive(*before: Line) -> Program:
    """The function calls itself where it does not return."""
    made = program_of()
    stack = entry_of(FIRST)[0]
    again, after, end = (stack, "f", 0x80), (stack, "f", 0xC0), (stack, "f", 0x100)
    made.block(entry_of(FIRST), PUSH, SAVE, *before, successors=[again, end])
    made.block(again, CHANGE, successors=[after], calls=FIRST)
    made.block(after, ("FADD R4, R4, R16", "R4 R16", "R4"), successors=[end])
    made.block(end, RESTORE, POP, RETURN)
    return made


def test_recursion_preserves_what_each_call_preserves() -> None:
    made = recursive()
    assert FrameAnalysis(made.flow()).conduct[FIRST].preserved == {"R1", "R16"}
    assert signature(made).live_out == {"R4"}
    assert "R16" not in signature(made).live_in


def test_recursion_that_changes_a_register_does_not_preserve_it() -> None:
    made = recursive(("MOV R17, R4", "R4", "R17"))
    assert "R17" not in FrameAnalysis(made.flow()).conduct[FIRST].preserved


def test_what_only_one_way_writes_is_taken_as_well() -> None:
    # Where P0 is false the caller reads what R4 was before the call.
    made = program_of(("@P0 MOV R4, R5", "R5", "R4"), RETURN)
    assert signature(made) == FunctionSignature(
        frozenset({"P0", "R4", "R5", "R16", "R20", "R21"} - {"R16"}), frozenset({"R4"})
    )


def test_what_nobody_reads_is_not_given_back() -> None:
    made = program_of(("MOV R9, R5", "R5", "R9"), RETURN)
    assert signature(made).live_out == frozenset()


def test_two_ways_that_differ_at_a_return() -> None:
    made = program_of()
    stack = entry_of(FIRST)[0]
    other, end = (stack, "f", 0x80), (stack, "f", 0xC0)
    made.block(entry_of(FIRST), PUSH, SAVE, CHANGE, successors=[other, end])
    made.block(other, RESTORE, successors=[end])
    made.block(end, POP, RETURN)
    assert FrameAnalysis(made.flow()).conduct[FIRST].preserved == {"R1"}


def test_a_number_that_ptxas_prints_without_a_sign() -> None:
    push = ("IADD3 R1, R1, 0xfffffff0, RZ", "R1", "R1")
    assert preserved(push, SAVE, CHANGE, RESTORE, POP, RETURN) == {"R1", "R16"}


def test_functions_that_a_pointer_may_lead_to_have_one_interface() -> None:
    """What one of them changes the others give back, from where they save it: it was lost."""
    made = Program()
    made.block(KERNEL, successors=[BEHIND], calls=FIRST, or_calls=SECOND)
    made.block(BEHIND, ("STG.E [R2.64], R16", "R2 R3 R16", ""))
    made.block(entry_of(FIRST), CHANGE, RETURN)
    made.block(entry_of(SECOND), PUSH, SAVE, CHANGE, RESTORE, POP, RETURN)
    apart = function_signatures(made.flow(), drops_stores=True)
    assert apart.dead_stores == {("g", 0x10)}
    assert apart.of[SECOND].live_out == frozenset()
    found = function_signatures(made.flow(by_pointer=(FIRST, SECOND)), drops_stores=True)
    assert not found.dead_stores
    assert found.of[FIRST] == found.of[SECOND]
    assert found.of[SECOND].live_out == {"R16"}
    assert {"R1", "R4", "R16", "R20", "R21"} == found.of[FIRST].live_in


def test_what_another_caller_wants_of_one_of_them_all_give_back() -> None:
    """One is called by its name as well, by who wants what the caller by pointer does not."""
    made = Program()
    other: CallPlace = ((), "k", 0x100)
    end: CallPlace = ((), "k", 0x180)
    made.block(KERNEL, successors=[other], calls=FIRST, or_calls=SECOND)
    made.block(other, successors=[end], calls=FIRST)
    made.block(end, ("STG.E [R2.64], R16", "R2 R3 R16", ""))
    made.block(entry_of(FIRST), CHANGE, RETURN)
    made.block(entry_of(SECOND), PUSH, SAVE, CHANGE, RESTORE, POP, RETURN)
    found = function_signatures(made.flow(by_pointer=(FIRST, SECOND)), drops_stores=True)
    assert found.of[FIRST] == found.of[SECOND]
    assert found.of[SECOND].live_out == {"R16"}
    assert not found.dead_stores
