"""Listings and assembly that nest without end, have a million labels, or name what is not there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.gnu import without_comment
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend import listing as reading
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.rdna3_to_ptx import UnknownInstruction, to_ptx
from cass_ray.rdna3_to_ptx.operands import parse, split_modifiers
from cass_ray.translate.rules.engine import RulesTranslator
from tests.folders import REPOSITORY
from tests.security.listings import kernel, lines
from tests.security.work import faster_than_length


def run(*command: str) -> dict[str, dict[str, object]]:
    """What a module prints as JSON; in a process of its own, which may end of what it reads."""
    started = [sys.executable, "-m", *command]
    done = subprocess.run(started, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    made: dict[str, dict[str, object]] = json.loads(done.stdout)
    return made


@pytest.fixture(scope="module")
def work() -> dict[str, dict[str, object]]:
    return run("tests.security.work", "listings")


def test_work_grows_with_length(work: dict[str, dict[str, list[int]]]) -> None:
    assert faster_than_length(work) == []


def test_long_lines() -> None:
    """Read, or refused as what it is: no recursion, no number that is too long, no crash."""
    raised = run("tests.security.listings")
    assert {
        (reader, text): said for reader, of in raised.items() for text, said in of.items() if said
    } == {}


@pytest.mark.slow
def test_a_million_labels() -> None:
    text = lines(".L{n}:\n", 1_000_000)
    module = rdna3.parse(kernel(text))
    assert len(module.labels(module.functions["f"])) == 1_000_001
    [function] = sass.parse(
        f".target sm_90\nFunction : f\n{text}BRA `(.L999999);\nEXIT;\n"
    ).functions
    assert function.labels == {".L_0": 0}


@pytest.mark.slow
def test_many_calls() -> None:
    """Each call used to be followed through all of the code."""
    text = ".target sm_90\nFunction : _Z1fv\n" + lines(
        "CALL.REL.NOINC `(.L_{n});\n.L_{n}:\nMOV R1, R2;\n", 50_000
    )
    assert len(cubin_of(f"{text}EXIT;\n").sections) > 2


DEEP = ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000, "a: " + "[']', " * 100_000,
        "\n".join(" " * n + "a:" for n in range(1000))]  # fmt: skip


@pytest.mark.parametrize("document", DEEP, ids=lambda text: text[:8].strip())
def test_metadata_that_nests(document: str) -> None:
    """It ended the process: libyaml's loader recurses in C."""
    with pytest.raises(ValueError, match="too deep"):
        _ = rdna3.parse(kernel(metadata=document)).metadata


@pytest.mark.parametrize(
    "document",
    [
        "? [a]\n: b",
        "amdhsa.kernels: 5",
        "amdhsa.kernels: [5]",
        "amdhsa.kernels:\n  - .name: f\n    .args: 5",
        "amdhsa.kernels:\n  - .name: f\n    .args: [5]",
        "amdhsa.kernels:\n  - .name: f\n    .args:\n      - {5: 6}",
        "amdhsa.kernels:\n  - .name: f\n    .args:\n      - {.offset: x, .size: 4, .value_kind: y}",
    ],
)
def test_metadata_of_another_shape(document: str) -> None:
    module = rdna3.parse(kernel(metadata=document))
    with pytest.raises(ValueError, match=r"metadata|args|mapping|validation"):
        _ = [each.arguments for each in module.kernels.values()]


def test_metadata_of_another_type_says_nothing() -> None:
    document = "amdhsa.kernels:\n  - .name: [f]\n  - .name: f\n    .vgpr_count: [1, 2]"
    [found] = rdna3.parse(kernel(metadata=document)).kernels.values()
    assert (found.vgprs, found.metadata[".name"]) == (0, "f")


@pytest.mark.parametrize("size", [32_765, 10**12, -1])
def test_arguments_without_end(size: int) -> None:
    document = (
        "amdhsa.kernels:\n  - .name: f\n    .args:\n"
        f"      - {{.offset: 0, .size: {size}, .value_kind: by_value}}"
    )
    with pytest.raises(UnknownInstruction, match="argument of"):
        to_ptx(kernel(metadata=document))


def test_a_descriptor_without_code() -> None:
    with pytest.raises(UnknownInstruction, match="without code"):
        to_ptx(".amdhsa_kernel f\n.end_amdhsa_kernel\n")


@pytest.mark.parametrize("text", ["v[0:999999999]", "v[0:32]", "s[5:4]", "v" + "9" * 5000])
def test_registers_that_are_none(text: str) -> None:
    with pytest.raises(UnknownInstruction):
        parse(text)


def test_a_variable_that_is_filled_without_end() -> None:
    data = ".type v,@object\nv:\n.zero 1000000000000\n.size v, 4\n"
    assert "v[" not in to_ptx(kernel(data=data)).text


@pytest.mark.parametrize("written", ["1000000000", "99999999999999999999", "5000"])
def test_inline_registers_by_the_billion(written: str) -> None:
    """They were allocated in the process that answers HTTP."""
    source = f'__device__ void f() {{ asm(".reg .b32 %r<{written}>;"); }}'
    made = RulesTranslator().translate(source, filename="a.cu")
    assert ["more than 4096 registers" in item.message for item in made.findings] == [True]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("MOV R256, R1;", "no such register"),
        (f"MOV R{'9' * 5000}, R1;", "no such register"),
        ("IADD3 R1, R1, -0x80000000;\n" * 3, "bytes of stack"),
    ],
)
def test_listings_of_what_is_not_there(code: str, reason: str) -> None:
    with pytest.raises(LiftError, match=reason):
        cubin_of(f".target sm_90\nFunction : _Z1fv\n{code}\nEXIT;\n")


def test_parameters_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that tell of so many are too long to be read; offsets are packed into 16 bits."""
    monkeypatch.setattr(reading, "_parameter_types", lambda name: ["double"] * 8192)
    listing = ".target sm_90\nFunction : _Z1fd\nEXIT;\n"
    with pytest.raises(LiftError, match="bytes of parameters"):
        cubin_of(listing)


def test_an_architecture_of_many_digits() -> None:
    with pytest.raises(LiftError, match="not one of"):
        cubin_of(f".target sm_{'9' * 5000}\nFunction : f\nEXIT;\n")


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("IADD3 R0, R1, c[0x0][0x160], RZ", ("R0", "R1", "c[0x0][0x160]", "RZ")),
        ("BRX R0 -0x10 (.L_1, .L_2)", ("R0 -0x10 (.L_1, .L_2)",)),
        ("LDG.E R0, desc[UR4][R2.64+0x8]", ("R0", "desc[UR4][R2.64+0x8]")),
        ("TEX R0, R1, [R2, R3], 2D", ("R0", "R1", "[R2, R3]", "2D")),
        ("NOP", ()),
    ],
)
def test_operands(text: str, operands: tuple[str, ...]) -> None:
    assert sass.SassInstruction(0, text).operands == operands


def test_modifiers() -> None:
    found = split_modifiers(("v0", "v1 quad_perm:[1, 2, 3, 0] row_mask:0xf  bound_ctrl:1"))
    assert found[0] == ["v0", "v1"]
    assert found[1] == {"quad_perm": "[1, 2, 3, 0]", "row_mask": "0xf", "bound_ctrl": "1"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('.ascii ";" ; a', '.ascii ";" '),
        ('a "b;c" "d;e"', 'a "b;c" "d;e"'),
        ('; "a;b"', ""),
        ('a "b', 'a "b'),
        ('"\\";" ; c', '"\\";" '),
    ],
)
def test_comments(text: str, kept: str) -> None:
    assert without_comment(text, rdna3.COMMENT) == kept
