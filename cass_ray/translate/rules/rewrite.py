"""One file under translation: what the rules read, and what they leave behind."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

from cass_ray.translate.protocol import Context, Counts, Finding, Severity
from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.regions import (
    ARCHITECTURES,
    Spans,
    dead_code,
    device_functions,
    device_words,
    oldest_accepted,
)
from cass_ray.translate.rules.text import SourceText, Span, positions

_WORD = re.compile(r"([A-Za-z_]\w*)")
_DECLARATION_LEAD = re.compile(r"(?:(?:[\w\]]|(?<!-)>)\s+|[*&]\s*)\Z")
_NO_DECLARATION_LEAD = re.compile(r"\b(?:return|case|goto|new|else|do|throw)\s+\Z")
_DECLARATION_TAIL = re.compile(r"\s*(?:[=;,(\[{)]|\Z|\n)")
_POINTER_RESULT = re.compile(
    r"(?:\A|[;{}]|^[ \t]*#[^\n]*$)\s*(?!return\b)[A-Za-z_][\w\s:<>,]*[*&][\s*&]*\Z", re.MULTILINE
)
"""A function's result, from the end of what stands before; in ``a * f(b)`` there is more."""
_RESULT_CHARACTERS = 160
_RESULT_OF_A_LAMBDA = re.compile(r"[\w:]+[ \t]*[*&]*\s*\{")
_DEFINE = re.compile(r"#[ \t]*define[ \t]+\Z")
_UNDEFINE = re.compile(r"#[ \t]*(?:undef|ifn?def)[ \t]+\Z")
_OPENING = re.compile(r"\s*\(")
_LABEL = re.compile(r"\s*:(?!:)")
_NO_LABEL = re.compile(r"(?:[?+\-/%|^=<(!~]|\bcase|\breturn)\s*(?:\w+\s*::\s*)*\Z")
"""It matches what precedes a value: ``captures ? NAME : 0``, ``case NAME:``."""
_MEMBER = re.compile(r"(?:\.|->|::)\s*\Z")
_CHOOSES_VENDOR = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifn?def|elif)\b[^\n]*(?:HIP|ROCM|AMD|CUDA|NVCC)", re.MULTILINE
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]', re.MULTILINE)


class Rewrite:
    """The source, the edits and findings so far, and the snippets the result needs."""

    def __init__(
        self, source: str, filename: str, context: Context, architecture: int = ARCHITECTURES[0]
    ) -> None:
        self.source = SourceText(source)
        self.filename = filename
        self.context = context
        self._preferred_architecture = architecture
        self.edits = Edits()
        self.findings: list[Finding] = []
        self.snippets: set[str] = set()
        self._converted = self._unchanged = self._unsupported = 0
        self._declared: dict[str, bool] = {}
        self.handled: set[int] = set()
        """Offsets of words that a rule has dealt with; the check for left-overs skips them."""
        self.standard_library: int | None = None
        """Where libcu++ is needed first, as far as is known."""
        self.runtime_end: int | None = None
        """Where the runtime header has been included, as far as the file's own lines tell."""

    @property
    def counts(self) -> Counts:
        """The constructs dealt with so far."""
        return Counts(self._converted, self._unchanged, self._unsupported)

    @cached_property
    def words(self) -> dict[str, list[int]]:
        """Every identifier of the code and the offsets where it stands."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for word, offset in positions(_WORD, self.source.code):
            found[word].append(offset)
        return dict(found)

    @cached_property
    def is_hip(self) -> bool:
        """Whether the file already includes a HIP header, or has AMD's builtins and no branch
        without them: names that both languages have stay."""
        text, code = self.source.text, self.source.code
        if any(text.startswith("hip/", match.end()) for match in _INCLUDE.finditer(code)):
            return True
        return "__builtin_amdgcn_" in code and _CHOOSES_VENDOR.search(code) is None

    @cached_property
    def architecture(self) -> int:
        """The ``__CUDA_ARCH__`` that the translation stands for."""
        return max(self._preferred_architecture, oldest_accepted(self.source))

    @cached_property
    def dead(self) -> Spans:
        """Branches that are not compiled for the architecture that the translation stands for."""
        return dead_code(self.source, self.architecture)

    @cached_property
    def device(self) -> Spans:
        words = device_words(self.source)
        ends = (offset + len(word) for word in words for offset in self.words.get(word, ()))
        return device_functions(self.source, sorted(ends))

    def declares(self, word: str) -> bool:
        """Whether the file itself declares ``word``: then it is a name of the program's own.

        What it declares for older hardware alone, which lacks it, is CUDA's elsewhere.
        """
        if word not in self._declared:
            self._declared[word] = any(
                self.is_declaration(offset, word)
                and offset not in self.dead
                and not _UNDEFINE.search(self.source.code, max(0, offset - 32), offset)
                for offset in self.words.get(word, ())
            )
        return self._declared[word]

    def declare(self, word: str) -> None:
        """Take ``word`` for a name that the file declares."""
        self._declared[word] = True

    def is_own(self, word: str) -> bool:
        """Whether the file or another one of its tree declares ``word``."""
        return word in self.context.declared or self.declares(word)

    def is_definition_of_macro(self, offset: int) -> bool:
        """Whether the word at ``offset`` is what a ``#define`` defines."""
        return _DEFINE.search(self.source.code, max(0, offset - 32), offset) is not None

    def is_declaration(self, offset: int, word: str) -> bool:
        """Whether ``word`` is declared where it stands, as far as its neighbours tell."""
        code, end = self.source.code, offset + len(word)
        start = max(0, offset - 32)
        if _DEFINE.search(code, start, offset):
            return True
        if _LABEL.match(code, end) and not _NO_LABEL.search(code, start, offset):
            return True
        if code[start:offset].rstrip().endswith(("*", "&")) and _OPENING.match(code, end):
            start = max(0, offset - _RESULT_CHARACTERS)
            return _POINTER_RESULT.search(code, start, offset) is not None
        return (
            _DECLARATION_LEAD.search(code, start, offset) is not None
            and _NO_DECLARATION_LEAD.search(code, start, offset) is None
            and _DECLARATION_TAIL.match(code, end) is not None
        )

    def is_member(self, offset: int) -> bool:
        """Whether the word at ``offset`` is a member of something or of a namespace."""
        before = _MEMBER.search(self.source.code, max(0, offset - 8), offset)
        return before is not None and not (
            before[0].startswith("->") and _RESULT_OF_A_LAMBDA.match(self.source.code, offset)
        )

    @property
    def wave64(self) -> bool:
        """Whether the result must be right on wavefronts of 64 lanes."""
        return 64 in self.context.wavefronts

    def report(
        self, offset: int, construct: str, severity: Severity, message: str, advice: str = ""
    ) -> None:
        """Add a finding at ``offset``; an error counts as an unsupported construct."""
        if severity is Severity.ERROR and offset in self.dead:
            severity = Severity.NOTE
            message += ", in a branch that is not compiled"
        line, column = self.source.position(offset)
        self.findings.append(Finding(line, column, construct, severity, message, advice))
        if severity is Severity.ERROR:
            self._unsupported += 1

    def rename(self, offset: int, old: str, new: str) -> None:
        """Replace the word ``old`` at ``offset``."""
        self.edits.replace(offset, offset + len(old), new)
        self.converted(offset)

    def drop(self, start: int, end: int) -> None:
        """Remove ``[start, end)`` and the blanks behind; counted as converted."""
        while self.source.code[end : end + 1] in {" ", "\t"}:
            end += 1
        self.edits.replace(start, end, "")
        self.converted(start)

    def converted(self, offset: int) -> None:
        """Count the construct at ``offset`` as converted."""
        self.handled.add(offset)
        self._converted += 1

    def unchanged(self, offset: int) -> None:
        """Count the construct at ``offset`` as one that HIP shares."""
        self.handled.add(offset)
        self._unchanged += 1

    def guard(self, start: int, end: int, condition: str) -> None:
        """Put the lines of ``[start, end)`` between ``condition`` and ``#endif``."""
        code, newline = self.source.code, self.source.newline
        line = code.rfind("\n", 0, start) + 1
        lead = "" if not code[line:start].strip() else newline
        line_end = code.find("\n", end)
        line_end = len(code) if line_end < 0 else line_end
        tail = end if code[end:line_end].strip() else line_end
        self.edits.insert(start if lead else line, f"{lead}{condition}{newline}")
        self.edits.insert(tail, f"{newline}#endif" + (newline if tail != line_end else ""))

    def call(self, offset: int, word: str) -> tuple[list[Span], int, int] | None:
        """Arguments, opening and closing parenthesis of the call of the word at ``offset``.

        None when the word is not called there.
        """
        code = self.source.code
        opening = offset + len(word)
        while opening < len(code) and code[opening].isspace():
            opening += 1
        if opening >= len(code) or code[opening] != "(":
            return None
        found = self.source.arguments(opening)
        return (found[0], opening, found[1]) if found else None

    def text(self, span: Span) -> str:
        """The text of ``span`` as it was written."""
        return self.source.text[span[0] : span[1]]
