"""What stands inside an ``asm`` statement: instructions, and the operands that they ask for."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recipes.small.asm_programs.forms import EFFECTS, GROUPS, SPECIAL, SPECIAL_64, Form

_ALTERNATIVES = re.compile(r"\(([^()]*)\)")
_REGISTER_TYPES = {
    "r": ("u32", "b32", "s32"),
    "l": ("u64", "b64"),
    "h": ("b16",),
    "f": ("f32",),
    "d": ("f64",),
    "p": ("pred",),
}
_TEMPORARIES = ("t", "tmp", "r", "x", "lo", "hi", "q", "mask", "val", "acc", "s", "u", "w", "a1")
_MASKS = ("0xffffffff", "-1", "0xffffffff", "4294967295")


@dataclass
class AsmBlock:
    """Instructions with ``{o0}`` and ``{i0}`` for operands, which a statement numbers."""

    instructions: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    """Kinds (:mod:`recipes.small.asm_programs.forms`); one that is read too has a ``+``."""
    inputs: list[str] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)
    """``.reg`` lines, which need a scope."""
    memory: bool = False
    """Whether the statement must clobber memory."""

    def take(self, kind: str) -> str:
        """A new input."""
        self.inputs.append(kind)
        return f"{{i{len(self.inputs) - 1}}}"

    def give(self, kind: str) -> str:
        """A new output."""
        self.outputs.append(kind)
        return f"{{o{len(self.outputs) - 1}}}"


def chosen(rng: random.Random, opcode: str) -> str:
    """``opcode`` with one of each choice."""
    while found := _ALTERNATIVES.search(opcode):
        one = rng.choice(found[1].split("|"))
        opcode = opcode[: found.start()] + one + opcode[found.end() :]
    return opcode


def _form(rng: random.Random, *groups: str) -> Form:
    return rng.choice(GROUPS[rng.choice(groups)])


def _constant(rng: random.Random, kind: str) -> str:
    made: dict[str, Callable[[], str]] = {
        "5": lambda: str(rng.randrange(1, 32)),
        "t": lambda: hex(rng.randrange(256)) if rng.random() < 0.8 else "0x96",
        "s": lambda: f"0x{rng.randrange(0x8888):04x}",
        "c": lambda: rng.choice(("0x1f", "31", "0x1f", "0x181f", "0x1c1f", "0x101f", "0")),
        "m": lambda: rng.choice(_MASKS),
        "r": lambda: rng.choice(("0", "1", "-1", "255", "0xff", "0x80000000", "7", "16")),
        "l": lambda: rng.choice(("0", "1", "255", "0xffffffff")),
        "f": lambda: rng.choice(("0f3F800000", "0f00000000", "0f40490FDB", "0fBF800000")),
        "d": lambda: rng.choice(("0d3FF0000000000000", "0d0000000000000000")),
    }
    return made[kind]()


def _address(rng: random.Random, block: AsmBlock, kind: str) -> str:
    offset = rng.choice(("", "", "", "+4", "+16", "+0"))
    return f"[{block.take(kind)}{offset}]"


def _operand(rng: random.Random, block: AsmBlock, kind: str, plain: bool) -> str:
    """An operand of ``kind``; ``plain``: no constant, where others may be one."""
    if kind == "L":
        return _address(rng, block, "L")
    if kind in "5tscm":
        return _constant(rng, kind)
    if not plain and kind in "rlfd" and rng.random() < 0.12:
        return _constant(rng, kind)
    if block.inputs and rng.random() < 0.06 and kind in block.inputs:
        return f"{{i{block.inputs.index(kind)}}}"
    return block.take(kind)


def of_form(rng: random.Random, form: Form) -> AsmBlock:
    """One instruction of ``form``, which neither gives nor takes a predicate."""
    block = AsmBlock(memory=form in EFFECTS)
    result = [] if form.result == "-" else [block.give(form.result)]
    plain = form in EFFECTS or "f16" in form.opcode
    given = [_operand(rng, block, kind, plain or not n) for n, kind in enumerate(form.operands)]
    opcode = chosen(rng, form.opcode)
    block.instructions = [f"{opcode} {', '.join([*result, *given])}".rstrip() + ";"]
    block.memory = block.memory or opcode.startswith("atom") or ".volatile" in opcode
    return block


def single(rng: random.Random) -> AsmBlock:
    """One instruction with a result."""
    groups = ("integers", "bits", "floats", "conversions", "packed", "memory", "warp", "packed")
    return of_form(rng, _form(rng, *groups))


def effect(rng: random.Random) -> AsmBlock:
    """One instruction without a result."""
    return of_form(rng, rng.choice(EFFECTS))


def special(rng: random.Random) -> AsmBlock:
    """A special register."""
    wide = rng.random() < 0.1
    name = rng.choice(SPECIAL_64 if wide else SPECIAL)
    block = AsmBlock()
    result = block.give("l" if wide else "r")
    block.instructions = [f"mov.u{64 if wide else 32} {result}, %%{name};"]
    return block


class _Registers:
    """Temporaries of a block."""

    def __init__(self, rng: random.Random, block: AsmBlock) -> None:
        self._rng, self._block = rng, block
        self._style = rng.choice(("{}", "{}", "{}", "{}", "%%{}", "{}_"))
        self._first = rng.choice(("", "0", ""))
        self._free = list(_TEMPORARIES)
        rng.shuffle(self._free)
        self.names: dict[str, list[str]] = {}

    def new(self, kind: str) -> str:
        """A name, declared."""
        if kind == "p":
            name = f"p{len(self.names.get('p', ())) or self._first}"
        else:
            number = sum(map(len, self.names.values()))
            name = self._free.pop() if len(self._free) > 2 else f"t{number}"
        name = self._style.format(name)
        self.names.setdefault(kind, []).append(name)
        return name

    def declare(self) -> None:
        """Write the declarations; names of one type on one line or on several."""
        # ptxas takes untyped registers for most instructions of integers, not for these.
        typed = re.search(r"\b(?:min|max)\.", " ".join(self._block.instructions))
        for kind, names in self.names.items():
            types = _REGISTER_TYPES[kind]
            type_ = self._rng.choice(types if not typed or kind not in "rl" else types[:1])
            if self._rng.random() < 0.7:
                self._block.declarations.append(f".reg .{type_} {', '.join(names)};")
            else:
                self._block.declarations += [f".reg .{type_} {name};" for name in names]


def chain(rng: random.Random) -> AsmBlock:
    """Several instructions, each of which may use what those before it gave."""
    block = AsmBlock()
    registers = _Registers(rng, block)
    count = rng.choice((2, 2, 3, 3, 4, 5, 6, 8))
    for number in range(count):
        last = number + 1 == count
        groups = ("integers", "bits", "floats", "conversions", "packed", "choices", "moves", "bits")
        form = _form(rng, *groups)
        # Halves want untyped registers, which others of the chain refuse.
        while "f16" in form.opcode or (last and form.result == "p"):
            form = _form(rng, *groups)
        given = [_known(rng, block, registers, kind) for kind in form.operands]
        guard = ""
        result = block.give(form.result) if last else registers.new(form.result)
        guarded = not last and form.result in "rl" and form.operands[:1] == form.result
        if guarded and registers.names.get("p") and rng.random() < 0.3:
            move = {"r": "mov.u32", "l": "mov.u64"}[form.result]
            block.instructions.append(f"{move} {result}, {given[0]};")
            guard = f"@{rng.choice(('', '', '!'))}{rng.choice(registers.names['p'])} "
        opcode = chosen(rng, form.opcode)
        block.instructions.append(f"{guard}{opcode} {', '.join([result, *given])};")
    registers.declare()
    return block


def _known(rng: random.Random, block: AsmBlock, registers: _Registers, kind: str) -> str:
    names = registers.names.get(kind, [])
    if kind == "p":
        if not names:
            name = registers.new("p")
            comparison = rng.choice(("ne", "eq", "gt", "lt"))
            block.instructions.append(f"setp.{comparison}.s32 {name}, {block.take('r')}, 0;")
            return name
        return rng.choice(names)
    if names and rng.random() < 0.65:
        return names[-1] if rng.random() < 0.7 else rng.choice(names)
    if len(block.inputs) > 4 and kind in block.inputs:
        places = [n for n, other in enumerate(block.inputs) if other == kind]
        return f"{{i{rng.choice(places)}}}"
    return _operand(rng, block, kind, not names)


def carries(rng: random.Random) -> AsmBlock:
    """A sum or a difference of numbers of several words."""
    kind, type_ = rng.choice((("r", "u32"), ("r", "u32"), ("l", "u64")))
    name, count = rng.choice(("add", "add", "sub")), rng.choice((2, 2, 3, 4, 4, 6, 8))
    in_place, carry_out = rng.random() < 0.35, rng.random() < 0.4
    block = AsmBlock()
    results = [block.give(kind + "+" * in_place) for _ in range(count)]
    top = block.give(kind) if carry_out else ""
    left = results if in_place else [block.take(kind) for _ in range(count)]
    right = [block.take(kind) for _ in range(count)]
    for number in range(count):
        first, last = number == 0, number + 1 == count
        opcode = name + ("" if first else "c") + (".cc" if not last or carry_out else "")
        block.instructions.append(
            f"{opcode}.{type_} {results[number]}, {left[number]}, {right[number]};"
        )
    if carry_out:
        block.instructions.append(f"{name}c.{type_} {top}, 0, 0;")
    return block


def product(rng: random.Random) -> AsmBlock:
    """A product of words added to a number of several, with carries."""
    kind, type_ = rng.choice((("r", "u32"), ("r", "u32"), ("l", "u64")))
    words = rng.choice((1, 1, 2, 3))
    block = AsmBlock()
    sums = [block.give(kind + "+") for _ in range(words + 1)]
    factors = [block.take(kind) for _ in range(words)]
    scalar = block.take(kind)
    low = [f"mad{'c' * (n > 0)}.lo.cc.{type_} {sums[n]}, {factors[n]}, {scalar}, {sums[n]};"
           for n in range(words)]  # fmt: skip
    low.append(f"addc.{type_} {sums[words]}, {sums[words]}, 0;")
    high = [
        f"mad{'c' * (n > 0)}.hi{'.cc' * (n + 1 < words)}.{type_} "
        f"{sums[n + 1]}, {factors[n]}, {scalar}, {sums[n + 1]};"
        for n in range(words)
    ]
    block.instructions = low + high
    if words == 1 and rng.random() < 0.6:
        block.instructions = [
            f"mad.lo.cc.{type_} {sums[0]}, {factors[0]}, {scalar}, {sums[0]};",
            f"madc.hi.{type_} {sums[1]}, {factors[0]}, {scalar}, {sums[1]};",
        ]
    return block


def pieces(rng: random.Random) -> AsmBlock:
    """Words packed into a wider one, or taken from it."""
    block = AsmBlock()
    wide, narrow, type_ = rng.choice((("l", "r", "b64"), ("l", "r", "b64"), ("r", "h", "b32")))
    if rng.random() < 0.15:
        wide, narrow, type_ = "d", "r", "b64"
    if rng.random() < 0.5:
        result = block.give(wide)
        block.instructions = [
            f"mov.{type_} {result}, {{{{{block.take(narrow)}, {block.take(narrow)}}}}};"
        ]
    else:
        low, high = block.give(narrow), block.give(narrow)
        block.instructions = [f"mov.{type_} {{{{{low}, {high}}}}}, {block.take(wide)};"]
    return block


def vote(rng: random.Random) -> AsmBlock:
    """What the lanes of a warp say together."""
    block = AsmBlock()
    registers = _Registers(rng, block)
    result, predicate = block.give("r"), registers.new("p")
    compared = rng.choice(("ne", "ne", "gt", "eq"))
    block.instructions.append(f"setp.{compared}.u32 {predicate}, {block.take('r')}, 0;")
    mask = block.take("r") if rng.random() < 0.4 else rng.choice(_MASKS)
    kind = rng.choice(("ballot", "ballot", "any", "all", "uni"))
    if kind == "ballot":
        block.instructions.append(f"vote.sync.ballot.b32 {result}, {predicate}, {mask};")
    else:
        other = registers.new("p")
        block.instructions.append(f"vote.sync.{kind}.pred {other}, {predicate}, {mask};")
        block.instructions.append(f"selp.{rng.choice(('u32', 'b32'))} {result}, 1, 0, {other};")
    registers.declare()
    return block


def shuffled(rng: random.Random) -> AsmBlock:
    """A shuffle that says whether its source was in range."""
    block = AsmBlock()
    registers = _Registers(rng, block)
    result, predicate = block.give("r"), registers.new("p")
    value, by = block.take("r"), rng.choice((block.take("r"), str(rng.choice((1, 2, 4, 16)))))
    if not by.startswith("{"):
        block.inputs.pop()
    clamp = _constant(rng, "c")
    mode = rng.choice(("up", "down", "bfly", "idx"))
    block.instructions.append(
        f"shfl.sync.{mode}.b32 {result}|{predicate}, {value}, {by}, {clamp}, 0xffffffff;"
    )
    add = rng.choice(("add.u32", "add.s32", "max.u32", "min.s32"))
    block.instructions.append(f"@{predicate} {add} {result}, {result}, {value};")
    registers.declare()
    return block


def vector(rng: random.Random) -> AsmBlock:
    """Two or four elements loaded or stored at once."""
    kind, type_ = rng.choice((("r", "u32"), ("f", "f32"), ("f", "f32"), ("l", "u64")))
    count = 2 if kind == "l" else rng.choice((2, 4))
    block = AsmBlock()
    hint = rng.choice(("", ".nc", ".cg", ".cs", ".ca", ".lu"))
    if rng.random() < 0.6:
        given = ", ".join(block.give(kind) for _ in range(count))
        address = _address(rng, block, "L")
        block.instructions = [f"ld.global{hint}.v{count}.{type_} {{{{{given}}}}}, {address};"]
    else:
        block.memory = True
        hint = rng.choice(("", ".cg", ".cs", ".wb", ".wt"))
        address = _address(rng, block, "L")
        given = ", ".join(block.take(kind) for _ in range(count))
        block.instructions = [f"st.global{hint}.v{count}.{type_} {address}, {{{{{given}}}}};"]
    return block


def shared(rng: random.Random) -> AsmBlock:
    """Shared memory by its address of 32 bits, which ``S`` stands for."""
    block = AsmBlock()
    shape = rng.randrange(5)
    if shape == 0:
        result = block.give("r")
        block.declarations = [".reg .u64 a;"]
        block.instructions = [
            f"cvta.to.shared.u64 a, {block.take('P')};",
            f"cvt.u32.u64 {result}, a;",
        ]
    elif shape == 1:
        block.memory = True
        size = rng.choice(("4", "8", "16"))
        kind = "cg" if size == "16" and rng.random() < 0.6 else "ca"
        prefetch = rng.choice(("", "", ".L2::128B"))
        block.instructions = [
            f"cp.async.{kind}.shared.global{prefetch} "
            f"[{block.take('S')}], [{block.take('L')}], {size};"
        ]
    elif shape == 2:
        block.memory = True
        count = rng.randrange(4)
        block.instructions = [
            rng.choice(
                ("cp.async.commit_group;", "cp.async.wait_all;", f"cp.async.wait_group {count};")
            )
        ]
    elif shape == 3:
        kind, type_ = rng.choice((("r", "u32"), ("f", "f32"), ("d", "f64")))
        result = block.give(kind)
        block.instructions = [f"ld.shared.{type_} {result}, [{block.take('S')}];"]
    else:
        block.memory = True
        kind, type_ = rng.choice((("r", "u32"), ("f", "f32"), ("l", "u64")))
        block.instructions = [f"st.shared.{type_} [{block.take('S')}], {block.take(kind)};"]
    return block


MAKERS: Sequence[tuple[Callable[[random.Random], AsmBlock], int]] = (
    (single, 10),
    (chain, 7),
    (carries, 4),
    (product, 3),
    (effect, 2),
    (special, 2),
    (pieces, 2),
    (vote, 2),
    (shuffled, 1),
    (vector, 2),
    (shared, 2),
)
"""Each with how often it is chosen."""


def random_block(rng: random.Random) -> AsmBlock:
    """A block of any kind."""
    makers, weights = zip(*MAKERS, strict=True)
    made: AsmBlock = rng.choices(makers, weights)[0](rng)
    return made
