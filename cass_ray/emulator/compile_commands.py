"""``compile_commands.json`` for clangd: how each C++ file of the engine is compiled.

``python -m cass_ray.emulator.compile_commands [FILE]`` writes it; ``make compile-commands`` puts it
at the root of the repository, where clangd looks. Handlers are compiled for one SIMD level, the
widest of this CPU; ``CASS_EMULATOR_SIMD`` asks for a lower one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.emulator.build import compile_lines


def main() -> int:
    """Write the file and print how many sources it names."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("compile_commands.json")
    entries = [
        {"directory": str(source.parent), "file": str(source), "arguments": list(arguments)}
        for source, arguments in compile_lines(default_directory()).items()
    ]
    target.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"{target}: {len(entries)} sources")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
