"""The program generator: how fast, how distinct, and whether its programs compile, run and agree.

``python -m benchmarks.corpus.generate [--count N] [--execute N] [--json FILE] [--markdown FILE]``

Each of ``--execute`` programs is compiled with nvcc for sm_80 and disassembled, translated to HIP
by the rules, compiled for gfx1100, and executed on the CPU backend; what it prints is compared with
the generator's own evaluation. Finished programs are kept in ``--state`` and not run again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.measure.machine import MeasuredMachine, this_machine
from cass_ray.assembly import opcodes, rdna3, sass
from cass_ray.assembly.opcodes import InstructionSet
from cass_ray.cache import digest
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.generate.program import GeneratedProgram, generate
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.coverage import measure
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.executable import SandboxVerdict
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program

Json = dict[str, Any]


def speed(count: int, seed: int) -> Json:
    """CPU time of generating ``count`` programs with their output, and how alike they are."""
    started = time.process_time()
    programs = list(generate(count, seed))
    seconds = time.process_time() - started
    near = NearDuplicates()
    similar = sum(near.offer(str(n), made.source) is not None for n, made in enumerate(programs))
    lines = sorted(made.source.count("\n") for made in programs)
    return {
        "programs": count,
        "distinct": len({made.source for made in programs}),
        "near_duplicates": similar,
        "cpu_seconds": round(seconds, 2),
        "programs_per_minute": round(count * 60 / seconds),
        "lines": {"least": lines[0], "median": lines[count // 2], "most": lines[-1]},
    }


class GeneratedProgramExaminer:
    """Compiles and runs one program after the other."""

    def __init__(self, state: Path, minutes: float) -> None:
        self.state = state
        self.end = time.monotonic() + minutes * 60
        state.mkdir(parents=True, exist_ok=True)
        self.nvidia: NvidiaToolchain = find_nvidia()
        self.backend = Rdna3Backend()
        self.translator = make_translator()

    def examine(self, program: GeneratedProgram) -> Json | None:
        """The outcome of ``program``, from ``state`` where it has been examined before.

        None when time is up.
        """
        key = digest([program.source, program.expected, self.backend.identity(),
                      self.translator.version, self.nvidia.version])  # fmt: skip
        place = self.state / f"{key}.json"
        if place.exists():
            known: Json = json.loads(place.read_text())
            return known
        if time.monotonic() > self.end:
            return None
        outcome = {"name": program.name, **self._examined(program)}
        place.write_text(json.dumps(outcome))
        return outcome

    def _examined(self, program: GeneratedProgram) -> Json:
        sources = Sources(
            PurePosixPath(f"{program.name}.cu"), {f"{program.name}.cu": program.source.encode()}
        )
        try:
            with tempfile.TemporaryDirectory(prefix="cass-generate-") as folder:
                made = self.nvidia.compile(sources.write(Path(folder).resolve()))
            listing = self.nvidia.disassemble(list(made.cubins.values()))[0]
        except CompileFailure as failure:
            return {"state": "nvidia_compile", "detail": str(failure)[:2000]}
        translation = translate_program(sources, self.translator)
        hip = translation.sources
        try:
            texts = self.backend.compile(hip)
            built = self.backend.build(texts)
        except CompileFailure as failure:
            return {"state": "amd_compile", "detail": str(failure)[:2000]}
        ended = self.backend.run(built).ended
        state, detail = "agrees", ""
        if ended.verdict is not SandboxVerdict.OK:
            state, detail = "run_failed", f"{ended.verdict}: {ended.stderr[:1000]!r}"
        elif ended.stdout.decode() != program.expected:
            state, detail = "disagrees", ended.stdout.decode()[:1000]
            if self._agrees_unoptimized(hip, program):
                state = "miscompiled"
        return {
            "state": state,
            "detail": detail,
            "findings": [item.format() for item in translation.findings],
            "sass": Counter(_sass_opcodes(listing)),
            "rdna3": Counter(_rdna3_mnemonics(texts.device)),
        }

    def _agrees_unoptimized(self, hip: Sources, program: GeneratedProgram) -> bool:
        """Whether ``-O0`` gives what is expected: then it is clang's optimizer that went wrong."""
        backend = replace(self.backend, optimization="-O0")
        ended = backend.run(backend.build(backend.compile(hip))).ended
        return ended.verdict is SandboxVerdict.OK and ended.stdout.decode() == program.expected


def _sass_opcodes(listing: str) -> Iterable[str]:
    for function in sass.parse(listing).functions:
        for instruction in function.instructions:
            yield instruction.opcode


def _rdna3_mnemonics(assembly: str) -> Iterable[str]:
    for line in rdna3.parse(assembly).lines:
        if line.kind is rdna3.Rdna3LineKind.INSTRUCTION:
            yield from line.mnemonics


def coverage(outcomes: list[Json]) -> Json:
    """Distinct opcodes of all programs, by category and in all."""
    report: Json = {}
    for side, instruction_set in (("sass", InstructionSet.SASS), ("rdna3", InstructionSet.RDNA3)):
        counts: Counter[str] = Counter()
        for outcome in outcomes:
            counts.update(outcome.get(side, {}))
        base = {name: name.partition(".")[0] if side == "sass" else name for name in counts}
        by_category: dict[str, set[str]] = {}
        for name, plain in base.items():
            category = opcodes.category(instruction_set, name).value
            by_category.setdefault(category, set()).add(plain)
        report[side] = {
            "instructions": counts.total(),
            "opcodes": len(set(base.values())),
            "by_category": {name: len(found) for name, found in sorted(by_category.items())},
            "most_frequent": [name for name, _ in counts.most_common(15)],
            "list": sorted(set(base.values())),
        }
    report["engine"] = dict(measure().states())
    return report


def markdown(figures: Json) -> str:
    """The page made from ``figures``."""
    speed_, states = figures["speed"], figures["states"]
    machine = figures["machine"]
    executed, agree = sum(states.values()), states.get("agrees", 0)
    miscompiled = states.get("miscompiled", 0)
    nvidia = executed - states.get("nvidia_compile", 0)
    amd = nvidia - states.get("amd_compile", 0)
    lines = [
        "# The program generator",
        "",
        f"    {figures['command']}",
        "",
        f"{machine['cores']} cores, {machine['processor']}; "
        + ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        + ".",
        "",
        "| figure | value |",
        "|---|---|",
        f"| programs a minute on one core, evaluation included | {speed_['programs_per_minute']} |",
        f"| distinct | {speed_['distinct']} of {speed_['programs']} |",
        f"| near duplicates (Jaccard 0.8 of token shingles) | {speed_['near_duplicates']} |",
        f"| lines: least, median, most | {', '.join(map(str, speed_['lines'].values()))} |",
        f"| compile with nvcc, sm_80 | {nvidia} of {executed} |",
        f"| translate and compile for gfx1100 | {amd} of {executed} |",
        f"| run on the CPU backend and agree with the generator | {agree} of {executed} |",
        f"| agree at -O0 only: miscompiled by clang | {miscompiled} of {executed} |",
        "",
        "| instruction set | instructions | distinct opcodes |",
        "|---|---|---|",
    ]
    for side, title in (("sass", "SASS, sm_80"), ("rdna3", "RDNA3, gfx1100")):
        found = figures["coverage"][side]
        lines.append(f"| {title} | {found['instructions']} | {found['opcodes']} |")
    lines += [
        "",
        "Distinct opcodes by category:",
        "",
        "| category | SASS | RDNA3 |",
        "|---|---|---|",
    ]
    both = [figures["coverage"][side]["by_category"] for side in ("sass", "rdna3")]
    for name in sorted({*both[0], *both[1]}):
        lines.append(f"| {name} | {both[0].get(name, 0)} | {both[1].get(name, 0)} |")
    for side, title in (("sass", "SASS"), ("rdna3", "RDNA3")):
        lines += ["", f"{title}: {' '.join(figures['coverage'][side]['list'])}"]
    if failed := figures["failures"]:
        lines += ["", "| program | state | detail |", "|---|---|---|"]
        lines += [f"| {o['name']} | {o['state']} | {o['detail'][:200]!r} |" for o in failed]
    return "\n".join([*lines, *figures["notes"], ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--execute", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--state", type=Path, default=Path(tempfile.gettempdir()) / "cass-generate")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no program after this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--note", action="append", default=[], help="A line for the page.")
    given = parser.parse_args()
    machine: MeasuredMachine = this_machine()
    figures: Json = {
        "command": f"python -m benchmarks.corpus.generate --count {given.count} "
        f"--execute {given.execute} --seed {given.seed}",
        "machine": machine.model_dump(),
        "speed": speed(given.count, given.seed),
    }
    print(json.dumps(figures["speed"]), flush=True)
    examiner = GeneratedProgramExaminer(given.state, given.minutes)
    outcomes: list[Json] = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for outcome in pool.map(examiner.examine, generate(given.execute, given.seed)):
            if outcome is None:
                continue
            outcomes.append(outcome)
            if outcome["state"] != "agrees" or outcome["findings"]:
                print(outcome["name"], outcome["state"], outcome["detail"], flush=True)
    figures["states"] = dict(Counter(outcome["state"] for outcome in outcomes))
    figures["failures"] = [
        {name: outcome[name] for name in ("name", "state", "detail")}
        for outcome in outcomes
        if outcome["state"] != "agrees"
    ]
    figures["coverage"] = coverage(outcomes)
    figures["notes"] = [f"\n{note}" for note in given.note]
    print(figures["states"])
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    if given.markdown:
        given.markdown.write_text(markdown(figures))


if __name__ == "__main__":
    main()
