"""Whether a CUDA file is one: what clang says of a file that the quick parser cannot read."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from cass_ray.corpus.parsing.syntax import cuda_parser
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.source_files import gather
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.project.program import translate_program
from cass_ray.translate.protocol import Translator, TranslatorError

_OF_SYNTAX = re.compile(
    r":(?P<line>\d+):\d+: (?:fatal )?error: "
    r"(?P<what>expected .*|extraneous .*|unterminated .*|missing terminating .*)"
)
_ANY_ERROR = re.compile(r": (?:fatal )?error: ")
_COMPILED = frozenset({".cu", ".hip"})


def syntax_error(path: Path, translator: Translator) -> str:
    """``line N: what clang expected`` where ``path`` does not parse; empty where it does.

    The quick parser stumbles over many macros that are right, so clang decides. Where there is no
    clang, or its first error is of another kind, nothing is said.
    """
    if path.suffix not in _COMPILED:
        return ""
    text = path.read_bytes()
    if not cuda_parser().parse(text).root_node.has_error:
        return ""
    try:
        toolchain = find_amd()
        sources = gather(Unit(path.resolve().parent, PurePosixPath(path.name)))
        hip = translate_program(sources, translator).sources
        with unit_on_disk(hip) as unit:
            toolchain.compile(unit)
    except CompileFailure as failure:
        first = next(filter(_ANY_ERROR.search, failure.diagnostic.splitlines()), "")
        match = _OF_SYNTAX.search(first)
        return f"line {match['line']}: {match['what']}" if match else ""
    except (ToolMissing, IsolationUnavailableError, SourceError, TranslatorError, OSError):
        return ""
    return ""
