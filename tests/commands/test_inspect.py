from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cass_ray.commands.inspect import app
from cass_ray.dataset.row import Reason, Stage, rejected
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


def row(number: int, **columns: Any) -> dict[str, Any]:
    return {
        "id": f"{number:02x}" + "ab" * 31,
        "filename": f"program_{number}.cu",
        "domain": "finance",
        "cuda_source": "".join(f"cuda line {n}\n" for n in range(60)),
        "hip_source": "hip line 0\n",
        "cuda_host": "pushq %rbp\n",
        "cuda_device": "Function : scale\nMOV R1, R2\n",
        "hip_device": "s_endpgm\n",
        "cuda_device_by_arch": [{"arch": "sm_89", "sass": "Function : scale\n"}],
        "kernels": ["scale<float>", "shift"],
        "verified": "compiled",
        **columns,
    }


def write(folder: Path, rows: list[dict[str, Any]], schema: pa.Schema, start: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / f"part-{start:05}.parquet", row_group_size=2)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    directory = tmp_path / "demo"
    write(directory / "pairs", [row(number) for number in range(5)], PAIR_SCHEMA)
    write(directory / "pairs", [row(number) for number in range(5, 8)], PAIR_SCHEMA, start=5)
    broken = rejected(
        row(200), Stage.COMPILE_AMD, Reason.MISSING_HEADER, "'cub.h' file not found\nline 2"
    )
    write(directory / "rejects", [broken], REJECT_SCHEMA)
    return directory


def test_table_of_all_rows(dataset: Path) -> None:
    result = runner.invoke(app, [str(dataset)])
    assert result.exit_code == 0, result.output
    assert "program_0.cu" in result.output
    assert "program_7.cu" in result.output
    assert "scale<float>, shift" in result.output
    assert "8 pairs" in result.output


def test_limit_cuts_the_table_and_says_so(dataset: Path) -> None:
    result = runner.invoke(app, [str(dataset), "--limit", "3"])
    assert "program_2.cu" in result.output
    assert "program_3.cu" not in result.output
    assert "3 of 8 pairs" in result.output


def test_table_as_json(dataset: Path) -> None:
    result = runner.invoke(app, [str(dataset), "--json", "--columns", "filename,hip_device_bytes"])
    document = json.loads(result.stdout)
    assert document["rows"] == 8
    assert document["pairs"][6] == {"filename": "program_6.cu", "hip_device_bytes": 9}


@pytest.mark.parametrize("choice", [("--index", "6"), ("--id", "06"), ("--id", "06abab")])
def test_one_row_side_by_side(dataset: Path, choice: tuple[str, str]) -> None:
    result = runner.invoke(app, [str(dataset), *choice, "--lines", "5"])
    assert result.exit_code == 0, result.output
    assert "program_6.cu" in result.output
    line = next(line for line in result.output.splitlines() if "cuda line 0" in line)
    assert "hip line 0" in line
    assert "cuda line 4" in result.output
    assert "cuda line 5" not in result.output
    assert "55 more lines" in result.output
    line = next(line for line in result.output.splitlines() if "Function : scale" in line)
    assert "s_endpgm" in line
    assert "pushq" not in result.output


def test_columns_choose_what_a_row_shows(dataset: Path) -> None:
    choice = ["--index", "0", "--columns", "cuda_host,cuda_device_by_arch,verified"]
    result = runner.invoke(app, [str(dataset), *choice])
    assert "pushq %rbp" in result.output
    assert "sm_89" in result.output
    assert "compiled" in result.output
    assert "cuda line" not in result.output


def test_row_as_json_is_whole(dataset: Path) -> None:
    result = runner.invoke(app, [str(dataset), "--index", "4", "--json"])
    document = json.loads(result.stdout)
    assert document["cuda_source"] == row(4)["cuda_source"]
    assert document["cuda_device_by_arch"] == row(4)["cuda_device_by_arch"]
    assert set(document) == set(PAIR_SCHEMA.names)


def test_rejects_show_stage_reason_and_diagnostic(dataset: Path) -> None:
    table = runner.invoke(app, [str(dataset), "--rejects"])
    assert "missing_header" in table.output
    one = runner.invoke(app, [str(dataset), "--rejects", "--index", "0"])
    assert "compile_amd" in one.output
    assert "'cub.h' file not found" in one.output


def test_rejects_are_readable_on_80_columns(
    tmp_path: Path,
) -> None:
    long = [
        rejected(
            row(number, filename="folder/" * 12 + f"{number}.cu"),
            Stage.COMPILE_AMD, Reason.MISSING_HEADER, "/a/b.cu:1:2: error: no matching " * 9,
        )
        for number in range(12)
    ]  # fmt: skip
    write(tmp_path / "rejects", long, REJECT_SCHEMA)
    narrow = {"COLUMNS": "80"}
    lines = runner.invoke(app, [str(tmp_path), "--rejects"], env=narrow).output.splitlines()
    assert max(map(len, lines)) <= 80
    shown = [line.split() for line in lines if "missing_header" in line]
    assert [words[0] for words in shown] == [str(number) for number in range(12)]
    assert all("compile_amd" in words and "folder/" in words[1] for words in shown)
    assert all(" no matching" in line for line in lines if "missing_header" in line)
    one = runner.invoke(app, [str(tmp_path), "--rejects", "--index", shown[7][0]]).output
    assert "7.cu" in "".join(one.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--id", "ff"], "no id in pairs starts with 'ff'"),
        (["--id", "0"], "8 rows start with '0'"),
        (["--id", "c8"], "but one in rejects: add --rejects"),
        (["--id", "06abaa"], "there are 06abab"),
        (["--index", "8"], "no row 8; there are 8 (pairs)"),
        (["--columns", "cuda_sorce"], "cuda_source"),
        (["--id", "00", "--index", "1"], "exclude each other"),
    ],
)
def test_a_wrong_choice_says_what_there_is(
    dataset: Path, arguments: list[str], message: str
) -> None:
    result = runner.invoke(app, [str(dataset), *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_no_data_set(dataset: Path) -> None:
    wrong = runner.invoke(app, [str(dataset.parent / "demos")])
    assert wrong.exit_code == 2
    assert f"did you mean {dataset}?" in wrong.output.replace("\n", "")
    inner = runner.invoke(app, [str(dataset / "pairs")])
    assert "name the folder above" in inner.output.replace("\n", " ")
    (dataset / "pairs" / "part-00000.parquet").write_bytes(b"PAR1 no")
    broken = runner.invoke(app, [str(dataset)])
    assert broken.exit_code == 2
    assert "not readable as Parquet" in broken.output


def test_escape_sequences_of_a_source_do_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = row(
        1, filename="\x1b]0;owned\x07.cu", cuda_source="\x1b[2Jint main() {}\r\n// end\r\n"
    )
    write(tmp_path / "pairs", [hostile], PAIR_SCHEMA)
    for arguments in (["--index", "0"], []):
        result = runner.invoke(app, [str(tmp_path), *arguments])
        assert result.exit_code == 0
        assert "\x1b]" not in result.output
        assert "\x1b[2J" not in result.output
        assert "\r" not in result.output
        assert "\\x1b]0;owned\\x07.cu" in result.output.replace("\n", "")
        assert "{}\\r" not in result.output


def test_a_foreign_data_set_with_fewer_columns(tmp_path: Path) -> None:
    published = pa.table(
        {"filename": ["a.cu"], "cuda_source": ["int x;"], "hip_source": ["int y;"]}
    )
    (tmp_path / "pairs").mkdir()
    pq.write_table(published, tmp_path / "pairs" / "train.parquet")
    result = runner.invoke(app, [str(tmp_path), "--index", "0"])
    assert result.exit_code == 0, result.output
    assert "int x;" in result.output
