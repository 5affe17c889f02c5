"""Memory of the wrong side: copies, sizes, frees, pointers used where they do not reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from tree_sitter import Node

from cass_ray.translate.defects.syntax import (
    CallExpression,
    FunctionDefinition,
    SourceFile,
    compact,
    finding,
    name_in,
    statement_of,
    text,
    variable_at,
    within,
)
from cass_ray.translate.protocol import Finding, Severity


class MemorySpace(StrEnum):
    """Where a pointer points to."""

    DEVICE = "device"
    HOST = "host"
    PINNED = "pinned"
    MANAGED = "managed"


_ALLOCATIONS = {
    "Malloc": MemorySpace.DEVICE,
    "MallocAsync": MemorySpace.DEVICE,
    "MallocPitch": MemorySpace.DEVICE,
    "MallocManaged": MemorySpace.MANAGED,
    "MallocHost": MemorySpace.PINNED,
    "HostAlloc": MemorySpace.PINNED,
    "HostMalloc": MemorySpace.PINNED,
}
_HOST_VALUE = re.compile(
    r"(?:\([\w\s:]+\*\)|(?:static|reinterpret)_cast<[^>]*>\()?\s*(?:std::)?(?:malloc|calloc)\s*\("
)
_COPIES = {"Memcpy": (0, 1, 2, 3), "MemcpyAsync": (0, 1, 2, 3), "Memcpy2D": (0, 2, 4, 6)}
"""Destination, source, size, direction."""
_DIRECTIONS = {
    "HostToDevice": (MemorySpace.DEVICE, MemorySpace.HOST),
    "DeviceToHost": (MemorySpace.HOST, MemorySpace.DEVICE),
    "DeviceToDevice": (MemorySpace.DEVICE, MemorySpace.DEVICE),
    "HostToHost": (MemorySpace.HOST, MemorySpace.HOST),
}
_BYTES = ("char", "void", "uint8_t", "int8_t", "byte", "bool")
_EVERY_BYTE = re.compile(
    r"-1|~0[uU]?|0[xX]?0*[uUlLfF]*|0[xX][fF]{2}[uU]?|255|false|'\\\\0'|0\.0*f?"
)
"""Values of which every byte is the same as that of an element."""
_SIZEOF_NAME = re.compile(r"(?<!\w)sizeof\(?(\w+)\)?(?!\w)")


def sides(function: FunctionDefinition) -> dict[str, MemorySpace]:
    """Where the local pointers and arrays of a host function point to, as far as that is sure."""
    found: dict[str, set[MemorySpace]] = {}
    for name, variables in function.variables.items():
        for variable in variables:
            array = variable.kind == "array" and not variable.shared
            if array or _is_vector(variable.type, variable.kind) or _is_heap(variable.value):
                found.setdefault(name, set()).add(MemorySpace.HOST)
            elif variable.kind == "pointer" and text(variable.value) not in _NO_VALUE:
                found.setdefault(name, set()).update(MemorySpace)
    for call in function.calls:
        if side := _ALLOCATIONS.get(call.runtime):
            found.setdefault(variable_at(call.argument(0)), set()).add(side)
    for node in function.nodes:
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and left.type == "identifier" and text(right) not in _NO_VALUE:
                where = {MemorySpace.HOST} if _is_heap(right) else set(MemorySpace)
                found.setdefault(text(left), set()).update(where)
    return {
        name: next(iter(known))
        for name, known in found.items()
        if name and len(known) == 1 and len(function.variables.get(name, [])) <= 1
    }


_NO_VALUE = ("", "nullptr", "NULL", "0")


def _is_heap(value: Node | None) -> bool:
    if value is None:
        return False
    return value.type == "new_expression" or _HOST_VALUE.match(text(value)) is not None


def memory_defects(unit: SourceFile) -> Iterator[Finding]:
    """Of all host functions."""
    for function in unit.host:
        known = sides(function)
        for call in function.calls:
            yield from _direction(call, known, function)
            yield from _size(call, function)
            yield from _fill(call, function)
            if call.is_launch:
                yield from _host_arguments(call, known, unit)
        yield from _touched_on_the_host(function, known)
        yield from _after_free(function)


def _direction(
    call: CallExpression, known: dict[str, MemorySpace], function: FunctionDefinition
) -> Iterator[Finding]:
    places = _COPIES.get(call.runtime)
    if places is None:
        return
    written = text(call.argument(places[3]))
    for ending, wanted in _DIRECTIONS.items():
        if not written.endswith("Memcpy" + ending):
            continue
        for place, side, role in zip(places[:2], wanted, ("destination", "source"), strict=True):
            argument = call.argument(place)
            name = name_in(argument)
            own = _is_own_value(argument, function)
            is_at = MemorySpace.HOST if own else known.get(name)
            if is_at in (MemorySpace.DEVICE, MemorySpace.HOST) and is_at is not side:
                yield finding(
                    call.node,
                    call.name,
                    f"wrong direction of a copy: its {role} {name} is {is_at} memory in {written}",
                    "name the direction in which the arguments lie, or exchange them",
                )
                return


def _is_own_value(argument: Node | None, function: FunctionDefinition) -> bool:
    """Whether it is the address of a local variable that is no pointer."""
    variable = function.variable(variable_at(argument))
    return variable is not None and variable.kind == "value" and variable.type != "auto"


def _size(call: CallExpression, function: FunctionDefinition) -> Iterator[Finding]:
    index = {"Malloc": 1, "MallocManaged": 1, "Memset": 2, "MemsetAsync": 2}.get(call.runtime)
    if call.runtime in ("Memcpy", "MemcpyAsync"):
        index = 2
    if index is None:
        return
    for name in _SIZEOF_NAME.findall(compact(call.argument(index))):
        variable = function.variable(name)
        if variable is not None and variable.kind == "pointer":
            yield finding(
                call.node,
                call.name,
                f"the size of a pointer: sizeof({name}) is not the size of what it points to",
                f"write the number of elements times sizeof(*{name})",
            )


def _fill(call: CallExpression, function: FunctionDefinition) -> Iterator[Finding]:
    if call.runtime not in ("Memset", "MemsetAsync"):
        return
    value, variable = compact(call.argument(1)), function.variable(name_in(call.argument(0)))
    literal = re.fullmatch(r"-?(?:0[xX])?[\da-fA-F.]+[fFuUlL]*", value)
    if variable is None or variable.kind != "pointer" or not literal:
        return
    if not _EVERY_BYTE.fullmatch(value) and not any(word in variable.type for word in _BYTES):
        yield finding(
            call.node,
            call.name,
            f"{call.name} sets each byte to {value}, not each {variable.type}",
            "fill by a kernel, or with 0",
            Severity.WARNING,
        )


def _host_arguments(
    call: CallExpression, known: dict[str, MemorySpace], unit: SourceFile
) -> Iterator[Finding]:
    for argument in call.arguments:
        bare = argument.type == "identifier" or text(argument).endswith(".data()")
        name = name_in(argument) if bare else ""
        if known.get(name) is MemorySpace.HOST and name not in unit.constants:
            yield finding(
                argument,
                name,
                f"host memory for a kernel: {name} goes to {call.name}, which cannot read it",
                "copy it to memory of cudaMalloc, and pass that",
            )


_ONLY_NAMED = frozenset({"sizeof_expression", "decltype"})


def _touched_on_the_host(
    function: FunctionDefinition, known: dict[str, MemorySpace]
) -> Iterator[Finding]:
    if b"__device__" in (function.body.text or b""):
        return  # lambdas for the device, which the grammar does not know as such
    reported: set[str] = set()
    for node in function.nodes:
        dereferences = node.type == "pointer_expression" and text(node).startswith("*")
        if not dereferences and node.type != "subscript_expression":
            continue
        name = text(node.child_by_field_name("argument"))
        address = node.parent is not None and node.parent.type == "pointer_expression"
        address = address and text(node.parent).startswith("&")
        named = address or within(node, _ONLY_NAMED, function.body) is not None
        if known.get(name) is MemorySpace.DEVICE and name not in reported and not named:
            reported.add(name)
            yield finding(
                node,
                name,
                f"device memory on the host: {name} is of {_allocator(function, name)} and read or"
                " written by host code",
                "copy what is needed with cudaMemcpy, or allocate it with cudaMallocManaged",
            )


def _allocator(function: FunctionDefinition, name: str) -> str:
    return next(
        call.name
        for call in function.calls
        if call.runtime in _ALLOCATIONS and variable_at(call.argument(0)) == name
    )


def _after_free(function: FunctionDefinition) -> Iterator[Finding]:
    """Uses of a pointer after a free that every run makes, up to its next value."""
    for call in function.calls:
        statement = statement_of(call.node)
        if call.runtime not in ("Free", "FreeAsync") or statement is None:
            continue
        name = name_in(call.argument(0))
        # What leaves the function or is one of several ways is followed by others.
        if (
            not name
            or statement.parent != function.body
            or len(function.variables.get(name, [])) > 1
        ):
            continue
        for node in function.nodes:
            if (
                node.type != "identifier"
                or text(node) != name
                or node.start_byte < call.node.end_byte
            ):
                continue
            if not _gets_a_value(node):
                freed = "freed twice" if _is_freed(node) else "used after it is freed"
                yield finding(node, name, f"{name} is {freed}", "free it once, after its last use")
            break


def _gets_a_value(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    if above.type == "assignment_expression":
        return above.child_by_field_name("left") == node
    return text(above).startswith("&") or (
        above.type == "init_declarator" or above.type.endswith("_declarator")
    )


def _is_freed(node: Node) -> bool:
    call = within(node, frozenset({"call_expression"}), node)
    above = node.parent.parent if node.parent is not None else None
    return (call or above) is not None and re.match(
        r"(?:cuda|hip)Free", text(call or above)
    ) is not None


def _is_vector(written: str, kind: str) -> bool:
    return kind == "value" and re.match(r"(?:std::)?vector\s*<", written) is not None
