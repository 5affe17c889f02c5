"""Shared memory that one thread writes and another reads with no barrier between.

Accesses of each kernel are followed in the order of the text, loops twice. What is known of an
access is the text of its index: two that differ are taken for two threads' unless they are of rows
or columns of a thread's own (``s[t * 4 + 1]``, ``s[i * block + t]``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from cass_ray.translate.defects.barriers import depends, thread_dependent
from cass_ray.translate.defects.syntax import FunctionDefinition, SourceFile, compact, finding, text
from cass_ray.translate.protocol import Finding, Severity

_LOOPS = 4
"""Loops in loops that are followed twice each: deeper ones once."""

_SYNC = re.compile(
    r"(?i)sync|barrier|wait|fence|arrive|shfl|ballot|block\w*(?:reduce|scan|sort|exchange)"
)
"""What waits for others; the blockwise algorithms of CUB and their like do."""
_ATOMIC = re.compile(r"atomic\w+\Z")
_ROUND = re.compile(r"%|\^\s*1\b")
_ONLY_ONE = re.compile(r"\(?([\w.]+)==(\d+)\)?")
_ONE = re.compile(r"==|!\s*(?:threadIdx|tid|t\b|lane)")


class _Index(NamedTuple):
    """One dimension of an index, or ``.x`` of a member: terms that depend on the thread, and the
    others.

    Of ``r * n + c`` the ``stride`` is ``n``, and ``parts`` are ``r`` and ``c``. ``of_ring``: it
    counts round, as the stages of a buffer of several do.
    """

    text: str
    threads: tuple[str, ...]
    others: tuple[str, ...]
    of_ring: bool = False
    stride: str = ""
    parts: tuple[_Index, ...] = ()

    def is_never(self, other: _Index) -> bool:
        """Whether they are different places: two numbers or members; of rings it is taken so."""
        if self.text == other.text:
            return False
        fixed = [each.text.isdigit() or each.text.startswith(".") for each in (self, other)]
        return (self.of_ring and other.of_ring) or all(fixed)

    def is_apart(self, other: _Index) -> bool:
        """Whether different threads are at different places in this dimension, whatever else:
        ``t * 4 + 1`` and ``t * 4``, ``i * block + t`` and ``j * block + t``."""
        if self.text == other.text:
            return bool(self.threads)
        strided = any("*" in term for term in self.threads)
        rows = all(any("*" in term for term in each.others) for each in (self, other))
        return bool(self.threads) and self.threads == other.threads and (strided or rows)


class _Access(NamedTuple):
    """One access, and under which condition of a single thread it is made.

    ``updates``: it is a write of what it read. Where such a one and another depend on the thread
    and not, as in ``m[r][t] -= m[r][k] * p``, they are taken to stay apart, as in eliminations.
    """

    indices: tuple[_Index, ...]
    only: str
    atomic: bool
    updates: bool

    def conflicts(self, other: _Access) -> bool:
        """Whether two threads may be at the same place, one of them writing."""
        if (self.atomic and other.atomic) or (self.only and self.only == other.only):
            return False
        if self._is_by_owner_of(other) or other._is_by_owner_of(self):
            return False
        pairs = [
            pair
            for both in zip(self.indices, other.indices, strict=False)
            for pair in _rows_and_columns(*both)
        ]
        if any(mine.is_never(theirs) for mine, theirs in pairs):
            return False
        updates = self.updates or other.updates
        if updates and any(bool(mine.threads) != bool(theirs.threads) for mine, theirs in pairs):
            return False
        if any(mine.threads or theirs.threads for mine, theirs in pairs):
            of_threads = [pair for pair in pairs if pair[0].threads or pair[1].threads]
            return not all(mine.is_apart(theirs) for mine, theirs in of_threads)
        # Places that do not depend on the thread: harmless where all do the same.
        return self.only != other.only

    def _is_by_owner_of(self, other: _Access) -> bool:
        """Whether the one thread that is here made the other access as well: ``s[0]`` where
        ``t == 0``, and ``s[t]``."""
        found = _ONLY_ONE.fullmatch(self.only)
        return found is not None and [
            (each.text, theirs.text)
            for each, theirs in zip(self.indices, other.indices, strict=False)
        ] == [(found[2], found[1])]


def _rows_and_columns(mine: _Index, theirs: _Index) -> list[tuple[_Index, _Index]]:
    """A flat index of a matrix as its two dimensions, where both have the same row length."""
    if mine.stride and mine.stride == theirs.stride:
        return list(zip(mine.parts, theirs.parts, strict=True))
    return [(mine, theirs)]


@dataclass
class _State:
    """Accesses since the last barrier, by array.

    ``carried`` are reads of the round of a loop before. A write right after a read is no finding:
    often only threads that stay apart do both, as in the tree of a sum.
    """

    written: dict[str, set[_Access]] = field(default_factory=dict)
    read: dict[str, set[_Access]] = field(default_factory=dict)
    carried: dict[str, set[_Access]] = field(default_factory=dict)

    @property
    def _all(self) -> tuple[dict[str, set[_Access]], ...]:
        return self.written, self.read, self.carried

    def copy(self) -> _State:
        return _State(*({name: set(found) for name, found in each.items()} for each in self._all))

    def join(self, other: _State) -> None:
        for mine, theirs in zip(self._all, other._all, strict=True):
            for name, found in theirs.items():
                mine.setdefault(name, set()).update(found)

    def clear(self) -> None:
        for each in self._all:
            each.clear()


def shared_memory_defects(unit: SourceFile) -> Iterator[Finding]:
    """The first such place of each array in each function that declares it."""
    for function in unit.functions:
        arrays = {
            name
            for name, found in function.variables.items()
            if len(found) == 1 and found[0].shared and "volatile" not in text(found[0].node.parent)
        }
        on_device = function.kernel or function.device
        if on_device and (followed := arrays - _given_away(function, arrays)):
            yield from _Follower(function, followed).findings()


def _given_away(function: FunctionDefinition, arrays: set[str]) -> set[str]:
    """Arrays whose name stands somewhere without an index: a function or a pointer has them."""
    found = set()
    for node in function.nodes:
        if node.type != "identifier" or text(node) not in arrays or node.parent is None:
            continue
        indexed = node.parent.type == "subscript_expression"
        indexed = indexed and node.parent.child_by_field_name("argument") == node
        variable = function.variables[text(node)][0]
        if not indexed and variable.kind != "value" and not node.parent.type.endswith("declarator"):
            found.add(text(node))
    return found


class _Follower:
    def __init__(self, function: FunctionDefinition, arrays: set[str]) -> None:
        self._function = function
        self._arrays = arrays
        self._names = thread_dependent(function)
        self._multiples = _multiples(function, self._names)
        self._found: dict[str, Finding] = {}
        self._state = _State()
        self._only: list[str] = []
        self._depth = 0
        self._loops = 0

    def findings(self) -> Iterator[Finding]:
        self._follow(self._function.body)
        yield from self._found.values()

    def _follow(self, node: Node) -> None:
        if self._depth > 150:  # brackets in brackets of a stranger
            return
        self._depth += 1
        match node.type:
            case "if_statement":
                self._branch(node)
            case "for_statement" | "while_statement" | "do_statement":
                self._loop(node)
            case "assignment_expression":
                self._assign(node)
            case "update_expression":
                argument = node.child_by_field_name("argument")
                if argument is not None:
                    self._access(argument, writes=True, updates=True)
                    self._indices(argument)
            case "call_expression":
                self._call(node)
            case "subscript_expression" | "identifier" | "field_expression":
                self._access(node, writes=False)
                self._indices(node)
            case "declaration" if "__shared__" in text(node):
                pass
            case "lambda_expression":
                pass
            case _:
                for child in node.named_children:
                    self._follow(child)
        self._depth -= 1

    def _loop(self, node: Node) -> None:
        outer = {name: set(found) for name, found in self._state.carried.items()}
        for repeated in (False, True) if self._loops < _LOOPS else (False,):
            self._loops += 1
            if repeated:
                for name, found in self._state.read.items():
                    self._state.carried.setdefault(name, set()).update(found)
            for child in node.named_children:
                self._follow(child)
            self._loops -= 1
        self._state.carried = outer if self._state.carried else {}

    def _branch(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self._follow(condition)
        written = compact(condition)
        single = bool(_ONE.search(written)) and depends(text(condition), self._names)
        before = self._state.copy()
        self._only += [written] if single else []
        if (taken := node.child_by_field_name("consequence")) is not None:
            self._follow(taken)
        if single:
            self._only.pop()
        after, self._state = self._state, before
        if (otherwise := node.child_by_field_name("alternative")) is not None:
            self._follow(otherwise)
        if _passes_barrier(node):
            self._state = after
        else:
            self._state.join(after)

    def _assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is not None:
            self._follow(right)
        if left is None:
            return
        operator = node.child_by_field_name("operator")
        updates = text(operator) != "=" or compact(left) in compact(right)
        self._indices(left)
        self._access(left, writes=True, updates=updates)

    def _call(self, node: Node) -> None:
        function = text(node.child_by_field_name("function"))
        arguments = node.child_by_field_name("arguments")
        listed = arguments.named_children if arguments is not None else []
        if _ATOMIC.match(function) and listed:
            target = listed[0].child_by_field_name("argument")
            if target is not None:
                self._indices(target)
                self._access(target, writes=True, atomic=True)
            listed = listed[1:]
        for each in listed:
            self._follow(each)
        if _SYNC.search(function):
            self._state.clear()

    def _indices(self, node: Node) -> None:
        below = node.child_by_field_name("argument")
        if node.type == "subscript_expression":
            for child in node.named_children[1:]:
                self._follow(child)
        if below is not None and below.type in ("subscript_expression", "field_expression"):
            self._indices(below)
        elif node.type == "field_expression" and below is not None and below.type != "identifier":
            self._follow(below)

    def _access(
        self, node: Node, *, writes: bool, atomic: bool = False, updates: bool = False
    ) -> None:
        parts: list[str] = []
        below: Node | None = node
        while below is not None and below.type in ("subscript_expression", "field_expression"):
            if below.type == "subscript_expression":
                indices = below.child_by_field_name("indices")
                parts.insert(0, compact(indices).strip("[]"))
            else:
                parts.insert(0, f".{text(below.child_by_field_name('field'))}")
            below = below.child_by_field_name("argument")
        name = text(below) if below is not None and below.type == "identifier" else ""
        if name not in self._arrays:
            return
        access = _Access(
            tuple(self._index(part) for part in parts), "&&".join(self._only), atomic, updates
        )
        state = self._state
        # What an atomic finds there has to be the other's write, not what was before it.
        against = state.written if atomic or not writes else state.carried
        if any(access.conflicts(other) for other in against.get(name, ())):
            self._report(node, name)
        (state.written if writes else state.read).setdefault(name, set()).add(access)

    def _index(self, part: str) -> _Index:
        terms = _terms(part)
        ours = sorted(
            f"{term}*" if term in self._multiples else term
            for term in terms
            if depends(term, self._names)
        )
        others = sorted(term for term in terms if not depends(term, self._names))
        row, stride, column = _row_and_column(terms)
        parts = (self._index(row), self._index(column)) if stride else ()
        return _Index(part, tuple(ours), tuple(others), self._counts_round(part), stride, parts)

    def _counts_round(self, part: str) -> bool:
        values = [text(each.value) for each in self._function.variables.get(part, [])] or [part]
        return part not in self._names and all(_ROUND.search(each) for each in values)

    def _report(self, node: Node, name: str) -> None:
        if name not in self._found:
            self._found[name] = finding(
                node,
                name,
                f"no barrier before other threads use what was written to or read from {name}",
                "put __syncthreads() between the two",
                Severity.WARNING,
            )


def _terms(expression: str) -> list[str]:
    """What is added up in it, as far as that is outside of brackets."""
    return [term for term in re.split(r"[+-](?![^(]*\))", expression) if term]


def _row_and_column(terms: list[str]) -> tuple[str, str, str]:
    """Of ``r*n`` and ``c``: ``r``, ``n`` and ``c``; empty where it is not clear which is which."""
    products = [term for term in terms if "*" in term]
    if len(products) != 1 or len(terms) < 2:
        return "", "", ""
    row, _, stride = products[0].rpartition("*")
    column = "+".join(term for term in terms if term != products[0])
    return (row, stride, column) if re.fullmatch(r"\w+", stride) else ("", "", "")


def _multiples(function: FunctionDefinition, names: set[str]) -> set[str]:
    """Variables that are a multiple of what depends on the thread: ``t = threadIdx.x * 4``."""
    return {
        name
        for name in names
        if (variable := function.variable(name)) is not None
        and any("*" in term and depends(term, names) for term in _terms(compact(variable.value)))
    }


def _passes_barrier(node: Node) -> bool:
    """Whether a branch has a barrier: then what was before it counts no more."""
    return re.search(r"__syncthreads|\.sync\(", text(node)) is not None
