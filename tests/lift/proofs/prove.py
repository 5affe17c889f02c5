"""Prove that what the lifter writes for a form is what the specification says, for all inputs.

``python -m tests.lift.proofs.prove 'LEA R,P,-R,R,i' ...`` prints a verdict for each form.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

from cass_ray.assembly import sass
from cass_ray.lift import module
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.instruction import decode
from cass_ray.lift.frontend.listing import cubin_of
from tests.lift.proofs import symbolic
from tests.lift.proofs.instances import Instance, NotInstantiable, instances, producers
from tests.lift.proofs.specification import NotSpecified, State, step
from tests.lift.proofs.terms import with_products

PROVEN = "proven"
DIFFERENT, UNDECIDED = "different", "undecided"
NOT_LIFTED, NOT_MODELLED, NOT_SPECIFIED = "not lifted", "not modelled", "not specified"

EFFORT = 30_000_000
"""z3's own count of its work, after which it gives up: some ten seconds of CPU time."""
_POINTER, _WORD, _UNIFORM_WORD = "R250", "R249", "UR60"
_AT_ONCE = 48
"""Kernels of one module."""
_PARAMETERS = "Pj" + 40 * "j"
"""Of every kernel, as mangled: an address, and words enough for every constant that is read."""


@dataclass(frozen=True)
class Verdict:
    """What came of a form; ``detail`` says why it is not proven: the instance and the inputs."""

    form: str
    outcome: str
    instances: int = 0
    detail: str = ""


def prove(form: str, carriers: Iterable[str] = ()) -> Verdict:
    """Prove all instances of ``form``, alone and after each of ``carriers`` that fits."""
    try:
        todo = [*instances(form), *producers(form, list(carriers))]
        wanted = [_specified(instance) for instance in todo]
    except NotInstantiable as error:
        return Verdict(form, NOT_SPECIFIED, detail=str(error))
    except NotSpecified as error:
        return Verdict(form, NOT_SPECIFIED, detail=str(error))
    return _judge(form, todo, wanted)


def prove_instances(form: str, todo: list[Instance]) -> Verdict:
    """Prove ``todo``, which stand for ``form``."""
    return _judge(form, todo, [_specified(instance) for instance in todo])


def _specified(instance: Instance) -> State:
    state = State()
    for instruction in sass.parse(_listing([("k", instance, [])])).functions[0].instructions[:-1]:
        step(state, decode(instruction))
    return state


def _judge(form: str, todo: list[Instance], wanted: list[State]) -> Verdict:
    for first in range(0, len(todo), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        outcome, detail = _judge_together(todo[part], wanted[part])
        if outcome != PROVEN:
            return Verdict(form, outcome, len(todo), detail)
    return Verdict(form, PROVEN, len(todo))


def _judge_together(todo: list[Instance], wanted: list[State]) -> tuple[str, str]:
    """The first outcome that is not :data:`PROVEN`, and what of the instances it is about."""
    text = _listing(
        [
            (kernel_name(number), instance, sorted(state.values))
            for number, (instance, state) in enumerate(zip(todo, wanted, strict=True))
        ]
    )
    try:
        made = module.build(cubin_of(text), text)
    except LiftError as error:
        return NOT_LIFTED, str(error)
    if made.failures:
        return NOT_LIFTED, str(next(iter(made.failures.values())))
    bodies = symbolic.kernels(made.text)
    for number, (instance, state) in enumerate(zip(todo, wanted, strict=True)):
        try:
            kernel = symbolic.evaluate(bodies[kernel_name(number)])
        except symbolic.NotProvable as error:
            return NOT_MODELLED, f"{'; '.join(instance.lines)}: {error}"
        outcome, detail = _compare(kernel, state)
        if outcome != PROVEN:
            return outcome, f"{'; '.join(instance.lines)}: {detail}"
    return PROVEN, ""


def kernel_name(number: int | str) -> str:
    """A name that tells the lifter the parameters."""
    return f"_Z{1 + len(str(number))}k{number}{_PARAMETERS}"


def _compare(kernel: symbolic.Kernel, state: State) -> tuple[str, str]:
    names = sorted(state.values)
    if len(kernel.stores) != len(names):
        return DIFFERENT, f"{len(kernel.stores)} stores for {names}"
    base = z3.Concat(z3.BitVec("R251", 32), z3.BitVec(_POINTER, 32))
    claims = list(kernel.obligations)
    for place, (name, store) in enumerate(zip(names, kernel.stores, strict=True)):
        claims += [store.condition, store.address == base + 4 * place]
        claims.append(store.value == _as_word(state.values[name]))
    claim = z3.simplify(z3.And(claims))
    if z3.is_true(claim) or _solver(claim).check() == z3.unsat:
        return PROVEN, ""
    solver = _solver(with_products(claim))
    answer = solver.check()
    if answer == z3.unsat:
        return PROVEN, ""
    if answer != z3.sat:
        return UNDECIDED, f"no answer within rlimit {EFFORT}"
    return DIFFERENT, _counterexample(solver.model(), kernel, state)


def _solver(claim: z3.BoolRef) -> z3.Solver:
    """Asks for inputs with which ``claim`` is false."""
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    solver.add(z3.Not(claim))
    return solver


def _as_word(value: Any) -> Any:
    return z3.If(value, z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)) if z3.is_bool(value) else value


def _counterexample(model: z3.ModelRef, kernel: symbolic.Kernel, state: State) -> str:
    given = ", ".join(f"{each.name()}={_shown(model[each])}" for each in model.decls())
    found = []
    for name, store in zip(sorted(state.values), kernel.stores, strict=True):
        lifted, said = (
            _shown(model.eval(with_products(_as_word(value)), model_completion=True))
            for value in (store.value, state.values[name])
        )
        if lifted != said:
            found.append(f"{name} is {lifted} lifted, {said} specified")
    return f"{given}: {'; '.join(found) or 'undefined in LLVM'}"


def _shown(value: Any) -> str:
    return f"{value.as_long():#x}" if z3.is_bv_value(value) else str(value)


def _listing(kernels: list[tuple[str, Instance, list[str]]]) -> str:
    """Kernels that do what the instances say and store the registers that are named."""
    lines = [".target sm_80"]
    for name, instance, outputs in kernels:
        lines += ["", f"Function : {name}", *instance.lines]
        for place, register in enumerate(outputs):
            lines += stored_register(register, place)
        lines.append("EXIT")
    return "\n".join(lines) + "\n"


def stored_register(register: str, place: int) -> list[str]:
    """Lines that store a register, or one for a predicate that holds, at a place of the output."""
    source = register if register.startswith("R") else _WORD
    store = f"STG.E [{_POINTER}.64+{4 * place:#x}], {source}"
    if register.startswith("UP"):
        chosen = f"USEL {_UNIFORM_WORD}, URZ, 0x1, !{register}"
        return [chosen, f"MOV {_WORD}, {_UNIFORM_WORD}", store]
    if register.startswith("UR"):
        return [f"MOV {_WORD}, {register}", store]
    if register.startswith("P"):
        return [f"SEL {_WORD}, RZ, 0x1, !{register}", store]
    return [store]


def main() -> None:
    """Command line."""
    for form in sys.argv[1:]:
        verdict = prove(form)
        print(f"{verdict.outcome:14} {verdict.instances:5}  {form}  {verdict.detail}", flush=True)


if __name__ == "__main__":
    main()
