"""The known name that somebody probably meant. Imports nothing of weight: completion needs it."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The known name most like ``name``, or None when nothing is close."""
    import difflib

    matches = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.5)
    return matches[0] if matches else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A phrase for an error message: the nearest name, else all of them."""
    names = list(candidates)
    match = nearest(name, names)
    return f"did you mean `{match}`?" if match else f"known: {', '.join(sorted(names))}"
