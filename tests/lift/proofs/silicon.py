"""Whole SASS kernels done by the specification, against what an H200 computed.

Every kernel of ``tests/lift/vectors`` that is a straight line of specified instructions, loads and
stores is done on the lanes whose results are stored. Nothing of the lifter takes part but its
reader of operands, so that this holds the specification to the hardware.

``python -m tests.lift.proofs.silicon`` does them all and writes ``confirmed.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from cass_ray.assembly import sass
from cass_ray.lift.forms import form_of
from cass_ray.lift.frontend.instruction import DecodedInstruction, decode
from cass_ray.lift.frontend.operands import Address, Name, Operand, Register
from cass_ray.toolchain.locate import find_nvidia
from tests.lift.proofs.concrete import Lanes, evaluate
from tests.lift.proofs.specification import SPECIFIED, NotSpecified, State, step
from tests.lift.vectors import recipes
from tests.lift.vectors.differential import assemble, known
from tests.lift.vectors.form import Form
from tests.lift.vectors.forms import FAMILIES, family

CONFIRMED = Path(__file__).with_name("confirmed.json")
"""Kernels that were done, and the mnemonics in them."""

PARAMETERS_AT = {80: 0x160, 90: 0x210, 120: 0x380}
"""Architectures for which kernels are made, and where parameters start in ``c[0x0]``. The machine
code of sm_90 is what ran on the H200; of the others it is made from the same PTX, whose results
PTX says are the same."""

_INPUT, _OUTPUT = 0x7F10_0000_0000, 0x7F20_0000_0000
_MASK = 0xFFFFFFFF
_IGNORED = frozenset({"NOP", "EXIT", "BRA"})
_WIDTHS = {"64": 8, "128": 16, "U8": 1, "U16": 2}


@dataclass
class Comparison:
    """Of one kernel: why it was not done, or on which lanes the specification differs."""

    form: Form
    skipped: str = ""
    wrong: list[int] = field(default_factory=list)
    forms: set[str] = field(default_factory=set)
    """Forms of its instructions."""


def compare(forms: Sequence[Form], architecture: int, lanes: int) -> list[Comparison]:
    """Do the kernels of ``forms``, as ptxas makes them, on the first ``lanes`` lanes."""
    chosen = [form for form in forms if form.minimum <= architecture and known(form)]
    if not chosen:
        return []
    (listing,) = find_nvidia().disassemble([assemble(chosen, architecture)])
    functions = {function.name: function for function in sass.parse(listing).functions}
    return [_compare(form, functions[form.name], architecture, lanes) for form in chosen]


def _compare(form: Form, function: sass.SassFunction, architecture: int, lanes: int) -> Comparison:
    made = Comparison(form)
    if form.ulp or form.floats:
        made.skipped = "floating point"
        return made
    if form.grid != recipes.GRID:
        made.skipped = "another grid"
        return made
    run = _Run(form, architecture, lanes)
    try:
        for each in function.instructions:
            instruction = decode(each)
            if instruction.opcode == "EXIT" and instruction.guard is None:
                break
            run.do(instruction)
            made.forms.add(form_of(instruction))
    except NotSpecified as error:
        made.skipped = str(error)
        return made
    made.wrong = run.differences(lanes)
    return made


class _Run:
    """The registers and memory of the first lanes of a grid."""

    def __init__(self, form: Form, architecture: int, lanes: int) -> None:
        self.form = form
        self.count = lanes
        self.values: dict[str, Lanes] = {}
        self.given = recipes.inputs(form.operands)
        self.output = bytearray([recipes.FILL]) * (recipes.LANES * recipes.OUTPUT_BYTES)
        base = PARAMETERS_AT[architecture]
        self.bank = {base + 8 * n: value for n, value in enumerate(
            (_INPUT, _OUTPUT, *recipes.PARAMETERS))}  # fmt: skip

    def do(self, i: DecodedInstruction) -> None:
        """One instruction on all lanes. Raises :class:`NotSpecified`."""
        if i.opcode in _IGNORED and i.guard is None:
            return
        if i.opcode in ("S2R", "S2UR", "LDG", "STG"):
            if i.guard is not None:
                raise NotSpecified(f"{i.text} with a guard")
            self._special(i)
            return
        state = State()
        step(state, i)
        values = _Values(self)
        self.values |= {
            name: evaluate(term, values, self.count) for name, term in state.values.items()
        }

    def _special(self, i: DecodedInstruction) -> None:
        if i.opcode in ("S2R", "S2UR"):
            self._write(i.operands[0], self._position(i.operands[1]))
        else:
            self._access(i)

    def _position(self, operand: Operand) -> list[int]:
        names = {"SR_TID.X": lambda lane: lane % recipes.BLOCK,
                 "SR_CTAID.X": lambda lane: lane // recipes.BLOCK}  # fmt: skip
        if not isinstance(operand, Name) or operand.text not in names:
            raise NotSpecified(f"S2R {operand}")
        return [names[operand.text](lane) for lane in range(self.count)]

    def constant(self, offset: int) -> int:
        """A word of bank 0: a half of a parameter, or what no result depends on."""
        whole = self.bank.get(offset & ~7)
        if whole is None:
            return 0
        return whole >> 32 if offset & 4 else whole & _MASK

    def _write(self, target: Operand, lanes: list[int], distance: int = 0) -> None:
        if not isinstance(target, Register):
            raise NotSpecified(f"{target} as a target")
        if target.index is not None:
            self.values[f"{target.file}{target.index + distance}"] = lanes

    def _read(self, register: Register, distance: int = 0) -> Lanes:
        if register.index is None:
            return [0] * self.count
        name = f"{register.file}{register.index + distance}"
        return _Values(self)[name]

    def _access(self, i: DecodedInstruction) -> None:
        if set(i.modifiers) - {"E", "CONSTANT", *_WIDTHS}:
            raise NotSpecified(i.mnemonic)
        (address,) = (operand for operand in i.operands if isinstance(operand, Address))
        size = next((_WIDTHS[m] for m in i.modifiers if m in _WIDTHS), 4)
        places = self._places(address)
        if i.opcode == "LDG":
            self._load(i.operands[0], places, size)
        else:
            self._store(i.operands[-1], places, size)

    def _places(self, address: Address) -> list[int]:
        places = [address.offset] * self.count
        for term in address.terms:
            low = self._read(term)
            is_wide = term.suffixes == ("64",) or (term.file == "R" and not term.suffixes)
            if not is_wide and term.suffixes != ("U32",):
                raise NotSpecified(f"address {term}")
            high = self._read(term, 1) if is_wide else [0] * self.count
            places = [p + a + (b << 32) for p, a, b in zip(places, low, high, strict=True)]
        return [place & (1 << 64) - 1 for place in places]

    def _load(self, target: Operand, places: list[int], size: int) -> None:
        if any(not 0 <= place - _INPUT <= len(self.given) - size for place in places):
            raise NotSpecified("a load from elsewhere")
        data = [self.given[place - _INPUT :][:size] for place in places]
        for distance in range(-(-size // 4)):
            words = [int.from_bytes(each[4 * distance :][:4], "little") for each in data]
            self._write(target, words, distance)

    def _store(self, source: Operand, places: list[int], size: int) -> None:
        if not isinstance(source, Register):
            raise NotSpecified(f"a store of {source}")
        if any(not 0 <= place - _OUTPUT <= len(self.output) - size for place in places):
            raise NotSpecified("a store to elsewhere")
        for distance in range(-(-size // 4)):
            part = min(size - 4 * distance, 4)
            mask = (1 << 8 * part) - 1
            for place, word in zip(places, self._read(source, distance), strict=True):
                start = place - _OUTPUT + 4 * distance
                self.output[start : start + part] = (word & mask).to_bytes(part, "little")

    def differences(self, lanes: int) -> list[int]:
        """Lanes, or first lanes of checked groups, whose results are not those of the GPU."""
        stored = known(self.form)
        assert stored is not None
        slots = recipes.slots(bytes(self.output), self.form.result_words)
        size = 4 * self.form.result_words
        wanted = bytes.fromhex(stored["lanes"])
        wrong = [
            lane
            for lane in range(min(lanes, len(wanted) // size))
            if slots[lane] != wanted[size * lane :][:size]
        ]
        if lanes == recipes.LANES:
            kept = self.form.kept
            sums = recipes.checksums(slots, kept, "")
            groups = zip(sums, stored["checksums"], strict=True)
            wrong += [kept + n * recipes.CHECKED for n, (a, b) in enumerate(groups) if a != b]
        return wrong


class _Values(dict[str, Lanes]):
    """Variables of the specification's terms: registers, and words of the constant bank.

    ptxas names registers that were never written where their bits do not matter: they get some.
    """

    def __init__(self, run: _Run) -> None:
        super().__init__(run.values)
        self._run = run

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Lanes:
        if name.startswith("c[0x0]["):
            word = self._run.constant(int(name.removeprefix("c[0x0][").rstrip("]"), 16))
            return [word] * self._run.count
        if "P" in name:
            raise NotSpecified(f"{name} was not written")
        return [recipes.mix(lane) & _MASK for lane in range(self._run.count)]


def main() -> None:
    """Command line: do all kernels, and record how many there are and what is in them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lanes", type=int, default=recipes.LANES)
    parser.add_argument("--family", nargs="*", default=list(FAMILIES))
    parser.add_argument("--output", type=Path, default=CONFIRMED)
    given = parser.parse_args()
    kernels: dict[str, dict[str, int]] = {}
    mnemonics: set[str] = set()
    for architecture, name in product(PARAMETERS_AT, given.family):
        found = compare(list(family(name).values()), architecture, given.lanes)
        done = [each for each in found if not each.skipped]
        for each in done:
            mnemonics.update(form.partition(" ")[0] for form in each.forms)
            if each.wrong:
                print(f"sm_{architecture} {each.form.name}: differs on lanes {each.wrong[:8]}")
        print(f"sm_{architecture} {name}: {len(done)} of {len(found)}", flush=True)
        kernels.setdefault(f"sm_{architecture}", {})[name] = len(done)
    made = {
        "lanes": given.lanes,
        "kernels": kernels,
        "mnemonics": sorted(mnemonics & SPECIFIED.keys()),
    }
    given.output.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
