"""The grammar of CUDA C++, which parses HIP and OpenCL well enough, too."""

from __future__ import annotations

from functools import cache

import tree_sitter
import tree_sitter_cuda


@cache
def cuda_parser() -> tree_sitter.Parser:
    """One for the process; its trees have nodes of error where a source is none."""
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
