"""What a program looks like beneath its names: the shape of its syntax tree, its opcodes.

Two programs that differ in names and constants alone have one shape; two that compile to the same
machine code have the same opcodes.
"""

from __future__ import annotations

from cass_ray.assembly import sass
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets
from cass_ray.corpus.parsing.syntax import cuda_parser

SHAPE_RUN = 9
"""Nodes in a run: about one statement."""

OPCODE_RUN = 5

FEWEST_OPCODES = 64
"""Machine code with fewer instructions is shared by unrelated programs and proves nothing."""

_UNSHAPED = frozenset({"comment", "preproc_include", "string_content", "system_lib_string"})
_PADDING = frozenset({"NOP"})


def syntax_shape(source: str) -> list[str]:
    """Types of the named nodes of the syntax tree, in preorder, with the ends of statements lists.

    OpenCL is parsed as CUDA: address-space words become part of declarations, which is enough.
    """
    cursor = cuda_parser().parse(source.encode("utf-8", "surrogatepass")).walk()
    shape: list[str] = []
    while True:
        node = cursor.node
        wanted = node is not None and node.type not in _UNSHAPED
        if node is not None and wanted and (node.is_named or not node.type.isalnum()):
            shape.append(node.type)
        if wanted and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return shape


def opcodes(listing: str) -> list[str]:
    """Mnemonics of a SASS listing with modifiers, function by function; padding is left out."""
    return [
        instruction.mnemonic
        for function in sass.parse(listing).functions
        for instruction in function.instructions
        if instruction.opcode not in _PADDING
    ]


def opcode_set(listing: str) -> Hashes | None:
    """The runs of mnemonics of a SASS listing; None where it is too short to tell anything."""
    found = opcodes(listing)
    return hash_sets([found], OPCODE_RUN)[0] if len(found) >= FEWEST_OPCODES else None
