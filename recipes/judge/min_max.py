"""Answers that are the rules' translation to the word but for the helpers of ``min`` and ``max``.

The rules write ``cass::mixed_min`` where two types may meet, from what they can read of types; of
two arguments of one type it does what HIP's own ``min`` does. Which is which hangs on declarations,
and an answer that decides otherwise than the rules for equal types is the same program. So is one
that defines a helper which it does not need, or lacks one that it does not.

Nothing is guessed: both programs have to be the same but for these words and these definitions, and
where they differ the compiler is asked. It is given both with each call that is spelled otherwise
replaced by a function that takes two arguments of one type alone, and must make the same code of
both. A call of two types does not compile then: leaving the helper away there stays wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from cass_ray.corpus.parsing.lexer import Token, TokenKind, significant_tokens, splice_lines
from cass_ray.translate.rules.tables import snippets
from recipes.judge.uncompiled_code import never_emitted

_OF_DEVICE, _OF_HOST = "extremes", "host_extremes"
_FREE = frozenset({_OF_DEVICE, _OF_HOST})
"""Helpers that may be defined on one side alone."""
_MARK = "cass_judge_defines_"
"""What stands for the text of a helper begins so, on a line of its own."""
_WORDS = ("min", "max")
_MIXED = {f"mixed_{word}": word for word in _WORDS}
_NAMES = (*_MIXED, "CASS_EXTREMES", "CASS_HOST_EXTREMES")
_NAMED_IN = (".", "->", "::")
_SCOPE = ["cass", "::"]
_CONDITIONS = ("if", "ifdef", "ifndef", "endif")
_LITERALS = frozenset({TokenKind.STRING, TokenKind.RAW_STRING, TokenKind.CHARACTER})
_CALLED = re.compile(r"\bm(?:in|ax)\b")
_BEFORE_A_CALL = frozenset({"return", "else", "do", "case", "co_return", "throw"})
"""Words that a call may follow; behind any other a name is declared."""
_ONE_TYPE = (Path(__file__).parent / "one_type.hpp").read_text(encoding="utf-8")
"""The types that arithmetic keeps, for which HIP's device functions and the helper agree: integers,
and floats, for which the helper calls HIP's. HIP's own for the host are of int alone. What these
functions compute is not run: only which types they take counts."""
_CALLED_ONLY = """\
#pragma push_macro("__host__")
#undef __host__
#define __host__ __attribute__((host))
{}#pragma pop_macro("__host__")
"""
"""Around a helper: of it no functions are emitted that nothing calls."""


@dataclass(frozen=True)
class _Call:
    """A call of ``min`` or ``max`` by a name without a scope, or of the helper of that name."""

    start: int
    end: int
    """Of its name, in the text."""
    word: str
    mixed: bool
    in_macro: bool
    """Whether it is an argument of a macro, which may make a string of it."""


@dataclass(frozen=True)
class _Program:
    """A program, its helpers replaced by :data:`_MARKS`."""

    text: str
    """With spliced lines."""
    calls: tuple[_Call, ...]
    lines: tuple[str, ...]
    """With single spaces, without helpers and with one spelling; none that are empty."""
    literals: tuple[str, ...]
    """Strings and characters: spaces count there."""
    unseen: tuple[str, ...]
    """What the compiler may make no code of, as it is spelled."""
    calls_unseen: bool
    """Whether the program's own part of that calls ``min`` or ``max``."""
    helpers: frozenset[str]


def spelled_apart(translation: str, answer: str) -> tuple[str, str] | None:
    """What the compiler has to make the same code of: the rules' ``translation`` and ``answer``,
    where a call is spelled otherwise by a function of one type.

    None where they differ in more than the helpers of ``min`` and ``max``, or where the compiler
    would not see all of it: in templates and macros, say.
    """
    if not any(name in text for text in (translation, answer) for name in _NAMES):
        return None
    ruled, given = _read(translation), _read(answer)
    if ruled is None or given is None or len(ruled.calls) != len(given.calls):
        return None
    if (ruled.lines, ruled.literals, ruled.unseen) != (given.lines, given.literals, given.unseen):
        return None
    pairs = enumerate(zip(ruled.calls, given.calls, strict=True))
    others = {number for number, (one, other) in pairs if one.mixed != other.mixed}
    if any(ruled.calls[number].in_macro for number in others):
        return None
    if _OF_HOST in ruled.helpers ^ given.helpers and ruled.calls_unseen:
        return None
    return _of_one_type(ruled, others), _of_one_type(given, others)


@lru_cache(maxsize=1024)
def _read(code: str) -> _Program | None:
    """None where it cannot be told which ``min`` is called, or where a helper is defined."""
    if _MARK in code:
        return None
    bare = own = code
    for name, text in snippets().items():  # longer ones first
        code, own = code.replace(text, f"{_MARK}{name}\n"), own.replace(text, "")
        bare = bare.replace(text, "") if name in _FREE else bare
    text = splice_lines(code)
    found = [token for token in significant_tokens(text) if token.kind is not TokenKind.NEWLINE]
    helpers, calls = _helpers_of(found, text), _calls_of(found)
    if helpers is None or calls is None:
        return None
    plain = text
    for call in reversed(calls):
        plain = plain[: call.start] + call.word + plain[call.end :]
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    return _Program(
        text,
        tuple(calls),
        tuple(line for line in lines if line and line.removeprefix(_MARK) not in _FREE),
        tuple(token.text for token in found if token.kind in _LITERALS),
        tuple(sorted(never_emitted(bare).elements())),
        any(map(_CALLED.search, never_emitted(own))),
        helpers & _FREE,
    )


def _helpers_of(found: Sequence[Token], text: str) -> frozenset[str] | None:
    """The helpers that are defined; None where one is defined twice or inside of anything."""
    helpers, depth = [], 0
    for before, token in pairwise([Token(TokenKind.NEWLINE, "", 0), *found]):
        if token.text in ("{", "}"):
            depth += 1 if token.text == "{" else -1
        elif before.text == "#" and token.text in _CONDITIONS:
            depth += -1 if token.text == "endif" else 1
        elif token.text.startswith(_MARK):
            if depth or (token.start and text[token.start - 1] != "\n"):
                return None
            helpers.append(token.text.removeprefix(_MARK))
    marks = text.count(_MARK)  # in a comment or a string it defines nothing
    return frozenset(helpers) if len(helpers) == len(set(helpers)) == marks else None


def _calls_of(found: Sequence[Token]) -> list[_Call] | None:
    """None where the program declares ``min`` or ``max`` itself, or names them otherwise."""
    macros = {"assert"} | {name.text for word, name in pairwise(found) if word.text == "define"}
    calls: list[_Call] = []
    around: list[str] = []
    """What each parenthesis that is open belongs to."""
    none = Token(TokenKind.NEWLINE, "", 0)
    for number, own in enumerate(found):
        before = found[number - 1] if number else none
        if own.text == "(":
            around.append(before.text)
        elif own.text == ")" and around:
            around.pop()
        if own.kind is not TokenKind.IDENTIFIER or own.text not in (*_WORDS, *_MIXED):
            continue
        if own.text in _WORDS and before.text in _NAMED_IN:  # of a namespace or a class
            if _is_used(found, number):
                return None
            continue
        is_called = _is_called(found, number)
        end, in_macro = own.start + len(own.text), not macros.isdisjoint(around)
        if own.text in _MIXED:
            if not is_called or [each.text for each in found[number - 2 : number]] != _SCOPE:
                return None
            start = found[number - 2].start
            calls.append(_Call(start, end, _MIXED[own.text], True, in_macro))
        elif not is_called:
            return None
        else:
            calls.append(_Call(own.start, end, own.text, False, in_macro))
    return calls


def _is_used(found: Sequence[Token], number: int) -> bool:
    """Whether the name at ``number`` is brought by ``using`` where it is then called without a
    scope."""
    for token in reversed(found[:number]):
        if token.text in (";", "{", "}", "using"):
            return token.text == "using"
    return False


def _is_called(found: Sequence[Token], number: int) -> bool:
    """Whether the name at ``number`` is called there, not declared and not named otherwise."""
    before = found[number - 1] if number else None
    is_word = before is not None and before.kind is TokenKind.IDENTIFIER
    if before is not None and is_word and before.text not in _BEFORE_A_CALL:
        return False
    depth = 0
    for place in range(number + 1, len(found)):
        depth += {"(": 1, ")": -1}.get(found[place].text, 0)
        if depth == 0:
            break
    else:
        return False
    if place == number + 1:  # no parenthesis
        return False
    behind = found[place + 1] if place + 1 < len(found) else None
    # A body follows, or a word like `const`: this is its declaration, of a type in `*`, `&` or `>`.
    return behind is None or (behind.text != "{" and behind.kind is not TokenKind.IDENTIFIER)


def _of_one_type(program: _Program, others: set[int]) -> str:
    """``program`` with the calls of numbers ``others`` by a function that takes one type, lines
    counted without helpers, the host's helper without functions that nothing calls."""
    text = program.text
    for number, call in reversed(list(enumerate(program.calls))):
        if number in others:
            text = f"{text[: call.start]}::cass_judge::of_one_type_{call.word}{text[call.end :]}"
    made, place = [_ONE_TYPE, "#line 1\n"], 1
    for line in text.split("\n"):
        if line.startswith(_MARK):
            name = line.removeprefix(_MARK)
            helper = snippets()[name]
            made.append(_CALLED_ONLY.format(helper) if name in _FREE else helper)
            made.append(f"#line {place}\n")
        elif line.strip():
            made.append(line + "\n")
            place += 1
    return "".join(made)
