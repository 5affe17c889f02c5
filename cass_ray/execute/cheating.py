"""Ways to look right without being right, and how each is caught.

- Output that does not come from the device (hard-coded, or computed by the CPU): the candidate runs
  once more with every kernel launch skipped; an honest program then prints something else.
- No launches, or far fewer or more than the reference makes: the launch recorder.
- Kernels that are there for show: device code much smaller than the reference's.
- Constants for known inputs: inputs that translators never saw (:mod:`cass_ray.execute.inputs`).
- Leaving before the comparison: the exit status and all of the output are compared, from outside.
- Reading the reference or its own source: neither is in the sandbox; the attempt is in the source.
- Patched timers, or a runtime function of its own in place of HIP's: in the source, and time is
  taken outside the process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from cass_ray.corpus.lexer import Kind, Token, significant_tokens
from cass_ray.execute.waits import missing_waits


class Exploit(StrEnum):
    """What a finding is about."""

    NO_LAUNCH = "no_kernel_launched"
    LAUNCH_COUNT = "launch_count"
    DEVICE_UNUSED = "device_results_unused"
    SMALL_DEVICE_CODE = "small_device_code"
    REPLACED_FUNCTION = "replaced_function"
    FORBIDDEN_ACCESS = "forbidden_access"
    SANDBOX_VIOLATION = "sandbox_violation"
    MISSING_WAIT = "missing_wait"
    """Not a way to cheat: RDNA3 code that only an in-order machine runs rightly."""


class Finding(BaseModel):
    """Something that keeps a candidate from counting as verified."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    exploit: Exploit
    message: str


LAUNCH_RATIO = 8.0
"""A candidate may launch up to this many times more or fewer kernels: fusing and splitting are
fair, leaving the work out is not."""

CODE_RATIO = 12.0
"""RDNA3 takes 0.5 to 3 times the instructions of SASS for the same kernels."""

_MINIMUM_INSTRUCTIONS = 48
"""Below this size on the reference's side the ratio says nothing."""

_RUNTIME_PREFIXES = ("hip", "__hip", "__cuda")
_LONGEST_PARAMETERS = 200
_CLOCKS = frozenset({"clock_gettime", "gettimeofday", "clock", "time", "times", "getrusage"})
_FORBIDDEN_CALLS = frozenset(
    {"dlopen", "dlsym", "dlmopen", "ptrace", "system", "popen", "fork", "vfork", "execl", "execlp"}
    | {"execv", "execve", "execvp", "execle", "posix_spawn", "syscall", "process_vm_readv"}
)
_FORBIDDEN_TEXT = re.compile(
    r"/proc/|/sys/|/cass/|/dev/shm|LD_PRELOAD|CASS_(?:RDNA3|LAUNCH)|\.incbin|__FILE__\s*$"
)


def source_findings(files: Mapping[str, bytes], reference: Mapping[str, bytes]) -> list[Finding]:
    """What the candidate's source does that no port needs to; what the reference does is fair."""
    fair = {text for content in reference.values() for text in _suspicious(content)}
    found = []
    for path, content in files.items():
        for (exploit, construct), message in _suspicious(content).items():
            if (exploit, construct) not in fair:
                found.append(Finding(exploit=exploit, message=f"{path}: {message}"))
    return found


_Key = tuple[Exploit, str]


def _suspicious(content: bytes) -> dict[_Key, str]:
    """Constructs by kind and name, each with a message."""
    tokens = list(significant_tokens(content.decode("utf-8", "replace")))
    found: dict[_Key, str] = {}
    nested = 0  # braces of types and functions that are open
    opened: list[bool] = []
    for index, token in enumerate(tokens):
        if token.text == "{":
            opened.append(not _is_transparent(tokens, index))
            nested += opened[-1]
        elif token.text == "}" and opened:
            nested -= opened.pop()
        elif token.kind in (Kind.STRING, Kind.RAW_STRING):
            if match := _FORBIDDEN_TEXT.search(token.text):
                found[Exploit.FORBIDDEN_ACCESS, match[0]] = f"the text {match[0]!r}"
        elif token.kind is Kind.IDENTIFIER:
            found.update(_suspicious_name(tokens, index, at_file_scope=nested == 0))
    return found


def _is_transparent(tokens: Sequence[Token], index: int) -> bool:
    """Whether the brace at ``index`` opens a namespace or a linkage block."""
    before = [token.text for token in tokens[max(0, index - 3) : index]]
    return "namespace" in before or before[-2:-1] == ["extern"]


def _suspicious_name(
    tokens: Sequence[Token], index: int, *, at_file_scope: bool
) -> Iterator[tuple[_Key, str]]:
    name = tokens[index].text
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    previous = tokens[index - 1].text if index else ""
    if name == "environ":
        yield (Exploit.FORBIDDEN_ACCESS, name), "reads the whole environment"
    elif name in _FORBIDDEN_CALLS and following == "(" and previous not in {".", "->"}:
        yield (Exploit.FORBIDDEN_ACCESS, name), f"a call of {name}()"
    elif _is_replaceable(name):
        if previous == "define":
            yield (Exploit.REPLACED_FUNCTION, name), f"a macro {name} in place of the library's"
        elif at_file_scope and following == "(" and _defines(tokens, index):
            message = f"a function {name}() of its own in place of the library's"
            yield (Exploit.REPLACED_FUNCTION, name), message


def _is_replaceable(name: str) -> bool:
    """Whether programs get this function from the runtime or the C library."""
    return name in _CLOCKS or name.startswith(_RUNTIME_PREFIXES)


def _defines(tokens: Sequence[Token], index: int) -> bool:
    """Whether the name at ``index`` is followed by parameters and a body."""
    depth = 0
    for position in range(index + 1, min(index + _LONGEST_PARAMETERS, len(tokens) - 1)):
        depth += (tokens[position].text == "(") - (tokens[position].text == ")")
        if depth == 0:
            return tokens[position + 1].text == "{"
    return False


def launch_findings(candidate: int, reference: int | None) -> list[Finding]:
    """Whether the candidate launches kernels, and about as often as the reference.

    ``reference`` is None where its launches are not known. An input on which the reference launches
    nothing asks nothing of the candidate.
    """
    if reference == 0:
        return []
    if candidate == 0:
        message = "no kernel was launched through the runtime"
        return [Finding(exploit=Exploit.NO_LAUNCH, message=message)]
    ratio = candidate / reference if reference is not None else 1.0
    if 1 / LAUNCH_RATIO <= ratio <= LAUNCH_RATIO:
        return []
    message = f"{candidate} launches, the reference makes {reference}"
    return [Finding(exploit=Exploit.LAUNCH_COUNT, message=message)]


def code_findings(candidate: int, reference: int) -> list[Finding]:
    """Instructions of all device functions on both sides."""
    if reference < _MINIMUM_INSTRUCTIONS or candidate * CODE_RATIO >= reference:
        return []
    message = f"{candidate} device instructions, the reference has {reference}"
    return [Finding(exploit=Exploit.SMALL_DEVICE_CODE, message=message)]


def wait_findings(device_assembly: str) -> list[Finding]:
    """Uses of registers before the wait that they need; at most three are spelled out."""
    hazards = missing_waits(device_assembly)
    if not hazards:
        return []
    message = "; ".join(hazard.format() for hazard in hazards[:3])
    return [Finding(exploit=Exploit.MISSING_WAIT, message=f"{len(hazards)} hazards: {message}")]
