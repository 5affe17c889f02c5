"""Finds kernel definitions by a scan over tokens, without parsing the program."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.parsing.lexer import Token, TokenKind, significant_tokens

_ATTRIBUTES = frozenset(
    {
        "__launch_bounds__",
        "__cluster_dims__",
        "__maxnreg__",
        "__block_size__",
        "__attribute__",
        "__declspec",
        "alignas",
        "__align__",
        "requires",
        "noexcept",
    }
)


IN_MACRO = "#define"
"""Stands for the name of a kernel whose ``__global__`` is inside a macro."""


@dataclass(frozen=True, slots=True)
class SourceKernel:
    """A kernel definition in CUDA or OpenCL text, as far as a lexer sees it."""

    name: str
    """The function's name, or ``IN_MACRO``: what the macro expands to is for the compiler."""
    body: tuple[str, ...]
    """Tokens between the braces; empty for ``IN_MACRO``."""


@functools.lru_cache(maxsize=4)
def find_kernels(source: str, dialect: Dialect = CUDA) -> tuple[SourceKernel, ...]:
    """The kernels that ``source`` defines, in order; declarations do not count.

    Several filters ask, one after the other, of one source: the last few answers are kept.
    """
    if not any(word in source for word in dialect.kernel_words):
        return ()
    kernels = []
    for after, in_directive in _after_marks(source, dialect.kernel_words):
        if in_directive:
            kernels.append(SourceKernel(IN_MACRO, ()))
        elif name := _defined_function(after):
            kernels.append(SourceKernel(name, _body(after)))
    return tuple(kernels)


def kernel_definitions(source: str, dialect: Dialect = CUDA) -> list[str]:
    """Names of the kernels that ``source`` defines, in order, once each."""
    return list(dict.fromkeys(kernel.name for kernel in find_kernels(source, dialect)))


_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_HARMLESS_CALLS = frozenset(
    {"printf", "if", "for", "while", "switch", "return", "sizeof", "__syncthreads", "__syncwarp"}
)


def only_prints(kernel: SourceKernel) -> bool:
    """Whether the kernel is empty, or prints and does nothing else: no store, no other call.

    Declarations with an initializer are not stores; any other assignment counts as one.
    """
    if kernel.name == IN_MACRO or (kernel.body and "printf" not in kernel.body):
        return False
    body = ("{", *kernel.body)
    for position, text in enumerate(body):
        before = body[position - 1]
        if text in _ASSIGNMENTS and not _is_declaration(body, position):
            return False
        if text in ("++", "--") and before == "]":
            return False
        if text == "(" and _may_call(before):
            return False
        if text in ("asm", "__asm__"):
            return False
    return True


def _may_call(before: str) -> bool:
    """Whether a parenthesis after ``before`` may be a call (``f(``, ``f<int>(``, ``table[i](``)."""
    if before.isidentifier():
        return before not in _HARMLESS_CALLS
    return before in (">", ">>", ">>>", "]", ")")


def _is_declaration(body: tuple[str, ...], position: int) -> bool:
    """Whether the ``=`` at ``position`` initializes: ``int i =``, ``float *p =``, ``auto x =``."""
    if body[position] != "=" or not body[position - 1].isidentifier():
        return False
    before = body[position - 2]
    if before in ("*", "&"):
        return body[position - 3].isidentifier()
    return before.isidentifier() or before in (">", ",")


def _after_marks(source: str, marks: tuple[str, ...]) -> Iterator[tuple[Iterator[Token], bool]]:
    """For each of ``marks``: the code tokens after it, and whether a directive holds it."""
    code: list[Token] = []
    found: list[tuple[int, bool]] = []
    line_start, in_directive = True, False
    for token in significant_tokens(source):
        if token.kind is TokenKind.NEWLINE:
            line_start, in_directive = True, False
            continue
        if line_start and (token.kind is TokenKind.INCLUDE or token.text in ("#", "%:")):
            in_directive = True
        line_start = False
        if token.text in marks and token.kind is TokenKind.IDENTIFIER:
            found.append((len(code), in_directive))
        if not in_directive:
            code.append(token)
    for number, (position, inside) in enumerate(found):
        end = found[number + 1][0] if number + 1 < len(found) else len(code)
        begin = position if inside else position + 1
        yield iter(code[begin:end]), inside


def _defined_function(following: Iterator[Token]) -> str:
    """The name of the function whose declarator follows, or "" when no body does."""
    name = ""
    previous = ""
    for token in following:
        text = token.text
        if text == ";":
            return ""
        if text == "{":
            return name
        if text == "(":
            _skip_parentheses(following)
            if previous and previous not in _ATTRIBUTES:
                name = previous
            previous = ""
        elif token.kind is TokenKind.IDENTIFIER:
            previous = text
        elif text == "<" and previous:
            # Template arguments of an explicit specialization keep the name before them.
            _skip_template_arguments(following)
        else:
            previous = ""
    return ""


def _body(following: Iterator[Token]) -> tuple[str, ...]:
    """The tokens up to the brace that closes the one just passed."""
    depth = 1
    body: list[str] = []
    for token in following:
        if token.text == "{":
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                break
        body.append(token.text)
    return tuple(body)


def _skip_parentheses(following: Iterator[Token]) -> None:
    depth = 1
    for token in following:
        if token.text == "(":
            depth += 1
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                return


def _skip_template_arguments(following: Iterator[Token]) -> None:
    depth = 1
    for token in following:
        if token.text == "<":
            depth += 1
        elif token.text == "(":
            _skip_parentheses(following)
        elif token.text in (">", ">>", ">>>"):
            depth -= len(token.text)
        if depth <= 0 or token.text in (";", "{"):
            return
