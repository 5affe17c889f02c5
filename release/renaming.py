"""Packages renamed in Python source: imports are rewritten, and nothing else may name them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_FROM = re.compile(rb"from\s+(\w+)")
_NAME = re.compile(rb"(\w+)")


class CannotRename(Exception):
    """Something names a package in a way that would be wrong after renaming."""


def renamed_target(target: str, names: Mapping[str, str]) -> str:
    """An entry point's ``package.module:attribute``, after renaming."""
    top, dot, rest = target.partition(".")
    return f"{names.get(top, top)}{dot}{rest}"


def renamed_source(text: bytes, names: Mapping[str, str], tree: Path, place: str) -> bytes:
    """``text``, a module in UTF-8, with its imports of ``names`` renamed.

    Raises :class:`CannotRename` for what would break at run time: a plain ``import jobs``, which
    binds the old name, and text that names a module of theirs which is in ``tree``.
    """
    nodes = list(ast.walk(ast.parse(text)))
    _refuse_names_in_text(nodes, names, tree, place)
    lines = text.splitlines(keepends=True)
    # Backwards, so that places in the same line stay right.
    for row, column, pattern in sorted(_places(nodes, names, place), reverse=True):
        line = lines[row]
        found = pattern.match(line, column)
        if found is None:
            raise CannotRename(f"{place}:{row + 1}: this import is not understood")
        new = names[found[1].decode()].encode()
        lines[row] = line[: found.start(1)] + new + line[found.end(1) :]
    return b"".join(lines)


def _places(
    nodes: list[ast.AST], names: Mapping[str, str], place: str
) -> Iterator[tuple[int, int, re.Pattern[bytes]]]:
    """Row and column (in bytes) of each import of ``names``, and what finds the name from there."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level and _top(node.module) in names:
            yield node.lineno - 1, node.col_offset, _FROM
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _top(alias.name) not in names:
                    continue
                if alias.asname is None:
                    raise CannotRename(
                        f"{place}:{alias.lineno}: `import {alias.name}` binds a name that the "
                        f"wheel does not have: write `from … import …`"
                    )
                yield alias.lineno - 1, alias.col_offset, _NAME


def _refuse_names_in_text(
    nodes: list[ast.AST], names: Mapping[str, str], tree: Path, place: str
) -> None:
    """Text that a program imports or runs is not renamed: it is to be made of ``__name__``."""
    dotted = re.compile(rf"(?:^|-m |import |from )((?:{'|'.join(names)})(?:\.[a-z_0-9]+)+)")
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        for name in dotted.findall(node.value):
            if _is_module(tree, name):
                raise CannotRename(
                    f"{place}:{node.lineno}: the text names the module {name}, which has another "
                    f"name in a wheel: make it of __name__"
                )


def _is_module(tree: Path, dotted: str) -> bool:
    path = tree.joinpath(*dotted.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]
