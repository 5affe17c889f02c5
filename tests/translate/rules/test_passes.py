"""The passes of the engine: an explicit list, each with a reason for its position."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cass_ray.translate.rules import engine
from cass_ray.translate.rules.engine import PASSES, RulesTranslator
from cass_ray.translate.rules.rewrite import Rewrite

ORDER = [
    "includes",
    "old PyTorch",
    "guards",
    "warps",
    "bindings of vectors",
    "block reductions",
    "own functions",
    "kinds of images",
    "textures",
    "mapped memory",
    "managed symbols",
    "calls",
    "locations",
    "absent fields",
    "halves",
    "surface reads",
    "random numbers",
    "device functions",
    "results",
    "extremes",
    "stand-ins",
    "compute types",
    "macros of HIP",
    "own enumerations",
    "forward declarations",
    "names",
    "headers of Thrust",
    "pragmas in macros",
    "files of the driver",
    "pasted prefixes",
    "warps of CUB",
    "namespaces",
    "closures",
    "matrix functions",
    "absent",
    "dropped words",
    "register",
    "constants of the host",
    "sizes of shared memory",
    "alignments",
    "restricted elements",
    "vector types",
    "operators",
    "launch bounds",
    "overloads",
    "grids",
    "groups",
    "results of printf",
    "assembly",
    "plain library",
    "standard library",
    "launches",
    "wavefront width",
    "left-overs",
    "snippets",
]


def test_order() -> None:
    assert [each.name for each in PASSES] == ORDER


def test_every_pass_has_a_reason_of_its_own() -> None:
    reasons = [each.reason for each in PASSES]
    assert all(len(reason) > 20 for reason in reasons)
    assert len(set(reasons)) == len(PASSES)
    assert len({each.apply for each in PASSES}) == len(PASSES)


def test_the_engine_makes_exactly_these_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(each: engine.Pass) -> engine.Pass:
        def apply(unit: Rewrite) -> None:
            made.append(each.name)
            each.apply(unit)

        return replace(each, apply=apply)

    source = "int f() { return cudaFree(0); }"
    expected = RulesTranslator().translate(source)
    monkeypatch.setattr(engine, "PASSES", tuple(map(noted, PASSES)))
    assert RulesTranslator().translate(source) == expected
    assert made == ORDER
    monkeypatch.setattr(engine, "PASSES", ())
    assert RulesTranslator().translate(source).source == source


@pytest.mark.parametrize(
    ("moved", "behind", "source"),
    [
        ("calls", "names", "void f(cudaEvent_t *e) { cudaEventCreate(e, 2); }"),
        ("matrix functions", "left-overs", "nvcuda::wmma::fragment<int> tile;"),
        (
            "device functions",
            "left-overs",
            "__device__ int f(int a) { return __cvta_generic_to_shared(a); }",
        ),
    ],
)
def test_another_order_gives_another_result(
    moved: str, behind: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = RulesTranslator().translate(source)
    rest = [each for each in PASSES if each.name != moved]
    place = [each.name for each in rest].index(behind) + 1
    pass_ = next(each for each in PASSES if each.name == moved)
    monkeypatch.setattr(engine, "PASSES", (*rest[:place], pass_, *rest[place:]))
    assert RulesTranslator().translate(source) != expected
