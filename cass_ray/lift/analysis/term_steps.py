"""Single instructions as terms: those that ptxas writes divisions and square roots with.

Anything else is :class:`Unread`. Nothing here computes: two pieces of code have the same terms only
if they do the same, whatever the operators mean.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from cass_ray.lift.analysis.terms import Terms
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Operand, Predicate, Register

_DOUBLES = frozenset({"DADD", "DMUL", "DFMA"})
_SINGLES = frozenset({"FADD", "FMUL", "FFMA", "MUFU"})
_SUMS = frozenset({"IADD3", "IADD3.X", "VIADD", "IMAD.IADD", "IMAD.X"})
_MINIMA = frozenset({"IMNMX", "VIMNMX", "VIMNMX.S32"})
_INTEGERS = _MINIMA | {
    *("MOV", "UMOV", "IMAD.MOV", "IMAD.MOV.U32", "IMAD.U32", "IMAD", "LEA", "VIADDMNMX"),
    *("SHF.R.U32.HI", "SHF.L.U32", "IMAD.SHL", "IMAD.SHL.U32"),
}
"""Instructions that make one word of words."""
_FROM_BANKS = frozenset({"LDC", "LDC.64", "ULDC", "ULDC.64", "LDCU", "LDCU.64"})
_NOTHING = frozenset({"BSSY", "BSYNC", "NOP"})
_BOOLEANS = frozenset({"AND", "OR"})
_NEGATIVE_ZERO = Register("R", None, negated=True)
# Each comparison by one of its like: its name, whether operands are swapped, whether it is not so.
_OF_NUMBERS = {
    "LT": ("LT", False, False),
    "GT": ("LT", True, False),
    "LE": ("LE", False, False),
    "GE": ("LE", True, False),
    "EQ": ("EQ", False, False),
    "NE": ("NE", False, False),
    "GEU": ("LT", False, True),
    "LEU": ("LT", True, True),
    "GTU": ("LE", False, True),
    "LTU": ("LE", True, True),
    "NEU": ("EQ", False, True),
    "NUM": ("NUM", False, False),
    "NAN": ("NUM", False, True),
}
_OF_WORDS = {
    "LT": ("LT", False, False),
    "GT": ("LT", True, False),
    "GE": ("LT", False, True),
    "LE": ("LT", True, True),
    "EQ": ("EQ", False, False),
    "NE": ("EQ", False, True),
}


class Unread(Exception):
    """An instruction, or an operand, that is not among the known ones."""


class State:
    """What registers and predicates hold, by name."""

    def __init__(self, before: Callable[[str], int], changed: dict[str, int] | None = None) -> None:
        """``before``: what those hold that have not been ``changed``."""
        self.before = before
        self.changed = {} if changed is None else changed

    def __getitem__(self, name: str) -> int:
        term = self.changed.get(name)
        return self.before(name) if term is None else term

    def copy(self) -> State:
        return State(self.before, dict(self.changed))


class TermSteps:
    """Reads instructions into a :class:`State`."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.true = terms.leaf("true")
        self.false = terms.make("not", self.true)

    def step(
        self, state: State, i: DecodedInstruction, decide: Callable[[int], bool] | None = None
    ) -> None:
        """Do ``i``, without its guard. Raises :class:`Unread`.

        ``decide``: whether a condition holds, where one path is followed on which it is known.
        """
        if i.opcode in _NOTHING:
            return
        try:
            results = list(self._results(state, i, decide))
        except (UnknownForm, ValueError, OverflowError):  # operands of other kinds, or more of them
            raise Unread from None
        state.changed.update(results)

    def condition(self, state: State, operand: Predicate) -> int:
        """The condition that a predicate operand is."""
        held = self.true if operand.index is None else state[operand.name]
        return self._terms.make("not", held) if operand.inverted else held

    # Instructions

    def _results(
        self, state: State, i: DecodedInstruction, decide: Callable[[int], bool] | None
    ) -> Iterator[tuple[str, int]]:
        """Names and what they then hold."""
        opcode = i.opcode
        if opcode == "BMOV":
            if isinstance(i.operands[0], Register):
                yield from self._word(i.operands[0], self._terms.leaf("barrier"))
        elif opcode in _DOUBLES:
            sources = [self._double(state, each) for each in i.operands[1:]]
            yield from self._wide(i.operands[0], self._terms.make(i.mnemonic, *sources))
        elif opcode in _SINGLES:
            sources = [self._operand(state, each, float) for each in i.operands[1:]]
            yield from self._word(i.operands[0], self._terms.make(i.mnemonic, *sources))
        elif opcode in ("FSETP", "DSETP", "ISETP"):
            yield from self._comparison(state, i)
        elif opcode == "PLOP3":
            yield from self._predicates(state, i, decide)
        elif opcode in ("SEL", "FSEL"):
            yield from self._selection(state, i, decide)
        elif opcode == "FCHK":
            sources = [self._operand(state, each, float) for each in i.operands[1:]]
            yield from self._predicate(i.operands[0], self._terms.make("FCHK", *sources))
        elif i.mnemonic == "MOV.64":
            low, high = self._wide_word(state, i.operands[1])
            yield from self._words(i.operands[0], low, high)
        elif i.mnemonic in _FROM_BANKS:
            yield from self._from_bank(state, i)
        elif i.mnemonic in ("HFMA2.MMA", "HFMA2"):
            yield from self._word(i.operands[0], self._halves_as_word(i))
        elif i.opcode == "LOP3":
            yield from self._bitwise(state, i)
        elif i.mnemonic in _SUMS:
            yield from self._addition(state, i)
        elif i.mnemonic == "IADD.64":
            yield from self._wide_addition(state, i)
        elif i.mnemonic in _INTEGERS:
            target, *inputs = i.operands
            yield from self._word(target, self._integer(state, i.mnemonic, inputs))
        else:
            raise Unread

    def _from_bank(self, state: State, i: DecodedInstruction) -> Iterator[tuple[str, int]]:
        """One or two words of a bank of constants, which nothing changes while a kernel runs."""
        target, source = i.operands
        if not isinstance(target, Register) or not isinstance(source, Constant):
            raise Unread
        _expect(_is_plain(source))
        for word in range(2 if i.has("64") else 1):
            yield from self._word(target.following(word), self._plain(state, source, word))

    def _integer(self, state: State, mnemonic: str, inputs: list[Operand]) -> int:
        """What an instruction makes of words alone."""
        make = self._terms.make
        if mnemonic in ("VIADDMNMX", *_MINIMA):
            *summed, limit = self._read(state, inputs[:-1])
            order = self._predicate_of(state, inputs[-1])
            return make("mnmx", make("sum", *summed), limit, order)
        if mnemonic in ("IMAD.MOV", "IMAD.MOV.U32", "IMAD.U32"):
            self._expect_zeros(inputs[:2])
            inputs = inputs[2:]
        if mnemonic in ("SHF.R.U32.HI", "SHF.L.U32", "IMAD.SHL", "IMAD.SHL.U32"):
            return self._shift(state, mnemonic, inputs)
        words = self._read(state, inputs)
        if mnemonic == "LEA":
            _expect(len(words) == 3)
            word, added, shift = words
            _expect(self._terms.number(shift) in range(32))
            return make("sum", self._shifted(word, shift), added)
        if mnemonic == "IMAD":
            _expect(len(words) == 3)
            return self._product(words)
        _expect(len(words) == 1)  # what is left are copies
        return make("sum", *words)

    def _shift(self, state: State, mnemonic: str, inputs: list[Operand]) -> int:
        make = self._terms.make
        _expect(len(inputs) == 3)
        if mnemonic == "SHF.R.U32.HI":
            self._expect_zeros(inputs[:1])
            shift, word = self._read(state, inputs[1:])
            return make("shr", word, shift)
        self._expect_zeros(inputs[2:])
        word, shift = self._read(state, inputs[:2])
        if mnemonic == "SHF.L.U32":
            return make("shl", word, shift)
        factor = _number(inputs[1])
        _expect(factor > 0 and factor.bit_count() == 1)
        return make("shl", word, self._terms.const(factor.bit_length() - 1))

    def _product(self, words: list[int]) -> int:
        """A product and a sum; ptxas shifts by products with powers of two, negative ones, too."""
        make = self._terms.make
        word, factor, added = words
        number = self._terms.number(factor)
        for sign in (1, -1):
            power = 0 if number is None else sign * number % (1 << 32)
            if power.bit_count() == 1:
                shifted = self._shifted(word, self._terms.const(power.bit_length() - 1))
                return make("sum", shifted if sign > 0 else make("neg", shifted), added)
        return make("IMAD", *words)

    def _shifted(self, word: int, shift: int) -> int:
        """``word`` to the left; the shift of its negative is the negative of its shift."""
        make = self._terms.make
        if self._terms.operator(word) == "neg":
            return make("neg", make("shl", *self._terms.operands(word), shift))
        return make("shl", word, shift)

    def _bitwise(self, state: State, i: DecodedInstruction) -> Iterator[tuple[str, int]]:
        """Any function of three words, and perhaps whether it is not zero."""
        leading, target, inputs, others = _parts(i)
        _expect(i.mnemonic == "LOP3.LUT" and len(inputs) == 4)
        _expect([self.condition(state, each) for each in others] in ([], [self.false]))
        *words, table = inputs
        term = self._terms.make(f"truth {_number(table)}", *self._read(state, words))
        zero = self._terms.make("EQ word", term, self._terms.const(0))
        yield from self._carried(leading, self._terms.make("not", zero))
        yield from self._word(target, term)

    def _addition(self, state: State, i: DecodedInstruction) -> Iterator[tuple[str, int]]:
        """A sum of words, with carries."""
        make = self._terms.make
        leading, target, inputs, carries = _parts(i)
        if i.mnemonic == "IMAD.IADD":
            _expect(len(inputs) == 3 and _number(inputs[1]) == 1)
            inputs = inputs[::2]
        elif i.mnemonic == "IMAD.X":
            self._expect_zeros(inputs[:2])
            inputs = inputs[2:]
        taken = [self.condition(state, each) for each in carries]
        _expect(bool(taken) == i.has("X"))
        words = self._read(state, inputs)
        words += [make("carried", each) for each in taken if each != self.false]
        yield from self._carried(leading, make("carry", *words))
        yield from self._word(target, make("sum", *words))

    def _wide_addition(self, state: State, i: DecodedInstruction) -> Iterator[tuple[str, int]]:
        make = self._terms.make
        target, *inputs = i.operands
        low, high = zip(*(self._wide_word(state, each) for each in inputs), strict=True)
        carry = make("carried", make("carry", *low))
        yield from self._words(target, make("sum", *low), make("sum", *high, carry))

    def _comparison(self, state: State, i: DecodedInstruction) -> Iterator[tuple[str, int]]:
        make = self._terms.make
        name, *others = i.modifiers
        table = _OF_WORDS if i.opcode == "ISETP" else _OF_NUMBERS
        if name not in table or len(i.operands) != 5 or not _BOOLEANS & {*others[-1:]}:
            raise Unread
        kind = {"ISETP": "word", "FSETP": "single", "DSETP": "double"}[i.opcode]
        kind = ".".join((kind, *others[:-1]))
        if kind not in ("word", "word.U32", "single", "single.FTZ", "double"):
            raise Unread
        if i.opcode == "DSETP":
            left, right = (self._double(state, each) for each in i.operands[2:4])
        else:
            number = int if i.opcode == "ISETP" else float
            left, right = (self._operand(state, each, number) for each in i.operands[2:4])
        comparison, swapped, inverted = table[name]
        if comparison == "EQ" and kind == "word.U32":
            kind = "word"
        compared = make(f"{comparison} {kind}", *((right, left) if swapped else (left, right)))
        if inverted:
            compared = make("not", compared)
        other = self._predicate_of(state, i.operands[4])
        join = self.both if others[-1] == "AND" else self.either
        yield from self._predicate(i.operands[0], join(compared, other))
        yield from self._predicate(i.operands[1], join(make("not", compared), other))

    def _predicates(
        self, state: State, i: DecodedInstruction, decide: Callable[[int], bool] | None
    ) -> Iterator[tuple[str, int]]:
        """Functions of three conditions, which are known where one path is followed."""
        if decide is None:
            raise Unread
        bits = [decide(self._predicate_of(state, each)) for each in i.operands[2:5]]
        index = bits[0] << 2 | bits[1] << 1 | bits[2]
        for target, table in zip(i.operands[:2], i.operands[5:7], strict=True):
            holds = _number(table) >> index & 1
            yield from self._predicate(target, self.true if holds else self.false)

    def _selection(
        self, state: State, i: DecodedInstruction, decide: Callable[[int], bool] | None
    ) -> Iterator[tuple[str, int]]:
        _expect(not i.modifiers and len(i.operands) == 4)
        target, one, other, condition = i.operands
        # What registers hold has no sign: that of FSEL is a bit, and that of a sum is a difference.
        _expect(_is_plain(one) and _is_plain(other))
        held = self._predicate_of(state, condition)
        number = int if i.opcode == "SEL" else float
        if decide is not None:
            term = self._operand(state, one if decide(held) else other, number)
        else:
            sources = (self._operand(state, each, number) for each in (one, other))
            term = self._terms.make("select", held, *sources)
        yield from self._word(target, term)

    def _halves_as_word(self, i: DecodedInstruction) -> int:
        """A constant, written as the sum of zero and two halves."""
        _, zero, other, *halves = i.operands
        _expect(zero == _NEGATIVE_ZERO)
        self._expect_zeros([other])
        numbers = [float(each.text) for each in halves if isinstance(each, Immediate)]
        _expect(len(numbers) == len(halves) == 2)
        high, low = (int.from_bytes(struct.pack("<e", each), "little") for each in numbers)
        return self._terms.const(high << 16 | low)

    # Conditions

    def both(self, left: int, right: int) -> int:
        """Conjunction."""
        if self.false in (left, right):
            return self.false
        if self.true in (left, right):
            return right if left == self.true else left
        return self._terms.make("both", left, right)

    def either(self, left: int, right: int) -> int:
        """Disjunction."""
        make = self._terms.make
        return make("not", self.both(make("not", left), make("not", right)))

    def _predicate_of(self, state: State, operand: Operand) -> int:
        if not isinstance(operand, Predicate):
            raise Unread
        return self.condition(state, operand)

    # Operands

    def _read(self, state: State, operands: Sequence[Operand]) -> list[int]:
        return [self._operand(state, each, int) for each in operands]

    def _operand(self, state: State, operand: Operand, number: type) -> int:
        """A word, with its signs."""
        if isinstance(operand, Immediate):
            return self._literal(operand, number)
        return self._signed(operand, lambda: self._plain(state, operand, 0))

    def _double(self, state: State, operand: Operand) -> int:
        """Two words, with the signs of the number that they are."""
        if isinstance(operand, Immediate):
            return self._literal(operand, float)
        make = self._terms.make
        return self._signed(operand, lambda: make("pair", *self._halves(state, operand)))

    def _literal(self, operand: Immediate, number: type) -> int:
        if number is int or operand.is_bits:
            bits = _number(operand)
            _expect(-(1 << 31) <= bits < 1 << 32)
            return self._terms.const(bits)
        try:
            return self._terms.leaf(f"number {float(operand.text)!r}")
        except ValueError:
            return self._terms.leaf(f"number {operand.text}")

    def _signed(self, operand: Operand, plain: Callable[[], int]) -> int:
        if not isinstance(operand, Register | Constant) or operand.suffixes:
            raise Unread
        term = plain()
        for applies, operator in (
            (operand.absolute, "abs"),
            (operand.inverted, "inverse"),
            (operand.negated, "neg"),
        ):
            if applies:
                term = self._terms.make(operator, term)
        return term

    def _plain(self, state: State, operand: Operand, word: int) -> int:
        """A word of an operand, without signs."""
        if isinstance(operand, Register):
            if operand.is_zero:
                return self._terms.const(0)
            return state[operand.following(word).name if word else operand.name]
        if isinstance(operand, Constant) and operand.index is None:
            return self._terms.leaf(f"bank {operand.bank} {operand.offset + 4 * word}")
        raise Unread

    def _halves(self, state: State, operand: Operand) -> tuple[int, int]:
        if isinstance(operand, Immediate):
            number = _number(operand)
            return self._terms.const(number), self._terms.const(number >> 32)
        return self._plain(state, operand, 0), self._plain(state, operand, 1)

    def _wide_word(self, state: State, operand: Operand) -> tuple[int, int]:
        """Both words of an integer, without signs."""
        _expect(_is_plain(operand))
        return self._halves(state, operand)

    def _expect_zeros(self, operands: Sequence[Operand]) -> None:
        _expect(all(isinstance(each, Register) and each.is_zero for each in operands))
        _expect(all(_is_plain(each) for each in operands))

    # Results

    def _word(self, target: Operand, term: int) -> Iterator[tuple[str, int]]:
        if not isinstance(target, Register):
            raise Unread
        if not target.is_zero:
            yield target.name, term

    def _wide(self, target: Operand, term: int) -> Iterator[tuple[str, int]]:
        make = self._terms.make
        yield from self._words(target, make("lo", term), make("hi", term))

    def _words(self, target: Operand, low: int, high: int) -> Iterator[tuple[str, int]]:
        if not isinstance(target, Register):
            raise Unread
        yield from self._word(target, low)
        yield from self._word(target.following(1), high)

    def _predicate(self, target: Operand, term: int) -> Iterator[tuple[str, int]]:
        if not isinstance(target, Predicate) or target.inverted:
            raise Unread
        if target.index is not None:
            yield target.name, term

    def _carried(self, leading: list[Predicate], term: int) -> Iterator[tuple[str, int]]:
        """Predicates in front of the target: the first is ``term``, and there is no other."""
        for number, target in enumerate(leading):
            _expect(number == 0 or target.index is None)
            yield from self._predicate(target, term)


def _parts(
    i: DecodedInstruction,
) -> tuple[list[Predicate], Operand, list[Operand], list[Predicate]]:
    """Predicates that are results, the target, what is read, and predicates that are read."""
    leading: list[Predicate] = []
    target: Operand | None = None
    inputs: list[Operand] = []
    trailing: list[Predicate] = []
    for operand in i.operands:
        if isinstance(operand, Predicate):
            (trailing if inputs else leading).append(operand)
        elif target is None:
            target = operand
        else:
            inputs.append(operand)
    if target is None:
        raise Unread
    return leading, target, inputs, trailing


def _is_plain(operand: Operand) -> bool:
    """Whether it is a literal, or a register or constant without signs."""
    if not isinstance(operand, Register | Constant):
        return isinstance(operand, Immediate)
    signs = operand.negated, operand.inverted, operand.absolute, operand.suffixes
    return not any(signs)


def _number(operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise Unread
    return operand.integer


def _expect(holds: bool) -> None:
    if not holds:
        raise Unread
