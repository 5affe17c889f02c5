"""Forms that do what a proven or tested form does with its operands moved, for all inputs.

``python -m tests.lift.proofs.equality 'LDG.E.SYS R,[UR+i]' ...`` prints with which form each is
equal, or why with none.

Both are lifted, and what they do is compared (:mod:`tests.lift.proofs.effects`): loads, stores,
sums of floats are the same function of operands that z3 shows to be the same. That a rule
(:mod:`tests.lift.proofs.twins`) says what the hardware does is confirmed where a form that a GPU
ran is equal by that rule to another that it ran; ``rules.json`` has such a pair for each.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import z3

from cass_ray.assembly import sass
from cass_ray.lift import module
from cass_ray.lift.errors import LiftError, UnknownForm
from cass_ray.lift.form_evidence import stored
from cass_ray.lift.forms import form_of
from cass_ray.lift.frontend.instruction import decode
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.frontend.operands import Predicate, Register, parse
from tests.lift.proofs.effects import difference, doings
from tests.lift.proofs.prove import EFFORT, kernel_name, stored_register
from tests.lift.proofs.symbolic import NotProvable
from tests.lift.proofs.twins import DOCUMENTED, WORDS, Instruction, Twin, twins

RULES = Path(__file__).with_name("rules.json")
"""Rule -> a form that a GPU ran, and another that it is equal to by that rule alone."""
_LITERALS = ("0x10", "0x4", "0x7fffffff", "0x80000000")
_FLOATS = ("0.5", "-3", "65504", "+INF")
_CANDIDATES, _ATTEMPTS = 4, 12
_WITH_LABEL, _LABEL = ("BRA", "WARPSYNC"), "`(.L_x_0)"
_OFFSETS = ("0x10", "-0x20")


class NotWritten(Exception):
    """The form has an operand of which no instance is made here."""


@dataclass(frozen=True)
class Equality:
    """With which form ``form`` is equal, by which rules; or "" and why with none."""

    form: str
    other: str = ""
    rules: tuple[str, ...] = ()
    detail: str = ""


def written(form: str, *, seed: int = 0) -> Instruction:
    """An instruction of the form. Raises :class:`NotWritten`."""
    mnemonic, _, listed = form.partition(" ")
    draw = random.Random(f"{form} {seed}")
    count = {"register": 0, "predicate": -1}
    operands = [
        _operand(text, mnemonic, count, draw)
        for text in re.findall(r"(?:\[[^\]]*\]|[^,])+", listed)
    ]
    made = Instruction(mnemonic, tuple(operands))
    try:
        if shape(made) == form:
            return made
    except UnknownForm:
        pass
    raise NotWritten(f"{form}: {made.text()}")


def _operand(text: str, mnemonic: str, count: dict[str, int], draw: random.Random) -> str:
    def register(match: re.Match[str]) -> str:
        count["register"] += 1
        return f"{match[0]}{4 * count['register']}"

    is_uniform = mnemonic.startswith("U")
    if text.startswith("["):
        return re.sub(r"\bi\]", f"{draw.choice(_OFFSETS)}]", re.sub(r"\bU?R\b", register, text))
    if text in ("PT", "!PT"):
        return text.replace("PT", "UPT") if is_uniform else text
    if re.fullmatch(r"!?U?P", text):
        count["predicate"] += 1
        return f"{text}{count['predicate']}"
    if text == "i":
        return draw.choice(_LITERALS)
    if text == "f":
        return draw.choice(_FLOATS)
    if re.fullmatch(r"[-~|]*c.*", text):
        count["register"] += 1
        return re.sub(r"\bc\b", f"c[0x0][{0x168 + 16 * count['register']:#x}]", text)
    if text == "name":
        if mnemonic.startswith(_WITH_LABEL):
            return _LABEL
        return "UPR" if is_uniform else "PR"
    return re.sub(r"\bU?R\b", register, text)


def shape(instruction: Instruction) -> str:
    """The form of an instruction."""
    listing = f".target sm_80\n\nFunction : k\n{instruction.text()}\nEXIT\n"
    return form_of(decode(sass.parse(listing).functions[0].instructions[0]))


def variants(form: str) -> Iterator[Instruction]:
    """Instances: literals drawn, each source zero, each source the target, guards."""
    first = written(form)
    found = [first, *(written(form, seed=seed) for seed in (1, 2, 3))]
    for place in range(first.targets(), len(first.operands)):
        operand = parse(first.operands[place])
        if isinstance(operand, Register):
            for index in ("Z", *_targets_of(first, operand.file)):
                text = re.sub(r"R\d+", f"R{index}", first.operands[place])
                operands = (*first.operands[:place], text, *first.operands[place + 1 :])
                found.append(replace(first, operands=operands))
    guard = "UP6" if _writes_uniform(first) else "P6"
    found += [replace(first, guard=f"@{sign}{guard} ") for sign in ("", "!")]
    yield from dict.fromkeys(found)


def _writes_uniform(i: Instruction) -> bool:
    """Whether its guard is a uniform one; with another it would be for each lane by itself."""
    files = [getattr(parse(text), "file", "") for text in i.operands[: i.targets()]]
    return i.mnemonic.startswith("U") or "UR" in files or "UP" in files


def _targets_of(i: Instruction, file: str) -> Iterator[str]:
    for text in i.operands[: i.targets()]:
        operand = parse(text)
        if isinstance(operand, Register) and operand.file == file and operand.index is not None:
            yield str(operand.index)


def candidates(form: str, known: Collection[str]) -> list[tuple[str, Twin]]:
    """Known forms as which ``form`` can be written, those with the fewest rules first."""
    found: dict[str, Twin] = {}
    for twin in sorted(twins(written(form)), key=lambda twin: len(twin.rules)):
        other = shape(twin.instruction)
        if other != form and other in known and other not in found and twin.rules:
            found[other] = twin
    return list(found.items())


def equal(form: str, known: Collection[str], rules: Collection[str]) -> Equality:
    """The first of the candidates by ``rules`` with which all variants of the form are equal."""
    try:
        todo = [each for each in candidates(form, known) if set(each[1].rules) <= set(rules)]
    except NotWritten as error:
        return Equality(form, detail=f"not written: {error}")
    details = []
    for other, twin in todo[:_CANDIDATES]:
        detail = compare(form, other, twin.rules)
        if not detail:
            return Equality(form, other, twin.rules)
        details.append(f"{other}: {detail}")
    return Equality(form, detail="; ".join(details) or "no candidate")


def rules_for(forms: Iterable[str], known: Collection[str]) -> set[str]:
    """All rules by which one of ``forms`` might be written as a known one."""
    found: set[str] = set()
    for form in forms:
        try:
            found.update(rule for _, twin in candidates(form, known) for rule in twin.rules)
        except NotWritten:
            continue
    return found


def trusted() -> frozenset[str]:
    """The rules that a GPU confirms (``rules.json``), and those that the vendor's text says."""
    return frozenset(json.loads(RULES.read_text())) | DOCUMENTED.keys()


def confirmed(rules: Collection[str], tested: Collection[str]) -> dict[str, tuple[str, str]]:
    """Rule -> a form that a GPU ran, and another that it is equal to by that rule alone.

    Of a rule that is missing nothing shows that the hardware keeps to it.
    """
    found: dict[str, tuple[str, str]] = {}
    tried: Counter[str] = Counter()
    for form in sorted(tested):
        try:
            todo = candidates(form, tested)
        except NotWritten:
            continue
        for other, twin in todo:
            if len(twin.rules) != 1 or found.keys() & set(twin.rules):
                continue
            (rule,) = twin.rules
            if rule in rules and tried[rule] < _ATTEMPTS:
                tried[rule] += 1
                if not compare(form, other, twin.rules):
                    found[rule] = (form, other)
        if found.keys() >= set(rules):
            break
    return found


def compare(form: str, other: str, rules: tuple[str, ...]) -> str:
    """Why variants of ``form`` and of ``other`` differ; "" if z3 shows that they do not."""
    pairs = []
    for instruction in variants(form):
        for twin in twins(instruction):
            if twin.rules == rules and shape(twin.instruction) == other:
                pairs.append((instruction, twin))
                break
        else:
            if instruction.guard or not _has_zero(instruction):
                return f"no twin of {instruction.text()}"
    return _judged(pairs)


def _has_zero(instruction: Instruction) -> bool:
    """The zero register in an address is not there, which makes another form of it."""
    return any("RZ" in text for text in instruction.operands)


def _judged(pairs: list[tuple[Instruction, Twin]]) -> str:
    lines = [".target sm_80"]
    for number, (instruction, twin) in enumerate(pairs):
        outputs = list(_outputs(instruction))
        for side, body, names in (
            ("a", (instruction.text(),), outputs),
            ("b", (*twin.before, twin.instruction.text()), [twin.output(n) for n in outputs]),
        ):
            lines += ["", f"Function : {kernel_name(f'{side}{number}')}"]
            lines += [line.replace(_LABEL, f"`(.L_{side}_{number})") for line in body]
            if _LABEL in instruction.operands:  # whether the next line is passed over
                lines += [*stored_register("R60", len(names)), f".L_{side}_{number}:"]
            for place, name in enumerate(names):
                lines += stored_register(name, place)
            lines.append("EXIT")
    text = "\n".join(lines) + "\n"
    try:
        made = module.build(cubin_of(text), text)
        if made.failures:
            return str(next(iter(made.failures.values())))
        found = doings(made.text)
        for number, (instruction, _) in enumerate(pairs):
            sides = [found[kernel_name(f"{side}{number}")] for side in "ab"]
            plain, claim = difference(*sides)
            detail = plain or _doubt(claim)
            if detail:
                return f"{instruction.text()}: {detail}"
    except (LiftError, NotProvable) as error:
        return f"{type(error).__name__} {error}"
    return ""


def _outputs(instruction: Instruction) -> Iterator[str]:
    for text in instruction.operands[: instruction.targets()]:
        operand = parse(text)
        if isinstance(operand, Register) and operand.index is not None:
            yield from (operand.following(n).name for n in range(WORDS))
        elif isinstance(operand, Predicate) and operand.index is not None:
            yield operand.name
    if instruction.opcode == "R2P":
        yield from (f"P{n}" for n in range(7))


def _doubt(claim: z3.BoolRef) -> str:
    """Inputs for which the claim is false, or that z3 gave up; "" if it is proven."""
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    solver.add(z3.Not(claim))
    answer = solver.check()
    if answer == z3.unsat:
        return ""
    return "no answer" if answer == z3.unknown else f"different where {solver.model()}"[:300]


def main() -> None:
    """Command line."""
    known = stored().proven | stored().tested.keys()
    for form in sys.argv[1:]:
        found = equal(form, known, trusted() | rules_for([form], known))
        unsure = sorted(set(found.rules) - trusted())
        print(f"{form}  =  {found.other} by {', '.join(found.rules)} {found.detail}", flush=True)
        if unsure:
            print(f"  not confirmed: {', '.join(unsure)}")


if __name__ == "__main__":
    main()
