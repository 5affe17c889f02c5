"""The compiler for AMD GPUs of this machine, as files for a bare one: any Linux on x86-64.

    python -m recipes.judge.tools pack OUT             # here: OUT/judge.00, OUT/judge.01 …
    python -m recipes.judge.tools unpack OUT --to DIR  # there: joined; `clang works`

Packed are clang with the libraries and the loader that it runs with, its own headers, C++'s and
C's of this system, and the HIP root (:mod:`cass_ray.toolchain.hip.root`). Nothing of the other
machine is used but a shell. Where it has no bubblewrap, ``CASS_ALLOW_UNISOLATED=1`` lets compilers
run under resource limits alone.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cass_ray.toolchain.amd.toolchain import AmdToolchain

if TYPE_CHECKING:
    from recipes.judge.compiled import CompileCredit, CompileJudge

PART_BYTES = 21_000_000
OPTIMIZATION, UNOPTIMIZED = "-O1", "-O0"
_ABOUT = "toolchain.json"
_HEADERS = ("libc6-dev", "linux-libc-dev", "libstdc++-{gcc}-dev", "libcrypt-dev")
_PROBE = """\
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <cmath>
#include <vector>
__global__ void probe(float *values) { values[threadIdx.x] = sinf(values[threadIdx.x]); }
int main() {
  std::vector<float> host(32);
  probe<<<1, 32>>>(host.data());
  return hipDeviceSynchronize() != hipSuccess;
}
"""
# The loader is called by its path: neither libraries nor a loader of the machine are looked for.
# clang then cannot tell where it lies, and is told.
_WRAPPER = """\
#!/bin/sh
root=${0%/*}/..
exec "$root/lib/ld-linux-x86-64.so.2" --library-path "$root/lib" --argv0 "$root/bin/clang++" \\
  "$root/bin/clang" -no-canonical-prefixes -resource-dir "$root/resource" \\
  --sysroot="$root/sysroot" "$@"
"""


def pack(out: Path) -> list[Path]:
    """Write the parts in ``out``; needs Debian's package lists for the names of headers."""
    from cass_ray.toolchain.locate import find_amd

    toolchain = find_amd()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="judge-tools-") as name:
        folder = Path(name)
        _collect(toolchain, folder)
        archive = folder.with_suffix(".tar.xz")
        try:
            command = ["tar", "-C", str(folder), "--sort=name", "-I", "xz -T2 -6"]
            subprocess.run([*command, "-cf", str(archive), "."], check=True)
            return list(_split(archive, out))
        finally:
            archive.unlink(missing_ok=True)


def _collect(toolchain: AmdToolchain, folder: Path) -> None:
    for name in ("bin", "lib"):
        (folder / name).mkdir()
    shutil.copy2(toolchain.clang.resolve(), folder / "bin/clang")
    (folder / "bin/clang++").write_text(_WRAPPER)
    (folder / "bin/clang++").chmod(0o755)
    for library in _libraries(toolchain.clang):
        shutil.copy2(library, folder / "lib" / library.name)
    asked = [str(toolchain.clang), "-print-resource-dir"]
    resources = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(Path(resources) / "include", folder / "resource/include")
    shutil.copytree(toolchain.rocm_path, folder / "hip")
    _system_headers(folder / "sysroot")
    (folder / _ABOUT).write_text(json.dumps({"version": toolchain.version}))


def _libraries(program: Path) -> list[Path]:
    """What ``program`` is run with, the loader among it."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", said, re.MULTILINE)]


def _system_headers(sysroot: Path) -> None:
    """Headers of C and C++, where clang looks for them below a ``--sysroot``."""
    newest = max(Path("/usr/lib/gcc/x86_64-linux-gnu").iterdir(), key=lambda path: int(path.name))
    begin = newest / "crtbegin.o"  # tells clang which version of C++'s headers is there
    files = [begin]
    for package in _HEADERS:
        listing = ["dpkg-query", "-L", package.format(gcc=newest.name)]
        said = subprocess.run(listing, capture_output=True, text=True, check=False).stdout
        files += [Path(line) for line in said.splitlines() if line.startswith("/usr/include/")]
    for file in files:
        if file.is_file():
            target = sysroot / file.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)


def _split(archive: Path, out: Path) -> Iterator[Path]:
    with archive.open("rb") as stream:
        number = 0
        while data := stream.read(PART_BYTES):
            part = out / f"judge.{number:02}"
            part.write_bytes(data)
            yield part
            number += 1


def unpack(parts: Path, folder: Path) -> AmdToolchain:
    """Join the parts in ``parts`` into ``folder``, and compile a probe there."""
    import io
    import tarfile

    joined = b"".join(path.read_bytes() for path in sorted(parts.glob("judge.[0-9][0-9]")))
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(joined), mode="r:xz") as archive:
        archive.extractall(folder, filter="tar")
    made = toolchain_in(folder)
    for optimization in (OPTIMIZATION, UNOPTIMIZED):  # headers are precompiled for each
        check(made, optimization)
    return made


def toolchain_in(folder: Path) -> AmdToolchain:
    """The toolchain that was unpacked into ``folder``."""
    folder = folder.resolve()
    return AmdToolchain(
        clang=folder / "bin/clang++",
        linker=folder / "bin/ld.lld",
        rocm_path=folder / "hip",
        version=json.loads((folder / _ABOUT).read_text())["version"],
        cache=folder / "cache",
    )


def make_judge(
    tools: Path, credit: CompileCredit | None = None, optimization: str = OPTIMIZATION
) -> CompileJudge:
    """A judge with the toolchain that was unpacked into ``tools``, for a process of a pool."""
    from cass_ray.cache import ContentCache
    from recipes.judge.compiled import CompileCredit, CompileJudge

    kept = ContentCache(tools / "verdicts")  # all processes share what is known of translations
    return CompileJudge(
        toolchain_in(tools), kept, credit or CompileCredit(), optimization=optimization
    )


def check(toolchain: AmdToolchain, optimization: str = OPTIMIZATION) -> None:
    """Compile a probe, which also precompiles the headers for all processes that follow.

    Raises ``CompileFailure``.
    """
    from cass_ray.toolchain.unit import Unit

    with tempfile.TemporaryDirectory(prefix="judge-probe-") as name:
        (Path(name) / "probe.hip").write_text(_PROBE)
        unit = Unit(Path(name).resolve(), PurePosixPath("probe.hip"))
        toolchain.compile(unit, optimization=optimization)


def arguments() -> argparse.ArgumentParser:
    """What the commands take."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("out", type=Path)
    unpacking = commands.add_parser("unpack")
    unpacking.add_argument("parts", type=Path)
    unpacking.add_argument("--to", type=Path, required=True)
    return parser


def main() -> None:
    options = arguments().parse_args()
    started = time.monotonic()
    if options.command == "pack":
        for part in pack(options.out):
            print(f"{part}: {part.stat().st_size:,} bytes")
    else:
        unpack(options.parts, options.to)
        print(f"clang works; {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
