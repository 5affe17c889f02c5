"""Classes of compile errors, from the messages of clang, its assembler, GNU as, nvcc and ptxas.

The paper's classes of what fails in assembly are invalid instructions, invalid directives and
invalid operands; registers, symbols, metadata and syntax are kept apart here. Errors in source text
have classes of their own.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from pathlib import Path

from cass_ray.dataset.row import Reason


class ErrorClass(StrEnum):
    """What a compiler or an assembler objects to."""

    # assembly
    INSTRUCTION = "invalid_instruction"
    OPERAND = "invalid_operand"
    REGISTER = "invalid_register"
    DIRECTIVE = "invalid_directive"
    METADATA = "invalid_metadata"
    SYMBOL = "symbol"  # defined twice, or not at all
    # source
    UNDECLARED = "undeclared_identifier"
    UNKNOWN_TYPE = "unknown_type"
    HEADER = "missing_header"
    ARGUMENTS = "no_matching_function"
    TYPES = "type_mismatch"
    INLINE_ASSEMBLY = "inline_assembly"
    # both
    SYNTAX = "syntax"
    NO_DEVICE_CODE = "no_device_code"
    LIMIT = "limit"  # time, memory or output of the compiler
    CRASH = "compiler_crashed"
    REFUSED = "refused"  # reads a file that it must not see
    OTHER = "other"


_MESSAGE = re.compile(
    r"^(?:[^\s:(][^\n:(]*?[:(]\d+[:)](?:\d+:)?[ \t]*|ptxas \S+, line \d+; )?"
    r":?[ \t]*(?:fatal |catastrophic )?(?:[Ee]rror)(?:[ \t]*#[\w-]+)?[ \t]*:[ \t]*(?P<message>.*)$"
    r"|^(?:\S{0,200}ld\S{0,100}: )?error: (?P<linker>(?:undefined|duplicate) symbol.*)$",
    re.MULTILINE,
)
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_RULES = [
    (ErrorClass(name), re.compile("|".join(patterns), re.IGNORECASE))
    for name, patterns in _TABLE.items()
]
_BY_REASON = {
    Reason.NO_DEVICE_CODE: ErrorClass.NO_DEVICE_CODE,
    Reason.TIME_LIMIT: ErrorClass.LIMIT,
    Reason.MEMORY_LIMIT: ErrorClass.LIMIT,
    Reason.OUTPUT_LIMIT: ErrorClass.LIMIT,
    Reason.COMPILER_KILLED: ErrorClass.LIMIT,
    Reason.COMPILER_CRASHED: ErrorClass.CRASH,
    Reason.FORBIDDEN_INCLUDE: ErrorClass.REFUSED,
    Reason.MISSING_HEADER: ErrorClass.HEADER,
}
_OPERANDS_OF_CPP = re.compile(r"invalid operands to binary|invalid argument type", re.IGNORECASE)


def classify_message(message: str) -> ErrorClass:
    """The class of one error, from its words after ``error:``."""
    if _OPERANDS_OF_CPP.search(message):
        return ErrorClass.TYPES
    return next((name for name, rule in _RULES if rule.search(message)), ErrorClass.OTHER)


def error_messages(diagnostic: str) -> list[str]:
    """The words of every error in what a tool printed, in order."""
    return [
        (match["message"] or match["linker"]).strip() for match in _MESSAGE.finditer(diagnostic)
    ]


def classify(diagnostic: str, reason: Reason | None = None) -> list[ErrorClass]:
    """The class of every error, in order; one class where only ``reason`` is known."""
    if reason in _BY_REASON:
        return [_BY_REASON[reason]]
    result = [classify_message(message) for message in error_messages(diagnostic)]
    return result or [classify_message(diagnostic)]
