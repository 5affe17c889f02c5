"""``python -m benchmarks``: every measurement that the project publishes, one after another.

Takes about an hour on two cores. ``benchmarks/README.md`` says what they measure.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_MEASUREMENTS = (
    ("--corpus", "shipped", "--sm", "sm_80"),
    ("--corpus", "shipped", "--sm", "sm_80", "--sm", "sm_89"),
    ("--ray-overhead", "--rows", "500"),
    ("--memory", "--rows", "2000"),
)


def main() -> int:
    """Run all; the exit status is that of the first that fails."""
    script = Path(__file__).parent / "pipeline" / "build_dataset.py"
    for arguments in _MEASUREMENTS:
        done = subprocess.run([sys.executable, str(script), *arguments], check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
