"""Which nodes a local cluster gets."""

from __future__ import annotations

import pytest

from cluster.local import ClusterError, NodePlan, default_plan, parse_nodes, plan_of


def test_nodes_are_called_after_what_they_offer() -> None:
    assert plan_of(parse_nodes("nvidia=2, amd=1"), 4) == [
        NodePlan("head", 1, {}),
        NodePlan("nvidia-1", 4, {"nvidia": 4}),
        NodePlan("nvidia-2", 4, {"nvidia": 4}),
        NodePlan("amd", 4, {"amd": 4}),
    ]
    assert [node.name for node in default_plan(1)] == ["head", "nvidia", "amd"]


@pytest.mark.parametrize("text", ["", "nvidia", "nvidia=", "nvidia=-1", "cuda=1", "amd=1,amd=2"])
def test_what_is_no_number_of_nodes_is_said(text: str) -> None:
    with pytest.raises(ClusterError, match=r"nvidia, amd with a number"):
        parse_nodes(text)
