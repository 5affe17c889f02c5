"""Arguments of the programs that commands run: one text after ``--with``, or what is left over."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

_USAGE = re.compile(r"(?i)\busage\b|\barguments?\b|\bparameters?\b|\boptions?\b")
_READS = re.compile(r"\bargv\b|\bargs\s*\[")


class ProgramCommand(TyperCommand):
    """A command whose ``--with`` takes a program's arguments: words that are left over are such."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, but say of words that are left over where they belong."""
        rest: list[str] = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            if any(Path(word).exists() for word in rest):
                ctx.fail(f"unexpected: {' '.join(rest)}")
            ctx.fail(left_over(rest, _given(ctx.params.get("arguments"))))
        return rest


def _given(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) and value else list(value or [])


def left_over(words: list[str], given: list[str]) -> str:
    """The message about ``words`` that no parameter takes, after the texts ``given``."""
    whole = " ".join([*given[-1:], *map(shlex.quote, words)])
    return (
        f"unexpected: {' '.join(words)}; arguments of the program are one text:"
        f" --with {_in_quotes(whole)}"
    )


def _in_quotes(text: str) -> str:
    return f'"{text}"' if not re.search(r'["$`\\]', text) else shlex.quote(text)


def arguments_wanted(problem: str, sources: Iterable[str], given: Iterable[str]) -> str:
    """Why a program that fails as ``problem`` says should be given arguments; empty where nothing
    says so. ``sources`` are its texts."""
    if any(given):
        return "the program fails on these arguments" if _USAGE.search(problem) else ""
    if _USAGE.search(problem) or any(_READS.search(text) for text in sources):
        return "the program wants arguments"
    return ""
