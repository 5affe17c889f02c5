"""What leaves and what stays; files that datasets and mlcroissant load; an upload by bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
import pytest
import yaml
from typer.testing import CliRunner

from cass_ray.config import SettingsError
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.overwriting import WouldOverwriteError
from cass_ray.publish.prepare import Kind, NothingToPublishError, prepare
from cass_ray.publish.settings import PublishSettings
from cass_ray.publish.withheld import canonical, read_opt_out
from jobs.publish import app
from tests.analysis.conftest import row
from tests.datasets_on_disk import write_rows

SECRET = "__global__ void not_to_be_shown() {}"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Three rows that may leave, and one for each reason to stay."""
    folder = tmp_path / "built"
    rows = [
        row(1),
        row(2),
        row(3, repository="https://example.org/a/b.git"),
        row(4, license="GPL-3.0-only", cuda_source=SECRET),
        row(5, license="", cuda_source=SECRET),
        row(6, repository="git@example.org:Opted/Out.git", cuda_source=SECRET),
        {
            **row(7, cuda_source=SECRET),
            "stage": "compile_amd",
            "reason": "compile_error",
            "diagnostic": "",
            "duplicate_of": "",
        },
    ]
    write_rows(rows, folder)
    return folder


@pytest.fixture
def settings(built: Path, tmp_path: Path) -> PublishSettings:
    opt_out = tmp_path / "opt_out.txt"
    opt_out.write_text("# asked by mail\nhttps://example.org/opted/out  # 2026\n")
    return PublishSettings(
        source=built, out=tmp_path / "out", name="pairs", opt_out=opt_out, rows_per_file=2
    )


def test_what_stays_is_nowhere_in_what_leaves(settings: PublishSettings, tmp_path: Path) -> None:
    prepared = prepare(settings)
    assert prepared.facts["rows"] == 3
    assert sum(prepared.facts["withheld"].values()) == 3
    assert prepared.facts["withheld"]["opted out"] == 1
    whole = datasets.load_dataset(str(settings.out), split="train", cache_dir=str(tmp_path))
    assert not [text for text in whole["cuda_source"] if SECRET in text]
    for name in ("README.md", "publication.json", "croissant.json"):
        assert "not_to_be_shown" not in (settings.out / name).read_text()


def test_the_published_folder_loads(settings: PublishSettings, tmp_path: Path) -> None:
    prepare(settings)
    loaded = datasets.load_dataset(str(settings.out), cache_dir=str(tmp_path))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 3}
    assert loaded["train"].column_names == PAIR_SCHEMA.names
    assert loaded["train"][0]["cuda_device"] == row(1)["cuda_device"]
    names = sorted(path.name for path in (settings.out / "data").iterdir())
    assert names == ["train-00000-of-00002.parquet", "train-00001-of-00002.parquet"]


def test_croissant_is_valid_and_reads_the_rows(settings: PublishSettings) -> None:
    prepare(settings)
    data = mlcroissant.Dataset(jsonld=settings.out / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    fields = {field.name for field in data.metadata.record_sets[0].fields}
    assert {"cuda_source", "hip_device", "verified"} <= fields


def test_the_card_names_licences_and_splits(settings: PublishSettings) -> None:
    prepare(settings)
    _, head, body = (settings.out / "README.md").read_text().split("---\n", 2)
    front = yaml.safe_load(head)
    assert front["license"] == "mit"
    assert front["size_categories"] == ["n<1K"]
    assert front["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*.parquet"}]
    assert "Withheld 3 rows" in body
    assert "`GPL-3.0-only is not among licenses.allow`" in body


def test_checksums_are_what_sha256sum_says(settings: PublishSettings) -> None:
    prepare(settings)
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"],
        cwd=settings.out,
        capture_output=True,
        text=True,
        check=True,
    )
    assert checked.stdout.count(": OK") == len(
        (settings.out / "SHA256SUMS").read_text().splitlines()
    )


def test_all_rows_withheld_publishes_nothing(settings: PublishSettings, built: Path) -> None:
    strict = settings.model_copy(
        update={"licenses": settings.licenses.model_copy(update={"allow": ["Zlib"]})}
    )
    with pytest.raises(NothingToPublishError, match=r"every row is withheld \(\d+: "):
        prepare(strict)
    assert not settings.out.exists()
    assert not settings.out.with_name(f".{settings.out.name}.part").exists()


def test_a_data_set_without_pairs_names_no_licenses(
    settings: PublishSettings, tmp_path: Path
) -> None:
    reject = {**row(1), "stage": "compile_amd", "reason": "compile_error", "diagnostic": ""}
    write_rows([{**reject, "duplicate_of": ""}], tmp_path / "rejected")
    with pytest.raises(NothingToPublishError, match=r"no pairs; cass inspect .* --rejects"):
        prepare(settings.model_copy(update={"source": tmp_path / "rejected"}))


@pytest.mark.parametrize(
    "name",
    [
        "https://Example.org/A/b.git",
        "git@example.org:A/b.git",
        "ssh://git@example.org/A/b",
        "example.org/a/b/",
    ],
)
def test_a_repository_has_one_name(name: str) -> None:
    assert canonical(name) == "example.org/a/b"


def test_an_opt_out_by_digest_of_a_source(settings: PublishSettings, tmp_path: Path) -> None:
    digest = hashlib.sha256(row(1)["cuda_source"].encode()).hexdigest()
    listed = tmp_path / "by_digest.txt"
    listed.write_text(f"{digest.upper()}\n")
    with pytest.raises(NothingToPublishError):  # all rows have that source
        prepare(settings.model_copy(update={"opt_out": listed}))


def test_an_opt_out_list_that_is_missing_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="opt_out"):
        read_opt_out(tmp_path / "nowhere")


def test_a_model_is_copied_without_pickles(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name in ("config.json", "model.safetensors", "README.md", "optimizer.pt", "data.bin"):
        (model / name).write_text(name)
    prepared = prepare(PublishSettings(source=model, out=tmp_path / "out"))
    assert prepared.kind is Kind.MODEL
    assert set(prepared.files) == {
        "config.json",
        "model.safetensors",
        "README.md",
        "publication.json",
    }


@pytest.mark.parametrize("option", ["source", "out"])
def test_a_url_is_no_folder(option: str, tmp_path: Path) -> None:
    given = {"source": tmp_path, "out": tmp_path / "out", option: "s3://bucket/data"}
    with pytest.raises(ValueError, match="give a folder of this machine"):
        PublishSettings.model_validate(given)


def test_nothing_to_publish_says_what_could_be(tmp_path: Path) -> None:
    with pytest.raises(NothingToPublishError, match="pairs/"):
        prepare(PublishSettings(source=tmp_path, out=tmp_path / "out"))


class _Hub(BaseHTTPRequestHandler):
    """As much of the hub's API as one commit of small files needs."""

    files: dict[str, bytes] = {}
    visibility: list[str] = []

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/api/repos/create":
            self.visibility.append(json.loads(body)["visibility"])
            self._answer({"url": f"http://{self.headers['Host']}/datasets/me/pairs"})
        elif self.path.endswith("/preupload/main"):
            asked = json.loads(body)["files"]
            files = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                for each in asked
            ]
            self._answer({"files": files})
        elif self.path.endswith("/commit/main"):
            self._commit(body)
        else:
            self._answer({}, 200)

    def do_GET(self) -> None:
        self._answer({}, 200)

    def _commit(self, body: bytes) -> None:
        for line in body.decode().splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                value = entry["value"]
                self.files[value["path"]] = base64.b64decode(value["content"])
        url = f"http://{self.headers['Host']}/datasets/me/pairs"
        self._answer({"commitUrl": f"{url}/commit/1", "commitOid": "1", "pullRequestUrl": None})

    def _answer(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def hub() -> Iterator[str]:
    _Hub.files, _Hub.visibility = {}, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _arguments(settings: PublishSettings, hub: str) -> list[str]:
    options = ["--repository", "me/pairs", "--endpoint", hub, "--opt-out", str(settings.opt_out)]
    return [str(settings.source), "--out", str(settings.out), "--name", "pairs", *options]


def test_nothing_is_uploaded_unless_asked(settings: PublishSettings, hub: str) -> None:
    done = CliRunner().invoke(app, _arguments(settings, hub))
    assert done.exit_code == 0, done.output
    assert "Nothing was uploaded" in done.output
    assert not _Hub.visibility


def test_an_upload_holds_every_file(
    settings: PublishSettings, hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    done = CliRunner().invoke(app, [*_arguments(settings, hub), "--upload"])
    assert done.exit_code == 0, done.output
    assert f"{hub}/datasets/me/pairs/commit/1" in done.output
    assert _Hub.visibility == ["private"]
    written = {
        path.relative_to(settings.out).as_posix(): path.read_bytes()
        for path in settings.out.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }
    assert _Hub.files == written


def test_a_hub_that_refuses_is_told(settings: PublishSettings) -> None:
    done = CliRunner().invoke(app, [*_arguments(settings, "http://127.0.0.1:9"), "--upload"])
    assert done.exit_code == 1
    assert "me/pairs" in done.output


def test_a_folder_with_other_files_is_not_removed(tmp_path: Path) -> None:
    scores = tmp_path / "results"
    scores.mkdir()
    (scores / "scores.json").write_text("[]")
    out = tmp_path / "home"
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    settings = PublishSettings(source=scores, out=out, name="x")
    with pytest.raises(WouldOverwriteError, match=r"thesis\.tex"):
        prepare(settings)
    assert (out / "thesis.tex").read_text() == "mine"
    (out / "thesis.tex").unlink()
    prepare(settings)
    prepare(settings)  # what it wrote itself
    (out / "README.md").write_text("changed by hand")
    with pytest.raises(WouldOverwriteError, match=r"README\.md"):
        prepare(settings)
