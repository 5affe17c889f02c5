"""How much of the machine code that compilers and AMD's libraries hold the CPU backend executes.

    python -m benchmarks.emulator.code_coverage --arch gfx90a --json OUT.json \\
        rocprim=FOLDER librocrand1=librocrand.so.1 rocblas=FOLDER%8

counts the instructions of every code object for a processor, by mnemonic and by what
``cass emulator coverage`` says of it. A set is a name and a file or a folder, whose files are read
to any depth; ``%8`` takes every eighth file in the order of names. LLVM's disassembler reads the
code (``llvm-objdump``), not the engine; what it does not know, as newer than itself, the engine is
asked for. ``shipped`` alone, without a path, is the shipped programs, translated and compiled.

A mnemonic counts as executed where all its encodings in the engine's table are.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.architectures import amd_target
from cass_ray.emulator.code_object import find_device_binaries
from cass_ray.emulator.coverage import instruction_set_of
from cass_ray.emulator.engine_interface import Engine, load_engine
from cass_ray.toolchain.amd.second_llvm import with_second_compiler
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.elf import DamagedFile
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_OBJDUMP = ("llvm-objdump-22", "llvm-objdump-21", "llvm-objdump-20", "llvm-objdump-19")
_SUFFIX = re.compile(r"(?:_e64)?_(?:e32|e64|dpp|dpp8|sdwa)$")
_CODE = re.compile(r"^\t([a-z]\w+)|:: ([a-z]\w+)")
_UNKNOWN = re.compile(r"^\t(?:<unknown>|\.long)")
_WORDS = re.compile(r"// [0-9A-F]+: ([0-9A-F ]+?)(?: ;.*)?$")  # warnings stand behind the words
_NO_CODE = frozenset({"s_code_end"})
"""Padding behind the last instruction."""


def code_objects(path: Path, architecture: str) -> Iterator[bytes]:
    """The code objects of ``architecture`` in a file: itself, a bundle, or a host program."""
    data = path.read_bytes()
    try:
        found = find_device_binaries(data)
    except DamagedFile:
        return
    for binary in found:
        for target, content in _of_bundle(binary) if binary.startswith(_BUNDLE) else [("", binary)]:
            named = target or path.name
            if re.search(rf"{architecture}(?![0-9a-z])", named) and content.startswith(b"\x7fELF"):
                yield content


def _of_bundle(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The entries of an offload bundle (LLVM's ``ClangOffloadBundler``): target and content."""
    place = len(_BUNDLE)

    def number() -> int:
        nonlocal place
        place += 8
        return int.from_bytes(data[place - 8 : place], "little")

    for _ in range(number()):
        offset, size, length = number(), number(), number()
        target = data[place : place + length].decode("ascii", "replace")
        place += length
        yield target, data[offset : offset + size]


class Disassembly:
    """Counts mnemonics. Raises :class:`SystemExit` where there is no ``llvm-objdump``."""

    def __init__(self, architecture: str, engine: Engine) -> None:
        self._set = instruction_set_of(architecture)
        self._architecture = architecture
        self._engine = engine
        tool = next((found for name in _OBJDUMP if (found := shutil.which(name))), None)
        if tool is None:
            raise SystemExit("needs llvm-objdump 19 or newer")
        self._tool = tool

    def of_object(self, content: bytes) -> Counter[str]:
        """Of a code object."""
        with tempfile.NamedTemporaryFile(suffix=".co") as file:
            file.write(content)
            file.flush()
            # LLVM 19 ends at a code object of a processor that is newer than itself.
            older = amd_target(self._architecture).read_as
            command = [self._tool, "-d", *([f"--mcpu={older}"] if older else []), file.name]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                return self.of_lines(process.stdout)

    def of_lines(self, lines: Iterable[str]) -> Counter[str]:
        """Of assembly, or of what ``llvm-objdump`` writes."""
        found: Counter[str] = Counter()
        unknown: list[int] = []
        for line in lines:
            if not line.startswith("\t"):
                continue
            words = _words(line)
            if unknown:
                # LLVM goes on behind the first word of what it does not know.
                name, size = self._newer([*unknown, *words])
                found[name] += 1
                unknown = []
                if size > 4:
                    continue
            if _UNKNOWN.match(line):
                unknown = words if any(words) else []
            else:
                found.update(_name(match[1] or match[2]) for match in _CODE.finditer(line))
        for name in _NO_CODE:
            found.pop(name, None)
        return found

    def _newer(self, words: list[int]) -> tuple[str, int]:
        """Mnemonic and size of an instruction that this LLVM does not know."""
        read = self._engine.decode(words, self._set)
        return (_name(read[0].split()[0]), read[1]) if read else ("unknown", 4)


def _words(line: str) -> list[int]:
    found = _WORDS.search(line)
    return [int(word, 16) for word in found[1].split()] if found else []


def _name(mnemonic: str) -> str:
    return _SUFFIX.sub("", mnemonic).replace("v_dual_", "v_")


def of_set(name: str, place: str, disassembly: Disassembly, architecture: str) -> Counter[str]:
    """The mnemonics of a set; see the module."""
    found: Counter[str] = Counter()
    if name == "shipped":
        for text in shipped_assembly(architecture):
            found += disassembly.of_lines(text.splitlines())
        return found
    path, _, step = place.partition("%")
    root = Path(path)
    files = [root] if root.is_file() else sorted(each for each in root.rglob("*") if each.is_file())
    for file in files[:: int(step or 1)]:
        if not file.is_symlink() or file == root:
            for content in code_objects(file, architecture):
                found += disassembly.of_object(content)
    return found


def shipped_assembly(architecture: str) -> Iterator[str]:
    """The device code of the shipped programs, translated for the width of the processor."""
    toolchain: AmdToolchain = find_amd()
    if amd_target(architecture).read_as:
        toolchain = with_second_compiler(toolchain)
    widths = amd_target(architecture).wave_widths[:1]
    with tempfile.TemporaryDirectory(prefix="cass-coverage-") as folder:
        for number, (_, sources) in enumerate(shipped_sources(Path(folder)).values()):
            unit = translated(sources, make_translator(), widths).write(Path(folder, str(number)))
            try:
                made = toolchain.compile_device(unit, architecture, optimization="-O3")
            except CompileFailure:
                continue
            yield made.device_assembly


def states(architecture: str, engine: Engine) -> dict[str, str]:
    """What the engine does with a mnemonic: the worst of its encodings."""
    order = ("unsupported", "covered", "ignored")
    found: dict[str, str] = {}
    for item in engine.coverage(instruction_set_of(architecture)):
        known = found.get(item.mnemonic, item.state)
        found[item.mnemonic] = min(known, item.state, key=order.index)
    return found


def row(architecture: str, name: str, counts: Counter[str], known: dict[str, str]) -> str:
    """A line of the table."""
    missing = {each for each in counts if known.get(each, "unsupported") == "unsupported"}
    total, lost = sum(counts.values()), sum(counts[each] for each in missing)
    kinds = f"{100 * (1 - len(missing) / len(counts)):.2f}%" if counts else ""
    static = f"{100 * (1 - lost / total):.4f}%" if total else ""
    listed = ", ".join(f"`{each}` {counts[each]}" for each in sorted(missing))
    return (
        f"| {architecture} | {name} | {total:,} | {len(counts)} | {kinds} | {static} | {listed} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--arch", action="append", required=True, help="may be repeated")
    parser.add_argument("--json", type=Path, required=True, help="counts; sets it has are kept")
    parser.add_argument("sets", nargs="*", help="NAME=PATH, NAME=PATH%%EVERY or shipped")
    given = parser.parse_args()
    made = json.loads(given.json.read_text()) if given.json.exists() else {}
    engine = load_engine()
    for architecture in given.arch:
        disassembly = Disassembly(architecture, engine)
        of = made.setdefault(architecture, {})
        for name, _, place in (each.partition("=") for each in given.sets):
            if name not in of:
                of[name] = dict(of_set(name, place, disassembly, architecture))
                given.json.write_text(json.dumps(made, indent=1) + "\n")
    print("| processor | code | instructions | mnemonics | executed of them | of all | not |")
    print("|---|---|---:|---:|---:|---:|---|")
    for architecture, sets in made.items():
        known = states(architecture, engine)
        everything: Counter[str] = Counter()
        for name, counts in sets.items():
            everything.update(counts)
            print(row(architecture, name, Counter(counts), known))
        print(row(architecture, "all", everything, known))


if __name__ == "__main__":
    main()
