"""Similarity of texts: chrF, by sacrebleu."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from cass_ray.toolchain.errors import ToolMissing

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF


@functools.cache
def _metric() -> CHRF:
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise ToolMissing("sacrebleu", "pip install 'cass-ray[bench]'", str(error)) from None
    return CHRF()


def chrf(text: str, reference: str) -> float:
    """chrF2 of ``text`` against ``reference``, 0 to 100 (M. Popović, WMT 2015).

    Character n-grams up to six, recall weighted twice, white space left out: sacrebleu's defaults.
    Raises :class:`ToolMissing`.
    """
    return float(_metric().sentence_score(text, [reference]).score)
