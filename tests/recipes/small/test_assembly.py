"""What a small model of the assembly level is asked, and what becomes of its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.compact import compact, expand
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.train.data.prepare import pair_files, read_pairs
from recipes.small.assembly import kernels_apart, read_answer, unpack, write_commands
from tests.assembly import samples

RDNA3 = samples.read("kernels.gfx1100.s")
QUESTION = {"task": "scale", "architecture": "sm_90", "file": "device.s", "sass": ""}


def test_folders_become_settings_that_the_build_takes(tmp_path: Path) -> None:
    for name in ("public.00", "public.cl00"):
        (tmp_path / name).mkdir()
    lines = list(write_commands(tmp_path, Path("/results")))
    assert len(lines) == 4  # and what is shipped, of CUDA and of OpenCL
    built = [
        BuildSettings.model_validate(yaml.safe_load(Path(line.split()[-1]).read_text()))
        for line in lines
    ]
    assert [settings.sources[0].partition(":")[0] for settings in built] == [
        *("local", "opencl", "shipped", "shipped-opencl")
    ]
    assert all(settings.lift for settings in built)


def test_answers_are_expanded_or_say_what_is_wrong() -> None:
    right = read_answer(f"```rdna3\n{compact(RDNA3)}```", QUESTION)
    assert right == {"task": "scale", "files": {"device.s": expand(compact(RDNA3))}}
    cut = read_answer(f"```rdna3\n{compact(RDNA3)[:500]}", QUESTION)
    assert cut["problem"] == "the answer was cut"
    other = read_answer("```rdna3\ns_endpgm\n```", QUESTION)
    assert "stands before any kernel" in other["problem"]


def test_an_ablation_leaves_an_origin_out(tmp_path: Path) -> None:
    rows = [{"id": str(number) * 64, "origin": origin, "hip_device": RDNA3, "verified": "compiled"}
            for number, origin in enumerate(("local", "opencl", "local"))]  # fmt: skip
    archive = tmp_path / "pairs.jsonl.zst"
    with pa.CompressedOutputStream(str(archive), "zstd") as stream:
        stream.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert unpack(archive, tmp_path / "data", ["opencl"]) == {"local": 2}
    read = list(read_pairs(pair_files([tmp_path / "data"])))
    assert [row["id"][0] for row in read] == ["0", "2"]


def test_other_wordings_are_of_pairs_that_are_learned_from(tmp_path: Path) -> None:
    """Registers and names change; the code of both sides is otherwise the same."""
    listing = sass.normalize(samples.read("kernels.sm_90.nvdisasm.sass"))
    row: dict[str, Any] = {"id": "f" * 64, "origin": "local", "hip_device": RDNA3}
    row |= {"verified": "compiled"}
    row |= {"cuda_device_by_arch": [{"arch": "sm_90", "sass": listing}]}
    archive = tmp_path / "pairs.jsonl.zst"
    with pa.CompressedOutputStream(str(archive), "zstd") as stream:
        stream.write(json.dumps(row).encode() + b"\n")
    unpack(archive, tmp_path / "data", variants=2)
    first, *others = read_pairs(pair_files([tmp_path / "data"]))
    assert len(others) == 2
    for made in (each["cuda_device_by_arch"][0]["sass"] for each in others):
        assert made != listing
        assert len(made.split("\n")) == len(listing.split("\n"))
    assert first["hip_device"] == RDNA3
    assert [len(each["hip_device"].split("\n")) for each in others] == [len(RDNA3.split("\n"))] * 2
    kernels = [sass.kernel_names(each["cuda_device_by_arch"][0]["sass"]) for each in others]
    kept = set(kernels[0]) & set(sass.kernel_names(listing))
    assert {name for name in kept if not name.startswith("_ZN")} == {"choose"}  # a C name


def _only(text: str, names: tuple[str, ...]) -> str:
    """A listing with these of its kernels alone."""
    head, *blocks = text.split("\n\n")
    return "\n\n".join([head, *(each for each in blocks if each.split()[2] in names)]) + "\n"


def test_kernels_that_stand_alone_are_modules_of_their_own_too() -> None:
    names = ("_Z5scaleIfEvPT_S0_i", "_Z5scaleIdEvPT_S0_i")
    listing = _only(sass.normalize(samples.read("kernels.sm_90.nvdisasm.sass")), names)
    whole = compact(RDNA3)
    assert "\nFunction : " in whole  # calls a function: left as it is
    row: dict[str, Any] = {"id": "f" * 64, "lifted": None, "hip_device": RDNA3}
    row |= {"cuda_device_by_arch": [{"arch": "sm_90", "sass": listing}]}
    assert list(kernels_apart(row)) == []
    made = list(kernels_apart(row | {"hip_device": expand(_only(whole, names))}))
    assert [list(rdna3.parse(each["hip_device"]).kernels) for each in made] == [[n] for n in names]
    assert [
        sass.kernel_names(each["cuda_device_by_arch"][0]["sass"]) for each in made
    ] == [[name] for name in names]  # fmt: skip
    # Of the second one the same code, but for the number in its labels.
    second = _only(whole, names[1:]).replace(".LBB1_", ".LBB0_")
    assert compact(made[1]["hip_device"]) == second
