"""``return;`` in ``main``, which nvcc takes with a warning."""

from __future__ import annotations

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_MESSAGE = "non-void function 'main' should return a value"
_WORD = "return"


def return_success(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Return 0, as ``main`` does at its end; what nvcc's program returns is left to chance."""
    if not message.startswith(_MESSAGE) or not text.code.startswith(_WORD, offset):
        return ""
    edits.insert(offset + len(_WORD), " 0")
    return f"return 0 from main on line {line}"
