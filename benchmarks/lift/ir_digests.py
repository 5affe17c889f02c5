"""Whether a change of the lifter changes LLVM IR: ``python -m benchmarks.lift.ir_digests``.

``… OUT.json CUBINS [--target gfx1100 --target gfx942] [--every N]`` lifts the cubins of a folder
(``benchmarks.lift.cubins``), each N-th of them, and writes a digest of each module's IR with what
was refused, and the CPU seconds from listing to IR. ``--against EARLIER.json`` names the modules
whose IR is another than in an earlier run; the exit status is 1 if there are some.
``--keep FOLDER`` writes the IR, to compare it as text.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.lift import module
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.nan_literals import with_bits_of_nans
from cass_ray.lift.lowering.target import lift_target
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin


def lifted_text(cubin: Cubin, listing: str, target: str) -> str:
    """The IR of a cubin's kernels, and why others have none."""
    try:
        built = module.build(cubin, with_bits_of_nans(listing, cubin), None, lift_target(target))
    except LiftError as error:
        return f"{error}\n"
    refusals = (f"; {name}: {error}" for name, error in sorted(built.failures.items()))
    return "\n".join([built.text, *refusals])


def differences(rows: Mapping[str, str], earlier: Mapping[str, str]) -> list[str]:
    """The modules of both runs whose digests differ."""
    return sorted(name for name in rows.keys() & earlier.keys() if rows[name] != earlier[name])


def _rows(options: argparse.Namespace) -> Iterator[tuple[str, str, float]]:
    """Module and target, IR, and CPU seconds."""
    nvidia = find_nvidia()
    for path in sorted(options.cubins.rglob("*.cubin"))[:: options.every]:
        cubin = path.read_bytes()
        (listing,) = nvidia.disassemble([cubin])
        for target in options.target or ["gfx1100", "gfx942"]:
            started = time.thread_time()
            text = lifted_text(Cubin.parse(cubin), listing, target)
            yield f"{path.stem} {target}", text, time.thread_time() - started


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("cubins", type=Path)
    parser.add_argument("--target", action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    digests: dict[str, str] = {}
    seconds = 0.0
    for name, text, spent in _rows(options):
        digests[name] = digest([text])
        seconds += spent
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{name}.ll").write_text(text)
    options.out.write_text(json.dumps({"cpu_seconds": seconds, "digests": digests}, indent=1))
    print(f"{len(digests)} modules, {seconds:.2f} s of CPU time")
    if options.against is None:
        return 0
    earlier = json.loads(options.against.read_text())
    others = differences(digests, earlier["digests"])
    print(f"{len(others)} differ from {options.against}, of {earlier['cpu_seconds']:.2f} s")
    print(*others, sep="\n")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
