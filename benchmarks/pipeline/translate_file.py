"""Translate one CUDA file to HIP on standard output: the rules engine as a process per file."""

from __future__ import annotations

import sys
from pathlib import Path

from cass_ray.translate.rules import RulesTranslator


def main(path: Path) -> None:
    """Print the translation of ``path``."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    translated = RulesTranslator().translate(text, filename=path.name)
    sys.stdout.buffer.write(translated.source.encode(errors="surrogateescape"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
