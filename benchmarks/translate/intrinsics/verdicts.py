"""What is said of each function, and what differences are no fault of the translation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.translate.intrinsics.declarations import Declaration
from benchmarks.translate.intrinsics.measure import Outcome
from cass_ray.translate.protocol import Finding


class Verdict(StrEnum):
    """The outcome in a word."""

    SAME = "same bits"
    CLOSE = "approximations within an allowance"
    KNOWN = "differs for a reason that is known"
    LABELLED = "differs, with a finding"
    REFUSED = "does not compile, with a finding"
    DIFFERS = "differs"
    BROKEN = "does not compile"
    NOT_ASKED = "no Nvidia side"


FAULTS = (Verdict.DIFFERS, Verdict.BROKEN)


@dataclass(frozen=True)
class Allowance:
    """Differences of functions whose signatures match ``signature`` from their start.

    ``steps`` bounds the distance of results; without it each side's documented error is an absolute
    one, or of other functions that it is made of. ``any_difference``: for reasons of HIP's headers
    that no renaming reaches.
    """

    signature: str
    reason: str
    steps: int | None = None
    any_difference: bool = False


_ULP = "both within the documented errors, of which CUDA's and HIP's are a few units each"
_INSTRUCTION = "an instruction of the hardware with an absolute error"
ALLOWANCES = (
    Allowance(r"(?:cyl_bessel_i[01]|[jy][01])f?\(", "absolute errors (CUDA Math API)"),
    Allowance(r"(?:lgamma|tgamma)f?\(", _ULP, 64),
    Allowance(r"(?:erfc?(?:inv|x)?|normcdf(?:inv)?)f?\(", _ULP, 8),
    Allowance(r"__(?:sin|cos|tan|sincos|tanh|pow|exp|exp10|log|log2|log10)f\(", _INSTRUCTION),
    Allowance(r"__fdividef\(", _INSTRUCTION),
    Allowance(r"(?:a?(?:sin|cos|tan)h?|sincos|(?:sin|cos|sincos)pi|atan2)f?\(", _ULP, 4),
    Allowance(r"(?:exp|exp2|exp10|expm1|log|log2|log10|log1p|pow)f?\(", _ULP, 4),
    Allowance(r"(?:rsqrt|r?cbrt|r?hypot|r?norm[34]d)f?\(", _ULP, 4),
    Allowance(
        r"h2?(?:sin|cos|exp|exp2|exp10|log|log2|log10|tanh|tanh_approx|rcp|rsqrt)\(", _ULP, 1
    ),
    Allowance(
        r"(?:__hdiv|__h2div|operator/=?)\(__half",
        "CUDA's quotient of a finite number by infinity has no sign; IEEE 754's, as HIP's, has",
        0,
    ),
    Allowance(
        r"operator[<>!=]=?\(__half|operator[<>!]=?\(__nv_bfloat162",
        "HIP's own operators of NaN and of pairs are others; __hge and its kin are CUDA's",
        any_difference=True,
    ),
    Allowance(
        r"__(?:half|nv_bfloat16)::operator (?!bool|float|__)",
        "casts of NaN and of what is out of range; __half2int_rz and its kin are CUDA's",
        any_difference=True,
    ),
    Allowance(
        r"__nv_bfloat16::(?:__nv_bfloat16|operator=)\((?:double|int|unsigned int)\)",
        "HIP's constructor rounds twice; __double2bfloat16 and its kin are CUDA's",
        1,
    ),
    Allowance(
        r"__nv_bfloat16::(?:__nv_bfloat16|operator=)\((?:unsigned )?long(?: long)?\)"
        r"|__nv_bfloat16::__nv_bfloat16\(__half\)|__half::__half\(__nv_bfloat16\)",
        "HIP's classes have no such constructor or assignment, as clang says",
        any_difference=True,
    ),
    Allowance(r"__d(?:rcp|div)_rn\(", "a denormal quotient of clang's, one unit off", 1),
)


def allowance(function: Declaration) -> Allowance | None:
    """What may differ."""
    return next((each for each in ALLOWANCES if re.match(each.signature, function.signature)), None)


def verdict(outcome: Outcome) -> Verdict:
    """The outcome of one function in a word."""
    difference, allowed = outcome.difference, allowance(outcome.function)
    is_known = allowed is not None and allowed.any_difference
    if outcome.not_by_clang:
        unlabelled = Verdict.KNOWN if is_known else Verdict.BROKEN
        return Verdict.REFUSED if outcome.findings else unlabelled
    if outcome.not_by_nvcc or outcome.not_lifted or outcome.did_not_run:
        return Verdict.NOT_ASKED
    if difference is None:
        return Verdict.SAME
    if allowed is not None and not is_known and not difference.wrong:
        if allowed.steps is None or (allowed.steps and difference.steps <= allowed.steps):
            return Verdict.CLOSE
        if difference.steps <= (allowed.steps or 0):
            return Verdict.KNOWN
    if is_known:
        return Verdict.KNOWN
    return Verdict.LABELLED if outcome.findings else Verdict.DIFFERS


def detail(outcome: Outcome) -> str:
    """What there is to say beside the verdict, in a line."""
    if outcome.not_by_nvcc:
        return "nvcc does not compile it"
    said = outcome.not_by_clang or outcome.not_lifted or outcome.did_not_run
    if outcome.difference is not None:
        one = outcome.difference
        said = f"{one.rows} rows, {one.wrong} of them integers or NaN, else {one.steps} steps: "
        said += one.example
    findings = "; ".join(dict.fromkeys(_shown(finding) for finding in outcome.findings))
    return " | ".join(part for part in (said, findings) if part)


def _shown(finding: Finding) -> str:
    return f"{finding.severity}: {finding.message}"
