"""Evaluates the pseudo-code of AMD's RDNA3 ISA manual on bit patterns, exactly.

Only used to write the vectors in ``data``: see :mod:`tests.emulator.engine.instructions.generate`.
Floating point is computed with rational numbers and rounded once to nearest even; nothing here is
shared with the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

_FORMATS = {16: (5, 10), 32: (8, 23), 64: (11, 52)}


class NotSupported(Exception):
    """The pseudo-code uses something that this evaluator does not know."""


@dataclass(frozen=True)
class Value:
    """``bits`` of ``width``, read as ``kind``: U, I, F or B (untyped)."""

    kind: str
    width: int
    bits: int

    @property
    def integer(self) -> int:
        """The number, signed for kind I."""
        if self.kind == "I" and self.bits >> (self.width - 1):
            return self.bits - (1 << self.width)
        return self.bits


def make(kind: str, width: int, number: int) -> Value:
    """``number`` modulo 2**width."""
    return Value(kind, width, number & ((1 << width) - 1))


# ---- floating point


def _fields(value: Value) -> tuple[int, int, int]:
    exponent, mantissa = _FORMATS[value.width]
    bits = value.bits
    return (
        bits >> (exponent + mantissa),
        bits >> mantissa & ((1 << exponent) - 1),
        bits & ((1 << mantissa) - 1),
    )


def sign(value: Value) -> int:
    """The sign bit."""
    return _fields(value)[0]


def is_nan(value: Value) -> bool:
    """Any NaN."""
    _, exponent, mantissa = _fields(value)
    return exponent == (1 << _FORMATS[value.width][0]) - 1 and mantissa != 0


def is_infinite(value: Value) -> bool:
    """Either infinity."""
    _, exponent, mantissa = _fields(value)
    return exponent == (1 << _FORMATS[value.width][0]) - 1 and mantissa == 0


def is_denormal(value: Value) -> bool:
    """Neither zero nor normal, but finite."""
    _, exponent, mantissa = _fields(value)
    return exponent == 0 and mantissa != 0


def is_quiet(value: Value) -> bool:
    """A NaN whose highest mantissa bit is set."""
    return is_nan(value) and bool(_fields(value)[2] >> (_FORMATS[value.width][1] - 1))


def fraction(value: Value) -> Fraction:
    """The exact number; the value is finite."""
    negative, exponent, mantissa = _fields(value)
    bits = _FORMATS[value.width]
    bias = (1 << (bits[0] - 1)) - 1
    if exponent:
        mantissa |= 1 << bits[1]
    number = Fraction(mantissa) * Fraction(2) ** (max(exponent, 1) - bias - bits[1])
    return -number if negative else number


def rounded(width: int, number: Fraction, *, negative_zero: bool = False) -> Value:
    """``number`` to nearest even."""
    exponent_bits, mantissa_bits = _FORMATS[width]
    bias = (1 << (exponent_bits - 1)) - 1
    negative = number < 0 or (number == 0 and negative_zero)
    top = int(negative) << (width - 1)
    number = abs(number)
    if number == 0:
        return Value("F", width, top)
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if Fraction(2) ** exponent > number:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    steps = round(number / Fraction(2) ** (exponent - mantissa_bits))
    # A carry into the exponent, or out of the denormals, falls out of the addition.
    bits = ((exponent + bias - 1) << mantissa_bits) + steps
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    return Value("F", width, top | min(bits, infinity))


def infinity(width: int, negative: bool = False) -> Value:
    """An infinity."""
    exponent, mantissa = _FORMATS[width]
    return Value("F", width, ((1 << exponent) - 1) << mantissa | int(negative) << (width - 1))


def nan(width: int) -> Value:
    """A quiet NaN."""
    return replace(infinity(width), bits=infinity(width).bits | 1 << (_FORMATS[width][1] - 1))


def to_float(value: Value, width: int) -> Value:
    """Convert between formats, or from an integer."""
    if value.kind != "F":
        return rounded(width, Fraction(value.integer))
    if value.width == width:
        return value
    if is_nan(value):
        shift = _FORMATS[width][1] - _FORMATS[value.width][1]
        payload = _fields(value)[2]
        payload = payload << shift if shift > 0 else payload >> -shift
        # Kept signaling as the tests of the manual's text look for it behind a conversion.
        quiet_bit = 0 if payload else 1 << (_FORMATS[width][1] - 1)
        return Value("F", width, infinity(width, bool(sign(value))).bits | payload | quiet_bit)
    if is_infinite(value):
        return infinity(width, bool(sign(value)))
    return rounded(width, fraction(value), negative_zero=bool(sign(value)))


def multiply_add(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once."""
    width = a.width
    if is_nan(a) or is_nan(b) or is_nan(c):
        return nan(width)
    product_sign = sign(a) ^ sign(b)
    zero = fraction_or_zero(a) == 0 and not is_infinite(a)
    zero_b = fraction_or_zero(b) == 0 and not is_infinite(b)
    if is_infinite(a) or is_infinite(b):
        if zero or zero_b or (is_infinite(c) and sign(c) != product_sign):
            return nan(width)
        return infinity(width, bool(product_sign))
    if is_infinite(c):
        return c
    product = fraction(a) * fraction(b)
    both_negative = bool(product_sign and sign(c))
    return rounded(width, product + fraction(c), negative_zero=both_negative)


def fraction_or_zero(value: Value) -> Fraction:
    """0 for what is not finite."""
    return Fraction(0) if is_nan(value) or is_infinite(value) else fraction(value)


def _one(width: int) -> Value:
    return rounded(width, Fraction(1))


def multiply(a: Value, b: Value) -> Value:
    """a * b."""
    zero = Value("F", a.width, (sign(a) ^ sign(b)) << (a.width - 1))
    return multiply_add(a, b, zero)


def add(a: Value, b: Value) -> Value:
    """a + b."""
    return multiply_add(a, _one(a.width), b)


def negate(value: Value) -> Value:
    """The sign bit flipped."""
    return replace(value, bits=value.bits ^ 1 << (value.width - 1))


def absolute(value: Value) -> Value:
    """The sign bit cleared."""
    return replace(value, bits=value.bits & ((1 << (value.width - 1)) - 1))


def divide(a: Value, b: Value) -> Value:
    """a / b."""
    negative = bool(sign(a) ^ sign(b))
    if is_nan(a) or is_nan(b) or (is_infinite(a) and is_infinite(b)):
        return nan(a.width)
    if is_infinite(a):
        return infinity(a.width, negative)
    if is_infinite(b):
        return rounded(a.width, Fraction(0), negative_zero=negative)
    if fraction(b) == 0:
        return nan(a.width) if fraction(a) == 0 else infinity(a.width, negative)
    return rounded(a.width, fraction(a) / fraction(b), negative_zero=negative)


def less(a: Value, b: Value) -> bool:
    """a < b; false for NaN."""
    if is_nan(a) or is_nan(b):
        return False
    return _ordered(a) < _ordered(b)


def equal(a: Value, b: Value) -> bool:
    """a == b; false for NaN."""
    return not is_nan(a) and not is_nan(b) and _ordered(a) == _ordered(b)


def _ordered(value: Value) -> Fraction:
    if is_infinite(value):
        return Fraction(-1 if sign(value) else 1) * Fraction(2) ** 2000
    return fraction(value)


def truncated(value: Value) -> Value:
    """Toward zero."""
    return _integral(value, int)


def floored(value: Value) -> Value:
    """Toward minus infinity."""
    return _integral(value, lambda number: number.__floor__())


def _integral(value: Value, rounding: Callable[[Fraction], int]) -> Value:
    if is_nan(value):
        return nan(value.width)
    if is_infinite(value):
        return value
    number = Fraction(rounding(fraction(value)))
    return rounded(value.width, number, negative_zero=bool(sign(value)))


def to_integer(value: Value, kind: str, width: int) -> Value:
    """Toward zero, saturating, NaN to 0."""
    low, high = (
        (0, (1 << width) - 1) if kind == "U" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    )
    if is_nan(value):
        return Value(kind, width, 0)
    if is_infinite(value):
        return make(kind, width, low if sign(value) else high)
    return make(kind, width, max(low, min(high, int(fraction(value)))))


def fraction_part(value: Value) -> Value:
    """mantissa() of the manual: in 0.5 to 1, with the sign; zero stays."""
    if fraction_or_zero(value) == 0:
        return value
    number = fraction(value)
    while abs(number) >= 1:
        number /= 2
    while abs(number) < Fraction(1, 2):
        number *= 2
    return rounded(value.width, number)


def exponent_field(value: Value) -> int:
    """exponent() of the manual: biased; of denormals as if the format went on below."""
    number = abs(fraction_or_zero(value))
    bias = (1 << (_FORMATS[value.width][0] - 1)) - 1
    stored = _fields(value)[1]
    if stored or number == 0:
        return stored
    power = 0
    while number < 1:
        number *= 2
        power -= 1
    return power + bias


# ---- the language

_TOKEN = re.compile(
    r"\s*(?:(?P<cast>\d+'[UIFB])|(?P<number>\d+'-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)[UI]?|0x[0-9a-fA-F]+(?:ULL|LL|U)?"
    r"|\d+\.\d+F?|\d+(?:ULL|LL|U)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator>\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+=|-=|[-+*/<>=!~&|^?:;,.()\[\]{}]))"
)
_LITERAL = re.compile(
    r"(?:(?P<width>\d+)')?(?P<body>-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?))(?P<suffix>\w*)"
)
_LEVELS = [
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="),
    ("<<", ">>"), ("+", "-"), ("*", "/"), ("**",),
]  # fmt: skip


def tokens(text: str) -> list[str]:
    """The tokens of pseudo-code, comments dropped."""
    text = re.sub(r"//.*", "", text)
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotSupported(text[at : at + 30])
        found.append(match[0].strip())
        at = match.end()
    return found


@dataclass
class Function:
    """A lambda of the pseudo-code."""

    parameters: list[str]
    body: list[str]


class Machine:
    """One lane: runs pseudo-code on ``state``, which holds S0, S1, S2, D0, VCC, ..."""

    def __init__(self, library: Mapping[str, str], state: dict[str, Value | Function]) -> None:
        self.library = library
        self.state = state
        self.tokens: list[str] = []
        self.at = 0

    def run(self, text: str) -> None:
        """Run all statements."""
        self.tokens, self.at = tokens(text), 0
        self._block(True, ())

    # ---- statements

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, expected: str | None = None) -> str:
        token = self._peek()
        if expected is not None and token != expected:
            raise NotSupported(f"{expected} expected, not {token!r}")
        self.at += 1
        return token

    def _block(self, active: bool, ends: tuple[str, ...]) -> None:
        while self._peek() and self._peek() not in ends:
            if self._peek() == ";":
                self._take()
            else:
                self._statement(active)

    def _statement(self, active: bool) -> None:
        word = self._peek()
        if word == "if":
            self._if(active)
        elif word == "for":
            self._for(active)
        elif word == "declare":
            while self._peek() not in (";", ""):
                self._take()
        elif word == "break":
            self._take()
            if active:
                self.state["break"] = Value("U", 1, 1)
        elif self.tokens[self.at + 1 : self.at + 3] == ["=", "lambda"]:
            self._lambda()
        else:
            self._assignment(active)

    def _if(self, active: bool) -> None:
        self._take("if")
        done = False
        while True:
            condition = self._expression().bits != 0
            self._take("then")
            chosen = active and condition and not done
            self._block(chosen, ("elsif", "else", "endif"))
            done = done or condition
            word = self._take()
            if word == "elsif":
                continue
            if word == "else":
                self._block(active and not done, ("endif",))
                self._take("endif")
            return

    def _for(self, active: bool) -> None:
        self._take("for")
        name = self._take()
        self._take("in")
        first, _, last = self._expression(), self._take(":"), self._expression()
        self._take("do")
        body, running = self.at, active
        for number in range(first.integer, last.integer + 1):
            self.at = body
            self.state[name] = Value("I", 32, number)
            self._block(running, ("endfor",))
            running = running and self.state.pop("break", None) is None
        self._take("endfor")

    def _lambda(self) -> None:
        name = self._take()
        del name
        self.at -= 1
        target = self._take()
        self._take("=")
        self._take("lambda")
        self._take("(")
        parameters = []
        while (token := self._take()) != ")":
            if token != ",":
                parameters.append(token)
        self._take("(")
        depth, start = 1, self.at
        while depth:
            token = self._take()
            depth += (token == "(") - (token == ")")
        body = self.tokens[start : self.at - 1]
        if any(word in body for word in ("return", "declare")):
            raise NotSupported("statements in a lambda")
        self.state[target] = Function(parameters, body)

    def _assignment(self, active: bool) -> None:
        name = self._take()
        kind, width, low, high, masked = "", 0, 0, -1, False
        while self._peek() in (".", "["):
            if self._take() == ".":
                kind, width = _type(self._take())
                continue
            first = self._expression().integer
            if self._peek() == ":":
                self._take()
                second = self._expression().integer
                low, high = low + min(first, second), low + max(first, second)
            else:
                masked, low, high = True, low + first, low + first
            self._take("]")
        operator = self._take()
        if operator not in ("=", "+=", "-="):
            raise NotSupported(f"assignment with {operator!r}")
        value = self._expression()
        if not active:
            return
        old = self.state.get(name, Value("B", 64, 0))
        if isinstance(old, Function):
            raise NotSupported(name)
        if operator != "=":
            current = _member(old, kind, width) if kind else old
            value = _binary(operator[0], current, value)
        if high >= 0:
            if kind and not masked and value.kind != kind and kind == "F":
                value = to_float(value, width)
            span = high - low + 1
            mask = ((1 << span) - 1) << low
            bits = old.bits & ~mask | (value.bits & ((1 << span) - 1)) << low
            self.state[name] = Value("B", max(old.width, high + 1), bits)
        elif kind == "F":
            self.state[name] = to_float(value, width)
        elif kind:
            self.state[name] = make(kind, width, value.integer)
        else:
            self.state[name] = value

    # ---- expressions

    def _expression(self) -> Value:
        condition = self._level(0)
        if self._peek() != "?":
            return condition
        self._take("?")
        yes = self._expression()
        self._take(":")
        no = self._expression()
        return yes if condition.bits else no

    def _level(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self._unary()
        value = self._level(level + 1)
        while self._peek() in _LEVELS[level]:
            operator = self._take()
            value = _binary(operator, value, self._level(level + 1))
        return value

    def _unary(self) -> Value:
        token = self._peek()
        if token == "-":
            self._take()
            value = self._unary()
            return negate(value) if value.kind == "F" else make("I", value.width, -value.integer)
        if token == "+":
            self._take()
            return self._unary()
        if token == "~":
            self._take()
            value = self._unary()
            return make(value.kind, value.width, ~value.bits)
        if token == "!":
            self._take()
            return Value("U", 1, int(self._unary().bits == 0))
        return self._postfix(self._primary())

    def _postfix(self, value: Value) -> Value:
        while self._peek() in (".", "["):
            if self._take() == ".":
                value = _member(value, *_type(self._take()))
                continue
            first = self._expression().integer
            if self._peek() != ":":
                value = Value("U", 1, value.bits >> first & 1)
            else:
                self._take()
                second = self._expression().integer
                if first < second:
                    text = format(value.bits & ((1 << (second + 1)) - 1), f"0{second + 1}b")
                    value = Value("U", second + 1, int(text[::-1], 2) >> first)
                else:
                    value = make("U", first - second + 1, value.bits >> second)
            self._take("]")
        return value

    def _primary(self) -> Value:
        token = self._take()
        if token == "(":
            value = self._expression()
            self._take(")")
            return value
        if token == "{":
            high = self._expression()
            self._take(",")
            low = self._expression()
            self._take("}")
            return Value("U", high.width + low.width, high.bits << low.width | low.bits)
        if re.fullmatch(r"\d+'[UIFB]", token):
            return self._cast(token)
        if token[0].isdigit():
            return _literal(token)
        if self._peek() == "(":
            return self._call(token)
        return self._variable(token)

    def _cast(self, token: str) -> Value:
        width, kind = int(token[:-2]), token[-1]
        self._take("(")
        value = self._expression()
        self._take(")")
        if kind != "F":
            return make(kind, width, value.integer)
        # A hexadecimal number is the bits of the float.
        is_bits = value.kind != "F" and value.bits > 1 << (width - 2)
        return Value("F", width, value.bits) if is_bits else to_float(value, width)

    def _variable(self, name: str) -> Value:
        constants = {
            "INF": infinity(64),
            "laneId": Value("U", 32, 0),
            "MAX_FLOAT_F32": Value("F", 32, 0x7F7FFFFF),
            "OVERFLOW_F32": infinity(32),
            "OVERFLOW_F64": infinity(64),
            "UNDERFLOW_F32": Value("F", 32, 0),
            "UNDERFLOW_F64": Value("F", 64, 0),
        }
        if name == "WAVE_MODE":
            self._take(".")
            return Value("U", 1, int(self._take() == "IEEE"))
        value = self.state.get(name) or constants.get(name)
        if name == "INF" and self._peek() == ".":
            self._take(".")
            return infinity(_type(self._take())[1])
        if value is None or isinstance(value, Function):
            raise NotSupported(name)
        return value

    def _call(self, name: str) -> Value:
        self._take("(")
        arguments = []
        while self._peek() != ")":
            arguments.append(self._expression())
            if self._peek() == ",":
                self._take()
        self._take(")")
        function = self.state.get(name)
        if isinstance(function, Function):
            inner = Machine(self.library, dict(self.state))
            inner.state.update(zip(function.parameters, arguments, strict=True))
            inner.tokens = function.body
            return inner._expression()
        if name.startswith("v_") and name.upper() in self.library:
            state: dict[str, Value | Function] = {
                f"S{n}": value for n, value in enumerate(arguments)
            }
            inner = Machine(self.library, state)
            inner.run(self.library[name.upper()])
            result = inner.state["D0"]
            assert isinstance(result, Value)
            return result
        return _builtin(name, arguments)


def evaluate(library: Mapping[str, str], name: str, state: Mapping[str, Value]) -> dict[str, Value]:
    """Run instruction ``name``; the state after it."""
    machine = Machine(library, dict(state))
    machine.run(library[name])
    return {key: value for key, value in machine.state.items() if isinstance(value, Value)}


def _type(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"([uifb])(\d+)", name)
    if name == "bf16":
        return "B", 16
    if match is None:
        raise NotSupported(name)
    return match[1].upper(), int(match[2])


def _member(value: Value, kind: str, width: int) -> Value:
    return make(kind, width, value.bits)


def _literal(token: str) -> Value:
    match = _LITERAL.fullmatch(token)
    assert match is not None, token
    body, suffix = match["body"], match["suffix"]
    if "." in body:
        width = int(match["width"] or (32 if suffix == "F" else 64))
        return rounded(width, Fraction(body))
    width = int(match["width"] or (64 if "LL" in suffix else 32))
    number = int(body, 0)
    return make("U" if "U" in suffix or "0x" in body else "I", max(width, 1), number)


def _binary(operator: str, a: Value, b: Value) -> Value:
    if operator in ("&&", "||"):
        both = bool(a.bits) and bool(b.bits)
        return Value("U", 1, int(both if operator == "&&" else bool(a.bits) or bool(b.bits)))
    if operator == "**":
        return rounded(a.width, Fraction(2) ** max(-5000, min(5000, b.integer)))
    if "F" in (a.kind, b.kind):
        return _float_binary(operator, a, b)
    width = max(a.width, b.width, 32)
    kind = (
        "I"
        if "I" in (a.kind, b.kind) and (a.kind == b.kind or "U" not in (a.kind, b.kind))
        else "U"
    )
    x, y = a.integer, b.integer
    if operator in ("<<", ">>"):
        kind, width = a.kind, max(a.width, 32)
    integers: dict[str, Callable[[], int]] = {
        "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y,
        "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y,
        "<<": lambda: x << y, ">>": lambda: x >> y,
    }  # fmt: skip
    if operator in integers:
        return make(kind, width, integers[operator]())
    tests = {
        "==": x == y,
        "!=": x != y,
        "<>": x != y,
        "<": x < y,
        ">": x > y,
        "<=": x <= y,
        ">=": x >= y,
    }
    return Value("U", 1, int(tests[operator]))


def _float_binary(operator: str, a: Value, b: Value) -> Value:
    width = max(value.width for value in (a, b) if value.kind == "F")
    a, b = to_float(a, width), to_float(b, width)
    arithmetic: dict[str, Callable[[], Value]] = {
        "+": lambda: add(a, b), "-": lambda: add(a, negate(b)) if not is_nan(b) else nan(width),
        "*": lambda: multiply(a, b), "/": lambda: divide(a, b),
    }  # fmt: skip
    if operator in arithmetic:
        return arithmetic[operator]()
    tests = {
        "==": equal(a, b), "!=": not equal(a, b), "<": less(a, b), ">": less(b, a),
        "<=": less(a, b) or equal(a, b), ">=": less(b, a) or equal(a, b),
        "<>": less(a, b) or less(b, a),
    }  # fmt: skip
    return Value("U", 1, int(tests[operator]))


_CONVERSION = re.compile(r"([uif])(\d+)_to_([uif])(\d+)|bf16_to_f32")


def _builtin(name: str, arguments: list[Value]) -> Value:
    first = arguments[0]
    boolean: dict[str, Callable[[], bool]] = {
        "isNAN": lambda: is_nan(first),
        "isSignalNAN": lambda: is_nan(first) and not is_quiet(first),
        "isQuietNAN": lambda: is_quiet(first),
        "isEven": lambda: fraction_or_zero(first) % 2 == 0,
        "sign": lambda: bool(sign(first)),
    }
    if name in boolean:
        return Value("U", 1, int(boolean[name]()))
    floats: dict[str, Callable[[], Value]] = {
        "abs": lambda: absolute(first),
        "floor": lambda: floored(first),
        "trunc": lambda: truncated(first),
        "fract": lambda: add(first, negate(floored(first))),
        "mantissa": lambda: fraction_part(first),
        "fma": lambda: multiply_add(*arguments),
        "exponent": lambda: make("I", 32, exponent_field(first)),
        "cvtToQuietNAN": lambda: replace(
            first, bits=first.bits | 1 << (_FORMATS[first.width][1] - 1)
        ),
    }
    if name in floats:
        return floats[name]()
    if name == "signext":
        return first
    if name == "signext_from_bit":
        width = arguments[1].integer
        number = first.bits & ((1 << width) - 1)
        return make("I", 32, number - (1 << width) if width and number >> (width - 1) else number)
    match = _CONVERSION.fullmatch(name)
    if match is None:
        raise NotSupported(name)
    if match[1] is None:
        return Value("F", 32, first.bits << 16)
    source = make(match[1].upper(), int(match[2]), first.bits)
    if match[3] == "f":
        return to_float(source, int(match[4]))
    if source.kind == "F":
        return to_integer(source, match[3].upper(), int(match[4]))
    return make(match[3].upper(), int(match[4]), source.integer)
