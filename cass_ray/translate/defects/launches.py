"""Launches that fail or are not asked about, and results that are read before they are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from cass_ray.translate.defects.memory import MemorySpace, sides
from cass_ray.translate.defects.syntax import (
    CallExpression,
    FunctionDefinition,
    SourceFile,
    VariableDeclaration,
    compact,
    declared,
    finding,
    integer,
    name_in,
    statement_of,
    text,
    walk,
)
from cass_ray.translate.protocol import Finding, Severity

_MOST_THREADS = 1024
_WAITS = re.compile(
    r"(?:Device|Thread|Stream|Event)Synchronize\Z|Memcpy(?:2D|3D|FromSymbol)?\Z|(?:Event|Stream)Query\Z"
)
_ASKS = ("GetLastError", "PeekAtLastError")
_OWN_CHECK = re.compile(r"(?i)check|error|assert|safe|verify|try\b|call\b|synchronize(?!d)")


def launch_defects(unit: SourceFile) -> Iterator[Finding]:
    """Of all host functions."""
    yield from _unchecked(unit)
    for function in unit.host:
        for call in function.calls:
            if call.is_launch:
                yield from _too_many_threads(call, function, unit)
                yield from _no_shared_memory(call, unit)
                yield from _cut_off(call, function, unit)
            elif call.runtime == "MemcpyAsync":
                yield from _copy_not_awaited(call, function)
            elif call.runtime == "EventElapsedTime":
                yield from _event_not_awaited(call, function)
        yield from _managed_not_awaited(function)


def _unchecked(unit: SourceFile) -> Iterator[Finding]:
    """The first launch of a program in which nothing asks whether launches succeeded.

    In a part of a program others may ask: only files with ``main`` are looked at.
    """
    if not any(function.name == "main" for function in unit.host):
        return
    launches = []
    for function in unit.functions:
        for call in function.calls:
            if call.is_launch:
                launches.append(call)
            elif _asks(call):
                return
    if launches:
        first = min(launches, key=lambda call: call.position)
        yield finding(
            first.node,
            first.name,
            f"a launch that nobody asks about: whether {first.name} ran is not known",
            "check cudaGetLastError() after the launch and what cudaDeviceSynchronize() returns",
            Severity.WARNING,
        )


def _asks(call: CallExpression) -> bool:
    """Whether a call may say that a launch failed."""
    if call.runtime:
        return call.runtime in _ASKS or (bool(_WAITS.match(call.runtime)) and call.result_used)
    return _OWN_CHECK.search(call.name) is not None


def _too_many_threads(
    call: CallExpression, function: FunctionDefinition, unit: SourceFile
) -> Iterator[Finding]:
    threads = _product(call.configuration[1], function, unit) if len(call.configuration) > 1 else 0
    if threads > _MOST_THREADS and not _failure_is_wanted(call, function):
        yield finding(
            call.configuration[1],
            call.name,
            f"a block of {threads} threads: more than {_MOST_THREADS} cannot be launched",
            "launch more blocks of fewer threads",
        )


def _failure_is_wanted(call: CallExpression, function: FunctionDefinition) -> bool:
    """Whether the next statement keeps the launch's error, and nothing leaves because of it: a
    program that launches what cannot run, to see what the runtime says."""
    statement = statement_of(call.node)
    following = statement.next_named_sibling if statement is not None else None
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    if following is None or following.type != "declaration":
        return False
    kept = {
        each.name
        for each in declared(following)
        if re.fullmatch(r"(?:cuda|hip)(?:Get|PeekAt)LastError\(\)", compact(each.value))
    }
    checks = (each for each in function.calls if not each.runtime and _asks(each))
    if any(kept & _words(argument) for check in checks for argument in check.arguments):
        return False
    return bool(kept) and not any(_leaves_by(node, kept) for node in function.nodes)


def _leaves_by(node: Node, names: set[str]) -> bool:
    """Whether ``node`` ends the function or the program, depending on what ``names`` hold."""
    if node.type != "if_statement" or not names & _words(node.child_by_field_name("condition")):
        return False
    return re.search(r"\b(?:return|exit|abort|throw|goto|terminate)\b", text(node)) is not None


def _words(node: Node | None) -> set[str]:
    return set(re.findall(r"\b[A-Za-z_]\w*\b", text(node)))


def _product(node: Node, function: FunctionDefinition, unit: SourceFile) -> int:
    """The number of threads of a block where it is written in numbers; else 0."""
    factors = [node]
    if node.type == "identifier" and (variable := function.variable(text(node))) is not None:
        if variable.type != "dim3":
            return (
                max(0, _number(variable.value, unit))
                if "const" in text(variable.node.parent)
                else 0
            )
        value = variable.value or variable.node.child_by_field_name("parameters")
        factors = value.named_children if value is not None else []
    elif node.type == "call_expression" and text(node).startswith("dim3"):
        listed = node.child_by_field_name("arguments")
        factors = listed.named_children if listed is not None else []
    product = 1
    for factor in factors:
        product *= max(0, _number(factor, unit))
    return product if factors else 0


def _number(node: Node | None, unit: SourceFile) -> int:
    written = text(node)
    return unit.constants.get(written, integer(written))


def _no_shared_memory(call: CallExpression, unit: SourceFile) -> Iterator[Finding]:
    given = text(call.configuration[2]) if len(call.configuration) > 2 else "0"
    if given != "0":
        return
    for kernel in unit.kernels.get(call.name, []):
        for variables in kernel.variables.values():
            if any(each.shared and each.external for each in variables):
                yield finding(
                    call.node,
                    call.name,
                    f"no shared memory for {call.name}, which declares extern __shared__ "
                    f"{variables[0].name}",
                    "give its bytes as the third argument of the launch",
                )
                return


_ROUNDED_DOWN = re.compile(r"\(?\s*([A-Za-z_]\w*)\s*(?:/|>>)\s*([A-Za-z_]\w*|\d+)\s*\)?\Z")


def _cut_off(
    call: CallExpression, function: FunctionDefinition, unit: SourceFile
) -> Iterator[Finding]:
    """A grid of ``n / block`` of a kernel that guards against more threads than ``n``."""
    found = _ROUNDED_DOWN.match(text(call.configuration[0]))
    kernels = unit.kernels.get(call.name, [])
    if not found or len(kernels) != 1 or integer(found[1]) >= 0 or found[1] in unit.constants:
        return
    if _may_be_a_multiple(function.variable(found[1]), unit):
        return
    places = [index for index, each in enumerate(call.arguments) if text(each) == found[1]]
    parameters = kernels[0].node.child_by_field_name("declarator")
    listed = parameters.child_by_field_name("parameters") if parameters is not None else None
    names = (
        [re.findall(r"\w+", text(each))[-1:] for each in listed.named_children] if listed else []
    )
    for place in places:
        name = names[place][0] if place < len(names) and names[place] else ""
        guard = re.compile(rf"<\s*{re.escape(name)}\s*[)&?]|>=\s*{re.escape(name)}\s*[)|]")
        if name and guard.search(text(kernels[0].body)):
            yield finding(
                call.configuration[0],
                call.name,
                f"a grid that is rounded down: the last elements of {found[1]} get no thread",
                f"write ({found[1]} + {found[2]} - 1) / {found[2]}: the kernel guards the rest",
                Severity.WARNING,
            )
            return


def _may_be_a_multiple(variable: VariableDeclaration | None, unit: SourceFile) -> bool:
    """Whether a number of elements is known, or is made of something times something."""
    if variable is None:
        return False
    value = text(variable.value)
    return re.search(r"[*~]|<<", value) is not None or not _words(variable.value) - set(
        unit.constants
    )


def _copy_not_awaited(call: CallExpression, function: FunctionDefinition) -> Iterator[Finding]:
    if not text(call.argument(3)).endswith("DeviceToHost"):
        return
    name = name_in(call.argument(0))
    if (use := _use_before_wait(name, call, function)) is not None:
        yield finding(
            use,
            name,
            f"{name} is read before {call.name} has to be done",
            "wait for its stream first: cudaStreamSynchronize",
        )


def _managed_not_awaited(function: FunctionDefinition) -> Iterator[Finding]:
    managed = {name for name, side in sides(function).items() if side is MemorySpace.MANAGED}
    reported: set[str] = set()
    for call in function.calls:
        if not call.is_launch:
            continue
        for name in sorted(managed & {name_in(each) for each in call.arguments} - reported):
            if (use := _use_before_wait(name, call, function)) is not None:
                reported.add(name)
                yield finding(
                    use,
                    name,
                    f"{name} is read before {call.name} has to be done with it",
                    "wait first: cudaDeviceSynchronize",
                )


def _use_before_wait(name: str, call: CallExpression, function: FunctionDefinition) -> Node | None:
    """Where host code uses what ``name`` points to, after ``call`` and before any wait."""
    later = [each for each in function.calls if each.position > call.node.end_byte]
    waits = [each.position for each in later if _waits(each)]
    end = min(waits, default=function.body.end_byte)
    given = {
        node.id
        for each in later
        if each.runtime or each.is_launch
        for argument in (*each.arguments, *each.configuration)
        for node in walk(argument)
    }
    for node in function.nodes:
        later_on = call.node.end_byte < node.start_byte < end
        named = node.type == "identifier" and text(node) == name
        if later_on and named and node.id not in given and _is_read(node):
            return node
    return None


def _is_read(node: Node) -> bool:
    """Whether what the pointer ``node`` points to is used there, and not its value alone."""
    above = node.parent
    if above is None:
        return False
    if above.type == "pointer_expression":
        return text(above).startswith("*")
    return above.type in ("subscript_expression", "field_expression", "argument_list")


def _waits(call: CallExpression) -> bool:
    """A wait by the runtime, or a call of something else that says so."""
    if call.runtime:
        return _WAITS.match(call.runtime) is not None
    return re.search(r"(?i)sync|wait|finish", call.name) is not None


def _event_not_awaited(call: CallExpression, function: FunctionDefinition) -> Iterator[Finding]:
    stop = text(call.argument(2))
    before = [each for each in function.calls if each.position < call.position]
    records = [
        each for each in before if each.runtime == "EventRecord" and text(each.argument(0)) == stop
    ]
    if records and not any(_waits(each) for each in before if each.position > records[-1].position):
        yield finding(
            call.node,
            call.name,
            f"{stop} may not have happened yet: its time is not known",
            f"wait for it first: cudaEventSynchronize({stop})",
        )
