"""Recipes of ``docs/extending.md``, each performed on something made up.

One function and one entry in a list are enough: nothing else has to be told of it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cass_ray import cli
from cass_ray.lift import UnknownForm, lift_text
from cass_ray.lift.form_evidence import is_covered
from cass_ray.lift.lowering import table
from cass_ray.lift.lowering.families import forms
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages import order
from cass_ray.pipeline.stages.base import Needs, Row
from cass_ray.pipeline.workspace import Workspace
from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import RulesTranslator, engine
from cass_ray.translate.rules.rewrite import Rewrite

app = typer.Typer()


@app.command()
def hello(name: str) -> None:
    typer.echo(f"hello {name}")


def test_a_command_is_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = cli._registered()
    entry = EntryPoint("hello", f"{__name__}:app", cli.GROUP)
    monkeypatch.setattr(cli, "_registered", lambda: registered | {"hello": entry})
    done = CliRunner().invoke(cli.app, ["hello", "world"])
    assert (done.exit_code, done.stdout) == (0, "hello world\n")
    assert "hello" in CliRunner().invoke(cli.app, ["--help"]).stdout


def test_a_pass_of_the_rules_is_a_function_and_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    def rename_toys(unit: Rewrite) -> None:
        for offset in unit.words.get("cudaToy", ()):
            unit.edits.replace(offset, offset + len("cudaToy"), "hipToy")
            unit.converted(offset)

    source = "#include <cuda_runtime.h>\nint main() { cudaToy(); cudaFree(0); }\n"
    before = RulesTranslator().translate(source)
    assert [each.severity for each in before.findings] == [Severity.WARNING]
    new = engine.Pass("toys", rename_toys, "first: nothing else knows the name")
    monkeypatch.setattr(engine, "PASSES", (new, *engine.PASSES))
    after = RulesTranslator().translate(source)
    assert after.findings == ()
    assert after.source == before.source.replace("cudaToy", "hipToy")


LISTING = """\
.target sm_80

Function : _Z3addPii
S2R R0, SR_TID.X
IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x168]
{mnemonic} R0, R0, R1, 0x7
MOV R2, c[0x0][0x160]
MOV R3, c[0x0][0x164]
STG.E [R2], R0
EXIT"""


@pytest.mark.amd
def test_a_form_of_the_lifter_is_a_function_with_its_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UnknownForm, match="TOYADD3"):
        lift_text(LISTING.format(mnemonic="TOYADD3"))
    monkeypatch.setattr(table, "_forms", dict(forms()))
    monkeypatch.setattr("cass_ray.lift.lowering.families.entered", lambda: table._forms)
    table.lowers("TOYADD3{,.WIDE}")(forms()["IADD3"].semantics)
    assert is_covered("TOYADD3.WIDE")
    made = lift_text(LISTING.format(mnemonic="TOYADD3"))
    assert made.assembly == lift_text(LISTING.format(mnemonic="IADD3")).assembly
    with pytest.raises(ValueError, match="twice"):
        table.lowers("TOYADD3")(forms()["IADD3"].semantics)


class ToyStage:
    """Writes the length of a row's text beside it."""

    def run(self, rows: Sequence[Row]) -> list[Row]:
        return [row | {"length": len(row["cuda_source"])} for row in rows]


def test_a_stage_is_a_class_and_its_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy = order.StageEntry(
        "toy", order.Pool.AMD_COMPILER, Needs.NOTHING, lambda given: ToyStage(), lambda _: True
    )
    monkeypatch.setattr(order, "STAGES", (*order.STAGES, toy))
    settings = BuildSettings(sources=["shipped"], out=str(tmp_path), compile=False)
    wanted = order.wanted_stages(settings)
    assert [each.name for each in wanted] == ["translate", "sources alone", "toy"]
    assert order.wanted_pools(settings) == [(order.Pool.TRANSLATOR, order.Pool.AMD_COMPILER)]
    context = order.StageContext(settings, Workspace(lambda name: b""))
    [stage] = order.make_stages(wanted[2:], context)
    assert order.run_stages([stage], [{"cuda_source": "int x;"}]) == [
        {"cuda_source": "int x;", "length": 6}
    ]


TARGET = """
from dataclasses import replace
from cass_ray import architectures as known
before = known.amd_target("gfx1102")
known.AMD_TARGETS += (replace(before, name="gfx1199"),)
known.AMD_ARCHITECTURES += ("gfx1199",)

from cass_ray.api.schema import TranslateRequest
from cass_ray.lift.lowering.target import lift_target
from cass_ray.pipeline.settings import BuildSettings
from serve.engines.source import wavefronts

print(TranslateRequest(source="int x;", arch="gfx1199").architecture)
build = BuildSettings(sources=["shipped"], out="out", amd_architectures=["gfx1199"])
print(build.amd_architectures)
print(wavefronts("gfx1199"))
print(lift_target("gfx1199") == replace(lift_target("gfx1102"), name="gfx1199"))
"""


def test_a_target_is_an_entry_of_one_table() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TARGET], check=False, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout == "gfx1199\n['gfx1199']\n(32,)\nTrue\n"


class ToyReplica:
    """Doubles what it is given."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    async def double(self, number: int) -> int:
        return 2 * number + self.offset


def test_a_deployment_is_a_class_its_settings_and_its_client() -> None:
    from serve.deployments.application import _deployment
    from serve.deployments.remote_clients import retried
    from serve.settings import Scaling

    toy = _deployment(ToyReplica, "toy", Scaling(min_replicas=1, max_replicas=3, gpus=0.5))
    assert (toy.name, toy.func_or_class) == ("toy", ToyReplica)
    assert toy.ray_actor_options["num_gpus"] == 0.5
    assert toy.bind(1)._bound_deployment.init_args == (1,)
    replica: Any = toy.func_or_class(1)
    assert asyncio.run(retried(lambda: replica.double(4), "toy")) == 9
