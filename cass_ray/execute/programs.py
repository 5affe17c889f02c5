"""What of a row can be run: a whole program, or kernels that need a driver."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cass_ray.assembly import sass
from cass_ray.corpus.parsing.lexer import TokenKind, significant_tokens

_RDNA3_INSTRUCTION = re.compile(
    r"^\s+(?:[sv]_(?!endpgm|code_end|nop)|ds_|global_|flat_|scratch_|buffer_|image_|tbuffer_)",
    re.MULTILINE,
)


def has_main(sources: Iterable[str]) -> bool:
    """Whether one of ``sources`` defines ``main``."""
    return any(_defines_main(source) for source in sources)


def _defines_main(source: str) -> bool:
    if "main" not in source:
        return False
    tokens = significant_tokens(source)
    depth, previous, candidate = 0, "", False
    for token in tokens:
        if token.kind is TokenKind.PUNCTUATOR and token.text in "{}":
            if token.text == "{" and candidate and depth == 0:
                return True
            depth += 1 if token.text == "{" else -1
        elif token.text == ";" and depth == 0:
            candidate = False
        elif token.text == "(" and previous == "main" and depth == 0:
            candidate = True
        previous = token.text
    return False


def rdna3_instructions(assembly: str) -> int:
    """Instructions in RDNA3 assembly text, of kernels and functions."""
    return len(_RDNA3_INSTRUCTION.findall(assembly))


def sass_instructions(listing: str) -> int:
    """Instructions in a SASS listing, without the padding after the last branch."""
    return sum(
        instruction.opcode != "NOP"
        for function in sass.parse(listing).functions
        for instruction in function.instructions
    )
