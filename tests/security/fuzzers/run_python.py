"""One fuzzer in Python: ``python -m tests.security.fuzzers.run_python TARGET [OPTION ...]``.

Options are libFuzzer's.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["cass_ray", "tests", "tarfile", "zipfile"]):
    from tests.security.fuzzers.targets import TARGETS


def main() -> None:
    """Fuzz the target that the first argument names, until libFuzzer ends it."""
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
