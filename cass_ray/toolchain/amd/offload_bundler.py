"""``clang-offload-bundler`` where LLVM came without it: the one thing that clang asks of it.

At the end of a HIP compilation clang calls it with ``-type=o``, ``-targets=``, one ``-input=`` for
each target and ``-output=``, to make the fat binary of the code objects. Everything else that
LLVM's program can do is refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cass_ray.toolchain.amd.bundle import DEVICE_PREFIX, bundle

_KNOWN = {"type", "targets", "input", "output", "bundle-align"}


def main(arguments: list[str]) -> int:
    """Write the bundle; status 1 and a message for what is not the call described above."""
    options: dict[str, list[str]] = {}
    for argument in arguments:
        name, _, value = argument.lstrip("-").partition("=")
        options.setdefault(name, []).append(value)
    targets = ",".join(options.get("targets", [])).split(",")
    inputs = [path for value in options.get("input", []) for path in value.split(",")]
    if (
        options.keys() - _KNOWN
        or options.get("type") != ["o"]
        or len(targets) != len(inputs)
        or len(options.get("output", [])) != 1
    ):
        print(f"cannot do this: clang-offload-bundler {' '.join(arguments)}", file=sys.stderr)
        return 1
    objects = {
        target.removeprefix(DEVICE_PREFIX): Path(path).read_bytes()
        for target, path in zip(targets, inputs, strict=True)
        if target.startswith(DEVICE_PREFIX)
    }
    Path(options["output"][0]).write_bytes(bundle(objects))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
