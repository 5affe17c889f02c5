"""Random device functions, plain and as templates over a type."""

from __future__ import annotations

import random
from dataclasses import replace

from cass_ray.corpus.generate.bodies import BodyGenerator
from cass_ray.corpus.generate.expression_generator import (
    ExpressionGenerator,
    Scope,
    variable_bounds,
)
from cass_ray.corpus.generate.expressions import TYPE_PARAMETER, Expression, VariableExpression
from cass_ray.corpus.generate.names import FUNCTIONS, Namer
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.statements import GeneratedFunction, Leave, Statement
from cass_ray.corpus.generate.types import UNSIGNED, UNSIGNED_LONG, Bounds, Scalar, full_span

_QUALIFIERS = (
    "__device__",
    "__device__",
    "__device__ __forceinline__",
    "__device__ __noinline__",
    "__device__ inline",
    "static __device__",
)


class FunctionGenerator:
    """Makes device functions; ``made`` are those that later ones may call."""

    def __init__(self, rng: random.Random, options: GeneratorOptions, namer: Namer) -> None:
        self.rng = rng
        self.options = options
        self.namer = namer
        self.made: list[GeneratedFunction] = []

    def plain(self) -> GeneratedFunction:
        """A function of one to three scalars."""
        scope = Scope(functions=list(self.made))
        generator = ExpressionGenerator(self.rng, self.options, scope)
        name = self.namer.take(FUNCTIONS)
        parameters: list[tuple[str, Scalar, Bounds]] = []
        for _ in range(self.rng.randint(1, 3)):
            type_ = generator.any_type()
            bounds = variable_bounds(type_, self.rng)
            parameters.append((self.namer.variable(), type_, bounds))
        scope.names += [VariableExpression(*parameter) for parameter in parameters]
        result_type = self.rng.choice([type_ for _, type_, _ in parameters])
        body, result = self._body(generator, result_type)
        qualifier = self.rng.choice(_QUALIFIERS)
        listed = ", ".join(f"{type_.name} {name}" for name, type_, _ in parameters)
        head = (f"{qualifier} {result_type.name} {name}({listed}) {{",)
        function = GeneratedFunction(head, name, parameters, body, result)
        self.made.append(function)
        return function

    def template(self) -> list[GeneratedFunction]:
        """Instantiations of a function template for both unsigned types; empty if none came out.

        Both are made by the same ``rng``, so that they differ in what they compute with only.
        """
        state, namer = self.rng.getstate(), self.namer
        made: list[GeneratedFunction] = []
        for type_ in (UNSIGNED, UNSIGNED_LONG):
            self.rng.setstate(state)
            self.namer = namer.fork()
            made.append(self._instance(type_))
        if made[0].lines() != made[1].lines():
            return []
        self.made += made
        return made

    def _instance(self, type_: Scalar) -> GeneratedFunction:
        parameter = replace(type_, name=TYPE_PARAMETER, suffix="")
        bounds = full_span(type_)
        name = self.namer.take(FUNCTIONS)
        names = [self.namer.variable() for _ in range(self.rng.randint(1, 3))]
        scope = Scope(names=[VariableExpression(item, parameter, bounds) for item in names])
        body, result = self._body(ExpressionGenerator(self.rng, self.options, scope), parameter)
        listed = ", ".join(f"T {item}" for item in names)
        head = ("template <typename T>", f"__device__ T {name}({listed}) {{")
        parameters: list[tuple[str, Scalar, Bounds]] = [(item, type_, bounds) for item in names]
        return GeneratedFunction(
            head, f"{name}<{type_.name}>", parameters, body, replace(result, type=type_)
        )

    def _body(
        self, generator: ExpressionGenerator, type_: Scalar
    ) -> tuple[list[Statement], Expression]:
        body = BodyGenerator(generator, self.namer, plain=True)
        bounds = variable_bounds(type_, self.rng)
        out: list[Statement] = []
        if self.rng.random() < 0.35:
            early = generator.fit(generator.value(type_, 1), bounds)
            out.append(Leave(generator.condition(0), "return", early))
        out += body.statements(self.rng.randint(0, 3), min(1, self.options.nesting))
        result = generator.fit(generator.value(type_, 2), bounds)
        return out, replace(result, bounds=bounds)
