"""Cluster files: valid for Ray's launcher, in KubeRay's shape, and true to the repository."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field
from ray.autoscaler._private.util import prepare_config, validate_config

from cass_ray.pipeline.stages.base import Needs
from jobs import build_dataset
from tests.folders import REPOSITORY

CLUSTER = REPOSITORY / "cluster"
DOCKERFILES = sorted((CLUSTER / "docker").glob("*.Dockerfile"))

TOOLCHAIN_OF = {"cuda": "nvidia", "rocm": "amd"}
"""Node type or worker group -> the custom resource that ``actors.build_pipeline`` asks for."""


# --- Ray cluster launcher ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def launcher() -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((CLUSTER / "ray_cluster.yaml").read_text())
    return config


def test_ray_accepts_the_launcher_file(launcher: dict[str, Any]) -> None:
    prepared = prepare_config(launcher)  # fills in defaults and checks the Docker part
    validate_config(prepared)  # Ray's own JSON schema


def test_ray_rejects_a_misspelled_key(launcher: dict[str, Any]) -> None:
    nodes = launcher["available_node_types"]
    broken = {**launcher, "available_node_types": {**nodes, "cuda": {"resource": {}}}}
    with pytest.raises(Exception, match="resource"):
        validate_config(prepare_config(broken))


@pytest.mark.parametrize(("node_type", "resource"), TOOLCHAIN_OF.items())
def test_node_types_offer_one_slot_a_core(
    launcher: dict[str, Any], node_type: str, resource: str
) -> None:
    node = launcher["available_node_types"][node_type]
    assert node["resources"][resource] == node["resources"]["CPU"]
    assert node["docker"]["worker_image"].endswith(f"/{node_type}:0.1.0")


def test_the_head_takes_reading_tasks_and_compiles_nothing(launcher: dict[str, Any]) -> None:
    resources = launcher["available_node_types"][launcher["head_node_type"]]["resources"]
    assert resources["CPU"] >= 1
    assert not {"nvidia", "amd"} & set(resources)


def test_every_node_starts_ray_with_the_token(launcher: dict[str, Any]) -> None:
    for role in ("head", "worker"):
        start = launcher[f"{role}_start_ray_commands"][-1]
        assert start.startswith("RAY_AUTH_MODE=token ray start")
    assert "~/.ray/auth_token" in launcher["file_mounts"]


# --- KubeRay -------------------------------------------------------------------------------------


class Strict(BaseModel):
    """The part of KubeRay's and Kubernetes' schema that is used; a misspelled key is an error."""

    model_config = ConfigDict(extra="forbid")


class Metadata(Strict):
    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    labels: dict[str, str] = {}


class Quantities(Strict):
    requests: dict[str, str]
    limits: dict[str, str] = {}


class Profile(Strict):
    type: Literal["RuntimeDefault", "Unconfined", "Localhost"]


class ContainerSecurity(Strict):
    seccompProfile: Profile  # noqa: N815
    appArmorProfile: Profile  # noqa: N815


class VolumeMount(Strict):
    name: str
    mountPath: str  # noqa: N815


class Port(Strict):
    containerPort: int  # noqa: N815
    name: str = Field(max_length=15)


class Container(Strict):
    name: str
    image: str
    resources: Quantities
    ports: list[Port] = []
    securityContext: ContainerSecurity | None = None  # noqa: N815
    volumeMounts: list[VolumeMount] = []  # noqa: N815


class Toleration(Strict):
    key: str
    operator: Literal["Exists", "Equal"]
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Claim(Strict):
    claimName: str  # noqa: N815


class Volume(Strict):
    name: str
    emptyDir: dict[str, str] | None = None  # noqa: N815
    persistentVolumeClaim: Claim | None = None  # noqa: N815


class PodSecurity(Strict):
    fsGroup: int  # noqa: N815


class Pod(Strict):
    containers: list[Container] = Field(min_length=1)
    nodeSelector: dict[str, str] = {}  # noqa: N815
    tolerations: list[Toleration] = []
    securityContext: PodSecurity | None = None  # noqa: N815
    volumes: list[Volume] = []


class Template(Strict):
    spec: Pod


class HeadGroup(Strict):
    rayStartParams: dict[str, str]  # noqa: N815
    template: Template


class WorkerGroup(HeadGroup):
    groupName: str  # noqa: N815
    replicas: int
    minReplicas: int  # noqa: N815
    maxReplicas: int  # noqa: N815


class AuthOptions(Strict):
    mode: Literal["token"]


class AutoscalerOptions(Strict):
    idleTimeoutSeconds: int  # noqa: N815


class ClusterSpec(Strict):
    rayVersion: str  # noqa: N815
    authOptions: AuthOptions  # noqa: N815
    enableInTreeAutoscaling: bool  # noqa: N815
    autoscalerOptions: AutoscalerOptions  # noqa: N815
    headGroupSpec: HeadGroup  # noqa: N815
    workerGroupSpecs: list[WorkerGroup]  # noqa: N815


class RayCluster(Strict):
    apiVersion: Literal["ray.io/v1"]  # noqa: N815
    kind: Literal["RayCluster"]
    metadata: Metadata
    spec: ClusterSpec


class JobSpec(Strict):
    """No ``backoffLimit``: KubeRay refuses it beside ``clusterSelector``."""

    clusterSelector: dict[str, str]  # noqa: N815
    submissionMode: Literal["K8sJobMode", "HTTPMode"]  # noqa: N815
    entrypoint: str


class RayJob(Strict):
    apiVersion: Literal["ray.io/v1"]  # noqa: N815
    kind: Literal["RayJob"]
    metadata: Metadata
    spec: JobSpec


def documents(name: str) -> dict[str, dict[str, Any]]:
    """The documents of a manifest by kind."""
    text = (CLUSTER / "kuberay" / name).read_text()
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


@pytest.fixture(scope="module")
def ray_cluster() -> RayCluster:
    return RayCluster.model_validate(documents("raycluster.yaml")["RayCluster"])


def custom_resources(group: HeadGroup) -> dict[str, float]:
    """What ``ray start --resources=…`` gets: KubeRay puts the value on a shell's command line."""
    words = shlex.split(group.rayStartParams.get("resources", "'{}'"))
    assert len(words) == 1
    resources: dict[str, float] = json.loads(words[0])
    return resources


def test_worker_groups_offer_one_slot_a_core(ray_cluster: RayCluster) -> None:
    groups = {group.groupName: group for group in ray_cluster.spec.workerGroupSpecs}
    assert set(groups) == set(TOOLCHAIN_OF)
    for name, resource in TOOLCHAIN_OF.items():
        limits = groups[name].template.spec.containers[0].resources.limits
        assert custom_resources(groups[name]) == {resource: int(limits["cpu"])}
    assert custom_resources(ray_cluster.spec.headGroupSpec) == {}


@pytest.mark.parametrize(("name", "gpu"), [("cuda", "nvidia.com/gpu"), ("rocm", "amd.com/gpu")])
def test_worker_groups_go_to_nodes_of_their_vendor(
    ray_cluster: RayCluster, name: str, gpu: str
) -> None:
    group = next(g for g in ray_cluster.spec.workerGroupSpecs if g.groupName == name)
    pod = group.template.spec
    assert [toleration.key for toleration in pod.tolerations] == [gpu]
    assert pod.containers[0].resources.limits[gpu] == "1"
    assert any(gpu.partition(".")[0] in label for label in pod.nodeSelector)


def test_compilers_may_make_their_sandbox(ray_cluster: RayCluster) -> None:
    for group in ray_cluster.spec.workerGroupSpecs:
        security = group.template.spec.containers[0].securityContext
        assert security is not None
        assert security.seccompProfile.type == security.appArmorProfile.type == "Unconfined"


def test_mounts_have_volumes_and_claims_exist(ray_cluster: RayCluster) -> None:
    claim = documents("raycluster.yaml")["PersistentVolumeClaim"]["metadata"]["name"]
    claims = set()
    for group in (ray_cluster.spec.headGroupSpec, *ray_cluster.spec.workerGroupSpecs):
        pod = group.template.spec
        volumes = {volume.name: volume for volume in pod.volumes}
        assert {mount.name for mount in pod.containers[0].volumeMounts} == set(volumes)
        claims |= {
            v.persistentVolumeClaim.claimName for v in volumes.values() if v.persistentVolumeClaim
        }
    assert claims == {claim}


def test_the_job_runs_on_that_cluster_with_options_that_the_job_has(
    ray_cluster: RayCluster,
) -> None:
    job = RayJob.model_validate(documents("rayjob.yaml")["RayJob"])
    assert job.spec.clusterSelector == {"ray.io/cluster": ray_cluster.metadata.name}
    python, script, *arguments = shlex.split(job.spec.entrypoint)
    assert python == "python"
    inside = Path(script).relative_to(working_directory("head"))
    assert (REPOSITORY / inside).samefile(build_dataset.__file__)
    known = {f"--{name.strip('_').replace('_', '-')}" for name in job_options()}
    assert {word for word in arguments if word.startswith("--")} <= known
    output = Path(arguments[arguments.index("--out") + 1])
    mounts = ray_cluster.spec.headGroupSpec.template.spec.containers[0].volumeMounts
    assert any(output.is_relative_to(mount.mountPath) for mount in mounts)


def job_options() -> set[str]:
    return set(build_dataset.build_dataset.__annotations__) - {"return"}


def test_resources_are_those_that_the_pipeline_asks_for() -> None:
    assert set(TOOLCHAIN_OF.values()) <= {needs.value for needs in Needs}


# --- Docker --------------------------------------------------------------------------------------


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """(instruction, rest) of each line, continued lines joined, comments left out."""
    lines = [line for line in dockerfile.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return [(name, rest) for name, rest in pairs]


def values(dockerfile: Path, name: str) -> list[str]:
    return [rest for instruction, rest in instructions(dockerfile) if instruction == name]


def working_directory(image: str) -> str:
    return values(CLUSTER / "docker" / f"{image}.Dockerfile", "WORKDIR")[-1]


def test_there_is_an_image_for_the_head_and_each_toolchain() -> None:
    assert {path.stem for path in DOCKERFILES} == {"head", *TOOLCHAIN_OF}


def links_out() -> list[Path]:
    """Files of the library that are links to what lies elsewhere."""
    return [path for path in (REPOSITORY / "cass_ray").rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_every_copied_source_exists_and_none_is_forgotten(dockerfile: Path) -> None:
    copied = set()
    for rest in values(dockerfile, "COPY"):
        *sources, _ = shlex.split(rest)
        if not sources[0].startswith("--from="):
            copied |= set(sources)
    assert [source for source in copied if not (REPOSITORY / source).exists()] == []
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    packages = project["tool"]["setuptools"]["packages"]["find"]["include"]
    needed = {name.removesuffix("*") for name in packages} | {"pyproject.toml", "constraints.txt"}
    needed |= {project["project"]["readme"], *project["project"]["license-files"]}
    needed |= set(project["build-system"]["backend-path"])
    needed |= {link.resolve().relative_to(REPOSITORY).as_posix() for link in links_out()}
    assert needed <= copied


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_installs_are_pinned_and_extras_exist(dockerfile: Path) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    installs = [rest for rest in values(dockerfile, "RUN") if "pip install" in rest]
    assert installs
    for install in installs:
        assert "--constraint constraints.txt" in install
        for extras in re.findall(r"\.\[([\w,-]+)\]", install):
            assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_images_share_python_and_do_not_run_as_root(dockerfile: Path) -> None:
    bases = [rest.split()[0] for rest in values(dockerfile, "FROM")]
    assert "python:3.11-slim-bookworm" in bases
    assert values(dockerfile, "USER")[-1] == "1000"


def test_ray_is_one_version_everywhere(ray_cluster: RayCluster) -> None:
    constraints = (REPOSITORY / "constraints.txt").read_text()
    pinned = re.search(r"^ray==(\S+)$", constraints, re.MULTILINE)
    assert pinned is not None
    assert ray_cluster.spec.rayVersion == pinned[1]


def test_manifests_name_images_that_there_are(
    launcher: dict[str, Any], ray_cluster: RayCluster
) -> None:
    names = {launcher["docker"]["image"]}
    names |= {
        node["docker"]["worker_image"]
        for node in launcher["available_node_types"].values()
        if "docker" in node
    }
    for group in (ray_cluster.spec.headGroupSpec, *ray_cluster.spec.workerGroupSpecs):
        names.add(group.template.spec.containers[0].image)
    built = set()
    for dockerfile in DOCKERFILES:
        command = re.search(r"docker build .* -t (\S+) \.", dockerfile.read_text())
        assert command is not None
        built.add(command[1])
    assert names == built
