"""Answers of models: which are programs."""

from __future__ import annotations

import pytest

from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.corpus.synthetic.validation import Verdict, check_reply, unparsed_share
from cass_ray.llm.client import Reply

KERNEL = "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
MAIN = 'int main() { k<<<1, 32>>>(nullptr); const char* s = "}"; return s[0] == 0; }\n'
PROGRAM = f"#include <cstdio>\n{KERNEL}{MAIN}"


def fenced(code: str) -> Reply:
    return Reply(f"Here:\n```cuda\n{code}```\nDone.")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (fenced(PROGRAM), Verdict.OK),
        (Reply(PROGRAM), Verdict.OK),
        (Reply("", refusal="I cannot"), Verdict.REFUSED),
        (Reply("", finish="content_filter"), Verdict.REFUSED),
        (Reply(f"```cuda\n{PROGRAM}```", finish="length"), Verdict.CUT),
        (Reply(f"```cuda\n{PROGRAM[:-3]}"), Verdict.CUT),
        (Reply("Use shared memory."), Verdict.NO_CODE),
        (fenced(PROGRAM.replace("return", "{ return")), Verdict.UNBALANCED),
        (fenced(PROGRAM.replace("(nullptr)", "(nullptr]")), Verdict.UNBALANCED),
        (fenced(MAIN), Verdict.NO_KERNEL),
        (fenced(f"__global__ void k(int* p);\n{MAIN}"), Verdict.NO_KERNEL),
        (fenced(KERNEL), Verdict.NO_MAIN),
        (fenced(f"{KERNEL}int main();\nvoid other() {{ main(); }}\n"), Verdict.NO_MAIN),
        (fenced(f"{KERNEL}{MAIN}Now for the second part we want this to be !\n"), Verdict.UNPARSED),
    ],
)
def test_verdicts(reply: Reply, verdict: Verdict) -> None:
    assert check_reply(reply).verdict is verdict


def test_every_shipped_program_passes() -> None:
    for path in sorted(SHIPPED_ROOT.joinpath("programs").rglob("*.cu")):
        source = path.read_text(errors="replace")
        checked = check_reply(fenced(source if source.endswith("\n") else source + "\n"))
        assert checked.verdict is Verdict.OK, (path, checked.message)


def test_the_share_that_does_not_parse() -> None:
    assert unparsed_share(PROGRAM) == 0.0
    assert unparsed_share("this is ! not ) a program") > 0.3
