"""What of a HIP program is right on wavefronts of 32 lanes only.

CUDA programs need no such report: :mod:`cass_ray.translate.rules.warp` keeps their warps of 32
lanes, two in a wavefront of 64. A HIP program means wavefronts when it says ``__ballot``, and where
it counts on 32 of them it compiles for CDNA and is wrong there.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Context, Finding, Severity
from cass_ray.translate.rules.rewrite import Rewrite

_SHUFFLES = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")
_VOTES = ("__ballot", "__activemask", "__ballot_sync", "__match_any_sync", "__match_all_sync")
_MASKED = (*(f"{name}_sync" for name in _SHUFFLES), "__ballot_sync", "__any_sync", "__all_sync")

_NARROW = r"(?:unsigned(?:\s+int)?|int|uint|(?:std\s*::\s*)?u?int32_t)"
_INTO_NARROW = re.compile(
    rf"(?:\b{_NARROW}\s+\w+\s*=|\(\s*{_NARROW}\s*\)|static_cast\s*<\s*{_NARROW}\s*>\s*\("
    r"|\b__(?:popc|ffs|clz|brev)\s*\()\s*\Z"
)
_LOOP_FROM_16 = re.compile(r"\bfor\s*\([^;{}()]*=\s*(?:16|32\s*/\s*2)\s*;[^{}]*\Z")
_MASK_OF_32 = re.compile(r"\s*0[xX][fF]{8}[uUlL]*\s*\Z")
_THREADS = r"\b(?:threadIdx|blockDim|hipThreadIdx_|hipBlockDim_)\s*+\.?\s*+[xyz]"
_BY_32 = r"\s*+(?:&\s*+(?:31|0x1[fF])|%\s*+32|>>\s*+5|/\s*+32)[uU]?\b"
_THREAD_BY_32 = re.compile(_THREADS + _BY_32)
_WORD_BY_32 = re.compile(r"(?<![\w.])(\w+)" + _BY_32)
_ALIAS = re.compile(r"\b(\w+)\s*+=\s*+" + _THREADS + r"\s*+;")
_WIDTH_CONSTANT = re.compile(
    r"(?:#[ \t]*define[ \t]+|\bconst(?:expr)?[^;=(){}]{1,80}?\s)"
    r"(?P<name>\w{0,60}(?i:warp|wave)\w{0,60})[ \t]*+=?[ \t]*+\(?32\)?[ \t]*+(?:;|$)",
    re.MULTILINE,
)
_SHARED_BY_32 = re.compile(
    r"\b__shared__\b[^;=(){}\[]{1,80}?(?P<name>\w{1,60})\s?\[[^\]]{0,80}(?:/\s?32|>>\s?5)\b"
)
_OWN_HALF = (
    r"(?:&\s*+\(?\s*+(?:32|0x20|~\s*+\(?\s*+(?:31|0x1[fF]))[uUlL]*\b"
    r"|\b__lane_id\s*\(\s*\)\s*-\s*\w)"
)
_SHIFT_BY_HALF = re.compile(rf">>\s*\([^;{{}}]{{0,120}}{_OWN_HALF}")
_NAMED_HALF = re.compile(rf"\b(\w{{1,60}})\s?=[^;={{}}]{{0,120}}{_OWN_HALF}")
_LOOK_BACK = 240  # characters before a call that say what becomes of it

_ADVICE_WARP = "use warpSize, or keep warps of 32 lanes throughout: shuffles with the width 32"


def report_widths(unit: Rewrite) -> None:
    """Report, of a file that is HIP already, what is wrong on wavefronts of 64 lanes."""
    if not unit.is_hip or not unit.wave64:
        return
    _report_votes(unit)
    _report_shuffles(unit)
    _report_masks(unit)
    if _acts_on_wavefronts(unit) and not _takes_own_half(unit):
        _report_numbers(unit)


def width_findings(source: str, filename: str = "") -> tuple[Finding, ...]:
    """What :func:`report_widths` says of one HIP file."""
    unit = Rewrite(source, filename, Context())
    report_widths(unit)
    return tuple(sorted(unit.findings, key=lambda item: (item.line, item.column)))


def _warn(unit: Rewrite, offset: int, construct: str, message: str, advice: str) -> None:
    unit.report(offset, construct, Severity.WARNING, message, advice)


def _before(unit: Rewrite, offset: int) -> str:
    return unit.source.code[max(0, offset - _LOOK_BACK) : offset]


def _calls(unit: Rewrite, names: tuple[str, ...]) -> list[tuple[int, str, int]]:
    """Offset, name and number of arguments of each call of ``names``."""
    found = []
    for name in names:
        for offset in unit.words.get(name, ()):
            call = unit.call(offset, name)
            if call is not None and not unit.is_member(offset):
                found.append((offset, name, len(call[0])))
    return found


def _report_votes(unit: Rewrite) -> None:
    for offset, name, _ in _calls(unit, _VOTES):
        if _INTO_NARROW.search(_before(unit, offset)):
            _warn(
                unit,
                offset,
                name,
                f"{name} has a bit for each of 64 lanes on CDNA: 32 bits lose the upper half",
                "take it as unsigned long long, and __popcll, __ffsll, __clzll, __brevll",
            )


def _report_shuffles(unit: Rewrite) -> None:
    for offset, name, arguments in _calls(unit, _SHUFFLES):
        if arguments == 2 and _LOOP_FROM_16.search(_before(unit, offset)):
            _warn(
                unit,
                offset,
                name,
                "a loop from 16 joins 32 lanes: on CDNA half of the wavefront is left out",
                f"start at warpSize / 2; or {_ADVICE_WARP}",
            )


def _report_masks(unit: Rewrite) -> None:
    for offset, name, arguments in _calls(unit, _MASKED):
        call = unit.call(offset, name)
        if call is not None and arguments and _MASK_OF_32.match(unit.text(call[0][0])):
            _warn(
                unit,
                offset,
                name,
                "the mask names 32 lanes: on CDNA a wavefront has 64",
                "masks are unsigned long long: 0xffffffffffffffff, or __activemask()",
            )


def _acts_on_wavefronts(unit: Rewrite) -> bool:
    """Whether anything in the file acts on a whole wavefront, whatever its width."""
    whole = any(arguments == 2 for _, _, arguments in _calls(unit, _SHUFFLES))
    return whole or "warpSize" in unit.words or bool(_calls(unit, (*_VOTES, *_MASKED)))


def _takes_own_half(unit: Rewrite) -> bool:
    """Whether votes are shifted to the half of a wavefront that a thread's 32 lanes are: groups of
    32 are meant then, and what is counted by 32 is theirs."""
    code = unit.source.code
    if not _calls(unit, _VOTES):
        return False
    names = {re.escape(match[1]) for match in _NAMED_HALF.finditer(code)}
    named = names and re.search(rf">>\s*+\(?\s*+(?:{'|'.join(sorted(names))})\b", code)
    return bool(named) or _SHIFT_BY_HALF.search(code) is not None


def _report_numbers(unit: Rewrite) -> None:
    """Lane numbers, numbers of warps and arrays of one element a warp, by a constant of 32."""
    code = unit.source.code
    for match in _WIDTH_CONSTANT.finditer(code):
        name = match["name"]
        message = f"{name} is 32: a wavefront of CDNA has 64 lanes"
        _warn(unit, match.start("name"), name, message, _ADVICE_WARP)
    for match in _SHARED_BY_32.finditer(code):
        name = match["name"]
        message = f"{name} has an element for every 32 threads: CDNA has half as many wavefronts"
        _warn(unit, match.start("name"), name, message, "only blockDim.x / warpSize are written")
    threads = {match[1] for match in _ALIAS.finditer(code)}
    found = [match for match in _WORD_BY_32.finditer(code) if match[1] in threads]
    for match in [*_THREAD_BY_32.finditer(code), *found]:
        text = " ".join(match[0].split())
        message = f"{text} counts in warps of 32 lanes: a wavefront of CDNA has 64"
        _warn(unit, match.start(), text, message, _ADVICE_WARP)
