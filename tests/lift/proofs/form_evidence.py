"""Write ``cass_ray/lift/form_evidence.json``: prove what can be proven, and note what vectors test.

``python -m tests.lift.proofs.form_evidence [--resume LOG] [--keep]`` takes the forms that were
counted by ``benchmarks.lift.forms`` (``benchmarks/results/lift_forms.json``), those of the vectors'
kernels, and the outcomes of the differential run (``benchmarks/results/opcode_vectors.json``). LOG
keeps the verdicts of a run that was stopped: it is good for the same lifter and specification only.
With ``--keep`` stored proofs are not made again; ``test_all_proven_forms`` does that. Forms that
are neither are compared with proven and tested ones (``equality``). What all of it was made from is
noted as a digest, by which ``test_form_evidence.py`` sees that it is to be made again.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cass_ray.assembly import sass
from cass_ray.lift.form_evidence import FILE, forms_in, is_covered, stored
from cass_ray.toolchain.locate import find_nvidia
from tests.folders import REPOSITORY
from tests.lift.proofs.equality import RULES, Equality, confirmed, equal, rules_for
from tests.lift.proofs.instances import NotInstantiable, starts_a_chain
from tests.lift.proofs.prove import PROVEN, Verdict, prove
from tests.lift.proofs.silicon import CONFIRMED
from tests.lift.proofs.specification import SPECIFIED
from tests.lift.proofs.twins import DOCUMENTED
from tests.lift.vectors.differential import GOOD, assemble
from tests.lift.vectors.form import digest
from tests.lift.vectors.forms import all_forms as forms_of_all_vectors
from tests.lift.vectors.forms import family
from tests.port.run_on_gpu import PROGRAMS, RECORD, recorded, source_of
from tests.port.warpgroup.program import everything, program

RESULTS = REPOSITORY / "benchmarks" / "results"
COUNTED = RESULTS / "lift_forms.json"
OUTCOMES = RESULTS / "opcode_vectors.json"
STORED = REPOSITORY / "cass_ray" / "lift" / FILE


@functools.cache
def outcomes() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Architecture -> family of vectors -> outcome -> kernels, of the differential run."""
    made: dict[str, dict[str, dict[str, list[str]]]] = json.loads(OUTCOMES.read_text())
    return made


@functools.cache
def forms_of_vectors(architecture: str, name: str) -> dict[str, frozenset[str]]:
    """Kernel -> forms of its instructions, of the vectors of family ``name`` that were run."""
    number = int(architecture.removeprefix("sm_"))
    run = {kernel for kernels in outcomes()[architecture][name].values() for kernel in kernels}
    chosen = [form for form in family(name).values() if form.name in run]
    (listing,) = find_nvidia().disassemble([assemble(chosen, number)])
    return {each.name: frozenset(forms_in([each])) for each in sass.parse(listing).functions}


def forms_of_source(source: Path, architecture: str) -> frozenset[str]:
    """Forms that nvcc's code of a file has."""
    nvidia = find_nvidia()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.cubin")
        command = [str(nvidia.nvcc), "-cubin", "-std=c++17", f"-arch={architecture}"]
        command += [str(source), "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True)
        (listing,) = nvidia.disassemble([made.read_bytes()])
    return frozenset(forms_in(sass.parse(listing).functions))


@functools.cache
def forms_of_warpgroups() -> frozenset[str]:
    """Forms in the kernels of ``tests/port/warpgroup``, of which an H100 gave every result.

    ``tests/port/test_warpgroups.py`` compares all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "warpgroups.cu")
        source.write_text(program(everything()))
        return forms_of_source(source, "sm_90a")


@functools.cache
def forms_of_programs() -> frozenset[str]:
    """Forms in the programs that an H200 ran (``tests/port/run_on_gpu.py``), each without a fault.

    ``tests/port/test_on_gpu.py`` compares what they say when lifted. Traps are not among them: no
    kernel that ends well has run one. Other code that no thread reached is.
    """
    found = (forms_of_source(source_of(name), PROGRAMS[name]) for name in recorded())
    return frozenset(form for forms in found for form in forms if not form.startswith("BPT"))


def tested() -> dict[str, list[str]]:
    """Form -> architectures for which a kernel that agrees with the GPU has it."""
    found: dict[str, set[str]] = defaultdict(set)
    for architecture, families in outcomes().items():
        for name, by_outcome in families.items():
            in_kernels = forms_of_vectors(architecture, name)
            for kernel in (each for good in GOOD for each in by_outcome.get(good, ())):
                for form in in_kernels.get(kernel, ()):
                    found[form].add(architecture)
    for form in forms_of_warpgroups() | forms_of_programs():
        found[form].add("sm_90")
    return {form: sorted(where) for form, where in sorted(found.items())}


def counted() -> dict[str, Any]:
    """What ``benchmarks.lift.forms`` wrote: group -> architecture -> cubins, forms."""
    made: dict[str, Any] = json.loads(COUNTED.read_text())
    return made


def all_forms() -> Counter[str]:
    """Every form that was counted, and every one of the vectors, with its number."""
    found: Counter[str] = Counter()
    for architectures in counted().values():
        for each in architectures.values():
            found.update(each["forms"])
    for architecture, families in outcomes().items():
        for name in families:
            found.update(
                f for forms in forms_of_vectors(architecture, name).values() for f in forms
            )
    return found


def evidence() -> str:
    """A digest of what the evidence is made from: results of GPUs, and forms that were counted.

    Not of the lifter, the specification or the assembler, whose changes other tests see.
    """
    names = {f for by in counted().values() for each in by.values() for f in each["forms"]}
    parts = (
        json.dumps(outcomes(), sort_keys=True),
        " ".join(sorted(names)),
        CONFIRMED.read_text(),
        " ".join(map(digest, forms_of_all_vectors().values())),
        program(everything()),
        RECORD.read_text(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def equalities(forms: Iterable[str], known: frozenset[str], run: Iterable[str]) -> list[Equality]:
    """Of those ``forms`` that are not known but lifted, which known ones they are equal to.

    ``run`` are the forms that a GPU ran, which confirm the rules.
    """
    unknown = sorted(f for f in set(forms) - known if is_covered(f.partition(" ")[0]))
    wanted = rules_for(unknown, known)
    pairs = confirmed(wanted - DOCUMENTED.keys(), set(run))
    RULES.write_text(json.dumps(dict(sorted(pairs.items())), indent=1) + "\n")
    return [equal(form, known, pairs.keys() | DOCUMENTED.keys()) for form in unknown]


def specified(forms: Iterable[str]) -> list[str]:
    """Those of ``forms`` of which the specification says something that a GPU confirms, sorted."""
    functions = {SPECIFIED[mnemonic] for mnemonic in json.loads(CONFIRMED.read_text())["mnemonics"]}
    return sorted(form for form in forms if SPECIFIED.get(form.partition(" ")[0]) in functions)


def carriers(forms: Iterable[str]) -> list[str]:
    """Those of ``forms`` whose carries or comparisons others continue."""
    found = []
    for form in forms:
        try:
            if starts_a_chain(form):
                found.append(form)
        except NotInstantiable:
            continue
    return found


def prove_all(forms: list[str], log: Path | None, kept: Iterable[str] = ()) -> list[Verdict]:
    """A verdict of each form, without another proof of those ``kept``; printed if not proven."""
    known = {form: Verdict(form, PROVEN) for form in kept}
    if log is not None and log.exists():
        for line in log.read_text().splitlines():
            verdict = Verdict(**json.loads(line))
            known[verdict.form] = verdict
    starts = carriers(forms)
    made = []
    for form in forms:
        verdict = known.get(form)
        if verdict is None:
            began = time.process_time()
            verdict = prove(form, starts)
            seconds = time.process_time() - began
            if log is not None:
                with log.open("a") as file:
                    file.write(json.dumps(vars(verdict)) + "\n")
            if verdict.outcome != PROVEN or seconds > 60:
                print(f"{seconds:6.1f} s  {verdict.outcome}  {form}  {verdict.detail}", flush=True)
        made.append(verdict)
    return made


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--keep", action="store_true", help="do not prove again what is proven")
    given = parser.parse_args()
    kept = stored().proven if given.keep else ()
    verdicts = prove_all(specified({*all_forms(), *kept}), given.resume, kept)
    print(Counter(verdict.outcome for verdict in verdicts))
    proven, run = [v.form for v in verdicts if v.outcome == PROVEN], tested()
    found = equalities(all_forms(), frozenset([*proven, *run]), run)
    made = {
        "proven": proven,
        "tested": run,
        "equal": {each.form: each.other for each in found if each.other},
        "evidence": evidence(),
    }
    STORED.write_text(json.dumps(made, indent=0) + "\n")
    stored.cache_clear()


if __name__ == "__main__":
    main()
