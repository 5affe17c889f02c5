"""Compile every CUDA file of a folder to cubins, for ``cass lift coverage``.

``python -m benchmarks.lift.cubins OUT FOLDER ... [--sm 80 --sm 90]`` writes a cubin for each file
that nvcc accepts on its own and each architecture, from one PTX. Files are taken in
the order of a digest of their paths, so that a run that was stopped has made a sample that nobody
chose; a second run continues.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.cache import digest
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE
from cass_ray.toolchain.nvidia.toolchain import WORK_FOLDER, NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits, run
from cass_ray.toolchain.unit import Unit

_INCLUDES = ("Common", "common", "common/inc", "include", "src", "cpp/0_Introduction")


@dataclass(frozen=True)
class Ways:
    """Arguments of nvcc and of ptxas beside those that say what and where, and what bounds them."""

    nvcc: tuple[str, ...] = ()
    ptxas: tuple[str, ...] = ()
    native: bool = False
    """Whether nvcc compiles for each architecture, so that code for one alone counts; else all are
    made of one PTX."""
    limits: Limits = COMPILE_LIMITS


PLAIN = Ways()
_OLDEST_PTX = 80
"""What PTX is made for, unless an architecture before it is asked for, too."""


def compile_unit(
    toolchain: NvidiaToolchain,
    unit: Unit,
    architectures: list[str],
    ways: Ways = PLAIN,
) -> tuple[dict[str, bytes], str]:
    """Cubins by architecture, or nothing and the message of the tool that refused."""
    front: list[str | Path] = [toolchain.nvcc, *toolchain.flags("-O1"), "-w", *ways.nvcc]
    front += [*unit.preprocessor_arguments(), str(unit.main)]
    found: dict[str, bytes] = {}
    with private_folder() as folder:
        mounts = (Mount(unit.root, SOURCE_TREE), Mount(folder, WORK_FOLDER, writable=True))
        view = View(read_only=toolchain.visible(), mounts=mounts)

        def refused(command: list[str | Path], target: Path) -> str:
            whole = [*command, "-o", view.inside(target)]
            done = run(whole, cwd=unit.root, limits=ways.limits, view=view)
            return "" if done.ok else done.stderr_text.strip() or done.outcome.value

        ptx = folder / "unit.ptx"
        if not ways.native:
            numbers = [int(each.removeprefix("sm_").rstrip("af")) for each in architectures]
            oldest = min(_OLDEST_PTX, *numbers)
            if message := refused([*front, "-ptx", f"-arch=compute_{oldest}"], ptx):
                return {}, message
            front = [toolchain.nvcc.with_name("ptxas"), *ways.ptxas, view.inside(ptx)]
        for architecture in architectures:
            target = folder / f"{architecture}.cubin"
            kind = ["-cubin"] if ways.native else []
            if message := refused([*front, *kind, f"-arch={architecture}"], target):
                return {}, message
            found[architecture] = target.read_bytes()
    return found, ""


def compile_file(
    toolchain: NvidiaToolchain, root: Path, path: Path, out: Path, architectures: list[str]
) -> str:
    """Write the cubins of one file; a line for the log."""
    relative = PurePosixPath(path.relative_to(root))
    name = digest([root.name, str(relative)])[:12] + "-" + path.stem
    refused = out / f"{name}.refused"
    targets = {each: out / f"{name}.{each}.cubin" for each in architectures}
    if refused.exists() or all(target.exists() for target in targets.values()):
        return f"known    {path}"
    folders = [relative.parent, *map(PurePosixPath, _INCLUDES)]
    includes = tuple(folder for folder in folders if (root / folder).is_dir())
    made, message = compile_unit(toolchain, Unit(root, relative, includes), architectures)
    if not made:
        refused.write_text(message)
        return f"refused  {path}"
    for architecture, cubin in made.items():
        targets[architecture].write_bytes(cubin)
    return f"compiled {path}"


def main() -> None:
    """Compile until all is done, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sm", action="append", help="80, 89, 90; all three by default")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    toolchain = find_nvidia()
    architectures = [f"sm_{number}" for number in options.sm or ("80", "89", "90")]
    roots = [folder.resolve() for folder in options.folders]
    files = [(root, path) for root in roots for path in root.rglob("*.cu")]
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
