"""The words of a program's device functions, and of what it defines the names in them as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cass_ray.corpus.parsing.lexer import Token, TokenKind, significant_tokens

_DEVICE = frozenset({"__global__", "__device__"})
_WORDS = (TokenKind.IDENTIFIER, TokenKind.NUMBER)


def kernel_words(sources: Iterable[str]) -> frozenset[str]:
    """Identifiers and numbers of device functions, and of what ``typedef``, ``using``, ``#define``,
    ``struct`` and the like say of a name that stands there.

    Empty where a device function is a template: what it computes with is said where it is used.
    """
    words: set[str] = set()
    defined: dict[str, set[str]] = {}
    for source in sources:
        tokens = list(significant_tokens(source))
        for index, token in enumerate(tokens):
            if token.text in _DEVICE:
                if _is_template(tokens, index):
                    return frozenset()
                words |= _texts(tokens[index : _function_end(tokens, index)])
            elif token.kind is TokenKind.IDENTIFIER:
                _define(tokens, index, defined)
    return frozenset(_closed(words, defined))


def _closed(words: set[str], defined: dict[str, set[str]]) -> set[str]:
    closed: set[str] = set()
    waiting = list(words)
    while waiting:
        word = waiting.pop()
        if word not in closed:
            closed.add(word)
            waiting += defined.get(word, ())
    return closed


def _texts(tokens: Sequence[Token]) -> set[str]:
    return {token.text for token in tokens if token.kind in _WORDS}


def _is_template(tokens: Sequence[Token], index: int) -> bool:
    """Whether ``template <…>`` stands between what ends before and ``index``."""
    while index > 0 and tokens[index - 1].text not in {";", "}", "{"}:
        index -= 1
        if tokens[index].text == "template":
            return True
    return False


def _function_end(tokens: Sequence[Token], index: int) -> int:
    """Behind the body, or the semicolon, of what is declared at ``index``."""
    depth = 0
    for place in range(index, len(tokens)):
        text = tokens[place].text
        depth += (text == "{") - (text == "}")
        if depth == 0 and text in {";", "}"}:
            return place + 1
    return len(tokens)


def _define(tokens: Sequence[Token], index: int, defined: dict[str, set[str]]) -> None:
    word = tokens[index].text
    following = tokens[index + 1 : index + 2]
    if word == "define":
        end = _until(tokens, index, TokenKind.NEWLINE)
        names = following
    elif word == "using":
        end = _function_end(tokens, index)
        names = following
    elif word == "typedef":
        end = _function_end(tokens, index)
        names = [each for each in tokens[index + 1 : end] if each.kind in _WORDS][-1:]
    elif word in {"struct", "class", "union"}:
        end = _function_end(tokens, index)
        names = following
    else:
        return
    for name in names:
        defined.setdefault(name.text, set()).update(_texts(tokens[index + 1 : end]))


def _until(tokens: Sequence[Token], index: int, kind: TokenKind) -> int:
    while index < len(tokens) and tokens[index].kind is not kind:
        index += 1
    return index
