"""Inline PTX that a macro builds from its arguments, ``"shfl."#direction".b32"``.

Such a statement has a meaning for each use of the macro alone. For each set of arguments that the
file uses it with there is one macro more, with the C++ of that statement, and the statement becomes
the name of the right one, put together from the same arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span

_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<parameters>[\w \t,]*)\)")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\s*##\s*|#\s*[A-Za-z_]\w*|[A-Za-z_]\w*')
_STRINGS = re.compile(r'"((?:[^"\\\n]|\\.)*)"[\s\\]*"((?:[^"\\\n]|\\.)*)"')
_OPERAND = re.compile(r'("[^"\\]*,\s*)"\s*#\s*(\w+)\s*"(\s*[,;][^"\\]*")')
_PLAIN = re.compile(r"\w+")
_MOST_USES = 200

Translate = Callable[[Rewrite, int], str]
"""The C++ for the statement behind an offset of a file; raises ``UnknownInstructionError``."""


@dataclass(frozen=True)
class _Macro:
    name: str
    start: int
    parameters: tuple[str, ...]


def write_out(unit: Rewrite, statement: Span, word: str, translate: Translate) -> bool:
    """Replace the ``asm`` statement in a macro's body; False where that cannot be done.

    Raises what ``translate`` does for one of the uses.
    """
    text = unit.source.text
    macro = _enclosing(unit, statement)
    if macro is None:
        return False
    body = text[slice(*statement)]
    used = [name for name in macro.parameters if re.search(rf"\b{name}\b", body)]
    uses = _uses(unit, macro, used)
    if used and not uses and (constant := _with_constants(body, macro.parameters)):
        one = Rewrite(constant, "", unit.context)
        unit.edits.replace(*statement, translate(one, len(word)))
        unit.snippets |= one.snippets
        return True
    if not used or not uses:
        return False
    line = text.count("\n", 0, statement[0]) + 1
    stem = f"CASS_PTX_{macro.name}_{line}"
    definitions = []
    for arguments in uses:
        one = Rewrite(_expanded(body, dict(zip(used, arguments, strict=True))), "", unit.context)
        code = translate(one, len(word))
        unit.snippets |= one.snippets
        name = "_".join((stem, *arguments))
        definitions.append(f"#define {name} {code}{unit.source.newline}")
    unit.edits.insert(macro.start, "".join(definitions))
    unit.edits.replace(*statement, "##_##".join((f"{stem}", *used)))
    return True


def _with_constants(body: str, parameters: tuple[str, ...]) -> str:
    """``body`` with constants of the statement for arguments that stand in its text as operands,
    ``"shl.b32 %0, %1, " #n ";"``; empty where others stand in it.
    """
    text, names = _expanded(body, {}), list[str]()

    def constant(match: re.Match[str]) -> str:
        names.append(match[2])
        return f"{match[1]}%[cass_{match[2]}]{match[3]}"

    text = _OPERAND.sub(constant, text)
    left = _TOKEN.sub(lambda each: "#" if each[0].startswith("#") else "", text)
    if not names or "#" in left or not set(names) <= set(parameters) or text.count(" : ") != 2:
        return ""
    operands = "".join(f', [cass_{name}] "n"({name})' for name in dict.fromkeys(names))
    return f"{text.rstrip()[:-1]}{operands})"


def _enclosing(unit: Rewrite, statement: Span) -> _Macro | None:
    """The macro that ``statement`` is in the body of."""
    start = unit.source.logical_line(statement[0])
    match = _DEFINE.match(unit.source.text, start)
    if match is None or unit.source.logical_line(statement[1] - 1) != start:
        return None
    parameters = tuple(name.strip() for name in match["parameters"].split(","))
    return _Macro(match["name"], start, parameters)


def _uses(unit: Rewrite, macro: _Macro, used: list[str]) -> list[tuple[str, ...]]:
    """What the file gives for ``used``, each set of arguments once; empty where one is no word."""
    found: dict[tuple[str, ...], None] = {}
    code, text = unit.source.code, unit.source.text
    for offset in unit.words.get(macro.name, ()):
        line = code[code.rfind("\n", 0, offset) + 1 : offset].lstrip()
        call = unit.call(offset, macro.name)
        if line.startswith("#") or call is None:
            continue
        if len(call[0]) != len(macro.parameters):
            return []
        given = dict(zip(macro.parameters, (text[a:b].strip() for a, b in call[0]), strict=True))
        arguments = tuple(given[name] for name in used)
        if not all(_PLAIN.fullmatch(item) for item in arguments) or len(found) > _MOST_USES:
            return []
        found[arguments] = None
    return list(found)


def _expanded(body: str, arguments: dict[str, str]) -> str:
    """``body`` as the preprocessor makes it, on one line, adjacent strings joined."""

    def token(match: re.Match[str]) -> str:
        word = match[0]
        if word.startswith('"'):
            return word
        if word.strip() == "##":
            return ""
        if word.startswith("#"):
            name = word[1:].strip()
            return f'"{arguments[name]}"' if name in arguments else word
        return arguments.get(word, word)

    text = re.sub(r"\\\r?\n", " ", _TOKEN.sub(token, body))
    while (joined := _STRINGS.sub(r'"\1\2"', text)) != text:
        text = joined
    return text
