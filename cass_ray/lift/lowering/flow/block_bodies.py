"""Instructions inside basic blocks: runs of one guard, and tests of phases that end a turn.

They are lowered once, by what analyses of the graph say. For the graph itself they are only read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from cass_ray.lift.analysis import liveness
from cass_ray.lift.analysis.function_signatures import FunctionSignatures
from cass_ray.lift.analysis.kernel_graph import CallPlace
from cass_ray.lift.analysis.opcodes import tests_phase, uniform_results, yields
from cass_ray.lift.analysis.outlining import Outline
from cass_ray.lift.analysis.unrolled_rounds import UnrolledRounds
from cass_ray.lift.convergence.phase_waits import PhaseWaits
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate, Register
from cass_ray.lift.llvm.builder import TRUE, i32
from cass_ray.lift.lowering.context import LoweredInstruction
from cass_ray.lift.lowering.families import forms
from cass_ray.lift.lowering.flow.walk import KernelWalk
from cass_ray.lift.lowering.form_accesses import FormAccesses, guard_of
from cass_ray.lift.lowering.lanes import ballot, share_with_warp
from cass_ray.lift.lowering.registers import word_of
from cass_ray.lift.lowering.semantics.texture import TEXTURE_OPCODES
from cass_ray.lift.lowering.table import OpcodeForm


@dataclass(frozen=True)
class LoweringFacts:
    """What analyses of a kernel's graph say; nothing, while that is built."""

    accesses: Mapping[liveness.CodePlace, liveness.RegisterAccess] = field(default_factory=dict)
    """What instructions touch."""
    unneeded: frozenset[tuple[liveness.CodePlace, str]] = frozenset()
    """Instructions, and registers whose value before them nobody reads."""
    signatures: FunctionSignatures | None = None
    """Signatures of the functions that the kernel calls."""
    outlines: Mapping[liveness.CodePlace | None, Outline] = field(default_factory=dict)
    """Outlines of large functions, by function; None is the kernel itself."""
    live: Mapping[liveness.CodePlace, frozenset[str]] = field(default_factory=dict)
    """Registers that may matter at the start of each block."""


class InstructionLowering:
    """Lowers the instructions of a walk's current block."""

    def __init__(self, walk: KernelWalk, facts: LoweringFacts, waits: PhaseWaits | None) -> None:
        """``waits``: where phases are tested, if the two warps of a wave are scheduled one after
        the other."""
        self._walk = walk
        self._context = walk.context
        self._facts = facts
        self._waits = waits
        self._forms = forms()
        self._rounds: dict[str, UnrolledRounds] = {}
        """Rounds of each section."""

    def polls(self, code: CodeSection, i: DecodedInstruction) -> bool:
        """Whether the turn ends before ``i``, which waits for another warp."""
        return self._waits is not None and (code.name, i.address) in self._waits.polls

    def has_effect(self, i: DecodedInstruction) -> bool:
        """Whether ``i`` does more than write registers: under a guard it is branched around."""
        form = self._forms.get(i.mnemonic)
        return form is not None and form.has_effect

    def run(
        self, code: CodeSection, guard: Predicate | None, run: list[DecodedInstruction]
    ) -> None:
        """Lower instructions that follow each other and have the same guard."""
        context = self._context
        forms_of_run = [(each, self._form(code, each)) for each in run]
        if guard is None:
            self._apply(code, forms_of_run)
            return
        condition = context.predicate(guard)
        unneeded = self._unneeded_in(code, forms_of_run)
        if guard.file == "P" and (shared := uniform_results(run)):
            unneeded = frozenset(name for name in unneeded if word_of(name) not in shared)
            with context.registers.skipped_unless(condition, unneeded):
                self._apply(code, forms_of_run)
            for name in sorted(shared):
                share_with_warp(context, name, condition)
            return
        if any(form.has_effect for _, form in forms_of_run):
            with context.registers.skipped_unless(condition, unneeded):
                self._apply(code, forms_of_run)
        else:
            rounds = self._rounds_of(code).counted(run)
            with context.registers.dropping_results_unless(condition, unneeded, rounds):
                self._apply(code, forms_of_run)

    def _rounds_of(self, code: CodeSection) -> UnrolledRounds:
        if code.name not in self._rounds:
            self._rounds[code.name] = UnrolledRounds(code)
        return self._rounds[code.name]

    def _unneeded_in(
        self, code: CodeSection, forms_of_run: list[tuple[DecodedInstruction, OpcodeForm]]
    ) -> frozenset[str]:
        """Registers whose value before a run is not needed where its guard does not hold.

        That is so when it is for the first instruction of the run that writes them.
        """
        if not self._facts.unneeded:
            return frozenset()
        first: dict[str, bool] = {}
        for instruction, _ in forms_of_run:
            place = (code.name, instruction.address)
            for name in self._facts.accesses[place].writes:
                first.setdefault(name, (place, name) in self._facts.unneeded)
        return frozenset(name for name, unneeded in first.items() if unneeded)

    def _apply(
        self, code: CodeSection, forms_of_run: list[tuple[DecodedInstruction, OpcodeForm]]
    ) -> None:
        context = self._context
        signatures = self._facts.signatures
        for instruction, form in forms_of_run:
            if signatures and (code.name, instruction.address) in signatures.dead_stores:
                continue
            access = liveness.RegisterAccess(guard_of(instruction))
            with self.lowering(code, instruction, access):
                if (code.name, instruction.address) in context.environment.spin_loads:
                    context.ir.call_void("llvm.amdgcn.s.sleep", i32(1))
                form.semantics(context, instruction)
                context.ir.bound_stretch()
                if self._waits is not None:
                    self._agree(code, instruction, self._waits)
                if self._facts.accesses:
                    self._check(code, instruction, access)

    def _check(
        self, code: CodeSection, i: DecodedInstruction, access: liveness.RegisterAccess
    ) -> None:
        """What is lowered touches what the graph says: else analyses were wrong, and so is this."""
        known = self._facts.accesses[code.name, i.address]
        if access.writes != known.writes or not access.reads <= known.reads:
            raise RuntimeError(f"it touches {access}, and by its form {known}")

    def _agree(self, code: CodeSection, i: DecodedInstruction, waits: PhaseWaits) -> None:
        """Where warps are scheduled, a phase is over for all lanes of the warp or for none.

        In a loop that waits it is when it is for each; elsewhere lanes that differ are an error.
        """
        waits_here = waits.verdicts.get((code.name, i.address))
        if waits_here is None:
            return
        if i.guard is not None and not tests_phase(i):
            raise i.unknown("a guarded test of a phase where warps are scheduled")
        context = self._context
        own = context.predicate(i.operands[0])
        others = ballot(context, context.ir.invert(own))
        all_over = context.ir.icmp("eq", others, i32(0))
        if waits_here:
            context.write_predicate(i.operands[0], all_over)
            return
        differs = context.ir.both(own, context.ir.invert(all_over))
        with context.registers.skipped_unless(differs):
            # Not llvm.trap, after which lanes would wait until the others end.
            context.ir.line('call void asm sideeffect "s_trap 2", ""()')

    def poll(self, code: CodeSection, i: DecodedInstruction, following: CallPlace) -> None:
        """Give the turn to the other warp or lanes, then do ``i``: mostly read whether a phase is
        over."""
        context, form = self._context, self._form(code, i)
        assert context.scheduler is not None and self._waits is not None
        access = liveness.RegisterAccess(guard_of(i))
        guard = context.predicate(i.guard) if i.guard else TRUE
        with context.terminators.leaving_if(guard, lambda: self._walk.goto(following)):
            label = f"poll{context.ir.fresh()}"
            if context.lane_scheduler is not None:
                context.lane_scheduler.pause(f"label %{label}", at_barrier=False, yields=yields(i))
            else:
                context.scheduler.pause(f"label %{label}", at_barrier=False)
            context.registers.begin_block(label)
            with self.lowering(code, i, access):
                form.semantics(context, i)
                self._agree(code, i, self._waits)
            context.terminators.jump(self._walk.goto(following))

    def lowering(
        self, code: CodeSection, instruction: DecodedInstruction, access: liveness.RegisterAccess
    ) -> LoweredInstruction:
        """Inside, ``instruction`` is lowered: what it touches is recorded, and errors name it."""
        self._walk.current.accesses.append(((code.name, instruction.address), access))
        return self._context.lowering(code, access, instruction)

    def _form(self, code: CodeSection, instruction: DecodedInstruction) -> OpcodeForm:
        form = self._forms.get(instruction.mnemonic)
        if form is None:
            raise UnknownForm(
                instruction.text,
                "the form is not in the table",
                code.name,
                instruction.address,
            )
        target = self._context.environment.target
        if instruction.opcode in TEXTURE_OPCODES and not target.has_image_instructions:
            reason = f"{target.name} has no texture units"
            raise UnknownForm(instruction.text, reason, code.name, instruction.address)
        return form


_LABELS_OF_GUARD = 4
"""Blocks of LLVM that a guard adds which instructions are branched around for."""
_NEVER_CONSTANT = frozenset({"S2R", "S2UR", "CS2R"})
"""These read no registers, and their results are not constants."""


class InstructionReading(InstructionLowering):
    """Reads what the instructions of a walk's current block touch, for the graph."""

    def __init__(self, walk: KernelWalk, schedule: WaveSchedule) -> None:
        super().__init__(walk, LoweringFacts(), schedule.points)
        self._accesses = FormAccesses(walk.context.environment, schedule)
        self._constants: dict[liveness.CodePlace, Set[str]] = {}
        """Predicates that instructions set to true or false whatever they read."""

    def run(
        self, code: CodeSection, guard: Predicate | None, run: list[DecodedInstruction]
    ) -> None:
        """Read them; their blocks of LLVM are counted as if they were lowered."""
        context, has_effect = self._context, False
        for i in run:
            form, place = self._form(code, i), (code.name, i.address)
            has_effect = has_effect or form.has_effect
            if self._waits is not None and place in self._waits.verdicts:
                self._apply(code, [(i, form)])
                continue
            facts = self._accesses.of(code, i, form.semantics)
            self._walk.current.accesses.append((place, facts.access))
            if facts.constants:
                self._constants[place] = facts.constants
            context.ir.labels += facts.labels
        if guard is not None and (has_effect or (guard.file == "P" and uniform_results(run))):
            context.ir.labels += _LABELS_OF_GUARD

    def end_needs_values(
        self, body: Sequence[DecodedInstruction], last: DecodedInstruction
    ) -> bool:
        """Whether where a block leads may depend on what its ``body``, which was read, makes.

        Calls through registers lead to functions of the driver, whose numbers are constants;
        conditions may be constants, too, where code is not optimized.
        """
        if last.opcode == "CALL" and any(isinstance(o, Register) for o in last.operands):
            return True
        conditions = {
            each.name for each in (last.guard, *last.operands) if isinstance(each, Predicate)
        }
        if not conditions:
            return False
        constant: set[str] = set()
        for i, (place, access) in zip(body, self._walk.current.accesses, strict=True):
            if access.reads <= constant and i.opcode not in _NEVER_CONSTANT:
                written = access.writes
            else:
                constant -= access.writes
                written = {*self._constants.get(place, ())}
            if access.guard is None:
                constant |= written
            else:
                constant -= written
        return not conditions.isdisjoint(constant)
