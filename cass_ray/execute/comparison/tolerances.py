"""How far floats may differ, by the types that a program computes with."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator

from cass_ray.corpus.parsing.lexer import TokenKind, significant_tokens
from cass_ray.execute.comparison.compare import BF16, F16, F32, F64, Tolerance
from cass_ray.execute.comparison.kernel_words import kernel_words

_HALF = re.compile(r"__half2?|__half_raw|float16_t|_Float16")
_BFLOAT = re.compile(
    r"__nv_bfloat162?|__hip_bfloat162?|hip_bfloat16|nv_bfloat162?|__hip_fp8_\w+|__nv_fp8_\w+"
)
_PLAIN_HALF = re.compile(r"half2?")
_HALF_HEADER = re.compile(r"fp16|bf16|bfloat16|fp8")
_FLOAT = re.compile(r"float[1-4]?")
_FLOAT_LITERAL = re.compile(r"[\d.]+(?:[eE][+-]?\d+)?[fF]")
_DOUBLE = re.compile(r"double[1-4]?")


_REMEMBERED = 64
"""Originals whose tolerance is known: each is asked for with each new answer to it."""


def tolerance_for(sources: Iterable[str]) -> Tolerance:
    """By the least precise type that device functions name; where they name none, or are templates,
    that the program names outside ``main``; f32 where it names none.

    ``main`` is left out because timings are floats in programs that compute with doubles.
    """
    return _tolerance_for(tuple(sources))


@functools.lru_cache(maxsize=_REMEMBERED)
def _tolerance_for(texts: tuple[str, ...]) -> Tolerance:
    half_header = any(
        token.kind is TokenKind.INCLUDE and _HALF_HEADER.search(token.text)
        for text in texts
        for token in significant_tokens(text)
    )
    anywhere = {word for text in texts for word in _words_outside_main(text)}
    least = _least_precise(kernel_words(texts), half_header)
    return least or _least_precise(anywhere, half_header) or F32


def _least_precise(words: Collection[str], half_header: bool) -> Tolerance | None:
    if any(_BFLOAT.fullmatch(word) for word in words):
        return BF16
    if any(_HALF.fullmatch(word) for word in words):
        return F16
    if half_header and any(_PLAIN_HALF.fullmatch(word) for word in words):
        return F16
    if any(_FLOAT.fullmatch(word) or _FLOAT_LITERAL.fullmatch(word) for word in words):
        return F32
    return F64 if any(_DOUBLE.fullmatch(word) for word in words) else None


def _words_outside_main(source: str) -> Iterator[str]:
    """Identifiers and numbers, without those in the body of ``main``."""
    in_main, depth, previous = False, 0, ""
    for token in significant_tokens(source):
        if token.text == "main" and previous in {"int", "auto"} and depth == 0:
            in_main = True
        if token.text in "{}" and token.kind is TokenKind.PUNCTUATOR:
            depth += 1 if token.text == "{" else -1
            if in_main and depth == 0:
                in_main = False
        if not in_main and token.kind in (TokenKind.IDENTIFIER, TokenKind.NUMBER):
            yield token.text
        previous = token.text
