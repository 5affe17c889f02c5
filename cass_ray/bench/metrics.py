"""Similarity of texts: chrF, by sacrebleu."""

from __future__ import annotations

import functools

from sacrebleu.metrics.chrf import CHRF


@functools.cache
def _metric() -> CHRF:
    return CHRF()


def chrf(text: str, reference: str) -> float:
    """chrF2 of ``text`` against ``reference``, 0 to 100 (M. Popović, WMT 2015).

    Character n-grams up to six, recall weighted twice, white space left out: sacrebleu's defaults.
    """
    return float(_metric().sentence_score(text, [reference]).score)
