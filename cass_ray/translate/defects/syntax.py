"""The syntax tree of one file as the checks read it: functions, calls, launches, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Node

from cass_ray.corpus.parsing.syntax import cuda_parser
from cass_ray.translate.protocol import Finding, Severity

MAXIMUM_BYTES = 1 << 20
"""Of a source; generated tables beyond that take long and hold no calls."""

_RUNTIME = re.compile(r"(?:cuda|hip)([A-Z]\w*)\Z")
_LAUNCH_MACRO = "hipLaunchKernelGGL"


def walk(node: Node) -> Iterator[Node]:
    """``node`` and what is in it, in the order of the text."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.named_children))


def text(node: Node | None) -> str:
    """What is written there."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def compact(node: Node | None) -> str:
    """The text without spaces, to compare expressions by."""
    return "".join(text(node).split())


def finding(
    node: Node, construct: str, message: str, advice: str, severity: Severity = Severity.ERROR
) -> Finding:
    """A finding at ``node``."""
    row, column = node.start_point
    return Finding(row + 1, column + 1, construct, severity, message, advice)


def within(node: Node, kinds: frozenset[str], top: Node) -> Node | None:
    """The innermost node of one of ``kinds`` around ``node``, below ``top``."""
    above = node.parent
    while above is not None and above != top:
        if above.type in kinds:
            return above
        above = above.parent
    return None


@dataclass(frozen=True)
class CallExpression:
    """A call, or a launch of a kernel: then ``configuration`` has what stands in ``<<<>>>``."""

    node: Node
    name: str
    arguments: list[Node]
    configuration: list[Node] = field(default_factory=list)

    @property
    def runtime(self) -> str:
        """``Memcpy`` of cudaMemcpy and of hipMemcpy; empty for what is not of the runtime."""
        found = _RUNTIME.match(self.name)
        return found[1] if found else ""

    @property
    def is_launch(self) -> bool:
        return bool(self.configuration)

    @property
    def position(self) -> int:
        return self.node.start_byte

    @property
    def result_used(self) -> bool:
        """Whether the call is more than a statement of its own."""
        return self.node.parent is not None and self.node.parent.type != "expression_statement"

    def argument(self, index: int) -> Node | None:
        return self.arguments[index] if index < len(self.arguments) else None


@dataclass(frozen=True)
class VariableDeclaration:
    """A declaration: its ``kind`` is ``pointer``, ``array``, ``value`` or ``other`` (a mixture)."""

    name: str
    kind: str
    type: str
    value: Node | None
    shared: bool
    external: bool
    node: Node


@dataclass(frozen=True)
class FunctionDefinition:
    """A definition with a body."""

    name: str
    node: Node
    body: Node
    kernel: bool
    device: bool

    @cached_property
    def calls(self) -> list[CallExpression]:
        """In the order of the text, without those of lambdas."""
        return [call for node in outside_lambdas(self.body) if (call := _call(node)) is not None]

    @cached_property
    def variables(self) -> dict[str, list[VariableDeclaration]]:
        """Declarations in the body by name; of one name there may be several."""
        found: dict[str, list[VariableDeclaration]] = {}
        for node in outside_lambdas(self.body):
            if node.type == "declaration":
                for variable in declared(node):
                    found.setdefault(variable.name, []).append(variable)
        return found

    def variable(self, name: str) -> VariableDeclaration | None:
        """The one declaration of ``name``; None where there is none, or more than one."""
        found = self.variables.get(name, [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def nodes(self) -> list[Node]:
        """Everything in the body, without lambdas, in the order of the text."""
        return list(outside_lambdas(self.body))


@dataclass(frozen=True)
class SourceFile:
    """One file that was parsed."""

    root: Node
    functions: list[FunctionDefinition]

    @cached_property
    def kernels(self) -> dict[str, list[FunctionDefinition]]:
        found: dict[str, list[FunctionDefinition]] = {}
        for function in self.functions:
            if function.kernel:
                found.setdefault(function.name, []).append(function)
        return found

    @property
    def host(self) -> list[FunctionDefinition]:
        return [each for each in self.functions if not each.kernel and not each.device]

    @cached_property
    def constants(self) -> dict[str, int]:
        """Names with one literal value in this file: macros and constants."""
        found: dict[str, set[int]] = {}
        for node in walk(self.root):
            if node.type == "preproc_def":
                name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                found.setdefault(text(name), set()).add(integer(text(value)))
            elif node.type == "declaration" and re.match(r".*\bconst", text(node)[:60], re.DOTALL):
                for each in declared(node):
                    found.setdefault(each.name, set()).add(integer(text(each.value)))
        return {
            name: value for name, values in found.items() for value in values
            if len(values) == 1 and value >= 0
        }  # fmt: skip


def integer(written: str) -> int:
    """The value of an integer literal, -1 of anything else."""
    found = re.fullmatch(r"\(?\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*\)?", written.strip())
    return int(found[1], 0 if found[1][:2] in ("0x", "0X") else 10) if found else -1


def read(data: bytes) -> SourceFile:
    """Parse a source, with whatever errors it has."""
    root = cuda_parser().parse(data).root_node
    return SourceFile(root, [each for node in walk(root) if (each := _function(node)) is not None])


def declared(declaration: Node) -> Iterator[VariableDeclaration]:
    """The variables of one declaration."""
    words = text(declaration).partition("=")[0]
    shared = "__shared__" in words
    external = any(text(child) == "extern" for child in declaration.children)
    kind = text(declaration.child_by_field_name("type"))
    for declarator in declaration.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value")
        inner, shape = declarator, "value"
        while inner.type not in ("identifier", "field_identifier"):
            if inner.type == "function_declarator" and not _may_construct(declaration, inner):
                break
            if inner.type in ("pointer_declarator", "array_declarator"):
                part = inner.type.removesuffix("_declarator")
                shape = part if shape in ("value", part) else "other"
            below = inner.child_by_field_name("declarator")
            if below is None:
                break
            inner = below
        if inner.type == "identifier":
            yield VariableDeclaration(text(inner), shape, kind, value, shared, external, declarator)


def _may_construct(declaration: Node, declarator: Node) -> bool:
    """Whether ``std::vector<T> values(count)``, which the grammar takes for a function that has a
    parameter of the type ``count``, is a variable: in a body of a type with arguments."""
    written = declaration.child_by_field_name("type")
    in_body = declaration.parent is not None and declaration.parent.type == "compound_statement"
    listed = declarator.child_by_field_name("parameters")
    names = listed.named_children if listed is not None else []
    return (
        in_body
        and written is not None
        and text(written).endswith(">")
        and bool(names)
        and all(re.fullmatch(r"[A-Za-z_]\w*", text(each)) for each in names)
    )


def name_in(node: Node | None) -> str:
    """The variable that a pointer expression is about: of ``(void*)&p[1]``, ``p + n``,
    ``v.data()``; empty where it is not one variable's address or value."""
    while node is not None:
        match node.type:
            case "identifier":
                return text(node)
            case "cast_expression":
                node = node.child_by_field_name("value")
            case "pointer_expression" if text(node).startswith("&"):
                node = node.child_by_field_name("argument")
                if node is not None and node.type == "subscript_expression":
                    node = node.child_by_field_name("argument")
            case "parenthesized_expression":
                node = node.named_children[0] if node.named_children else None
            case "binary_expression":
                node = node.child_by_field_name("left")
            case "call_expression":
                function = node.child_by_field_name("function")
                if function is None or not text(function).endswith(".data"):
                    return ""
                node = function.child_by_field_name("argument")
            case _:
                return ""
    return ""


def variable_at(node: Node | None) -> str:
    """The variable whose address ``node`` is, as ``cudaMalloc`` takes it; else empty."""
    while node is not None and node.type in ("cast_expression", "parenthesized_expression"):
        node = node.child_by_field_name("value") or node.named_children[-1]
    if node is None or node.type != "pointer_expression" or not text(node).startswith("&"):
        return ""
    argument = node.child_by_field_name("argument")
    return text(argument) if argument is not None and argument.type == "identifier" else ""


def outside_lambdas(node: Node) -> Iterator[Node]:
    """As :func:`walk`, without what lambdas do."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(
            each for each in reversed(current.named_children) if each.type != "lambda_expression"
        )


def _function(node: Node) -> FunctionDefinition | None:
    if node.type != "function_definition":
        return None
    body, inner = node.child_by_field_name("body"), node.child_by_field_name("declarator")
    while inner is not None and inner.type not in ("identifier", "field_identifier"):
        if inner.type in ("qualified_identifier", "template_function"):
            below = inner.child_by_field_name("name")
        else:
            below = inner.child_by_field_name("declarator")
        if below is None:
            break
        inner = below
    if body is None or body.type != "compound_statement" or inner is None:
        return None
    head = node.text[: body.start_byte - node.start_byte] if node.text else b""
    return FunctionDefinition(text(inner), node, body, b"__global__" in head, b"__device__" in head)


def _call(node: Node) -> CallExpression | None:
    if node.type != "call_expression":
        return None
    function = node.child_by_field_name("function")
    if function is not None and function.type == "template_function":
        function = function.child_by_field_name("name")
    name = text(function).rpartition("::")[2].partition("<")[0]
    listed = node.child_by_field_name("arguments")
    arguments = [each for each in listed.named_children if each.type != "comment"] if listed else []
    if name == _LAUNCH_MACRO and len(arguments) >= 5:
        kernel = re.match(r"\(?(\w+)", text(arguments[0]))
        return CallExpression(node, kernel[1] if kernel else "", arguments[5:], arguments[1:5])
    syntax = next((each for each in node.children if each.type == "kernel_call_syntax"), None)
    configuration = (
        [each for each in syntax.named_children if each.type not in ("<<<", ">>>")]
        if syntax
        else []
    )
    return CallExpression(node, name, arguments, configuration)


def statement_of(node: Node) -> Node | None:
    """The statement that an expression is a part of."""
    above: Node | None = node
    while above is not None and above.type != "expression_statement":
        above = above.parent
    return above
