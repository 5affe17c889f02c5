"""A judge that runs nothing: whether an answer compiles for AMD and is the program asked for.

For where no AMD GPU, no emulator and no reference is, and a verdict must cost about a second. What
compiles is not yet right. So :mod:`recipes.judge.faithful` keeps answers from compiling
by leaving code out; and where the rules' translation compiles, an answer is worth all only if the
compiler makes the same code of both. Without that a policy learned to write ``min`` where only the
translation's own helper has CUDA's overloads: it compiled (benchmarks/results/rl.md).
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from pydantic import Field

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.cache import ContentCache, digest
from cass_ray.config import StrictModel
from cass_ray.corpus.parsing.lexer import splice_lines
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Reason, clip_diagnostic
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict, undecided
from cass_ray.llm.code_blocks import code_of
from cass_ray.toolchain.amd.precompiled import CompilationSide
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.rules import RulesTranslator
from recipes.judge.faithful import left_out
from recipes.judge.min_max import spelled_apart
from recipes.judge.uncompiled_code import all_emitted, headers_of_hip, never_emitted

_FORMAT, _CODE_FORMAT = "9", "7"
"""Of verdicts and of code, as they are kept."""
_FENCES = ("hip", "cpp", "c++", "cuda", "cu", "c")
_NAMES_ORIGIN = re.compile(r"[ \t]*\.(?:file|ident|loc)\b")
_COMMENT = re.compile(r"[ \t]*[;#][ ].*$")
OTHERWISE_SPELLED = "min or max of one type is spelled otherwise than the rules do"
"""The reason of an answer that is right and begins so."""
_FAILED = "does not compile: "
"""What is kept of a failure begins so."""
_KNOWN = 4096
"""Programs whose code is remembered without a cache."""
_OF_OURS = frozenset({Reason.COMPILER_KILLED, Reason.INTERNAL_ERROR})
_BUDGETS = frozenset({Reason.TIME_LIMIT, Reason.MEMORY_LIMIT, Reason.OUTPUT_LIMIT})
"""Of CPU time, memory and output: what exceeds one does so every time."""


def _may_be_installed(made: RewardVerdict) -> bool:
    """Whether a header is missing, which another day may find."""
    return made.outcome in {Outcome.NOT_COMPILED, Outcome.UNPROVED} and (
        f": {Reason.MISSING_HEADER.value}: " in made.reason
    )


class CompileCredit(StrictModel):
    """The reward of an answer by how far it gets; one that leaves code out gets nothing."""

    usable: float = Field(default=0.1, ge=0, le=1)
    """It is a program, and does not compile."""
    unproved: float = Field(default=0.1, ge=0, le=1)
    """It is the rules' translation line by line, but for spaces, and that does not compile: for
    want of a header, say. Where this is as much as ``compiled``, the translation to the letter is
    not compiled at all."""
    other: float = Field(default=0.3, ge=0, le=1)
    """It compiles, to other code than the rules' translation or where that does not compile:
    perhaps right, perhaps not."""
    compiled: float = Field(default=1.0, ge=0, le=1)
    """It compiles to the same code as the rules' translation, that of functions which nothing calls
    too, and has its templates and macros."""


def _lines(code: str) -> list[str]:
    """The lines of ``code`` with single spaces, those without anything left out.

    Lines that a backslash continues are one: an empty line among them ends a macro.
    """
    lines = splice_lines(code).split("\n")
    return [" ".join(words) for line in lines if (words := line.split())]


@lru_cache(maxsize=4096)
def _translation(question: str) -> str:
    return str(RulesTranslator().translate(question).source)


@lru_cache(maxsize=4096)
def _never_emitted_of_translation(question: str) -> Counter[str]:
    return never_emitted(_translation(question))


@dataclass
class CompileJudge:
    """An :class:`~cass_ray.execute.rewards.verdicts.ItemJudge`; for several threads.

    The inputs of items are not looked at. ``cache`` keeps verdicts by content.
    """

    toolchain: AmdToolchain
    cache: ContentCache | None = None
    credit: CompileCredit = field(default_factory=CompileCredit)
    architecture: str = DEFAULT_AMD_ARCHITECTURE
    optimization: str = "-O1"
    extremes: bool = True
    """Whether ``min`` and ``max`` of two arguments of one type may be written with the rules'
    helper or without it."""
    _known: dict[str, str] = field(default_factory=dict)

    def judge(self, item: RewardItem) -> RewardVerdict:
        """The verdict; raises for nothing that an answer is."""
        code = code_of(item.answer, _FENCES)
        if code is None or code.cut:
            reason = "the answer was cut" if code else "there is no program in the answer"
            return RewardVerdict(reward=0.0, outcome=Outcome.NO_CODE, reason=reason)
        return self.of(item.question, code.text)

    def of(self, question: str, code: str) -> RewardVerdict:
        """The verdict on a program, where the answer is known to be one."""
        started = time.monotonic()
        try:
            made = self._cached(question.replace("\r\n", "\n"), code)
        except Starved as error:
            made = undecided(str(error))
        return made.model_copy(update={"seconds": time.monotonic() - started})

    def foresee(self, question: str) -> bool:
        """Compile the rules' translation of ``question``, for verdicts to come (with a cache);
        whether it compiles."""
        return self.compiles(_translation(question.replace("\r\n", "\n")))

    def compiles(self, code: str) -> bool:
        """Whether a program compiles, whatever else it is."""
        try:
            self._code(code)
        except CompileFailure:
            return False
        return True

    def _cached(self, question: str, code: str) -> RewardVerdict:
        if self.cache is None:
            return self._judged(question, code)
        parts = ["compile reward", _FORMAT, self.credit.model_dump_json(), self.architecture]
        how = [self.optimization, str(self.extremes)]
        key = digest([*parts, *how, self.toolchain.fingerprint, question, code])
        if (found := self.cache.get(key)) is not None:
            return RewardVerdict.model_validate_json(found)
        made = self._judged(question, code)
        if made.outcome is not Outcome.UNDECIDED and not _may_be_installed(made):
            self.cache.put(key, made.model_dump_json().encode())
        return made

    def _judged(self, question: str, code: str) -> RewardVerdict:
        verdict = self._judged_as_written(question, code)
        if not self.extremes or verdict.outcome not in (Outcome.FORGED, Outcome.OTHER_CODE):
            return verdict
        compared = spelled_apart(_translation(question), code)
        if compared is None or not self._same_code([code], compared):
            return verdict
        return RewardVerdict(
            reward=self.credit.compiled,
            outcome=Outcome.COMPILED,
            reason=f"{OTHERWISE_SPELLED}; as it is written: {verdict.reason}",
            reference="the code of the rules' translation",
        )

    def _same_code(self, compile_too: Sequence[str], compared: tuple[str, str]) -> bool:
        """Whether the compiler takes all of these programs and makes one code of two."""
        try:
            made = [self._code(each) for each in (*compile_too, *compared)]
        except CompileFailure as failure:
            if failure.reason in _OF_OURS:
                raise Starved(f"{failure.reason.value}: {failure.tool}") from failure
            return False
        return made[-1] == made[-2]

    def _judged_as_written(self, question: str, code: str) -> RewardVerdict:
        if lacking := left_out(question, _translation(question), code):
            return RewardVerdict(reward=0.0, outcome=Outcome.FORGED, reason=lacking)
        if code == _translation(question) and self.credit.unproved == self.credit.compiled:
            return RewardVerdict(reward=self.credit.compiled, outcome=Outcome.LITERAL)
        try:
            made = self._code(code)
        except CompileFailure as failure:
            if failure.reason in _OF_OURS:
                return undecided(f"{failure.reason.value}: {failure.tool}")
            if failure.reason in _BUDGETS and code != _translation(question):
                reason = f"{failure.reason.value}: {failure.tool}"
                return RewardVerdict(reward=0.0, outcome=Outcome.NOT_COMPILED, reason=reason)
            same = _lines(code) == _lines(_translation(question))
            return RewardVerdict(
                reward=self.credit.unproved if same else self.credit.usable,
                outcome=Outcome.UNPROVED if same else Outcome.NOT_COMPILED,
                reason=clip_diagnostic(str(failure))[:2000],
            )
        try:
            wanted = self._code(_translation(question))
        except CompileFailure as failure:
            if failure.reason in _OF_OURS | _BUDGETS:
                return undecided(f"the translation: {failure.reason.value}: {failure.tool}")
            return self._other("the rules' translation does not compile: nothing to compare with")
        if wanted != made:
            return self._other("the compiler makes other code of the rules' translation")
        if never_emitted(code) != _never_emitted_of_translation(question):
            return self._other("what the compiler makes no code of is not as the rules write it")
        if lost := headers_of_hip(_translation(question)) - headers_of_hip(code):
            return self._other(f"it does not include {', '.join(sorted(lost))}")
        return RewardVerdict(
            reward=self.credit.compiled,
            outcome=Outcome.COMPILED,
            reference="the code of the rules' translation",
        )

    def _other(self, reason: str) -> RewardVerdict:
        """It compiles; whether it is right is not known."""
        return RewardVerdict(reward=self.credit.other, outcome=Outcome.OTHER_CODE, reason=reason)

    def _code(self, code: str) -> str:
        """Digest of what the compiler makes of a program; kept. Raises ``CompileFailure``."""
        flags = [self.architecture, self.optimization, self.toolchain.fingerprint]
        key = digest(["compiled code", _CODE_FORMAT, *flags, code])
        kept = self._known.get(key)
        if kept is None and self.cache is not None and (found := self.cache.get(key)) is not None:
            kept = found.decode()
        if kept is not None and kept.startswith(_FAILED):
            reason, diagnostic, tool = json.loads(kept.removeprefix(_FAILED))
            raise CompileFailure(Reason(reason), diagnostic, tool)
        if kept is not None:
            return kept
        try:
            made = self._compiled(code)
        except CompileFailure as failure:
            if failure.reason not in {*_OF_OURS, Reason.MISSING_HEADER}:
                said = clip_diagnostic(failure.diagnostic)
                self._keep(key, _FAILED + json.dumps([failure.reason.value, said, failure.tool]))
            raise
        self._keep(key, made)
        return made

    def _keep(self, key: str, made: str) -> None:
        if len(self._known) < _KNOWN:
            self._known[key] = made
        if self.cache is not None:
            self.cache.put(key, made.encode())

    def _compiled(self, code: str) -> str:
        """Both sides, to assembly, without what says where it came from.

        The compiler's own mistakes are the same on both sides of a comparison, and are left in.
        """
        main = PurePosixPath("main.hip")
        content = all_emitted(code).encode("utf-8", "replace")
        with unit_on_disk(Sources(main, {str(main): content}, (PurePosixPath("."),))) as unit:
            sides = [  # the device first: it finds most errors
                self.toolchain.text_as_it_is(
                    unit, side, self.architecture, optimization=self.optimization
                )
                for side in (CompilationSide.DEVICE, CompilationSide.HOST)
            ]
        return digest(map(without_origin, sides))


def without_origin(assembly: str) -> str:
    """``assembly`` without where it came from, and comments of lines without strings."""
    lines = []
    for line in assembly.split("\n"):
        if _NAMES_ORIGIN.match(line):
            continue
        # What programs write into their inline assembly; of most lines it is known at once.
        commented = (";" in line or "#" in line) and '"' not in line
        lines.append(_COMMENT.sub("", line) if commented else line)
    return "\n".join(lines)
