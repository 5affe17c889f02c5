"""What programs printed on the CPU backend, a file each; needs Python's own library only."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cass_ray.toolchain.unit import Unit

_MOST_BYTES = 1 << 20


@dataclass
class Printed:
    """What one program printed, latin-1: by architecture, for each of its argument lists."""

    program: str
    main: str
    includes: list[str]
    arguments: list[list[str]]
    reference: list[list[str]]
    """clang's build: one output, or two where they differ."""
    lifted: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        program: str,
        unit: Unit,
        outputs: Iterable[tuple[tuple[str, ...], tuple[bytes, ...]]],
    ) -> Printed:
        pairs = list(outputs)
        return cls(
            program,
            str(unit.main),
            [str(folder) for folder in unit.include_directories],
            [list(arguments) for arguments, _ in pairs],
            [[text_of(each) for each in texts] for _, texts in pairs],
        )

    def add(self, architecture: str, output: bytes) -> None:
        """One more run on ``architecture``, in the order of the argument lists."""
        self.lifted.setdefault(architecture, []).append(text_of(output))

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(self.program.encode()).hexdigest()[:16]
        (folder / f"{name}.json").write_text(json.dumps(asdict(self)))


def text_of(output: bytes) -> str:
    return output[:_MOST_BYTES].decode("latin-1")


def read(folder: Path) -> list[Printed]:
    """What :meth:`Printed.write` wrote."""
    return [Printed(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
