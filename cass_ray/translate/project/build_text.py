"""A build file while it is rewritten: what was changed, what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from cass_ray.translate.project.nvcc_flags import FLAG_RULES, HOST_TEXT, HOST_WORD, STANDARD
from cass_ray.translate.protocol import Counts, Finding, Severity, Translation

_CMAKE_COMMENT = r"#\[(?P<comment>=*)\[.*?(?:\](?P=comment)\]|\Z)|#[^\n]*"
_COMMAND = re.compile(
    rf"{_CMAKE_COMMENT}|(?P<name>\b[A-Za-z_]\w{{0,60}})[ \t]*(?P<opening>\()", re.DOTALL
)
_CMAKE_TOKEN = re.compile(
    rf"{_CMAKE_COMMENT}"
    r"|\[(?P<bracket>=+)\[.*?(?:\](?P=bracket)\]|\Z)"
    r'|"(?:[^"\\]|\\.)*(?:"|\Z)'
    r"|[()]",
    re.DOTALL,
)
_OF_HIP = re.compile(r"NVCC\w*\s*[+:?]?=|\bhipcc\b|\$[({]NVCC[)}]")
ALL_ERRORS = re.compile(r"(?<![\w=-])(?P<quote>[\"']?)-Werror(?P=quote)(?![\w=-])")
SPARED = tuple(f"-Wno-error=unused-{kind}" for kind in ("result", "variable", "parameter"))
"""HIP says of its functions that their result is to be looked at, CUDA does not; and the mask of a
shuffle has no use where HIP's function takes none."""
ALL_SPARED = ("-Wno-error",)
"""For HIP's compiler alone, whose warnings are others than those of nvcc and its host compiler."""
SPARED_BY_LANGUAGE = (SPARED[0], "$<$<COMPILE_LANGUAGE:HIP>:-Wno-error>")
"""Where CMake knows the language: nvcc's host compiler, which these are for, sees no kernel."""


class BuildText:
    """A build file being rewritten, counting what was changed; ``told`` is what comes first."""

    def __init__(self, text: str, told: Callable[[str], str] = str) -> None:
        self.original = text
        self.text = told(text)
        self.converted = 0
        self.findings: list[Finding] = []

    def substitute(
        self, pattern: str | re.Pattern[str], new: str | Callable[[re.Match[str]], str]
    ) -> None:
        self.text, count = _outside_comments(pattern, new, self.text)
        self.converted += count

    def replace_commands(self, new: Callable[[str, str], str]) -> None:
        """Replace each CMake command by what ``new`` makes of its name and its text."""
        done: list[str] = []
        position = 0
        for name, start, end in commands(self.text):
            whole = self.text[start:end]
            made = new(name, whole) if name else whole
            added = made.removeprefix(whole)
            if added != made and self.text.startswith(added, end):
                made = whole  # an earlier translation has added it
            self.converted += made != whole
            done += [self.text[position:start], made]
            position = end
        self.text = "".join(done) + self.text[position:]

    def report(self, construct: str, severity: Severity, message: str, advice: str = "") -> None:
        """A finding at the first place where the original has ``construct``."""
        before = self.original[: max(self.original.find(construct), 0)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        self.findings.append(Finding(line, column, construct, severity, message, advice))

    def flags(self) -> None:
        """hipcc's flags in the place of nvcc's."""
        self.text = self.words(self.text)

    def words(self, text: str) -> str:
        """``text``, a part of the file, with hipcc's flags."""
        for host in (HOST_WORD, HOST_TEXT):
            text, count = _outside_comments(
                host, lambda match: match["options"].replace(",-", " -"), text
            )
            self.converted += count
        for pattern, new in FLAG_RULES:
            text, count = _outside_comments(pattern, new, text)
            self.converted += count
        return text

    def spare_warnings(self) -> None:
        """Where warnings are errors: none of what CUDA's compiler does not warn of."""
        self.substitute(ALL_ERRORS, _with_spared_by_line)

    def raise_standard(self) -> None:
        for pattern, new in STANDARD:
            self.substitute(pattern, new)

    def done(self) -> Translation:
        errors = sum(item.severity is Severity.ERROR for item in self.findings)
        return Translation(self.text, tuple(self.findings), Counts(self.converted, 0, errors))


def commands(text: str) -> Iterator[tuple[str, int, int]]:
    """CMake's commands and, without a name, comments: where each begins and where it ends."""
    position = 0
    while found := _COMMAND.search(text, position):
        end = _closing(text, found.end()) if found["opening"] else found.end()
        if end is None:
            return
        yield found["name"] if found["opening"] else "", found.start(), end
        position = end


def _outside_comments(
    pattern: str | re.Pattern[str], new: str | Callable[[re.Match[str]], str], text: str
) -> tuple[str, int]:
    """As ``re.subn``, but lines that are nothing but a comment stay: a patch is read by people."""
    count = 0

    def made(match: re.Match[str]) -> str:
        nonlocal count
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.lstrip().startswith("#"):
            return match.group()
        count += 1
        return match.expand(new) if isinstance(new, str) else new(match)

    return re.sub(pattern, made, text), count


def with_spared(match: re.Match[str], flags: Sequence[str]) -> str:
    """``-Werror``, found by :data:`ALL_ERRORS`, with ``flags`` behind it."""
    text, quote = match.string, match["quote"]
    listed = ";" in (text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1])
    separator = ";" if listed else " "
    added = "".join(f"{separator}{quote}{flag}{quote}" for flag in flags)
    if text.startswith(added, match.end()):  # an earlier translation has added them
        added = ""
    return match.group() + added


def _with_spared_by_line(match: re.Match[str]) -> str:
    """:func:`with_spared` for make: whose flags they are is said by the line."""
    line = match.string.rfind("\n", 0, match.start()) + 1
    of_hip = _OF_HIP.search(match.string, line, match.start()) is not None
    return with_spared(match, ALL_SPARED if of_hip else SPARED)


def _closing(text: str, start: int) -> int | None:
    """Where the command whose parenthesis opened before ``start`` ends; None without an end."""
    depth = 1
    for token in _CMAKE_TOKEN.finditer(text, start):
        depth += (token.group() == "(") - (token.group() == ")")
        if depth == 0:
            return token.end()
    return None
