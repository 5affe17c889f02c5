"""Is an answer a program? Cheap checks, before any compiler runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.parsing.lexer import TokenKind, significant_tokens
from cass_ray.corpus.parsing.syntax import cuda_parser
from cass_ray.llm.client import Reply
from cass_ray.llm.code_blocks import code_of

FENCES = ("cuda", "cu", "cpp", "c++", "c")

UNPARSED = 0.05
"""Share of the text that may lie in nodes of error. The grammar does not know all of C++: it fails
on parts of correct programs, up to 3% of the shipped ones."""


class SyntheticVerdict(StrEnum):
    """What became of an answer."""

    OK = "ok"
    REFUSED = "refused"
    CUT = "cut"
    NO_CODE = "no_code"
    UNBALANCED = "unbalanced"
    NO_KERNEL = "no_kernel"
    NO_MAIN = "no_main"
    UNPARSED = "does_not_parse"
    NOT_COMPILED = "does_not_compile"
    NO_ANSWER = "no_answer"
    """Every attempt failed."""
    LOST = "lost"
    """Sent by a run that was killed before the answer came; not asked again."""


@dataclass(frozen=True)
class Checked:
    """An answer's program (empty unless there is one), the verdict, and why."""

    verdict: SyntheticVerdict
    source: str = ""
    message: str = ""


def check_reply(reply: Reply) -> Checked:
    """The program in ``reply``, or what is wrong with it."""
    if reply.refusal or reply.finish == "content_filter":
        return Checked(SyntheticVerdict.REFUSED, "", reply.refusal or "content filter")
    code = code_of(reply.text, FENCES)
    if reply.finish == "length" or (code is not None and code.cut):
        return Checked(SyntheticVerdict.CUT, "", "the answer ends before the program does")
    if code is None:
        return Checked(SyntheticVerdict.NO_CODE, "", " ".join(reply.text.split())[:200])
    source = code.text if code.text.endswith("\n") else code.text + "\n"
    problem = _brackets(source)
    if problem:
        return Checked(SyntheticVerdict.UNBALANCED, source, problem)
    if not kernel_definitions(source):
        return Checked(SyntheticVerdict.NO_KERNEL, source, "no __global__ function is defined")
    if not defines_main(source):
        return Checked(SyntheticVerdict.NO_MAIN, source, "main is not defined")
    share = unparsed_share(source)
    if share > UNPARSED:
        return Checked(SyntheticVerdict.UNPARSED, source, f"{share:.0%} of the text does not parse")
    return Checked(SyntheticVerdict.OK, source)


_PAIRS = {")": "(", "]": "[", "}": "{"}


def _brackets(source: str) -> str:
    """The first bracket without its partner; empty where all match."""
    open_: list[str] = []
    for token in significant_tokens(source):
        if token.kind is not TokenKind.PUNCTUATOR:
            continue
        if token.text in _PAIRS.values():
            open_.append(token.text)
        elif token.text in _PAIRS and (not open_ or open_.pop() != _PAIRS[token.text]):
            return f"{token.text} without {_PAIRS[token.text]}"
    return f"{open_[-1]} is not closed" if open_ else ""


def defines_main(source: str) -> bool:
    """Whether ``main`` is defined outside any braces."""
    depth, candidate, previous = 0, False, ""
    for token in significant_tokens(source):
        text = token.text
        if token.kind is TokenKind.NEWLINE:
            continue
        if text == "(" and previous == "main" and depth == 0:
            candidate = True
        elif text == ";" and depth == 0:
            candidate = False
        elif text == "{":
            if candidate and depth == 0:
                return True
            depth += 1
        elif text == "}":
            depth -= 1
        previous = text
    return False


def unparsed_share(source: str) -> float:
    """Share of the bytes of ``source`` that the CUDA grammar cannot place."""
    data = source.encode("utf-8", "surrogatepass")
    tree = cuda_parser().parse(data)
    wrong = 0
    nodes = [tree.root_node]
    while nodes:
        node = nodes.pop()
        if node.type == "ERROR":
            wrong += node.end_byte - node.start_byte
        elif node.has_error:
            nodes += node.children
    return wrong / max(1, len(data))
