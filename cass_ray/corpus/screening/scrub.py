"""Takes secrets and personal data out of comments and string literals; code itself stays as it is.

The patterns of keys are those that their issuers publish and that secret scanners share (AWS,
GitHub, GitLab, Slack, Google, Stripe, OpenAI, PEM blocks, JSON web tokens); e-mail addresses and
public IP addresses are what BigCode's data sets redact too. Copyright lines keep their names,
for most licenses ask for that.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter

from cass_ray.config import StrictModel
from cass_ray.corpus.parsing.lexer import TokenKind, tokens


class ScrubSettings(StrictModel):
    """Which secrets and personal data of a source are replaced by placeholders."""

    secrets: bool = True
    emails: bool = True
    ip_addresses: bool = True


EMAIL, KEY, ADDRESS = "<EMAIL>", "<KEY>", "<IP_ADDRESS>"

_EMAIL = re.compile(
    r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}(?:@| ?(?:\[at\]|\(at\)|<at>) ?)"
    r"(?:[A-Za-z0-9-]{1,63}(?:\.| ?(?:\[dot\]|\(dot\)) ?)){1,4}[A-Za-z]{2,18}\b"
)
_KEYS = tuple(
    map(
        re.compile,
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}\b",
            r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",
            r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
            r"\bglpat-[\w-]{20,64}\b",
            r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}",
            r"\bAIza[\w-]{35}\b",
            r"\b[sr]k_live_[A-Za-z0-9]{20,247}\b",
            r"\bsk-(?:proj-|ant-)?[\w-]{32,200}\b",
            r"\bhf_[A-Za-z0-9]{34}\b",
            r"\beyJ[\w-]{10,2048}\.eyJ[\w-]{10,}\.[\w-]{10,}",
        ),
    )
)
_ASSIGNED = re.compile(
    r"(?i)\b(?:password|passwd|secret|api_?key|access_?token|auth_?token)[\"']?\s*[:=]\s*[\"']?"
    r"(?P<value>[A-Za-z0-9+/_=.-]{8,}+)"
)
_LETTER_AND_DIGIT = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_WORTH_A_LOOK = re.compile(
    r"@|\bat\b|KEY-|[A-Za-z0-9_-]{20}|\d\.\d{1,3}\.\d|(?i:passw|secret|token|key)"
)
_TEXT = frozenset(
    {TokenKind.COMMENT, TokenKind.STRING, TokenKind.RAW_STRING, TokenKind.UNTERMINATED}
)


def scrub(source: str, settings: ScrubSettings) -> tuple[str, Counter[str]]:
    """``source`` with what was found replaced, and how much of what there was.

    Line ends and continuation lines are those of :func:`~.lexer.splice_lines` where something was
    replaced; otherwise the source comes back as it is.
    """
    found: Counter[str] = Counter()
    if not _WORTH_A_LOOK.search(source):
        return source, found
    pieces = [
        _scrub_text(token.text, settings, found) if token.kind in _TEXT else token.text
        for token in tokens(source)
    ]
    return ("".join(pieces), found) if found else (source, found)


def _scrub_text(text: str, settings: ScrubSettings, found: Counter[str]) -> str:
    if settings.secrets:
        for pattern in _KEYS:
            text, count = pattern.subn(KEY, text)
            found["secrets"] += count
        text = _ASSIGNED.sub(lambda match: _without_value(match, found), text)
    if settings.emails:
        text, count = _EMAIL.subn(EMAIL, text)
        found["emails"] += count
    if settings.ip_addresses:
        text = _ADDRESS.sub(lambda match: _without_address(match[0], found), text)
    for name in [name for name, count in found.items() if not count]:
        del found[name]
    return text


def _without_address(text: str, found: Counter[str]) -> str:
    if not _is_public(text):
        return text
    found["ip_addresses"] += 1
    return ADDRESS


def _without_value(match: re.Match[str], found: Counter[str]) -> str:
    value = match["value"]
    if not _LETTER_AND_DIGIT.search(value, 0, len(value) - 6):
        return match[0]
    found["secrets"] += 1
    start = match.start("value") - match.start()
    return match[0][:start] + KEY


def _is_public(text: str) -> bool:
    """Whether ``text`` is an address of a host; small numbers are versions (``1.2.3.4``)."""
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return address.is_global and any(int(part) > 31 for part in text.split("."))
