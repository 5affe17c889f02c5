"""The main job with lifting: machine code of one GPU becomes a program for the other, and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.dataset.parquet import read_rows
from cass_ray.lift.form_evidence import only_lifted
from cass_ray.toolchain.locate import find_amd
from cass_ray.train.data.examples import ExampleGenerator
from cass_ray.train.settings import DataSettings
from tests.jobs.conftest import SHIPPED, build

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

PROGRAM = SHIPPED / "programs/general_compute/saxpy_streams.cu"


@pytest.fixture(scope="module")
def lifted(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lifted")
    arguments = ["--source", f"local:{PROGRAM}", "--out", str(out), "--execute", "--lift"]
    build([*arguments, "--arch", "sm_80", "--arch", "sm_90"], environment, out / "log")
    assert [row["diagnostic"] for row in read_rows(out, "rejects")] == []
    return out


def test_machine_code_of_each_architecture_is_lifted_and_gives_the_gpus_output(
    lifted: Path,
) -> None:
    (row,) = read_rows(lifted)
    assert [each["arch"] for each in row["lifted"]] == ["sm_80", "sm_90"]
    for each in row["lifted"]:
        # What an H200 printed is stored beside the shipped programs.
        assert (each["verified"], each["diagnostic"]) == ("executed", "")
        assert each["rdna3"] != row["hip_device"]
        assert find_amd().assemble(each["rdna3"]).startswith(b"\x7fELF")
        (listing,) = (x["sass"] for x in row["cuda_device_by_arch"] if x["arch"] == each["arch"])
        assert each["only_lifted"] == only_lifted(listing)


def test_lifted_assembly_can_be_learned(lifted: Path) -> None:
    (row,) = read_rows(lifted)

    class Letters:
        """A tokenizer of letters."""

        eos_token_id = 0
        chat_template = "any"

        def apply_chat_template(self, conversation: object, **_: object) -> str:
            return "ask"

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            return {"input_ids": [ord(letter) for letter in text]}

    settings = DataSettings(
        pairs=[lifted], tasks=["assembly"], architectures=["sm_90"], rdna3="lifted", window=1 << 20
    )
    (example,) = ExampleGenerator(settings, Letters()).examples(row)
    answer = "".join(map(chr, example["tokens"][example["answer_start"] : -1]))
    assert row["lifted"][1]["rdna3"].strip() in answer
