"""A Ray cluster of separate raylets on this machine: a head, nodes offering ``nvidia`` and ``amd``.

Each raylet is its own process group, so that a node can be killed alone (``ray stop`` matches by
process name and would take down other clusters of the machine).
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ray.util
from pydantic import BaseModel, ConfigDict

from actors.node_timeout import ended_raylets
from actors.ports import free_ports
from cass_ray.cache import default_directory
from cluster import raylet
from cluster.errors import ClusterError
from cluster.network import Network, NetworkError, make_network
from cluster.package import pack

RESOURCES = ("nvidia", "amd")
_RAY_START = str(Path(__file__).with_name("ray_start.py"))
_START_SECONDS = 600.0  # a head has been seen to take five minutes on a machine at load 15
_START_ATTEMPTS = 4
_STARTED_TOO_SLOWLY = "timed out during startup"
_STARTED = "Ray runtime started"
_STOP_SECONDS = 15.0
_LONGEST_TEMPORARY = 12
"""Bytes of a folder for temporary files below which sockets' paths are short enough: of their 107,
Ray's own names take 64, the cluster's folder 22 and a node's 9."""


class Node(BaseModel):
    """One raylet: its name, process group and what it offers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    process: int
    resources: dict[str, float]


class ClusterState(BaseModel):
    """What ``cass cluster up`` leaves behind for ``status``, ``submit`` and ``down``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str
    dashboard: str | None
    """Address; none where jobs cannot be submitted."""
    temporary: Path
    token: str
    nodes: list[Node]
    network: Network | None = None


@dataclass(frozen=True)
class NodePlan:
    """A node to start: ``cpus`` for Ray's own tasks and the custom resources it offers.

    ``before`` goes before its command: ``env``, ``unshare`` and the like, which become it.
    """

    name: str
    cpus: int
    resources: dict[str, float]
    before: tuple[str, ...] = ()


def plan_of(nodes: Mapping[str, int], slots: int) -> list[NodePlan]:
    """A head without compilers, and so many nodes with ``slots`` of each resource in ``nodes``.

    A node is called after what it offers; where there are several, they are numbered from 1.
    """
    plan = [NodePlan("head", 1, {})]
    for resource, count in nodes.items():
        names = [resource] if count == 1 else [f"{resource}-{n}" for n in range(1, count + 1)]
        plan += [NodePlan(name, slots, {resource: slots}) for name in names]
    return plan


def default_plan(slots: int) -> list[NodePlan]:
    """A head without compilers, one node with ``slots`` of ``nvidia``, one with ``amd``."""
    return plan_of({"nvidia": 1, "amd": 1}, slots)


def parse_nodes(text: str) -> dict[str, int]:
    """``nvidia=2,amd=2`` as numbers of nodes. Raises ``ClusterError``."""
    result: dict[str, int] = {}
    for word in text.split(","):
        resource, _, count = word.strip().partition("=")
        if resource not in RESOURCES or resource in result or not count.isdigit():
            raise ClusterError(
                f"--nodes {text}: {word.strip()!r} is not one of {', '.join(RESOURCES)} with a "
                "number, each named once, as in nvidia=2,amd=2"
            )
        result[resource] = int(count)
    return result


def state_file() -> Path:
    """Where the running local cluster is recorded."""
    return default_directory() / "cluster.json"


def environment(token: str) -> dict[str, str]:
    """The environment of every Ray process of a local cluster.

    Ray listens on the machine's own address, so every cluster has its own token: neighbours are
    locked out, and a token file left by another cluster does not lock us out.
    """
    here = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": f"{here}:{os.environ.get('PATH', os.defpath)}",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": token,
        "RAY_DISABLE_IMPORT_WARNING": "1",
        # Ray gives a node 10 s to be noticed, which a machine that is busy compiling may exceed;
        # the next attempt would make it busier.
        "RAY_raylet_start_wait_time_s": "180",
        "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "180",  # of 60
    }


def _ray() -> str:
    beside = Path(sys.executable).with_name("ray")
    found = str(beside) if beside.exists() else shutil.which("ray")
    if found is None:
        raise ClusterError(
            "no `ray` command beside this Python; install the package with `make setup`"
        )
    return found


def _launch(before: Sequence[str], arguments: list[str], token: str, log: Path) -> int:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*before, sys.executable, _RAY_START, "--block", "--disable-usage-stats", *arguments],
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment(token),
            start_new_session=True,
        )
    return process.pid


def _alive(process: int) -> bool:
    try:
        os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def start(
    plan: list[NodePlan] | None = None,
    *,
    object_store_mib: int = 256,
    links: bool = False,
    jobs: bool = True,
) -> ClusterState:
    """Start the nodes of ``plan`` (the first is the head), one after the other.

    With ``links`` all but the head have a network name space each (:mod:`cluster.network`). Without
    ``jobs`` drivers can join, and no jobs be submitted: there is no dashboard, which takes a busy
    machine minutes to start.

    Raises ``ClusterError`` when a cluster is already running or a node does not come up.
    """
    running = load()
    if running is not None:
        raise ClusterError(
            f"a cluster runs already at {running.address}; `cass cluster down` ends it"
        )
    network = _network() if links else None
    temporary = _temporary_folder()
    host = network.head if network else ray.util.get_node_ip_address()
    port, dashboard = free_ports(2)
    state = ClusterState(
        address=f"{host}:{port}",
        dashboard=f"http://127.0.0.1:{dashboard}" if jobs else None,
        temporary=temporary,
        token=secrets.token_hex(32),
        nodes=[],
        network=network,
    )
    try:
        for item in plan or default_plan(os.cpu_count() or 1):
            state = _add_node(state, item, object_store_mib)
        if jobs:
            _wait_for_job_agent(state)
    except BaseException:  # interrupted, too: what has started is recorded
        stop(_recorded() or state)
        raise
    return state


def _temporary_folder() -> Path:
    """For sessions of nodes: paths of their sockets are cut off after 107 bytes, and Ray refuses
    longer ones."""
    usual = tempfile.gettempdir()
    short = len(os.fsencode(usual)) <= _LONGEST_TEMPORARY or not Path("/tmp").is_dir()
    return Path(tempfile.mkdtemp(prefix="cass-cluster-", dir=usual if short else "/tmp"))


def _network() -> Network:
    try:
        return make_network()
    except NetworkError as error:
        raise ClusterError(str(error)) from None


def add(state: ClusterState, plan: NodePlan, *, object_store_mib: int = 256) -> ClusterState:
    """One more node. Raises ``ClusterError`` for a name that is taken, or when it does not come
    up."""
    if plan.name in {node.name for node in state.nodes}:
        raise ClusterError(f"there is a node {plan.name} already")
    return _add_node(state, plan, object_store_mib)


def kill(state: ClusterState, name: str) -> ClusterState:
    """End a node as a power cut would: no process of it has a chance to say so.

    Raises ``ClusterError`` for a name that no node has.
    """
    gone = next((node for node in state.nodes if node.name == name), None)
    if gone is None:
        names = ", ".join(node.name for node in state.nodes)
        raise ClusterError(f"no node is called {name}; there are {names}")
    _kill(gone.process, signal.SIGKILL)
    left = [node for node in state.nodes if node is not gone]
    state = state.model_copy(update={"nodes": left})
    _record(state)
    return state


def _wait_for_job_agent(state: ClusterState) -> None:
    """Nodes join seconds before one of them takes jobs; a job that does nothing tells when."""
    probe = [_ray(), "job", "submit", "--no-wait", f"--address={state.dashboard}", "--", "true"]
    deadline = time.monotonic() + _START_SECONDS
    while True:
        done = subprocess.run(
            probe, env=environment(state.token), capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
        if "No available agent" not in done.stderr or time.monotonic() > deadline:
            raise ClusterError(f"the cluster takes no jobs:\n{done.stderr[-2000:]}")
        time.sleep(0.5)


def _add_node(state: ClusterState, plan: NodePlan, object_store_mib: int) -> ClusterState:
    """Start one raylet and wait until the head counts it; two that start at once race for ports."""
    host = state.address.split(":")[0]
    before = plan.before
    if state.network is not None and state.nodes:
        network = state.network.attach(plan.name)
        state = state.model_copy(update={"network": network})
        host, before = network.address(plan.name), (*network.enter(plan.name), *before)
    log = state.temporary / f"{plan.name}.log"
    for _ in range(_START_ATTEMPTS):
        # Another one each time: the head may go on counting what has ended.
        known_as = f"{plan.name}-{secrets.token_hex(4)}"
        arguments = _arguments(state, plan, host, known_as, object_store_mib)
        process = _launch(before, arguments, state.token, log)
        node = Node(name=plan.name, process=process, resources=plan.resources)
        started = state.model_copy(update={"nodes": [*state.nodes, node]})
        _record(started)
        if _joins(started, known_as, log):
            return started
        too_slow = ended_raylets(process) or _STARTED_TOO_SLOWLY in log.read_text(errors="replace")
        _kill(process, signal.SIGKILL)
        if not too_slow:
            break
    raise ClusterError(f"node {plan.name} did not join; its log:\n{log.read_text()[-2000:]}")


def _arguments(
    state: ClusterState, plan: NodePlan, host: str, known_as: str, object_store_mib: int
) -> list[str]:
    """Of ``ray start``: the head's where there is no node yet."""
    found = raylet.any_node(plan.cpus, plan.resources, host, known_as, object_store_mib)
    if state.nodes:
        # A folder each: agents that had one in common would take jobs' packages from each other.
        # Names of nodes may be long, paths of sockets may not.
        own = tempfile.mkdtemp(prefix="", dir=state.temporary)
        return [*found, f"--address={state.address}", f"--temp-dir={own}"]
    dashboard = state.dashboard and int(state.dashboard.rsplit(":", 1)[1])
    port = int(state.address.rsplit(":", 1)[1])
    return [*found, *raylet.of_head(port, dashboard or None, state.temporary)]


def _record(state: ClusterState) -> None:
    record = state_file()
    record.parent.mkdir(parents=True, exist_ok=True)
    record.touch(mode=0o600)
    record.write_text(state.model_dump_json(indent=2))


def _joins(state: ClusterState, known_as: str, log: Path) -> bool:
    """Whether the node that the head knows as ``known_as`` says in ``log`` that it has started, and
    the head, where it can be asked, counts it, before it ends or time runs out.

    Ray may end a node that the head counts already, because its start took too long.
    """
    deadline, process = time.monotonic() + _START_SECONDS, state.nodes[-1].process
    while time.monotonic() < deadline and _alive(process) and not ended_raylets(process):
        if _STARTED in log.read_text(errors="replace") and (
            state.dashboard is None or node_count(state, known_as)
        ):
            return True
        time.sleep(0.2)
    return False


def node_count(state: ClusterState, known_as: str = "") -> int:
    """Nodes that the head counts as alive; those that it knows as ``known_as`` only.

    It counts one that was killed for some seconds more. Without a dashboard the nodes' processes
    are counted.
    """
    if state.dashboard is None:
        return sum(_alive(node.process) for node in state.nodes)
    wanted = {"state": "ALIVE"} | ({"node_name": known_as} if known_as else {})
    query = urllib.parse.urlencode(
        [
            *(("filter_keys", key) for key in wanted),
            *(("filter_predicates", "=") for _ in wanted),
            *(("filter_values", value) for value in wanted.values()),
        ]
    )
    request = urllib.request.Request(
        f"{state.dashboard}/api/v0/nodes?{query}",
        headers={"Authorization": f"Bearer {state.token}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return int(json.load(reply)["data"]["result"]["num_filtered"])
    except (OSError, KeyError, ValueError):
        return 0


def _recorded() -> ClusterState | None:
    try:
        return ClusterState.model_validate_json(state_file().read_text())
    except (FileNotFoundError, ValueError):
        return None


def load() -> ClusterState | None:
    """The recorded cluster, or None when none runs (a stale record is removed)."""
    state = _recorded()
    if state is None:
        return None
    if not _alive(state.nodes[0].process):
        stop(state)
        return None
    return state


def _kill(process: int, number: signal.Signals) -> None:
    try:
        os.killpg(process, number)
    except ProcessLookupError:
        pass


def stop(state: ClusterState) -> None:
    """End every node of ``state``, workers first, and remove its files."""
    for node in reversed(state.nodes):
        _kill(node.process, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline and any(_alive(node.process) for node in state.nodes):
        time.sleep(0.1)
    for node in state.nodes:
        _kill(node.process, signal.SIGKILL)
    if state.network is not None:
        state.network.remove()
    state_file().unlink(missing_ok=True)
    shutil.rmtree(state.temporary, ignore_errors=True)


def submit(state: ClusterState, command: list[str], working_directory: Path) -> int:
    """``ray job submit`` of ``command``; output streams through. Returns the job's exit status.

    Raises ``ClusterError`` for a cluster that takes none.
    """
    if state.dashboard is None:
        raise ClusterError("the cluster was started without `jobs`")
    with tempfile.TemporaryDirectory(prefix="cass-job-") as folder:
        package = Path(folder) / "package.zip"
        pack(working_directory, package)
        arguments = [_ray(), "job", "submit", f"--address={state.dashboard}"]
        arguments += [f"--working-dir={package}", "--", *command]
        return subprocess.run(arguments, env=environment(state.token), check=False).returncode
