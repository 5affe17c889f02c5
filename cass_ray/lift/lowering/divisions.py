"""ptxas' division of words, written as LLVM's: LLVM knows more of a division than of its steps.

ptxas estimates ``2^32 / d`` from the reciprocal of ``d`` in single precision, multiplies, and
corrects up to two times::

    x = MUFU.RCP(I2F.RP(d))          e = F2I.U32.TRUNC(x with 0xffffffe added to its bits)
    m = e + (e * (-d * e) >> 32)     IMAD, IMAD.HI.U32
    q = m * a >> 32                  IMAD.HI.U32
    r = a - q * d                    IMAD
    twice: where r >= d: q += 1 and r -= d

For each ``d`` from 1 to 2^32 - 1, and for each ``x`` within one unit in the last place of the
reciprocal, which is what both vendors promise, ``2^32 - 2 * d <= m * d <= 2^32``
(``tests/lift/proofs/reciprocals.c`` tries them all). So ``q`` is never above the quotient and at
most two below it: ``a / d - m * a / 2^32 = a * (2^32 - m * d) / (2^32 * d) < 2``. Both corrections
together give ``a / d`` and ``a % d``. For ``d = 0`` they give 2 and ``a``, in whose place ptxas
then puts something else.

Only the value of the last correction is written in another way; LLVM drops steps that nobody reads.

In a loop ptxas may take the magnitude of ``a`` of its estimate in front of the loop. Whether it is
that of the last correction is for LLVM to prove: ``llvm.is.constant`` of a comparison is true where
the comparison has become a constant, and what depends on it is gone otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.llvm.builder import FALSE, IRBuilder, Value, i32, i64
from cass_ray.lift.lowering.patterns import Patterns

_LESS_THAN_2_TO_32 = i32(0xFFFFFFE)
"""Added to a float's bits: 2^32 times as much, less two units in the last place."""
_RECIPROCAL = "llvm.amdgcn.rcp.f32"
_TRUNCATION = "v_cvt_u32_f32 $0, $1"
_MAGNITUDE = "llvm.abs.i32"
_QUOTIENT_BY_ZERO = i32(2)


@dataclass(frozen=True)
class _Division:
    """A quotient (``udiv``) or a remainder (``urem``)."""

    opcode: str
    dividend: Value
    divisor: Value
    result: Value
    """Quotient of a divisor that is not zero."""


class Divisions(Patterns):
    """Finds the last step of a division; by ``warpSize``, too, of which ptxas learns late."""

    def __init__(self, ir: IRBuilder, wave_lanes: int) -> None:
        super().__init__(ir)
        self._mask = f"i{wave_lanes}"
        """The type of a mask of a wave's lanes."""
        self._rounded_up: dict[str, Value] = {}
        self._found: dict[str, _Division] = {}
        """Divisions by their results."""

    def note_rounded_up(self, number: Value, word: Value, *, unsigned: bool) -> None:
        """``number`` is ``word``, taken as unsigned or signed, rounded up to single precision."""
        if unsigned or self._operands(word, _MAGNITUDE):
            self._rounded_up[number.name] = word

    def last_step(
        self, condition: Value, changed: Value, before: Value, *, is_small: bool = False
    ) -> Value | None:
        """What ``condition ? changed : before`` is where that ends a division; else None.

        ``is_small``: the quotient is a number of rounds, mostly few, and worth branches.
        """
        if not self._operands(changed, "add") or not self._operands(before, "select"):
            return None
        remainder, divisor = self._at_least(condition)
        if remainder is None or divisor is None:
            return None
        if before == remainder:
            quotient = None
            corrected = self._is_difference(changed, before, divisor)
        else:
            quotient = self._uncorrected_quotient(before, remainder, divisor)
            corrected = quotient is not None and self._is_next(changed, before)
        operands = self._dividend(remainder, divisor, quotient) if corrected else None
        if operands is None:
            return None
        dividend, estimated = operands
        opcode, by_zero = ("urem", dividend) if quotient is None else ("udiv", _QUOTIENT_BY_ZERO)
        if is_small and opcode == "udiv" and estimated == dividend:
            return self._rounds(dividend, divisor, by_zero)
        exact = self._exact(dividend, divisor, opcode, by_zero)
        if estimated == dividend:
            return exact
        steps = self._ir.select(condition, changed, before)
        same = self._ir.icmp("eq", dividend, estimated)
        return self._ir.select(self._proven(same), exact, steps)

    def _proven(self, condition: Value) -> Value:
        """Whether LLVM proves that ``condition`` always holds; no code is made of the question."""
        return self._ir.both(condition, self._ir.call("i1", "llvm.is.constant.i1", condition))

    def by_zero(
        self, condition: Value, changed: Value, before: Value, *, is_small: bool = False
    ) -> Value | None:
        """``condition ? changed : before`` of a division by zero and its quotient; else None."""
        division = self._found.get(before.name)
        plain, inverted = self._uninverted(condition)
        compared = self._ir.definition(plain)
        if division is None or compared is None:
            return None
        if compared.opcode != ("ne" if inverted else "eq"):
            return None
        if compared.operands not in ((division.divisor, i32(0)), (i32(0), division.divisor)):
            return None
        if is_small and division.opcode == "udiv":
            return self._rounds(division.dividend, division.divisor, changed)
        return self._ir.select(self._is_zero(division.divisor), changed, division.result)

    def _exact(self, dividend: Value, divisor: Value, opcode: str, by_zero: Value) -> Value:
        """The quotient or the remainder, and ``by_zero`` where that has none."""
        result = self._divided(dividend, divisor, opcode)
        exact = self._ir.select(self._is_zero(divisor), by_zero, result)
        self._found[exact.name] = _Division(opcode, dividend, divisor, result)
        return exact

    def _divided(self, dividend: Value, divisor: Value, opcode: str) -> Value:
        """LLVM's, which is undefined for a divisor of zero; here that gives anything."""
        safe = self._ir.select(self._is_zero(divisor), i32(1), divisor)
        hidden = self._ir.once(("dividend", dividend.name), lambda: self._hidden(dividend))
        other = self._ir.op(opcode, hidden, safe)
        return self._by_power_of_two(dividend, divisor, opcode, other)

    def _is_zero(self, divisor: Value) -> Value:
        key = ("is zero", divisor.name)
        return self._ir.once(key, lambda: self._ir.icmp("eq", divisor, i32(0)))

    def _rounds(self, dividend: Value, divisor: Value, by_zero: Value) -> Value:
        """The quotient where it is likely to be small: mostly zero, one round for each thread."""
        ir = self._ir
        number = ir.fresh()
        ir.continue_in(f"once{number}")
        is_more = ir.icmp("uge", dividend, divisor)
        # Both ways take it, so that it is made in front of the branch, and not in a block of its
        # own that would have to jump.
        zero = ir.asm("i32", "", "=v,0", i32(0))
        self._branch_if_any(is_more, f"more{number}", f"divided{number}")
        ir.label(f"more{number}")
        some = ir.op("add", self._below_2_to_19(dividend, divisor), zero)
        is_large = ir.icmp("uge", ir.op("lshr", dividend, i32(19)), divisor)
        self._branch_if_any(is_large, f"large{number}", f"divided{number}")
        ir.label(f"large{number}")
        quotient = self._divided(dividend, divisor, "udiv")
        large = ir.select(self._is_zero(divisor), by_zero, quotient)
        ir.continue_in(f"divided{number}")
        ways = ((zero, "once"), (some, "more"), (large, "large"))
        ends = ", ".join(f"[ {value.name}, %{label}{number} ]" for value, label in ways)
        return ir.result("i32", f"phi i32 {ends}")

    def _below_2_to_19(self, dividend: Value, divisor: Value) -> Value:
        """The quotient if it is below 2^19, in half as many steps as LLVM's; else anything.

        Both numbers and their product are rounded to nearest, which is 2^-24 of each at most, and
        the reciprocal is within one unit of its last place, 2^-23. It is made 6 units less, each
        2^-24 to 2^-23 of it, so that the estimate is never above ``a / d``, and less by
        17 / 2^24 of that at most. Below 2^19 this is less than one.
        """
        ir = self._ir
        reciprocal = ir.call("float", _RECIPROCAL, ir.cast("uitofp", divisor, "float"))
        less = ir.op("add", ir.cast("bitcast", reciprocal, "i32"), i32(-6))
        number = ir.cast("uitofp", dividend, "float")
        product = ir.op("fmul", number, ir.cast("bitcast", less, "float"))
        estimate = ir.cast("fptoui", product, "i32")
        rest = ir.op("sub", dividend, ir.op("mul", estimate, divisor))
        return ir.op("add", estimate, ir.cast("zext", ir.icmp("uge", rest, divisor), "i32"))

    def _branch_if_any(self, condition: Value, to: str, otherwise: str) -> None:
        """Branch by whether ``condition`` holds for a lane of the wave."""
        lanes = self._ir.call(self._mask, f"llvm.amdgcn.ballot.{self._mask}", condition)
        is_any = self._ir.icmp("ne", lanes, Value(self._mask, "0"))
        self._ir.line(f"br {is_any}, label %{to}, label %{otherwise}")

    def _by_power_of_two(self, dividend: Value, divisor: Value, opcode: str, other: Value) -> Value:
        """What takes a shift or a mask, where LLVM proves that it does; ``other`` elsewhere.

        LLVM does not see through magnitudes: that of a power of two is the power itself.
        """
        power = next(iter(self._operands(divisor, _MAGNITUDE)), divisor)
        bits = self._ir.call("i32", "llvm.ctpop.i32", power)
        is_power = self._proven(self._ir.icmp("ult", bits, i32(2)))
        if opcode == "urem":
            short = self._ir.op("and", dividend, self._ir.op("sub", power, i32(1)))
        else:
            shift = self._ir.call("i32", "llvm.cttz.i32", power, FALSE)
            short = self._ir.op("lshr", dividend, self._ir.op("and", shift, i32(31)))
        return self._ir.select(is_power, short, other)

    def _hidden(self, dividend: Value) -> Value:
        """The dividend, of which LLVM knows nothing.

        LLVM 19 takes an unsigned one of many equal leading bits for one of few bits, though these
        are ones: ``(i - 3) / (j & 7)`` is wrong (LLVM pull requests 116733 and 118928).
        """
        return self._ir.asm("i32", "", "=v,0", dividend)

    # The steps, from the last to the first

    def _uncorrected_quotient(
        self, quotient: Value, remainder: Value, divisor: Value
    ) -> Value | None:
        """The estimate from which ``quotient`` came by the correction of ``remainder``."""
        condition, changed, estimate = self._operands(quotient, "select")
        corrected = self._operands(remainder, "select")
        if not corrected or not self._is_next(changed, estimate):
            return None
        other = corrected[0]
        return estimate if self._at_least(condition) == self._at_least(other) else None

    def _dividend(
        self, remainder: Value, divisor: Value, quotient: Value | None
    ) -> tuple[Value, Value] | None:
        """Dividend and divisor whose once corrected remainder ``remainder`` is, by the estimate
        ``quotient``.

        And of what the quotient was estimated: the same, as far as this block shows it.
        """
        selected = self._operands(remainder, "select")
        if not selected:
            return None
        condition, changed, first = selected
        compared = self._at_least(condition)
        if compared[0] != first or not self._same(compared[1], divisor):
            return None
        if not self._is_difference(changed, first, divisor):
            return None
        for product, dividend in self._either_way(first, "add"):
            for estimate in self._negative_multiples(product, divisor):
                estimated = self._estimated(estimate, divisor)
                if quotient in (None, estimate) and estimated is not None:
                    return dividend, estimated
        return None

    def _estimated(self, quotient: Value, divisor: Value) -> Value | None:
        """The word that ``quotient`` is, times the estimate of 2^32 / ``divisor``."""
        for other, factor in self._either_way(self._high(quotient), "mul"):
            if self._is_reciprocal(self._widened(other), divisor):
                return self._widened(factor)
        return None

    def _is_reciprocal(self, value: Value | None, divisor: Value) -> bool:
        """Whether ``value`` is the first estimate of 2^32 / ``divisor``, improved once."""
        for product, addend in self._either_way(self._high(value), "add"):
            whole, bits = self._operands(addend, "shl") or (None, None)
            first = self._widened(whole)
            if first is None or bits != i64(32) or not self._is_first_estimate(first, divisor):
                continue
            for one, other in self._either_way(product, "mul"):
                error = self._widened(other)
                if self._widened(one) == first and error is not None:
                    return first in self._negative_multiples(error, divisor)
        return False

    def _is_first_estimate(self, value: Value, divisor: Value) -> bool:
        """Whether ``value`` is 2^32 times the reciprocal in single precision, or a bit less."""
        (scaled,) = self._operands(value, _TRUNCATION) or (None,)
        (bits,) = self._operands(scaled, "bitcast") or (None,)
        word, added = self._operands(bits, "add") or (None, None)
        (reciprocal,) = self._operands(word, "bitcast") or (None,)
        (number,) = self._operands(reciprocal, _RECIPROCAL) or (None,)
        if number is None or added != _LESS_THAN_2_TO_32:
            return False
        return self._same(self._rounded_up.get(number.name), divisor)

    # What values are

    def _same(self, one: Value | None, other: Value | None) -> bool:
        """Whether two values are one, or magnitudes of one."""
        if one is None or other is None:
            return False
        magnitude = self._operands(one, _MAGNITUDE)
        return one == other or (bool(magnitude) and magnitude == self._operands(other, _MAGNITUDE))

    def _negative_multiples(self, product: Value, divisor: Value) -> list[Value]:
        """Each ``x`` for which ``product`` is written as ``-x * divisor`` or ``x * -divisor``.

        A power of two may be a shift.
        """
        factors = []
        shifted, bits = self._operands(product, "shl") or (None, None)
        if shifted is not None and bits is not None and bits.name.isdecimal():
            multiple = self._negated(shifted)
            if multiple is not None and divisor == i32(1 << int(bits.name)):
                factors.append(multiple)
        for one, other in self._either_way(product, "mul"):
            negated = self._negated(one)
            if negated is None:
                continue
            if self._same(negated, divisor):
                factors.append(other)
            if self._same(other, divisor):
                factors.append(negated)
        return factors

    def _is_next(self, value: Value, before: Value) -> bool:
        return (before, i32(1)) in self._either_way(value, "add")

    def _is_difference(self, value: Value, whole: Value, part: Value) -> bool:
        """Whether ``value`` is ``whole`` less ``part``."""
        return any(
            one == whole and self._same(self._negated(other), part)
            for one, other in self._either_way(value, "add")
        )

    def _at_least(self, condition: Value) -> tuple[Value | None, Value | None]:
        """The words of which the first is compared to be no less than the second, unsigned."""
        plain, inverted = self._uninverted(condition)
        compared = self._ir.definition(plain)
        if compared is None or len(compared.operands) != 2:
            return None, None
        left, right = compared.operands
        orders = {("uge", False): 1, ("ult", True): 1, ("ule", False): -1, ("ugt", True): -1}
        order = orders.get((compared.opcode, inverted))
        if order is None:
            return None, None
        return (left, right) if order > 0 else (right, left)
