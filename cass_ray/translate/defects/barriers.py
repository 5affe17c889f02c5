"""Barriers that not all threads of a block reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from cass_ray.translate.defects.syntax import (
    FunctionDefinition,
    SourceFile,
    compact,
    finding,
    outside_lambdas,
    text,
)
from cass_ray.translate.protocol import Finding, Severity

_THREAD = re.compile(r"\bthreadIdx\b|\bhipThreadIdx_[xyz]\b|\bthread_rank\s*\(|\blane_?id\b")
_BARRIER = re.compile(r"__syncthreads(?:_count|_and|_or)?\Z")
_NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
"""Not of a member: the y of gridDim.y is no variable y."""
_CONDITIONAL = ("if_statement", "while_statement", "for_statement", "switch_statement")


def thread_dependent(function: FunctionDefinition) -> set[str]:
    """Local names whose value differs between threads, because their first or a later one does."""
    sources: dict[str, list[str]] = {}
    for variables in function.variables.values():
        for each in variables:
            sources.setdefault(each.name, []).append(text(each.value))
    for node in function.nodes:
        if node.type == "assignment_expression":
            left = node.child_by_field_name("left")
            if left is not None and left.type == "identifier":
                sources.setdefault(text(left), []).append(text(node.child_by_field_name("right")))
    found: set[str] = set()
    while True:
        more = {
            name
            for name, values in sources.items()
            if name not in found and any(depends(value, found) for value in values)
        }
        if not more:
            return found
        found |= more


def depends(expression: str, names: set[str]) -> bool:
    """Whether its value differs between threads. What is read from memory is taken not to: often
    one thread has put it there for all."""
    plain = re.sub(r"\w+\s*\[[^\]]*\]", "", expression)
    if _THREAD.search(expression):
        return _THREAD.search(plain) is not None
    return bool(names & set(_NAME.findall(plain)))


def barrier_defects(unit: SourceFile) -> Iterator[Finding]:
    """Of kernels and of what runs in them; parameters of device functions are taken to be the same
    for all threads."""
    for function in unit.functions:
        if not function.kernel and not function.device:
            continue
        names = thread_dependent(function)
        names -= _unclear(function, names)
        barriers = [call for call in function.calls if _BARRIER.match(call.name)]
        for call in barriers:
            if (condition := _condition_around(call.node, function, names)) is not None:
                written = " ".join(text(condition).split())[:80]
                yield finding(
                    call.node,
                    call.name,
                    f"a barrier that not all threads reach: it depends on {written}",
                    "move it out of the condition",
                )
        if (
            barriers
            and (early := _early_return(function, names, barriers[-1].position)) is not None
        ):
            yield finding(
                early,
                "return",
                "threads that return do not reach the barriers below",
                "let them skip the work, not the barriers",
                Severity.WARNING,
            )


def _unclear(function: FunctionDefinition, names: set[str]) -> set[str]:
    """Names of several variables of which some are the same for all threads."""
    return {
        name
        for name in names
        if len(found := function.variables.get(name, [])) > 1
        and not all(depends(text(each.value), names) for each in found)
    }


def _condition_around(node: Node, function: FunctionDefinition, names: set[str]) -> Node | None:
    above = node.parent
    while above is not None and above != function.body:
        if above.type in _CONDITIONAL:
            condition = above.child_by_field_name("condition")
            inside = condition is not None and node.start_byte >= condition.end_byte
            divergent = condition is not None and inside and depends(text(condition), names)
            if divergent and not _is_rounded_up(above, function):
                return condition
        above = above.parent
    return None


def _is_rounded_up(loop: Node, function: FunctionDefinition) -> bool:
    """Whether ``i < bound; i += step`` goes to a multiple of the step: as often for all threads."""
    bound = re.search(r"<(\w+)\Z", compact(loop.child_by_field_name("condition")))
    step = re.search(r"\+=(.+)", compact(loop.child_by_field_name("update")))
    variable = function.variable(bound[1]) if bound else None
    return bool(variable and step and compact(variable.value).endswith(f"*{step[1]}"))


def _early_return(function: FunctionDefinition, names: set[str], last_barrier: int) -> Node | None:
    for statement in function.body.named_children:
        if statement.type != "if_statement" or statement.start_byte > last_barrier:
            continue
        condition = statement.child_by_field_name("condition")
        taken = statement.child_by_field_name("consequence")
        if condition is None or taken is None or not depends(text(condition), names):
            continue
        for node in outside_lambdas(taken):
            if node.type == "return_statement":
                return node
    return None
