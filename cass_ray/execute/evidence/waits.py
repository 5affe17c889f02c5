"""Missing waits in AMD assembly: registers used before the memory operation that fills them ends.

The CPU engine executes in order and never notices a missing ``s_waitcnt``; a GPU does. This checks
the rules of the "RDNA3 Instruction Set Architecture" manual, 4.4 (data dependency resolution), and
of those of CDNA3 (4.4) and RDNA4 (5.7), by a data-flow analysis over basic blocks: how many
operations of the same counter were issued after each one that is still out. A wait for ``n`` ends
those with at least ``n`` younger ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

_OLDEST = 64
"""Ages are counted up to here: vmcnt has 6 bits."""

_LABEL = re.compile(r"^([\w.$]+):")
_INSTRUCTION = re.compile(r"^\s+(?P<mnemonic>[a-z]\w+)\s*(?P<operands>[^;]*)")
_REGISTER = re.compile(r"\b(?P<bank>[vs])(?:(?P<one>\d+)\b|\[(?P<first>\d+):(?P<last>\d+)\])")
_COUNT = re.compile(r"(vmcnt|lgkmcnt)\((0x[0-9a-f]+|\d+)\)")
_SEPARATE = re.compile(r"s_wait_(?P<counters>(?:load|store|sample|ds|km)cnt(?:_dscnt)?)")
_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|\d+)\b")
_RETURNS = re.compile(r"\b(?:glc|sc0|th:TH_ATOMIC\w*RETURN)\b")
_TARGET = re.compile(r"\.amdgcn_target\s+\"[^\"]*--(gfx\d+)")
_SPLIT_THREADS = re.compile(r"\.amdhsa_tg_split\s+1\b")
_BRANCH = re.compile(r"s_(?:branch|cbranch_\w+)")
_ENDS = frozenset({"s_endpgm", "s_setpc_b64", "s_branch", "s_trap"})

_VECTOR_MEMORY = ("global_", "scratch_", "buffer_", "image_", "tbuffer_", "flat_")
_CACHE_ONLY = ("buffer_gl", "buffer_wb", "buffer_inv", "global_wb", "global_inv")
"""What writes caches back or forgets them; compilers wait for the stores themselves."""
_NO_RESULT = ("_store", *_CACHE_ONLY)
_SAMPLES = ("image_sample", "image_gather4", "image_get_lod")
_STORES, _SHARED = "stores", "LDS"
"""Stand in queues for operations without a register: stores, and those of LDS."""


@dataclass(frozen=True)
class WaitCounters:
    """Which counter each kind of operation is waited for by."""

    loads: str
    samples: str
    stores: str
    shared: str
    scalar: str
    barrier_waits_for_stores: bool = True
    """Not where a workgroup's waves share a cache that keeps their order: LLVM's "User Guide for
    AMDGPU Backend", memory model of gfx942, where threads are not split."""


_RDNA3 = WaitCounters("vmcnt", "vmcnt", "vscnt", "lgkmcnt", "lgkmcnt")
_SPLIT_CDNA = WaitCounters("vmcnt", "vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt")
_CDNA = replace(_SPLIT_CDNA, barrier_waits_for_stores=False)
_RDNA4 = WaitCounters("loadcnt", "samplecnt", "storecnt", "dscnt", "kmcnt")


def _counters_of(assembly: str) -> WaitCounters:
    """Those of the target that the text names; RDNA3's where it names none."""
    named = _TARGET.search(assembly)
    target = named[1] if named else ""
    if target.startswith("gfx12"):
        return _RDNA4
    if not target.startswith("gfx9"):
        return _RDNA3
    return _SPLIT_CDNA if _SPLIT_THREADS.search(assembly) else _CDNA


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
    """What is still out: by counter, registers with the number of younger operations.

    ``scalar`` are results of scalar loads, which end out of order: only a wait for 0 is enough.
    ``entered`` is the state in which a function is called: anything may be out.
    """

    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    scalar: frozenset[str] = frozenset()
    entered: bool = False

    def copy(self) -> _State:
        queues = {counter: dict(queue) for counter, queue in self.queues.items()}
        return _State(queues, self.scalar, self.entered)

    def merge(self, other: _State) -> bool:
        """Take in what is out on another path; whether anything changed."""
        before = self.copy()
        for counter, theirs in other.queues.items():
            mine = self.queue(counter)
            for register, age in theirs.items():
                mine[register] = min(age, mine.get(register, _OLDEST))
        self.scalar |= other.scalar
        self.entered |= other.entered
        return self != before

    def queue(self, counter: str) -> dict[str, int]:
        return self.queues.setdefault(counter, {})

    def is_out(self, register: str) -> bool:
        return register in self.scalar or any(register in queue for queue in self.queues.values())

    def issue(self, counter: str, filled: Iterable[str]) -> None:
        """One more operation of ``counter``, which fills registers."""
        queue = self.queue(counter)
        for register in queue:
            queue[register] = min(queue[register] + 1, _OLDEST)
        queue.update(dict.fromkeys(filled, 0))

    def wait(self, counter: str, number: int, counters: WaitCounters) -> None:
        """Until at most ``number`` operations of ``counter`` are out."""
        if counter == counters.scalar:
            if number == 0:
                self.scalar, self.entered = frozenset(), False
            elif self.scalar:
                return  # any of them may be the ones that are still out
        self.queues[counter] = {
            register: age for register, age in self.queue(counter).items() if age < number
        }


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
    hazards: list[Hazard] = []
    kernels = set(re.findall(r"^\s*\.amdhsa_kernel\s+(\S+)", assembly, re.MULTILINE))
    counters = _counters_of(assembly)
    for name, blocks in _functions(assembly):
        hazards += _analyse(name, blocks, counters, called=name not in kernels)
    return hazards


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


def _analyse(
    name: str, blocks: dict[str, _Block], counters: WaitCounters, *, called: bool
) -> Iterator[Hazard]:
    first = next(iter(blocks))
    states = {first: _State(entered=called)}
    pending = [first]
    while pending:
        label = pending.pop()
        state = states[label].copy()
        for instruction in blocks[label].instructions:
            _step(state, instruction, counters)
        for following in blocks[label].following:
            if following not in blocks:
                continue
            earlier = states.get(following)
            if earlier is None:
                states[following] = state.copy()
                pending.append(following)
            elif earlier.merge(state):
                pending.append(following)
    for label, block in blocks.items():
        state = states.get(label, _State()).copy()
        for instruction in block.instructions:
            yield from _hazards(name, state, instruction, counters)
            _step(state, instruction, counters)


def _hazards(
    name: str, state: _State, instruction: _Instruction, counters: WaitCounters
) -> Iterator[Hazard]:
    mnemonic = instruction.mnemonic
    if mnemonic.startswith(("s_wait", "s_delay_alu", "s_clause", "s_nop")):
        return
    place = (name, instruction.line, instruction.text)
    if mnemonic == "s_barrier" or mnemonic.startswith("s_barrier_signal"):
        stores = counters.barrier_waits_for_stores and state.is_out(_STORES)
        if state.is_out(_SHARED) or stores:
            yield Hazard(*place, "")
        return
    registers = list(_registers(instruction.operands))
    if state.entered and registers:
        yield Hazard(*place, registers[0])
        return
    filled = set(_filled(instruction))
    queue = state.queue(_counter(mnemonic, counters))
    for register in registers:
        # Two results of one counter arrive in order.
        in_order = register in filled and register in queue and register not in state.scalar
        if state.is_out(register) and not in_order:
            yield Hazard(*place, register)
            return


def _counter(mnemonic: str, counters: WaitCounters) -> str:
    """By which the result of a memory operation is waited for."""
    if mnemonic.startswith("ds_"):
        return counters.shared
    return counters.samples if mnemonic.startswith(_SAMPLES) else counters.loads


def _step(state: _State, instruction: _Instruction, counters: WaitCounters) -> None:
    """What is out after ``instruction``."""
    mnemonic = instruction.mnemonic
    filled = _filled(instruction)
    if mnemonic.startswith("s_wait"):
        for counter, number in _waits(instruction):
            state.wait(counter, number, counters)
    elif mnemonic in {"s_swappc_b64", "s_setpc_b64"}:
        # A function waits for everything when it is entered and before it returns.
        for counter in (counters.loads, counters.samples, counters.shared, counters.scalar):
            kept = {_STORES, _SHARED}.intersection(state.queue(counter))
            state.queues[counter] = {name: state.queues[counter][name] for name in kept}
        state.scalar = frozenset()
    elif mnemonic.startswith(("s_load_", "s_buffer_load_")):
        state.scalar |= frozenset(filled)
    elif mnemonic.startswith("ds_"):
        state.issue(counters.shared, [*filled, _SHARED])
    elif mnemonic.startswith(_VECTOR_MEMORY) and not mnemonic.startswith(_CACHE_ONLY):
        stores = "_store" in mnemonic or ("_atomic" in mnemonic and not _returns(instruction))
        if stores:
            state.issue(counters.stores, [_STORES])
        else:
            state.issue(_counter(mnemonic, counters), filled)
        if mnemonic.startswith("flat_"):  # it may be one of LDS, and counts as such
            state.issue(counters.shared, filled)


def _waits(instruction: _Instruction) -> Iterator[tuple[str, int]]:
    """Counters that are waited for, and how many operations of each may stay out."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic == "s_waitcnt":
        yield from ((counter, int(text, 0)) for counter, text in _COUNT.findall(operands))
    elif mnemonic == "s_wait_idle":
        yield from ((name, 0) for name in ("loadcnt", "storecnt", "samplecnt", "dscnt", "kmcnt"))
    elif (number := _NUMBER.search(operands)) is not None:
        value = int(number[0], 0)
        if mnemonic == "s_waitcnt_vscnt":
            yield "vscnt", value
        elif match := _SEPARATE.fullmatch(mnemonic):
            first, _, second = match["counters"].partition("_")
            if second:  # the first has six bits above those of LDS
                yield first, value >> 8
                yield second, value & 0x3F
            else:
                yield first, value


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
        ("ds_load", "ds_read", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_consume", "ds_append")
    )


def _returns(instruction: _Instruction) -> bool:
    """Whether an atomic returns the value before: with ``glc``, ``sc0`` or so in its hint."""
    return _RETURNS.search(instruction.operands) is not None


def _registers(operands: str) -> Iterator[str]:
    for match in _REGISTER.finditer(operands):
        if match["one"] is not None:
            yield match["bank"] + match["one"]
        else:
            for number in range(int(match["first"]), int(match["last"]) + 1):
                yield f"{match['bank']}{number}"
