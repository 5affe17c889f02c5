"""Feed the translator damaged sources and random bytes, and see that it stays well behaved.

``python -m benchmarks.translate.fuzz --seconds 600 [--seed N] [FOLDER ...]`` mutates the shipped
CUDA programs (and those below FOLDER), or makes random bytes, under random file names. For each
input it asserts: no exception, no more than ``--limit`` seconds, output a fixed point (translating
it again changes nothing). Prints one line of JSON; an input that broke something is written
to ``--keep``. Exit status 1 if any did.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from cass_ray.translate.project.build_files import kind_of
from cass_ray.translate.protocol import Context
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator

PROGRAMS = Path(__file__).parents[2] / "cass_ray/corpus/shipped/programs"

_STEMS = ("a", "kernel", "Makefile", "CMakeLists", "setup", ".cu", "ä b", "-", "x" * 200, "a.b.c")
_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".c", ".hip", ".txt", "", ".CU", ".inl")
_FOLDERS = ("", "src/", "../", "/", "a/../b/", "include/x/y/", "\\")
_TOKENS = (
    *"(){}<>\"'/*\\#\n,;:",
    "/*",
    "*/",
    "//",
    'R"(',
    ')"',
    "asm(",
    'asm volatile("',
    "#if 0\n",
    "#endif\n",
    "<<<",
    ">>>",
    "operator*(",
    "__shfl_sync(",
    "__ballot_sync(",
    "cudaMalloc(",
    "#include <cuda.h>\n",
    "\r\n",
    "\0",
    "\ud800",
    "0'1",
    "__CUDA_ARCH__",
    "warpSize",
    "namespace cg = cooperative_groups;",
)


class Hang(Exception):
    """A translation took longer than the limit."""


class FuzzInputs:
    """An endless supply of bad sources."""

    def __init__(self, seed: int, texts: list[str]) -> None:
        self.random = random.Random(seed)
        self.texts = texts

    def name(self) -> str:
        choose = self.random.choice
        return f"{choose(_FOLDERS)}{choose(_STEMS)}{choose(_SUFFIXES)}"

    def source(self) -> tuple[str, str]:
        """What kind of input it is, and the input."""
        kind = self.random.choices(("mutated", "spliced", "bytes", "tokens"), (6, 2, 1, 1))[0]
        if kind == "bytes":
            data = self.random.randbytes(self.random.randint(0, 20_000))
            return kind, data.decode("utf-8", "surrogateescape")
        if kind == "tokens":
            return kind, "".join(self.random.choices(_TOKENS, k=self.random.randint(1, 2000)))
        if kind == "spliced":
            return kind, self._cut() + self._cut() + self._cut()
        text = self.random.choice(self.texts)
        for _ in range(self.random.randint(1, 16)):
            text = self._mutate(text)
        return kind, text

    def _cut(self) -> str:
        text = self.random.choice(self.texts)
        start = self.random.randrange(len(text) + 1)
        return text[start : start + self.random.randint(0, 4000)]

    def _mutate(self, text: str) -> str:
        start = self.random.randrange(len(text) + 1)
        end = min(len(text), start + self.random.randint(0, 60))
        match self.random.randrange(5):
            case 0:
                return text[:start] + text[end:]
            case 1:
                return text[:start] + text[start:end] * self.random.randint(2, 40) + text[end:]
            case 2:
                return f"{text[:start]}{self.random.choice(_TOKENS)}{text[start:]}"
            case 3:
                times = self.random.randint(1, 3000)
                return f"{text[:start]}{self.random.choice(_TOKENS) * times}{text[start:]}"
            case _:
                return text[:start] + self._cut()[:80] + text[start:]


class Trial:
    """Runs inputs through the translators and counts what happened."""

    def __init__(self, limit: float, keep: Path) -> None:
        self.limit = limit
        self.keep = keep
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.characters = 0
        self.slowest = 0.0
        self.forward = RulesTranslator()
        self.backward = HipToCudaTranslator()

    def run(self, kind: str, name: str, source: str) -> None:
        """One input: every check that applies to it."""
        signal.setitimer(signal.ITIMER_VIRTUAL, self.limit)
        began = time.process_time()
        try:
            problem = self._problem(name, source)
        except Hang:
            problem = "hang"
        except Exception as error:
            problem = repr(error)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - began
        self.counts[kind] += 1
        self.characters += len(source)
        self.slowest = max(self.slowest, took / max(len(source), 10_000) * 1e6)
        if problem:
            self.keep.mkdir(parents=True, exist_ok=True)
            path = self.keep / f"{len(self.failures)}.cu"
            path.write_bytes(source.encode("utf-8", "surrogatepass"))
            self.failures.append(f"{problem[:200]} ({name!r}, {path.name})")

    def _problem(self, name: str, source: str) -> str:
        files = frozenset({name, "include/helper.h"})
        context = Context(files=files)
        once = self.forward.translate(source, filename=name, context=context).source
        if self.forward.translate(once, filename=name, context=context).source != once:
            return "not a fixed point"
        self.backward.translate(source, filename=name, context=context)
        for path in ("CMakeLists.txt", "Makefile", "setup.py"):
            translate = kind_of(path)
            if translate is not None:
                translate(source)
        return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--limit", type=float, default=30.0, help="CPU seconds an input may take")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    arguments = parser.parse_args()
    folders = [PROGRAMS, *arguments.folder]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.cu*"))]
    inputs = FuzzInputs(arguments.seed, [path.read_text("utf-8", "replace") for path in paths])
    trial = Trial(arguments.limit, arguments.keep)

    def raise_hang(_signal: int, _frame: FrameType | None) -> None:
        raise Hang

    signal.signal(signal.SIGVTALRM, raise_hang)
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and len(trial.failures) < 20:
        kind, source = inputs.source()
        trial.run(kind, inputs.name(), source)
    result = {
        "seconds": arguments.seconds,
        "seed": arguments.seed,
        "inputs": dict(trial.counts),
        "megabytes": round(trial.characters / 1e6, 1),
        "slowest_seconds_per_megabyte": round(trial.slowest, 2),
        "failures": trial.failures,
    }
    print(json.dumps(result, ensure_ascii=True))
    return 1 if trial.failures else 0


if __name__ == "__main__":
    sys.exit(main())
