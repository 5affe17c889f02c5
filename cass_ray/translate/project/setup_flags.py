"""Flags of nvcc in Python: in lists, comprehensions and calls of ``append`` of a ``setup.py``.

What stays is left as it is written, comments and line breaks too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from cass_ray.translate.project.nvcc_flags import FLAG_RULES
from cass_ray.translate.project.python_edits import PythonEdit, PythonText

_TAKES_A_VALUE = re.compile(
    r"-X(?:ptxas|fatbin|cudafe)|-gencode|-t|-{1,2}(?:gpu-architecture|arch|code"
    r"|maxrregcount|ptxas-options|diag-suppress|threads|split-compile)"
)
"""An option of nvcc alone, whose value is the next item."""
_VALUE = re.compile(r"arch=compute_\S+,\s*code=\S+")
"""The value of ``-gencode``, wherever it stands."""
_FOR_HOST = frozenset({"-Xcompiler", "--compiler-options", "-compiler-options"})
"""An option of nvcc whose value, the next item, are options of the host's compiler."""
_JOINED = frozenset({"-std", "--std"})
_ADDING = frozenset({"append", "add"})
_PURE = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Subscript),
    *(ast.Tuple, ast.List, ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop),
)
_PURE_CALLS = frozenset({"Version", "LooseVersion", "parse", "int", "float", "len"})


def without_nvcc(text: str) -> tuple[str, int] | None:
    """``text`` with hipcc's flags, and how many were changed; None where it is no Python 3."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    source = _Source(text)
    edits: list[PythonEdit] = []
    for node in ast.walk(tree):
        edits += source.edits(node)
    return PythonEdit.apply(edits, text), len(edits)


def _is_word(value: ast.expr) -> bool:
    """Whether ``value`` is a text that is known only when the file runs."""
    return isinstance(value, ast.Name | ast.Attribute | ast.JoinedStr | ast.Subscript | ast.Call)


def _begins(rule: re.Pattern[str], flag: str, value: str) -> bool:
    """Whether a rule about the name of an option alone is about ``flag`` before ``value``."""
    matches = (rule.match(f"{flag}{between}{value}") for between in "= ")
    return any(match is not None and match.end() == len(flag) + 1 for match in matches)


def _is_pure(test: ast.expr) -> bool:
    """Whether to ask it does nothing: comparisons of names, numbers and versions."""
    match test:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=items, keywords=[]):
            return name in _PURE_CALLS and all(_is_pure(item) for item in items)
    parts = ast.iter_child_nodes(test)
    return isinstance(test, _PURE) and all(
        _is_pure(part) if isinstance(part, ast.expr) else isinstance(part, _PURE) for part in parts
    )


class _Source(PythonText):
    """Edits of flags."""

    def edits(self, node: ast.AST) -> Iterator[PythonEdit]:
        """What to do at ``node`` itself."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                yield from self._items(items)
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) if self._new(item) == "":
                nothing = "[]" if isinstance(node, ast.ListComp) else "(())"
                yield PythonEdit(*self.span(node), nothing)
            case ast.Call(func=ast.Attribute(attr="get_gencode_flags"), args=[]):
                # PyTorch makes nvcc's flags of its architectures, and fails for those of AMD.
                yield PythonEdit(*self.span(node), '""')
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[item])):
                if name in _ADDING and (new := self._new(item)):
                    yield PythonEdit(*self.span(item), self.quoted(item, new))
        for block in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, block, None), list):
                yield from self._statements(statements)

    def _statements(self, block: Sequence[ast.stmt]) -> Iterator[PythonEdit]:
        """Statements that do nothing but add flags of nvcc's go; a block is not left empty."""
        gone = [statement for statement in block if self._goes(statement)]
        for index, statement in enumerate(gone):
            start, end = self.span(statement)
            line = self.text.rfind("\n", 0, start) + 1
            behind = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)").match(self.text, end)
            keeps = index == 0 and len(gone) == len(block)
            if keeps or self.text[line:start].strip() or behind is None:
                yield PythonEdit(start, end, "pass")
            else:
                yield PythonEdit(line, behind.end(), "")

    def _goes(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[item])):
                return name in _ADDING and (self._new(item) == "" or self._takes_a_value(item))
            case ast.If(test=test, body=body, orelse=[]) if not self._is_elif(statement):
                # A condition on nvcc's version would be asked without it.
                return _is_pure(test) and all(self._goes(inner) for inner in body)
        return False

    def _is_elif(self, statement: ast.stmt) -> bool:
        return self.text.startswith("elif", self.span(statement)[0])

    def _items(self, items: Sequence[ast.expr]) -> Iterator[PythonEdit]:
        removed: list[tuple[int, int]] = []  # neighbours as one: their texts would overlap
        index = 0
        while index < len(items):
            item, after = items[index], index + 1
            new = self._new(item)
            pair = self._pair(item, items[after]) if after < len(items) else None
            if pair:
                start, end = self.span(item)[0], self.span(items[after])[1]
                yield PythonEdit(start, end, self.quoted(item, pair))
                index = after + 1
                continue
            if self._flag(item) in _JOINED and after < len(items) and _is_word(items[after]):
                # Clang takes the standard behind an equals sign alone.
                start, end = self.span(item)[0], self.span(items[after])[0]
                yield PythonEdit(start, end, f"{self.quoted(item, '-std=')} + ")
                index = after + 1
                continue
            if pair == "" or (self._takes_a_value(item) and after < len(items)):
                new, after = "", after + 1
            elif self._flag(item) in _FOR_HOST and after < len(items):
                yield from self._for_host(items[after])
                new = ""
            if new:
                yield PythonEdit(*self.span(item), self.quoted(item, new))
            elif new == "":
                first = removed.pop()[0] if removed and removed[-1][1] == index else index
                removed.append((first, after))
            index = after
        for first, after in removed:
            yield self._removal(items, first, after)

    def _for_host(self, item: ast.expr) -> Iterator[PythonEdit]:
        """nvcc hands it to a shell, which takes quotes away, and makes words of it at commas."""
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            words = re.split(r",(?=-)|\s+", item.value.strip().strip("'\""))
            new = ", ".join(self.quoted(item, word) for word in words if word)
            yield PythonEdit(*self.span(item), new)

    def _removal(self, items: Sequence[ast.expr], first: int, after: int) -> PythonEdit:
        """``items`` from ``first`` to ``after``, and what stands between them and the next."""
        start = self.span(items[first])[0]
        if after < len(items):
            return PythonEdit(start, self.span(items[after])[0], "")
        end = self.span(items[after - 1])[1]
        rest = re.compile(r"\s*,").match(self.text, end)
        end = rest.end() if rest else end
        line = self.text.rfind("\n", 0, start) + 1
        alone = not self.text[line:start].strip()
        behind = re.compile(r"[ \t]*(?:#[^\n]*)?\n").match(self.text, end)
        return (
            PythonEdit(line, behind.end(), "") if alone and behind else PythonEdit(start, end, "")
        )

    def _new(self, item: ast.expr) -> str | None:
        """The flag in the place of ``item``: empty where it goes, None where it stays."""
        flag = self._flag(item)
        if flag is None:
            return None
        if _VALUE.fullmatch(flag):
            return ""
        return next((new for pattern, new in FLAG_RULES if pattern.fullmatch(flag)), None)

    def _pair(self, item: ast.expr, value: ast.expr) -> str | None:
        """The flag in the place of an option and its value: empty where both go, None where they
        are nothing of nvcc's together."""
        flag, text = self._flag(item), self._flag(value)
        if flag is None or text is None or not flag.startswith("-") or text.startswith("-"):
            return None
        joined = f"{flag}={text}"
        whole = next((new for rule, new in FLAG_RULES if rule.fullmatch(joined)), None)
        if whole is not None or not isinstance(value, ast.Constant):
            return whole
        begun = next((new for rule, new in FLAG_RULES if _begins(rule, flag, text)), "")
        return begun + text if begun and not begun[-1].isspace() else None

    def _takes_a_value(self, item: ast.expr) -> bool:
        flag = self._flag(item)
        return flag is not None and _TAKES_A_VALUE.fullmatch(flag) is not None

    def _flag(self, item: ast.expr) -> str | None:
        match item:
            case ast.Constant(value=str(text)):
                return text
            case ast.JoinedStr(values=parts):
                written = (
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
                )
                return "".join(written)
        return None
