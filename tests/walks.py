"""Follow a parameter through the calls that pass it on: how far a reader has to go for it.

A *stop* is a function that is given the parameter, as itself or as the attribute in which an object
keeps it; a *room* is a module; a *return* is a step back into a room that was left before. Calls
are followed in the order of the text, each function once, as far as names say what is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.folders import REPOSITORY

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Place:
    """A definition, and the class that it is a method of."""

    module: str
    node: ast.AST
    owner: ast.ClassDef | None = None

    @property
    def methods(self) -> dict[str, Function]:
        body = self.owner.body if self.owner is not None else []
        return {each.name: each for each in body if isinstance(each, Function)}


@dataclass
class Walk:
    """The stops of one walk, and what objects keep of the parameter, by class."""

    root: Path = REPOSITORY
    stops: list[str] = field(default_factory=list)
    kept: dict[ast.ClassDef, set[str]] = field(default_factory=dict)
    seen: set[ast.AST] = field(default_factory=set)

    @property
    def rooms(self) -> list[str]:
        """Modules in the order in which they are entered, each as often as it is."""
        modules = [stop.partition(":")[0] for stop in self.stops]
        return [m for n, m in enumerate(modules) if n == 0 or modules[n - 1] != m]

    @property
    def returns(self) -> int:
        return len(self.rooms) - len(set(self.rooms))

    def visit(self, place: Place, parameters: set[str]) -> None:
        function = place.node
        if not isinstance(function, Function) or function in self.seen:
            return
        self.seen.add(function)
        self.stops.append(f"{place.module}:{function.name}")
        self._note_kept(place, function, parameters)
        calls = [each for each in ast.walk(function) if isinstance(each, ast.Call)]
        for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
            self._follow(place, call, parameters)

    def _note_kept(self, place: Place, function: Function, parameters: set[str]) -> None:
        for each in ast.walk(function):
            if isinstance(each, ast.Assign) and self._is_it(place, each.value, parameters):
                for target in each.targets:
                    if isinstance(target, ast.Name):
                        parameters.add(target.id)
                    elif isinstance(target, ast.Attribute) and place.owner is not None:
                        self.kept.setdefault(place.owner, set()).add(target.attr)

    def _is_it(self, place: Place, value: ast.expr, parameters: set[str]) -> bool:
        if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self":
            return place.owner is not None and value.attr in self.kept.get(place.owner, ())
        return isinstance(value, ast.Name) and value.id in parameters

    def _uses_kept(self, owner: ast.ClassDef, method: Function) -> bool:
        kept = self.kept.get(owner, set())
        return any(isinstance(n, ast.Attribute) and n.attr in kept for n in ast.walk(method))

    def _follow(self, place: Place, call: ast.Call, parameters: set[str]) -> None:
        given = {n for n, value in enumerate(call.args) if self._is_it(place, value, parameters)}
        named = {
            each.arg
            for each in call.keywords
            if each.arg and self._is_it(place, each.value, parameters)
        }
        target = self._called(place, call.func)
        if target is None:
            return
        if isinstance(target.node, ast.ClassDef):
            target = Place(target.module, target.node, target.node)
            method = target.methods.get("__init__")
        else:
            method = target.node if isinstance(target.node, Function) else None
        if method is None:
            return
        if not given and not named:
            owner = target.owner
            if owner is None or owner is not place.owner or not self._uses_kept(owner, method):
                return
        names = [each.arg for each in (*method.args.args, *method.args.kwonlyargs)]
        names = names[1:] if target.owner is not None else names
        passed = {names[n] for n in given if n < len(names)} | named
        self.visit(Place(target.module, method, target.owner), passed)
        if method.name == "__init__" and target.owner is not None:
            for other in target.methods.values():
                if self._uses_kept(target.owner, other):
                    self.visit(Place(target.module, other, target.owner), set())

    def _called(self, place: Place, function: ast.expr) -> Place | None:
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "self":
            method = place.methods.get(function.attr)
            return Place(place.module, method, place.owner) if method is not None else None
        return self._resolved(place.module, function)

    def _resolved(self, module: str, name: ast.expr) -> Place | None:
        if isinstance(name, ast.Attribute):
            outer = self._resolved(module, name.value)
            if outer is None or not isinstance(outer.node, ast.Module):
                return None
            return self._resolved(outer.module, ast.Name(name.attr))
        if not isinstance(name, ast.Name):
            return None
        for each in definitions(self.root, module):
            if isinstance(each, ast.ImportFrom) and each.module:
                for alias in each.names:
                    if name.id == (alias.asname or alias.name):
                        inner = f"{each.module}.{alias.name}"
                        if tree := parsed(self.root, inner):
                            return Place(inner, tree)
                        return self._resolved(each.module, ast.Name(alias.name))
            elif isinstance(each, Function | ast.ClassDef) and each.name == name.id:
                return Place(module, each)
        return None


@cache
def parsed(root: Path, module: str) -> ast.Module | None:
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    return ast.parse(path.read_text()) if path.exists() else None


def definitions(root: Path, module: str) -> Iterator[ast.stmt]:
    tree = parsed(root, module)
    yield from tree.body if tree is not None else ()


def walk(module: str, function: str, parameter: str, root: Path = REPOSITORY) -> Walk:
    """Follow ``parameter`` of a function of a module."""
    result = Walk(root)
    place = result._resolved(module, ast.Name(function))
    assert place is not None, function
    result.visit(place, {parameter})
    return result
