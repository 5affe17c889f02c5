"""Parts read on the nodes of a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cluster import local
from tests.folders import REPOSITORY

pytestmark = pytest.mark.slow


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[local.ClusterState]:
    monkeypatch.setenv("CASS_CACHE", str(tmp_path / "cache"))
    state = local.start([local.NodePlan("head", 0, {}), local.NodePlan("worker", 2, {})])
    yield state
    local.stop(state)


def test_a_cluster_finds_what_one_machine_does(
    nodes: local.ClusterState, five_rows: Path, tmp_path: Path
) -> None:
    """Three parts on another node than the driver's; every number is the same."""
    pairs = next((five_rows / "pairs").glob("*.parquet"))
    for number in (1, 2):
        pq.write_table(pq.read_table(pairs).slice(number, 1), pairs.with_name(f"{number}.parquet"))
    reports = []
    for name, more, environment in (
        ("here", (), {}),
        ("there", ("--cluster",), {"RAY_ADDRESS": nodes.address}),
    ):
        command = [sys.executable, str(REPOSITORY / "jobs/analyze.py"), str(five_rows)]
        command += ["--out", str(tmp_path / name), "--set", "images=false", *more]
        env = {**local.environment(nodes.token), **environment}
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        reports.append(json.loads((tmp_path / name / "report.json").read_text()))
    assert reports[0] == reports[1]
    assert len(list((tmp_path / "there" / ".parts").iterdir())) == 3
