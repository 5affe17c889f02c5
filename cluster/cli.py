"""``cass cluster``: a local multi-node Ray cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from actors.ports import PortsTaken
from cass_ray.commands.waiting import waiting
from cass_ray.exit_codes import EXIT_FAILED, fail
from cluster import local
from cluster.errors import ClusterError
from cluster.network import Network, NetworkError

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)

_FAILURES = (ClusterError, PortsTaken)


def _running() -> local.ClusterState:
    state = local.load()
    if state is None:
        fail("cluster", "no local cluster runs; start one with `cass cluster up`", EXIT_FAILED)
    return state


def _of_link(action: Callable[[Network, str], None], name: str) -> None:
    network = _running().network
    if network is None:
        fail(
            "cluster", "no links of their own; start it with `cass cluster up --links`", EXIT_FAILED
        )
    try:
        action(network, name)
    except NetworkError as error:
        fail("cluster", error, EXIT_FAILED)


@app.command()
def up(
    slots: Annotated[int | None, typer.Option(help="Compile slots a node; default: cores.")] = None,
    nodes: Annotated[str, typer.Option(help="How many of each kind.")] = "nvidia=1,amd=1",
    links: Annotated[
        bool, typer.Option("--links", help="A network link each, to be cut; takes root.")
    ] = False,
) -> None:
    """Start a head and nodes that offer `nvidia` or `amd`."""
    try:
        plan = local.plan_of(local.parse_nodes(nodes), slots or os.cpu_count() or 1)
        with waiting(f"starting {len(plan)} nodes"):
            state = local.start(plan, links=links)
    except _FAILURES as error:
        fail("cluster", error, EXIT_FAILED)
    print(f"cluster at {state.address}, dashboard {state.dashboard}, {len(state.nodes)} nodes")
    print("submit: cass cluster submit -- python jobs/build_dataset.py --source shipped --out DIR")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Nodes of the running cluster."""
    state = _running()
    if as_json:
        print(json.dumps({**state.model_dump(mode="json"), "alive": local.node_count(state)}))
        return
    print(f"{state.address} (dashboard {state.dashboard}): {local.node_count(state)} nodes alive")
    for node in state.nodes:
        print(f"  {node.name}: {node.resources or 'head'} (process group {node.process})")


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def submit(
    context: typer.Context,
    working_dir: Annotated[Path, typer.Option(help="Folder that travels to the cluster.")] = Path(),
) -> None:
    """Run a command as a Ray job: `cass cluster submit -- python jobs/build_dataset.py …`."""
    raise typer.Exit(local.submit(_running(), context.args, working_dir))


@app.command()
def add(
    resource: Annotated[str, typer.Argument(help="What it offers: nvidia or amd.")],
    name: Annotated[str, typer.Option(help="Default: the first free one.")] = "",
    slots: Annotated[int | None, typer.Option(help="Compile slots; default: cores.")] = None,
) -> None:
    """Start one more node."""
    state = _running()
    taken = {node.name for node in state.nodes}
    free = (each for n in count(1) if (each := f"{resource}-{n}") not in taken)
    try:
        local.parse_nodes(f"{resource}=1")
        wanted = slots or os.cpu_count() or 1
        with waiting("starting a node"):
            state = local.add(state, local.NodePlan(name or next(free), wanted, {resource: wanted}))
    except _FAILURES as error:
        fail("cluster", error, EXIT_FAILED)
    print(f"node {state.nodes[-1].name} joined")


@app.command()
def kill(name: Annotated[str, typer.Argument(help="As `cass cluster status` lists it.")]) -> None:
    """End a node as a power cut would, to see what a job makes of it."""
    try:
        local.kill(_running(), name)
    except _FAILURES as error:
        fail("cluster", error, EXIT_FAILED)
    print(f"node {name} killed")


@app.command()
def cut(name: Annotated[str, typer.Argument(help="A node of a cluster with --links.")]) -> None:
    """Cut the network link of a node, to see what a job makes of it."""
    _of_link(Network.cut, name)
    print(f"the link of {name} is cut")


@app.command()
def mend(name: Annotated[str, typer.Argument(help="A node whose link was cut.")]) -> None:
    """Mend the network link of a node; where Ray gave the node up meanwhile, it ends itself."""
    _of_link(Network.mend, name)
    print(f"the link of {name} is whole")


@app.command()
def env() -> None:
    """Print what `ray job submit` needs: eval "$(cass cluster env)"."""
    state = _running()
    print(f"export RAY_API_SERVER_ADDRESS={state.dashboard}")
    print(f"export RAY_AUTH_MODE=token RAY_AUTH_TOKEN={state.token}")


@app.command()
def down() -> None:
    """Stop the running cluster."""
    with waiting("ending the nodes"):
        local.stop(_running())
    print("stopped")
