"""Launch bounds whose arguments hold commas, which HIP's macro would split."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("(threads(), blocks<A, B>())", "(threads(), (blocks<A, B>()))"),
        ("(pick<T, 4>::threads)", "((pick<T, 4>::threads))"),
        ("(size<A, B>(), size<B, A>())", "((size<A, B>()), (size<B, A>()))"),
        (" (pick<T, pair<A, B>>::threads, 2)", " ((pick<T, pair<A, B>>::threads), 2)"),
        ("(256, 2)", "(256, 2)"),
        ("(A < B ? 64 : 128, 2)", "(A < B ? 64 : 128, 2)"),
        ("(sum(A, B), pick<T>::blocks)", "(sum(A, B), pick<T>::blocks)"),
    ],
)
def test_bounds_with_commas_stand_in_brackets(cuda: str, hip: str) -> None:
    kernel = "template <class T, int A, int B> __global__ void __launch_bounds__{} k(T* out) {{}}"
    made = RulesTranslator().translate(kernel.format(cuda), filename="a.cuh")
    assert f"__launch_bounds__{hip} k(" in made.source


def test_brackets_that_are_there_are_not_put_again() -> None:
    for bound in ("(blocks<A, B>())", "(1 + blocks<A, B>())"):
        text = f"__global__ void __launch_bounds__(64, {bound}) f() {{}}\n"
        assert f"(64, {bound})" in RulesTranslator().translate(text).source
    text = "__global__ void __launch_bounds__(64, (x) + f<A, B>(y)) f() {}\n"
    assert "(64, ((x) + f<A, B>(y)))" in RulesTranslator().translate(text).source
