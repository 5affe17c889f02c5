"""Whether an answer is the program that was asked for, from its text alone.

What only compiles is easily had: by leaving out what does not. So an answer keeps every word that
the rules' translation keeps of the program and every one that it adds, names the runtime as often,
and adds nothing that could switch code off. Comments do not count on either side.

What the rules add they add because HIP is wrong without it, and compiles: ``min`` of a signed and
an unsigned number compares as double. A policy that was not asked for these words learned to leave
them away (benchmarks/results/models.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from cass_ray.corpus.parsing.lexer import TokenKind, significant_tokens

_WORDS = frozenset(
    {TokenKind.IDENTIFIER, TokenKind.NUMBER, TokenKind.STRING, TokenKind.RAW_STRING}
    | {TokenKind.CHARACTER, TokenKind.INCLUDE}
)
_MARKS = frozenset({"<<<", "&&", "||", "?", "~", "!"})
_RUNTIME = re.compile(r"(?:__)?(?:hip|HIP|roc|thrust)\w*")
_DIRECTIVES = "#if #ifdef #ifndef #elif #else #endif #undef #define #pragma"
_CONTROL = "if else for while do switch case default goto break continue return throw try catch"
_ENDS = "exit _exit _Exit quick_exit abort __builtin_trap __builtin_unreachable assert asm __asm__"
_COMPILED_AWAY = (
    "template typename auto decltype constexpr static_assert requires sizeof typeof __typeof__"
    " weak alias __attribute__ && || ?"
)
_SWITCHES = frozenset(f"{_DIRECTIVES} {_CONTROL} {_ENDS} {_COMPILED_AWAY}".split())
"""What could keep code from being compiled or reached."""
_ASSEMBLY = ("asm", "__asm__", "__asm")
_SHOWN = 8


@lru_cache(maxsize=2048)
def _counts(source: str) -> Counter[str]:
    return Counter(_words(source))


@lru_cache(maxsize=2048)
def _followers(source: str) -> Counter[tuple[str, str]]:
    """How often each word is followed by which."""
    return Counter(pairwise(_words(source)))


def _words(source: str) -> Iterator[str]:
    directive = False
    for token in significant_tokens(source):
        if token.kind in _WORDS:
            yield f"#{token.text}" if directive else token.text
        elif token.text in _MARKS:
            yield token.text
        directive = token.text in ("#", "%:")


def left_out(question: str, translation: str, answer: str) -> str:
    """What ``answer`` lacks or adds, in words; empty where it is the program of ``question``.

    Args:
        question: the CUDA program.
        translation: what the rules make of it; it need not compile.
        answer: a HIP program.
    """
    asked, ruled, given = _counts(question), _counts(translation), _counts(answer)
    missing = (asked & ruled) - given
    if kept := [word for word in missing if "include" not in word]:
        return f"it leaves out {', '.join(sorted(kept)[:_SHOWN])}"
    if any(given[word] > ruled[word] for word in _ASSEMBLY):
        return "it has inline assembly that the translation has not"
    if (calls := _runtime(given)) < (wanted := _runtime(ruled)):
        return f"it names the runtime {calls} times, the translation {wanted} times"
    if lacking := sorted(word for word in ruled - given if not _named_freely(word)):
        return f"it lacks {', '.join(lacking[:_SHOWN])}, which the translation has"
    new = {word for word in ruled - asked if not _named_freely(word)}
    moved = _followers(translation) - _followers(answer)
    if elsewhere := sorted({word for word, _ in moved if word in new}):
        return f"it has {', '.join(elsewhere[:_SHOWN])} elsewhere than the translation"
    if added := sorted(word for word in given - (asked | ruled) if word in _SWITCHES):
        return f"it adds {', '.join(added[:_SHOWN])}"
    return ""


def _named_freely(word: str) -> bool:
    """Whether another word may do as well: names of the runtime, which are counted, and headers."""
    return "include" in word or _RUNTIME.fullmatch(word) is not None


def _runtime(counts: Counter[str]) -> int:
    """How often functions, types and values of AMD's runtime are named."""
    return sum(number for word, number in counts.items() if _RUNTIME.fullmatch(word))
