"""Manifests for Kubernetes: in the shape of its schemas, and true to jobs, images and Ray."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from pydantic import ValidationError

from cass_ray.bench.plan import BenchSettings
from cass_ray.config import StrictModel, load, parse_overrides
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Needs
from cass_ray.train.settings import TrainSettings
from jobs import build_dataset, run_bench, train
from serve.settings import ServeSettings
from tests.cluster.kuberay import (
    FOLDER,
    Container,
    Document,
    Group,
    NetworkPolicy,
    Plain,
    RayCluster,
    RayJob,
    RayService,
    StatefulSet,
    documents,
)
from tests.cluster.test_files import DOCKERFILES, TOOLCHAIN_OF, image_of
from tests.folders import REPOSITORY

MANIFESTS = sorted(path.name for path in FOLDER.glob("*.yaml") if path.name != "serve_vllm.yaml")
INSTALLED = Path("/opt/cass-ray")
JOBS = {"job_build.yaml": build_dataset, "job_bench.yaml": run_bench, "job_train.yaml": train}
SETTINGS: dict[str, type[StrictModel]] = {
    "job_build.yaml": BuildSettings,
    "job_bench.yaml": BenchSettings,
    "job_train.yaml": TrainSettings,
}


@pytest.fixture(scope="module")
def ray_cluster() -> RayCluster:
    (found,) = (each for each in documents("raycluster.yaml") if isinstance(each, RayCluster))
    return found


def job(name: str) -> RayJob:
    (found,) = (each for each in documents(name) if isinstance(each, RayJob))
    return found


def groups(name: str) -> list[Group]:
    """Groups of all clusters of a manifest."""
    return [group for document in documents(name) for group in groups_of(document)]


def groups_of(document: Document) -> list[Group]:
    if isinstance(document, RayCluster):
        return document.spec.groups
    if isinstance(document, RayService):
        return document.spec.ray_cluster_config.groups
    if isinstance(document, RayJob) and document.spec.ray_cluster_spec is not None:
        return document.spec.ray_cluster_spec.groups
    return []


def containers(name: str) -> Iterator[Container]:
    yield from (group.container for group in groups(name))
    for document in documents(name):
        if isinstance(document, StatefulSet):
            yield from document.spec.template.spec.containers


@pytest.mark.parametrize("name", MANIFESTS)
def test_everything_is_in_the_namespace_that_has_the_policies(name: str) -> None:
    (namespace,) = (
        each.metadata.name for each in documents("namespace.yaml") if each.kind == "Namespace"
    )
    for document in documents(name):
        if document.kind != "Namespace":
            assert document.metadata.namespace == namespace


def test_a_misspelled_key_is_an_error() -> None:
    (broken,) = yaml.safe_load_all((FOLDER / "raycluster.yaml").read_text())
    broken["spec"]["headGroupSpec"]["template"]["spec"]["hostUser"] = False
    with pytest.raises(ValidationError, match="hostUser"):
        RayCluster.model_validate(broken)


def test_worker_groups_offer_one_slot_a_core(ray_cluster: RayCluster) -> None:
    offered = {group.group_name: group for group in ray_cluster.spec.worker_group_specs}
    assert set(offered) == {*TOOLCHAIN_OF, "cpu"}
    for name, resource in TOOLCHAIN_OF.items():
        limits = offered[name].container.resources.limits
        assert offered[name].offered == {resource: int(limits["cpu"])}
    assert offered["cpu"].offered == ray_cluster.spec.head_group_spec.offered == {}
    assert set(TOOLCHAIN_OF.values()) <= {needs.value for needs in Needs}


@pytest.mark.parametrize(("name", "gpu"), [("cuda", "nvidia.com/gpu"), ("rocm", "amd.com/gpu")])
def test_worker_groups_go_to_nodes_of_their_vendor(
    ray_cluster: RayCluster, name: str, gpu: str
) -> None:
    (group,) = (g for g in ray_cluster.spec.worker_group_specs if g.group_name == name)
    assert [toleration.key for toleration in group.pod.tolerations] == [gpu]
    assert group.container.resources.limits[gpu] == "1"
    assert any(gpu.partition(".")[0] in label for label in group.pod.node_selector)


@pytest.mark.parametrize("name", MANIFESTS)
def test_only_who_compiles_may_make_a_sandbox(name: str) -> None:
    for group in groups(name):
        security = group.container.security_context
        compiles = bool(group.offered)
        expected = "Unconfined" if compiles else "RuntimeDefault"
        assert security.seccomp_profile is not None
        assert security.seccomp_profile.type == expected
        assert (security.app_armor_profile is not None) == compiles
        # Kubernetes takes an unmasked /proc from pods with a user name space alone.
        assert (security.proc_mount == "Unmasked") <= (not group.pod.host_users)


@pytest.mark.parametrize("name", MANIFESTS)
def test_nobody_has_rights_to_spare(name: str) -> None:
    for container in containers(name):
        assert container.security_context.capabilities.drop == ["ALL"]
    for document in documents(name):
        spec = getattr(document, "spec", None)
        for group in getattr(spec, "worker_group_specs", []):
            assert not group.pod.automount_service_account_token


@pytest.mark.parametrize("name", MANIFESTS)
def test_nodes_are_asked_whether_they_live_without_programs_of_the_image(name: str) -> None:
    for group in groups(name):
        live, ready = group.container.liveness_probe, group.container.readiness_probe
        assert live.http_get is not None and ready.http_get is not None
        assert (live.http_get.path, live.http_get.port) == ("/api/healthz", 52365)
        serves = group.container.ports and ready.http_get.port != 52365
        if serves:
            assert ready.http_get.path == "/-/healthz"
            ports = {port.name: port.container_port for port in group.container.ports}
            assert ready.http_get.port == ports["serve"]


@pytest.mark.parametrize("name", MANIFESTS)
def test_mounts_have_volumes_and_claims_exist(name: str) -> None:
    claims = {
        each.metadata.name
        for each in documents(name)
        if isinstance(each, Plain) and each.kind == "PersistentVolumeClaim"
    }
    used = set()
    for group in groups(name):
        volumes = {volume.name: volume for volume in group.pod.volumes}
        assert {mount.name for mount in group.container.volume_mounts} == set(volumes)
        used |= {
            volume.persistent_volume_claim.claim_name
            for volume in volumes.values()
            if volume.persistent_volume_claim
        }
    assert used == claims


@pytest.mark.parametrize("name", ["raycluster.yaml", "rayservice.yaml"])
def test_a_head_that_is_restarted_finds_what_it_knew(name: str) -> None:
    service = next(each for each in documents("redis.yaml") if each.kind == "Service")
    (redis,) = (each for each in documents("redis.yaml") if isinstance(each, StatefulSet))
    (port,) = redis.spec.template.spec.containers[0].ports
    (cluster,) = (
        each.spec if isinstance(each, RayCluster) else each.spec.ray_cluster_config
        for each in documents(name)
        if isinstance(each, RayCluster | RayService)
    )
    options = cluster.gcs_fault_tolerance_options
    assert options is not None
    assert options.redis_address == f"{service.metadata.name}:{port.container_port}"
    (password,) = redis.spec.template.spec.containers[0].env
    assert options.redis_password.value_from == password.value_from


@pytest.mark.parametrize("name", JOBS)
def test_entry_points_are_commands_that_there_are(name: str, ray_cluster: RayCluster) -> None:
    python, script, *arguments = shlex.split(job(name).spec.entrypoint)
    assert python == "python"
    module = JOBS[name]
    assert (REPOSITORY / Path(script).relative_to(INSTALLED)).samefile(str(module.__file__))
    given = parsed(module, arguments)
    config = given.get("config")
    path = REPOSITORY / Path(config).relative_to(INSTALLED) if config else None
    flags = {"out": given["out"]} | {
        plural: given[single]
        for single, plural in {"source": "sources", "system": "systems"}.items()
        if given.get(single)
    }
    # Raises where a setting is not known.
    load(SETTINGS[name], path, {**flags, **parse_overrides(given["set_"] or [])})


def parsed(module: Any, arguments: list[str]) -> dict[str, Any]:
    """What the command's own parser makes of ``arguments``."""
    command: Any = typer.main.get_command(module.app)
    context = command.make_context("job", list(arguments))
    if hasattr(command, "resolve_command"):
        name, inner, rest = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        context = inner.make_context(name, rest)
    params: dict[str, Any] = context.params
    return params


@pytest.mark.parametrize("name", ["job_build.yaml", "job_bench.yaml"])
def test_jobs_go_to_that_cluster(name: str, ray_cluster: RayCluster) -> None:
    spec = job(name).spec
    assert spec.cluster_selector == {"ray.io/cluster": ray_cluster.metadata.name}
    assert spec.backoff_limit is None  # KubeRay refuses it beside a selector


def test_training_has_a_worker_for_each_of_its_settings() -> None:
    spec = job("job_train.yaml").spec
    assert spec.ray_cluster_spec is not None
    (gpu,) = spec.ray_cluster_spec.worker_group_specs
    config = REPOSITORY / "jobs/configs/train_1.5b_source.yaml"
    workers = yaml.safe_load(config.read_text())["workers"]
    assert gpu.replicas == workers["number"]
    assert gpu.container.resources.limits["nvidia.com/gpu"] == str(workers["gpus"])
    assert spec.shutdown_after_job_finishes and spec.backoff_limit


def test_the_service_has_settings_that_it_knows() -> None:
    (service,) = (e for e in documents("rayservice.yaml") if isinstance(e, RayService))
    (application,) = yaml.safe_load(service.spec.serve_config_v2)["applications"]
    ServeSettings.model_validate(application["args"])


def test_policies_select_what_kuberay_labels() -> None:
    policies = [each for each in documents("namespace.yaml") if isinstance(each, NetworkPolicy)]
    selected = {each.metadata.name: each.spec.pod_selector.match_labels for each in policies}
    assert selected["ray-nodes"] == {"ray.io/is-ray-node": "yes"}
    assert selected["ray-head"] == {"ray.io/node-type": "head"}
    (redis,) = (each for each in documents("redis.yaml") if isinstance(each, StatefulSet))
    assert redis.spec.template.metadata["labels"] == selected["redis"]


def test_no_policy_lets_everybody_in_or_anything_out() -> None:
    for policy in documents("namespace.yaml"):
        if not isinstance(policy, NetworkPolicy):
            continue
        for rule in [*policy.spec.ingress, *policy.spec.egress]:
            peers = rule.from_ if hasattr(rule, "from_") else rule.to
            within = all(
                peer.pod_selector is not None
                and peer.pod_selector.match_labels == {"ray.io/is-ray-node": "yes"}
                for peer in peers
            )
            assert rule.ports or within
            for peer in peers:
                assert peer.ip_block is None or "169.254.0.0/16" in peer.ip_block.except_


def test_ray_is_one_version_everywhere() -> None:
    pinned = re.search(r"^ray==(\S+)$", (REPOSITORY / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    versions = {
        version
        for name in MANIFESTS
        for version in re.findall(r'rayVersion: "(.*)"', (FOLDER / name).read_text())
    }
    assert versions == {pinned[1]}


def test_manifests_name_images_that_there_are() -> None:
    named = {group.container.image for name in MANIFESTS for group in groups(name)}
    built = {image_of(dockerfile) for dockerfile in DOCKERFILES}
    assert {image.removesuffix("-train") for image in named} == built
