"""Lift the opcode forms, run them on the RDNA3 backend and compare with the GPU's results.

``python -m tests.lift.vectors.differential [--architecture 80] [--target gfx942] [--only TEXT]
[--output FILE]`` prints every form that is not as on the GPU.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.emulator.execution import DEVICES_VARIABLE
from cass_ray.lift import LiftedModule, lift_cubin
from cass_ray.lift.errors import LiftError
from cass_ray.toolchain.locate import find_nvidia
from tests.folders import REPOSITORY
from tests.lift.vectors import recipes
from tests.lift.vectors.form import Form, digest, module
from tests.lift.vectors.forms import FAMILIES, family

VECTORS = Path(__file__).with_name("opcode_vectors.json.xz")
RUN_SECONDS = 300
MODULE_FORMS = 120
OLDEST = 80
"""Which architecture a form needs is noted from here on; before, ptxas says so."""

SAME, SAME_BUT_NAN, CLOSE = "same", "same but NaN bits", "within the stated error"
NOT_LIFTED, FAILED, DIFFERENT = "not lifted", "failed", "different"
GOOD = (SAME, SAME_BUT_NAN, CLOSE)


@dataclass(frozen=True)
class VectorVerdict:
    """How a lifted form compares; ``detail`` says what is wrong with a bad one."""

    form: Form
    outcome: str
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether the form does what the GPU does."""
        return self.outcome in GOOD


@functools.cache
def vectors() -> dict[str, Any]:
    """What the GPU computed, by form."""
    stored: dict[str, Any] = json.loads(lzma.decompress(VECTORS.read_bytes()))
    return stored


def known(form: Form) -> dict[str, Any] | None:
    """The GPU's result for ``form`` as it is now; None where there is none."""
    result: dict[str, Any] | None = vectors()["forms"].get(form.name)
    if result is None or "error" in result or "varies" in result:
        return None
    return result if result["ptx"] == digest(form) else None


def check(
    forms: Iterable[Form],
    architecture: int,
    target: str = DEFAULT_AMD_ARCHITECTURE,
    *,
    native_matrices: bool = False,
) -> list[VectorVerdict]:
    """Assemble ``forms`` for ``architecture``, lift them to ``target``, run and compare."""
    lifting = functools.partial(
        lift_cubin, architecture=target, partial=True, native_matrices=native_matrices
    )
    least = max(architecture, OLDEST)
    chosen = [form for form in forms if form.minimum <= least and known(form)]
    verdicts: list[VectorVerdict] = []
    for first in range(0, len(chosen), MODULE_FORMS):
        some = chosen[first : first + MODULE_FORMS]
        verdicts += _check_module(some, architecture, target, lifting)
    return verdicts


def _check_module(
    forms: list[Form], architecture: int, target: str, lifting: Callable[[bytes], LiftedModule]
) -> list[VectorVerdict]:
    forms = accepted(forms, architecture)
    if not forms:
        return []
    try:
        lifted = lifting(assemble(forms, architecture))
    except LiftError as error:
        if len(forms) == 1:
            return [VectorVerdict(forms[0], NOT_LIFTED, str(error))]
        half = len(forms) // 2
        return [
            *_check_module(forms[:half], architecture, target, lifting),
            *_check_module(forms[half:], architecture, target, lifting),
        ]
    refused = {name: str(error) for name, error in lifted.failures.items()}
    found = [VectorVerdict(f, NOT_LIFTED, refused[f.name]) for f in forms if f.name in refused]
    ready = [form for form in forms if form.name not in refused]
    results = {item["name"]: item for item in run(lifted.code_object, ready, target)}
    return found + [compare(form, results[form.name]) for form in ready]


def accepted(forms: list[Form], architecture: int) -> list[Form]:
    """Those of ``forms`` that ptxas knows on ``architecture``; it refuses all for one of them."""
    try:
        assemble(forms, architecture)
    except subprocess.CalledProcessError:
        if architecture >= OLDEST:
            raise
        half = len(forms) // 2
        parts = (forms[:half], forms[half:]) if half else ()
        return [form for part in parts for form in accepted(part, architecture)]
    return forms


def assemble(forms: list[Form], architecture: int) -> bytes:
    """A cubin of ``forms``, by ptxas."""
    ptxas = find_nvidia().nvcc.with_name("ptxas")
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name, "forms.ptx"), Path(name, "forms.cubin")
        source.write_text(module(forms, architecture))
        command = [ptxas, f"-arch=sm_{architecture}", source, "-o", target]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return target.read_bytes()


def run(
    code_object: bytes, forms: list[Form], target: str = DEFAULT_AMD_ARCHITECTURE
) -> Iterator[dict[str, Any]]:
    """Results of the lifted ``forms`` on ``target``; a process that dies is followed by another."""
    pending = [form.name for form in forms]
    environment = {**os.environ, "CASS_EMULATOR_TIME_LIMIT": "60", "CASS_EMULATOR_THREADS": "1"}
    environment[DEVICES_VARIABLE] = target
    with tempfile.NamedTemporaryFile(suffix=".co") as file:
        file.write(code_object)
        file.flush()
        while pending:
            command = [sys.executable, "-m", "tests.lift.vectors.run_lifted", file.name, *pending]
            try:
                done = subprocess.run(
                    command,
                    cwd=REPOSITORY,
                    env=environment,
                    capture_output=True,
                    check=False,
                    timeout=RUN_SECONDS,
                )
                output, message = done.stdout, done.stderr[-400:].decode("utf-8", "replace")
            except subprocess.TimeoutExpired as expired:
                output, message = expired.stdout or b"", f"no end after {RUN_SECONDS} s"
            made = [json.loads(line) for line in output.splitlines()]
            if len(made) < len(pending):
                made.append({"name": pending[len(made)], "error": message.strip() or "died"})
            yield from made
            pending = pending[len(made) :]


def compare(form: Form, made: dict[str, Any]) -> VectorVerdict:
    """Judge the results of one form."""
    wanted = known(form)
    assert wanted is not None
    if "error" in made:
        return VectorVerdict(form, FAILED, made["error"])
    left, right = bytes.fromhex(wanted["lanes"]), bytes.fromhex(made["lanes"])
    size = 4 * form.result_words
    lanes = range(len(left) // size)
    pairs = [(left[n * size :][:size], right[n * size :][:size]) for n in lanes]
    if form.ulp:
        return _compare_close(form, pairs)
    wrong = [
        lane
        for lane, (one, other) in enumerate(pairs)
        if recipes.with_one_nan(one, form.floats) != recipes.with_one_nan(other, form.floats)
    ]
    groups = zip(wanted["checksums"], made["checksums"], strict=True)
    others = [number for number, (one, other) in enumerate(groups) if one != other]
    if wrong or others:
        shown = "; ".join(_lane(form, lane, *pairs[lane]) for lane in wrong[:4])
        return VectorVerdict(
            form,
            DIFFERENT,
            f"{len(wrong)} lanes, {len(others)} groups of {recipes.CHECKED}: {shown}",
        )
    return VectorVerdict(form, SAME if left == right else SAME_BUT_NAN)


def _lane(form: Form, lane: int, wanted: bytes, made: bytes) -> str:
    operands = [recipes.operand(kind, place, lane) for place, kind in enumerate(form.operands)]
    given = ", ".join(f"{value:#x}" for value in operands)
    words = [
        " ".join(f"{word:08x}" for word in struct.unpack(f"<{len(data) // 4}I", data))
        for data in (wanted, made)
    ]
    return f"lane {lane} ({given}): {words[0]} on the GPU, {words[1]} lifted"


_FLOATS = {"f16": ("e", 10), "f32": ("f", 23), "f64": ("d", 52)}


def _values(data: bytes, floats: str) -> list[float]:
    if floats == "bf16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
    code = _FLOATS[floats][0]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def _compare_close(form: Form, pairs: list[tuple[bytes, bytes]]) -> VectorVerdict:
    """``form.ulp`` units in the last place, or 2^ulp of the larger of the value and 1."""
    wrong = []
    for lane, (one, other) in enumerate(pairs):
        if one == other:
            continue
        values = zip(_values(one, form.floats), _values(other, form.floats), strict=True)
        if not all(_close(left, right, form) for left, right in values):
            wrong.append(lane)
    if wrong:
        shown = "; ".join(_lane(form, lane, *pairs[lane]) for lane in wrong[:4])
        return VectorVerdict(form, DIFFERENT, f"{len(wrong)} lanes: {shown}")
    return VectorVerdict(form, SAME if all(one == other for one, other in pairs) else CLOSE)


def _close(left: float, right: float, form: Form) -> bool:
    if left == right or (left != left and right != right):
        return True
    if left - left != 0 or right - right != 0:  # infinite or NaN, one of them
        return False
    if form.ulp < 0:
        return abs(left - right) <= 2.0**form.ulp * max(1.0, abs(left))
    fraction = 7 if form.floats == "bf16" else _FLOATS[form.floats][1]
    smallest = {"f64": 2.0**-1022}.get(form.floats, 2.0**-126)
    return abs(left - right) <= form.ulp * 2.0**-fraction * max(abs(left), smallest)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--architecture", type=int, nargs="*", default=[80, 89, 90])
    parser.add_argument("--target", default=DEFAULT_AMD_ARCHITECTURE, help="AMD processor")
    parser.add_argument("--family", nargs="*", default=list(FAMILIES))
    parser.add_argument("--only", default="", help="forms whose name contains this")
    parser.add_argument("--output", type=Path, help="write the outcomes as JSON")
    given = parser.parse_args()
    outcomes: dict[str, dict[str, dict[str, list[str]]]] = {}
    jobs = [(number, name) for number in given.architecture for name in given.family]

    def work(job: tuple[int, str]) -> list[VectorVerdict]:
        forms = [form for form in family(job[1]).values() if given.only in form.name]
        return check(forms, job[0], given.target)

    with ThreadPoolExecutor(2) as pool:
        for (number, name), verdicts in zip(jobs, pool.map(work, jobs), strict=True):
            counts = Counter(verdict.outcome for verdict in verdicts)
            good = sum(verdict.good for verdict in verdicts)
            print(f"sm_{number} {name}: {good} of {len(verdicts)}: {dict(counts)}", flush=True)
            bad = outcomes.setdefault(f"sm_{number}", {}).setdefault(name, {})
            for verdict in verdicts:
                bad.setdefault(verdict.outcome, []).append(verdict.form.name)
                if not verdict.good:
                    line = f"  {verdict.form.name}: {verdict.outcome}: {verdict.detail}"
                    print(line[:700], flush=True)
            if given.output:
                given.output.write_text(json.dumps(outcomes, indent=1) + "\n")


if __name__ == "__main__":
    main()
