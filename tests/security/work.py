"""Counts the work of scanners: a number that depends on the program and its input alone.

``python -m tests.security.work`` loads :mod:`cass_ray` with each loop, call, slice and comparison
by ``in`` counted, and methods of strings and of regular expressions by the characters that they
read, and prints as JSON what each scanner of :mod:`tests.security.scanners` did on each text;
``python -m tests.security.work listings`` those of :mod:`tests.security.listings`.
What an expression reads twice inside of one match is not seen: ``test_expressions`` is about that.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from types import CodeType, ModuleType
from typing import Any

_SEARCHES = ("find", "rfind", "index", "rindex", "count", "partition", "rpartition", "strip")
_COPIES = ("replace", "split", "rsplit", "splitlines", "join", "encode", "decode", "lower", "upper")
_EXPRESSIONS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn")
_METHODS = frozenset((*_SEARCHES, *_COPIES, *_EXPRESSIONS))
_BUILTINS = frozenset(("sorted", "list", "tuple", "set", "frozenset", "sum", "max", "min"))
_NAME = "_work"


class Work:
    """What instrumented code calls. ``done`` is in characters, elements and steps."""

    def __init__(self) -> None:
        self.done = 0

    def tick(self) -> None:
        self.done += 1

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        """``items`` of a comprehension."""
        for item in items:
            self.done += 1
            yield item

    def part(self, value: Any, place: slice) -> Any:
        """``value[place]``."""
        made = value[place]
        self.done += len(made) if isinstance(made, Sized) else 1
        return made

    def holds(self, value: Any, item: Any) -> bool:
        """``item in value``."""
        found = item in value
        if isinstance(value, str | bytes):
            self.done += value.find(item) + 1 if found else len(value)
        elif isinstance(value, list | tuple):
            self.done += len(value)
        return found

    def function(self, called: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """A function that reads all of its argument."""
        if given and isinstance(given[0], Sized):
            self.done += len(given[0])
        return called(*given, **named)

    def method(self, value: Any, name: str, *given: Any, **named: Any) -> Any:
        """``value.name(*given, **named)``."""
        if value is re and name != "escape":
            return self.method(re.compile(given[0]), name, *given[1:], **named)
        made = getattr(value, name)(*given, **named)
        if isinstance(value, re.Pattern):
            return self._expression(name, made, *given)
        if isinstance(value, str | bytes):
            self.done += self._text(value, name, made, *given)
        return made

    def _text(self, value: str | bytes, name: str, made: Any, *given: Any) -> int:
        if name in ("find", "index", "rfind", "rindex", "count"):
            start, end, _ = slice(*(*given[1:], None, None)[:2]).indices(len(value))
            if name != "count" and made >= 0:
                start, end = (start, made) if name in ("find", "index") else (made, end)
            return max(1, end - start)
        return len(made) if name == "join" else len(value)

    def _expression(self, name: str, made: Any, *given: Any) -> Any:
        text = given[1] if name in ("sub", "subn") else given[0]
        start = given[1] if len(given) > 1 and isinstance(given[1], int) else 0
        end = given[2] if len(given) > 2 and isinstance(given[2], int) else len(text)
        if name == "finditer":
            return self._matches(made, start, end)
        if name == "search":
            self.done += max(1, (made.end() if made else end) - start)
        elif name in ("match", "fullmatch"):
            self.done += max(1, made.end() - start if made else 1)
        else:
            self.done += max(1, end - start)
        return made

    def _matches(self, made: Iterator[Any], start: int, end: int) -> Iterator[Any]:
        for match in made:
            self.done += max(1, match.end() - start)
            start = match.end()
            yield match
        self.done += max(1, end - start)


WORK = Work()

MOST_GROWTH = 8
"""Times more work for a text four times as long; sixteen times is quadratic."""


class _Instrument(ast.NodeTransformer):
    def _of(self, name: str, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
        called = ast.Attribute(ast.Name(_NAME, ast.Load()), name, ast.Load())
        return ast.Call(called, list(given), list(keywords))

    def _counted(self, node: Any) -> Any:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(self._of("tick")))
        return node

    visit_For = _counted  # noqa: N815
    visit_While = _counted  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]  # decorators and types stay
        node.body.append(ast.Pass())
        documented = ast.get_docstring(node) is not None
        node.body.insert(int(documented), ast.Expr(self._of("tick")))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._of("each", node.iter)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
            return node
        ends = [each or ast.Constant(None) for each in (node.slice.lower, node.slice.upper)]
        ends.append(node.slice.step or ast.Constant(None))
        return self._of("part", node.value, ast.Call(ast.Name("slice", ast.Load()), ends, []))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        made = self._of("holds", node.comparators[0], node.left)
        return made if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), made)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            name = ast.Constant(node.func.attr)
            return self._of("method", node.func.value, name, *node.args, keywords=node.keywords)
        if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
            return self._of("function", node.func, *node.args, keywords=node.keywords)
        return node


def instrumented(source: str | bytes, path: str) -> CodeType:
    """The code of a module that counts; it needs :data:`WORK` as ``_work``."""
    tree = ast.fix_missing_locations(_Instrument().visit(ast.parse(source)))
    return compile(tree, path, "exec", dont_inherit=True)


class _Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        return instrumented(data, path)

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[_NAME] = WORK
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if not (name + ".").startswith("cass_ray.") or found is None:
            return None
        if isinstance(found.loader, importlib.machinery.SourceFileLoader):
            found.loader = _Loader(name, found.loader.path)
        return found


def faster_than_length(work: Mapping[str, Mapping[str, Sequence[int]]]) -> list[str]:
    """Where texts four times as long take more than that, of what :func:`main` prints."""
    return [
        f"{scanner}, {text}: {counts}"
        for scanner, of_texts in work.items()
        for text, counts in of_texts.items()
        if not 0 < counts[-1] < MOST_GROWTH * counts[-2]
    ]


def main() -> None:
    """Print {scanner: {text: [work on texts, each four times as long]}}."""
    sys.meta_path.insert(0, _Finder())
    name = sys.argv[1] if len(sys.argv) > 1 else "scanners"
    scanners: Any = importlib.import_module(f"tests.security.{name}")
    found: dict[str, dict[str, list[int]]] = {}
    for scanner, text, make in scanners.cases():
        scan = scanners.SCANNERS[scanner]
        scan(make(100))  # tables are read once
        counts: list[int] = []
        for size in scanners.SIZES:
            given = make(size)
            before = WORK.done
            scan(given)
            counts.append(WORK.done - before)
            if len(counts) > 1 and counts[-1] < MOST_GROWTH * counts[-2]:
                break  # what is quadratic up to a bound becomes linear behind it
        found.setdefault(scanner, {})[text] = counts
    print(json.dumps(found))


if __name__ == "__main__":
    main()
