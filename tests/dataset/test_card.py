from __future__ import annotations

from cass_ray.dataset.card import CardFacts, card

FACTS = CardFacts(
    sources=["shipped", "files"],
    nvidia_architectures=["sm_80", "sm_90"],
    amd_architectures=["gfx1100"],
    optimization="-O3",
    translator="rules",
    rows=10,
    pairs=6,
    kernels=9,
    duplicates=1,
    rejects={("translate", "unsupported"): 2, ("filter", "no_kernel"): 1},
)


def test_card_states_the_counts_and_how_the_set_was_made() -> None:
    text = card(FACTS)
    assert text.startswith("---\nconfigs:\n")
    assert "size_categories: [n<1K]" in text
    assert "6 pairs with 9 kernels, from 10 programs read\n(`shipped`, `files`)" in text
    assert "sm_80, sm_90; AMD side:\ngfx1100; optimization `-O3`" in text
    assert "1 duplicates and 3 rejects" in text
    assert "| filter | no_kernel | 1 |\n| translate | unsupported | 2 |" in text
