"""Functions that end without the value they are to return.

Compilers may take the end of such a function for a place that is never reached, and then what runs
next is whatever code follows: clang does at any level of optimization, g++ since its version 8 from
``-O1`` on, nvcc's device side does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from cass_ray.translate.defects.syntax import (
    FunctionDefinition,
    SourceFile,
    finding,
    outside_lambdas,
    text,
    within,
)
from cass_ray.translate.protocol import Finding, Severity

_ENDS = frozenset({"return_statement", "throw_statement", "goto_statement", "co_return_statement"})
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_BROKEN = _LOOPS | {"switch_statement", "for_range_loop"}
_ASIDE = frozenset({"comment", "preproc_call", "preproc_def", "preproc_function_def"})
_NEVER_RETURNS = re.compile(
    r"(?:::|std::)?(?:_?[eE]xit|quick_exit|abort|terminate|__trap|__builtin_(?:unreachable|trap)"
    r"|unreachable|longjmp|panic|fatal\w*|die|[A-Z][A-Z0-9_]+)\Z"
)
"""By their names; one in capitals may be a macro that returns."""
_POINTERS = frozenset({"pointer_declarator", "reference_declarator"})
_MAY_BE_VOID = re.compile(r"\b(?:auto|decltype|typename|enable_if\w*|void_t)\b|::type\b|_t\s*<")
_MACRO = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_ADVICE = (
    "return a value at its end; until then build with -fno-strict-return, with which clang lets"
    " such a function return to its caller"
)


def return_defects(unit: SourceFile) -> Iterator[Finding]:
    """Of functions on either side."""
    for function in unit.functions:
        if not _returns_value(function) or _ends(function.body):
            continue
        any_return = any(node.type == "return_statement" for node in function.nodes)
        may = "may end" if any_return else "ends"
        name = function.name.lstrip("&* ").partition("(")[0]
        message = f"{name} {may} without a return: clang lets whatever code follows it run"
        yield finding(function.node, name, message, _ADVICE, Severity.WARNING)


def _returns_value(function: FunctionDefinition) -> bool:
    """Whether a type other than ``void`` is written; constructors have none."""
    written = function.node.child_by_field_name("type")
    declarator = function.node.child_by_field_name("declarator")
    if written is None or declarator is None or function.name in {"main", ""}:
        return False
    pointer = False
    while declarator is not None and declarator.type in _POINTERS:
        pointer = pointer or declarator.type == "pointer_declarator"
        declarator = declarator.named_children[-1] if declarator.named_children else None
    if declarator is None or declarator.type != "function_declarator":
        return False  # struct MACRO name {…}
    if function.body.has_error or "noreturn" in text(function.node)[:200]:
        return False
    # With a macro of attributes before it the grammar takes that for the type.
    head = text(function.node)[: declarator.start_byte - function.node.start_byte]
    kind = "void" if re.search(r"\bvoid\s*\Z", head) else text(written).strip()
    if _MAY_BE_VOID.search(kind) or _MACRO.fullmatch(kind):
        return False
    return kind != "void" or pointer


def _ends(node: Node | None) -> bool:
    """Whether control never comes out behind ``node``, or that is not known."""
    if node is None:
        return False
    match node.type:
        case "compound_statement":
            statements = [each for each in node.named_children if each.type not in _ASIDE]
            return any(_ends(each) for each in statements[-1:]) or any(
                each.type in _ENDS for each in statements
            )
        case "if_statement":
            otherwise = node.child_by_field_name("alternative")
            taken = node.child_by_field_name("consequence")
            return otherwise is not None and _ends(taken) and _ends(_only(otherwise))
        case kind if kind in _LOOPS:
            return _is_endless(node)
        case "expression_statement":
            return _never_returns(node)
        case kind if kind in _ENDS:
            return True
        case "declaration" | "empty_statement":
            return False
        case _:  # switch, try, #if: not followed
            return any(each.type in _ENDS for each in outside_lambdas(node)) or node.is_error


def _only(otherwise: Node) -> Node:
    return otherwise.named_children[-1] if otherwise.type == "else_clause" else otherwise


def _is_endless(loop: Node) -> bool:
    condition = loop.child_by_field_name("condition")
    endless = condition is None or re.fullmatch(r"\(?\s*(?:true|1)\s*\)?", text(condition).strip())
    return bool(endless) and not any(
        node.type == "break_statement" and within(node, _BROKEN, loop) is None
        for node in outside_lambdas(loop)
    )


def _never_returns(statement: Node) -> bool:
    call = statement.named_children[0] if statement.named_children else None
    if call is not None and call.type == "identifier":
        return text(call).isupper()  # ABSL_INTERNAL_UNREACHABLE;
    if call is None or call.type != "call_expression":
        return False
    name = text(call.child_by_field_name("function")).strip()
    given = text(call.child_by_field_name("arguments"))
    fails = name == "assert" and re.match(r"\(\s*(?:false|0)\b|\(\s*!\s*\"", given)
    return _NEVER_RETURNS.match(name) is not None or bool(fails)
