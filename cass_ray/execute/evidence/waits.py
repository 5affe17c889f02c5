"""Missing waits in RDNA3 assembly: registers used before the memory operation that fills them ends.

The CPU engine executes in order and never notices a missing ``s_waitcnt``; a GPU does. This checks
the rules of the "RDNA3 Instruction Set Architecture" manual, 4.4 (data dependency resolution), by a
data-flow analysis over basic blocks: how many operations of the same counter were issued after each
one that is still out. ``s_waitcnt cnt(n)`` ends those with at least ``n`` younger ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_OLDEST = 64
"""Ages are counted up to here: vmcnt has 6 bits."""

_LABEL = re.compile(r"^([\w.$]+):")
_INSTRUCTION = re.compile(r"^\s+(?P<mnemonic>[a-z]\w+)\s*(?P<operands>[^;]*)")
_REGISTER = re.compile(r"\b(?P<bank>[vs])(?:(?P<one>\d+)\b|\[(?P<first>\d+):(?P<last>\d+)\])")
_COUNT = re.compile(r"(vmcnt|lgkmcnt)\((0x[0-9a-f]+|\d+)\)")
_BRANCH = re.compile(r"s_(?:branch|cbranch_\w+)")
_ENDS = frozenset({"s_endpgm", "s_setpc_b64", "s_branch", "s_trap"})

_VECTOR_MEMORY = ("global_", "scratch_", "buffer_", "image_", "tbuffer_", "flat_")
_NO_RESULT = ("_store", "buffer_gl", "_inv")


@dataclass(frozen=True)
class Hazard:
    """``line`` (from 1) uses ``register`` too early; without a register it is about a barrier."""

    function: str
    line: int
    text: str
    register: str

    def format(self) -> str:
        what = f"{self.register} may not have arrived" if self.register else "operations are out"
        return f"{self.function}, line {self.line}: {self.text}: {what} (a wait is missing)"


@dataclass
class _State:
    """Registers that are still to be filled, by counter, with the number of younger operations.

    ``scalar`` are results of scalar loads, which end out of order: only ``lgkmcnt(0)`` is enough.
    ``shared_out`` and ``stores_out`` say that LDS operations and stores may be out.
    ``entered`` is the state in which a function is called: anything may be out.
    """

    vector: dict[str, int] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    scalar: frozenset[str] = frozenset()
    shared_out: bool = False
    stores_out: bool = False
    entered: bool = False

    def copy(self) -> _State:
        return _State(
            dict(self.vector),
            dict(self.shared),
            self.scalar,
            self.shared_out,
            self.stores_out,
            self.entered,
        )

    def merge(self, other: _State) -> bool:
        """Take in what is out on another path; whether anything changed."""
        before = self.copy()
        for mine, theirs in ((self.vector, other.vector), (self.shared, other.shared)):
            for register, age in theirs.items():
                mine[register] = min(age, mine.get(register, _OLDEST))
        self.scalar |= other.scalar
        self.shared_out |= other.shared_out
        self.stores_out |= other.stores_out
        self.entered |= other.entered
        return self != before

    def is_out(self, register: str) -> bool:
        return register in self.vector or register in self.shared or register in self.scalar


@dataclass(frozen=True)
class _Instruction:
    line: int
    text: str
    mnemonic: str
    operands: str


@dataclass
class _Block:
    instructions: list[_Instruction] = field(default_factory=list)
    following: list[str] = field(default_factory=list)


def missing_waits(assembly: str) -> list[Hazard]:
    """Every use of a register, and every barrier, that comes before the wait that it needs."""
    found: list[Hazard] = []
    kernels = set(re.findall(r"^\s*\.amdhsa_kernel\s+(\S+)", assembly, re.MULTILINE))
    for name, blocks in _functions(assembly):
        found += _analyse(name, blocks, called=name not in kernels)
    return found


def _functions(assembly: str) -> Iterator[tuple[str, dict[str, _Block]]]:
    """Name and blocks (label -> block, in order) of each function in the text sections."""
    names = set(re.findall(r"^\s*\.type\s+([^\s,]+),\s*@function", assembly, re.MULTILINE))
    function, blocks, current = "", dict[str, _Block](), ""
    for number, line in enumerate(assembly.splitlines(), 1):
        if match := _LABEL.match(line):
            label = match[1]
            if label in names:
                if function:
                    yield function, blocks
                function, blocks = label, {}
            if function:
                _continue(blocks, current, label)
                current = label
                blocks[label] = _Block()
        elif function and line.startswith((".Lfunc_end", "\t.section", "\t.end_amdhsa")):
            continue
        elif function and (match := _INSTRUCTION.match(line)):
            instruction = _Instruction(
                number, line.partition(";")[0].strip(), match["mnemonic"], match["operands"].strip()
            )
            blocks[current].instructions.append(instruction)
            if _BRANCH.fullmatch(instruction.mnemonic):
                blocks[current].following.append(instruction.operands)
                # A conditional branch may be followed by more without a label between.
                if instruction.mnemonic != "s_branch":
                    current = _split(blocks, current, number)
    if function:
        yield function, blocks


def _split(blocks: dict[str, _Block], current: str, number: int) -> str:
    label = f"after line {number}"
    blocks[label] = _Block()
    blocks[current].following.append(label)
    return label


def _continue(blocks: dict[str, _Block], current: str, label: str) -> None:
    """The block before ``label`` runs into it unless it ends otherwise."""
    if current not in blocks:
        return
    last = blocks[current].instructions[-1:]
    if not last or last[0].mnemonic not in _ENDS:
        blocks[current].following.append(label)


def _analyse(name: str, blocks: dict[str, _Block], *, called: bool) -> Iterator[Hazard]:
    first = next(iter(blocks))
    states = {first: _State(entered=called)}
    pending = [first]
    while pending:
        label = pending.pop()
        state = states[label].copy()
        for instruction in blocks[label].instructions:
            _step(state, instruction)
        for following in blocks[label].following:
            if following not in blocks:
                continue
            known = states.get(following)
            if known is None:
                states[following] = state.copy()
                pending.append(following)
            elif known.merge(state):
                pending.append(following)
    for label, block in blocks.items():
        state = states.get(label, _State()).copy()
        for instruction in block.instructions:
            yield from _hazards(name, state, instruction)
            _step(state, instruction)


def _hazards(name: str, state: _State, instruction: _Instruction) -> Iterator[Hazard]:
    mnemonic = instruction.mnemonic
    if mnemonic.startswith(("s_waitcnt", "s_delay_alu", "s_clause", "s_nop")):
        return
    place = (name, instruction.line, instruction.text)
    if mnemonic == "s_barrier" and (state.shared_out or state.stores_out):
        yield Hazard(*place, "")
        return
    registers = list(_registers(instruction.operands))
    if state.entered and registers:
        yield Hazard(*place, registers[0])
        return
    filled = set(_filled(instruction))
    for register in registers:
        # Two results of one counter arrive in order.
        in_order = register in filled and (
            register in _queue(state, instruction) and register not in state.scalar
        )
        if state.is_out(register) and not in_order:
            yield Hazard(*place, register)
            return


def _queue(state: _State, instruction: _Instruction) -> dict[str, int]:
    return state.shared if instruction.mnemonic.startswith("ds_") else state.vector


def _step(state: _State, instruction: _Instruction) -> None:
    """What is out after ``instruction``."""
    mnemonic = instruction.mnemonic
    if mnemonic == "s_waitcnt":
        _wait(state, instruction.operands)
    elif mnemonic == "s_waitcnt_vscnt":
        state.stores_out = False
    elif mnemonic in {"s_swappc_b64", "s_setpc_b64"}:
        # A function waits for everything when it is entered and before it returns.
        state.vector, state.shared, state.scalar = {}, {}, frozenset()
    elif mnemonic.startswith(("s_load_", "s_buffer_load_")):
        state.scalar |= frozenset(_filled(instruction))
    elif mnemonic.startswith("ds_"):
        _issue(state.shared, _filled(instruction))
        state.shared_out = True
    elif mnemonic.startswith(_VECTOR_MEMORY) and not mnemonic.startswith("buffer_gl"):
        if "_store" in mnemonic or ("_atomic" in mnemonic and not _returns(instruction)):
            state.stores_out = True
            if mnemonic.startswith("flat_"):  # it may be one of LDS, and counts as such
                _issue(state.shared, [])
            return
        _issue(state.vector, _filled(instruction))
        if mnemonic.startswith("flat_"):
            _issue(state.shared, _filled(instruction))


def _wait(state: _State, operands: str) -> None:
    for counter, text in _COUNT.findall(operands):
        number = int(text, 0)
        if counter == "vmcnt":
            state.vector = {name: age for name, age in state.vector.items() if age < number}
        elif number == 0:
            state.shared, state.scalar, state.shared_out = {}, frozenset(), False
            state.entered = False
        elif not state.scalar:
            state.shared = {name: age for name, age in state.shared.items() if age < number}


def _issue(queue: dict[str, int], filled: list[str]) -> None:
    for register in queue:
        queue[register] = min(queue[register] + 1, _OLDEST)
    for register in filled:
        queue[register] = 0


def _filled(instruction: _Instruction) -> list[str]:
    """Registers that the memory operation ``instruction`` fills later."""
    mnemonic = instruction.mnemonic
    is_memory = mnemonic.startswith((*_VECTOR_MEMORY, "ds_", "s_load_", "s_buffer_load_"))
    if not is_memory or any(part in mnemonic for part in _NO_RESULT):
        return []
    if "_atomic" in mnemonic and not _returns(instruction):
        return []
    if mnemonic.startswith("ds_") and not _shared_result(mnemonic):
        return []
    return list(_registers(instruction.operands.partition(",")[0]))


def _shared_result(mnemonic: str) -> bool:
    """Whether an LDS operation returns something."""
    return "_rtn" in mnemonic or mnemonic.startswith(
        ("ds_load", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_consume", "ds_append")
    )


def _returns(instruction: _Instruction) -> bool:
    """An atomic with ``glc`` returns the value before."""
    return " glc" in f" {instruction.operands}"


def _registers(operands: str) -> Iterator[str]:
    for match in _REGISTER.finditer(operands):
        if match["one"] is not None:
            yield match["bank"] + match["one"]
        else:
            for number in range(int(match["first"]), int(match["last"]) + 1):
                yield f"{match['bank']}{number}"
