# ruff: noqa: SIM905
"""Names as programmers might have chosen them, for programs that nobody wrote."""

from __future__ import annotations

import random

_STARTS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr r s sc sh sk sl sn sp st t tr "
    "v w z"
).split()
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo")
_ENDS = ("", "", "", "n", "r", "s", "t", "l", "m", "nd", "rk", "st", "x")
_WORDS = (
    "data value count size index total block grid thread row col width height input output temp "
    "result matrix vector array buffer host dev sum max min num len ptr src dst offset stride "
    "local shared global kernel launch time start stop error check init free copy alpha beta node "
    "edge graph image pixel filter mask weight bias grad loss batch layer token hash key bin scan "
    "sort tree list queue state seed step iter rand particle pos vel force mass energy density "
    "flux cell mesh face point ray color sphere fold call apply reduce map zip"
).split()


def invented_name(rng: random.Random) -> str:
    """A name of invented syllables or of common words, spelled in one of the usual styles."""
    if rng.random() < 0.5:
        parts = [rng.choice(_WORDS) for _ in range(rng.choice((1, 2, 2, 3)))]
    else:
        parts = [
            rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS)
            for _ in range(rng.choice((1, 1, 2, 2, 3)))
        ]
    styles = (
        "_".join(parts),
        parts[0] + "".join(map(str.capitalize, parts[1:])),
        "".join(map(str.capitalize, parts)),
        f"{parts[0]}{rng.randrange(100)}",
        f"{rng.choice('dhgsk')}_{'_'.join(parts)}",
        "".join(parts),
    )
    return rng.choice(styles)
