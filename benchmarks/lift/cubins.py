"""Compile every CUDA file of a folder to cubins, for ``cass lift coverage``.

``python -m benchmarks.lift.cubins OUT FOLDER ... [--sm 80 --sm 90]`` writes a cubin for each file
that nvcc accepts on its own and each architecture. Files are taken in the order of a digest of
their paths, so that a run that was stopped has made a sample that nobody chose; a second run
continues.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from cass_ray.cache import digest
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit

_INCLUDES = ("Common", "common", "common/inc", "include", "src", "cpp/0_Introduction")


def compile_file(
    toolchain: NvidiaToolchain, root: Path, path: Path, out: Path, architectures: list[str]
) -> str:
    """Write the cubins of one file; a line for the log."""
    name = digest([str(root.name), str(path.relative_to(root))])[:12] + "-" + path.stem
    refused = out / f"{name}.refused"
    targets = {each: out / f"{name}.{each}.cubin" for each in architectures}
    if refused.exists() or all(target.exists() for target in targets.values()):
        return f"known    {path}"
    relative = PurePosixPath(path.relative_to(root))
    folders = [relative.parent, *map(PurePosixPath, _INCLUDES)]
    includes = tuple(folder for folder in folders if (root / folder).is_dir())
    try:
        made = toolchain.compile(Unit(root, relative, includes), architectures)
    except CompileFailure as failure:
        refused.write_text(failure.diagnostic)
        return f"refused  {path}"
    for architecture, cubin in made.cubins.items():
        targets[architecture].write_bytes(cubin)
    return f"compiled {path}"


def main() -> None:
    """Compile until all is done, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sm", action="append", help="80, 89, 90; 80 and 90 by default")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    toolchain = find_nvidia()
    architectures = [f"sm_{number}" for number in options.sm or ("80", "90")]
    files = [
        (folder.resolve(), path)
        for folder in options.folders
        for path in folder.resolve().rglob("*.cu")
    ]
    files.sort(key=lambda item: digest([str(item[1].relative_to(item[0]))]))
    end = time.monotonic() + 60 * options.minutes

    def one(item: tuple[Path, Path]) -> str:
        if time.monotonic() > end:
            return ""
        return compile_file(toolchain, *item, options.out, architectures)

    with ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(one, files):
            if line:
                print(line, flush=True)


if __name__ == "__main__":
    main()
