"""Answers of models: which are programs."""

from __future__ import annotations

import pytest

from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.corpus.synthetic.validation import SyntheticVerdict, check_reply, unparsed_share
from cass_ray.llm.client import Reply

KERNEL = "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
MAIN = 'int main() { k<<<1, 32>>>(nullptr); const char* s = "}"; return s[0] == 0; }\n'
PROGRAM = f"#include <cstdio>\n{KERNEL}{MAIN}"


def fenced(code: str) -> Reply:
    return Reply(f"Here:\n```cuda\n{code}```\nDone.")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (fenced(PROGRAM), SyntheticVerdict.OK),
        (Reply(PROGRAM), SyntheticVerdict.OK),
        (Reply("", refusal="I cannot"), SyntheticVerdict.REFUSED),
        (Reply("", finish="content_filter"), SyntheticVerdict.REFUSED),
        (Reply(f"```cuda\n{PROGRAM}```", finish="length"), SyntheticVerdict.CUT),
        (Reply(f"```cuda\n{PROGRAM[:-3]}"), SyntheticVerdict.CUT),
        (Reply("Use shared memory."), SyntheticVerdict.NO_CODE),
        (fenced(PROGRAM.replace("return", "{ return")), SyntheticVerdict.UNBALANCED),
        (fenced(PROGRAM.replace("(nullptr)", "(nullptr]")), SyntheticVerdict.UNBALANCED),
        (fenced(MAIN), SyntheticVerdict.NO_KERNEL),
        (fenced(f"__global__ void k(int* p);\n{MAIN}"), SyntheticVerdict.NO_KERNEL),
        (fenced(KERNEL), SyntheticVerdict.NO_MAIN),
        (fenced(f"{KERNEL}int main();\nvoid other() {{ main(); }}\n"), SyntheticVerdict.NO_MAIN),
        (
            fenced(f"{KERNEL}{MAIN}Now for the second part we want this to be !\n"),
            SyntheticVerdict.UNPARSED,
        ),
    ],
)
def test_verdicts(reply: Reply, verdict: SyntheticVerdict) -> None:
    assert check_reply(reply).verdict is verdict


def test_every_shipped_program_passes() -> None:
    for path in sorted(SHIPPED_ROOT.joinpath("programs").rglob("*.cu")):
        source = path.read_text(errors="replace")
        checked = check_reply(fenced(source if source.endswith("\n") else source + "\n"))
        assert checked.verdict is SyntheticVerdict.OK, (path, checked.message)


def test_the_share_that_does_not_parse() -> None:
    assert unparsed_share(PROGRAM) == 0.0
    assert unparsed_share("this is ! not ) a program") > 0.3
