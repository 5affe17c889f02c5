"""The part of KubeRay's and Kubernetes' schemas that the manifests use; other keys are errors.

The manifests were validated whole against the operator's own schemas and Kubernetes'; these models
keep later changes to what was.
"""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from tests.folders import REPOSITORY

FOLDER = REPOSITORY / "cluster" / "kuberay"


class Strict(BaseModel):
    """A misspelled key is an error."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)


Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Labels = dict[str, str]


class Metadata(Strict):
    name: Name
    namespace: Name = "default"
    labels: Labels = {}


class Quantities(Strict):
    requests: Labels
    limits: Labels = {}


class Profile(Strict):
    type: Literal["RuntimeDefault", "Unconfined", "Localhost"]


class Capabilities(Strict):
    drop: list[str]


class ContainerSecurity(Strict):
    allow_privilege_escalation: Literal[False]
    capabilities: Capabilities
    seccomp_profile: Profile | None = None
    app_armor_profile: Profile | None = None
    proc_mount: Literal["Default", "Unmasked"] = "Default"
    read_only_root_filesystem: bool = False


class PodSecurity(Strict):
    run_as_non_root: Literal[True]
    run_as_user: int = Field(gt=0)
    fs_group: int
    seccomp_profile: Profile | None = None


class Mount(Strict):
    name: str
    mount_path: str


class Port(Strict):
    container_port: int
    name: str = Field(max_length=15)


class SecretKey(Strict):
    name: Name
    key: str


class ValueFrom(Strict):
    secret_key_ref: SecretKey


class Variable(Strict):
    name: str
    value_from: ValueFrom


class Named(Strict):
    name: Name


class Variables(Strict):
    secret_ref: Named


class HttpGet(Strict):
    path: str
    port: int


class TcpSocket(Strict):
    port: int


class Probe(Strict):
    http_get: HttpGet | None = None
    tcp_socket: TcpSocket | None = None
    initial_delay_seconds: int = 0
    period_seconds: int
    timeout_seconds: int = 1
    failure_threshold: int = 3


class Container(Strict):
    name: str
    image: str = Field(pattern=r":[^:/]*\d[^:/]*$")
    """With a version."""
    command: list[str] = []
    args: list[str] = []
    resources: Quantities
    security_context: ContainerSecurity
    liveness_probe: Probe
    readiness_probe: Probe
    ports: list[Port] = []
    env: list[Variable] = []
    env_from: list[Variables] = []
    volume_mounts: list[Mount] = []


class Toleration(Strict):
    key: str
    operator: Literal["Exists", "Equal"]
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Claim(Strict):
    claim_name: Name


class EmptyDir(Strict):
    medium: Literal["Memory"]
    size_limit: str


class Volume(Strict):
    name: str
    empty_dir: EmptyDir | None = None
    persistent_volume_claim: Claim | None = None


class Pod(Strict):
    containers: list[Container] = Field(min_length=1, max_length=1)
    security_context: PodSecurity
    automount_service_account_token: bool = True
    host_users: bool = True
    node_selector: Labels = {}
    tolerations: list[Toleration] = []
    volumes: list[Volume] = []


class Template(Strict):
    metadata: dict[str, Any] = {}
    spec: Pod


class Group(Strict):
    ray_start_params: Labels
    template: Template

    @property
    def pod(self) -> Pod:
        return self.template.spec

    @property
    def container(self) -> Container:
        return self.pod.containers[0]

    @property
    def offered(self) -> dict[str, float]:
        """What ``ray start --resources=…`` gets: KubeRay puts the value on a command line."""
        words = shlex.split(self.ray_start_params.get("resources", "'{}'"))
        assert len(words) == 1
        found: dict[str, float] = json.loads(words[0])
        return found


class WorkerGroup(Group):
    group_name: Name
    replicas: int
    min_replicas: int
    max_replicas: int


class AuthOptions(Strict):
    mode: Literal["token"]


class AutoscalerOptions(Strict):
    version: Literal["v1", "v2"]
    idle_timeout_seconds: int
    resources: Quantities


class Credential(Strict):
    value_from: ValueFrom


class FaultTolerance(Strict):
    redis_address: str
    redis_password: Credential


class ClusterSpec(Strict):
    ray_version: str
    auth_options: AuthOptions
    gcs_fault_tolerance_options: FaultTolerance | None = None
    enable_in_tree_autoscaling: bool = False
    autoscaler_options: AutoscalerOptions | None = None
    head_group_spec: Group
    worker_group_specs: list[WorkerGroup]

    @property
    def groups(self) -> list[Group]:
        return [self.head_group_spec, *self.worker_group_specs]


class RayCluster(Strict):
    api_version: Literal["ray.io/v1"]
    kind: Literal["RayCluster"]
    metadata: Metadata
    spec: ClusterSpec


class JobSpec(Strict):
    """No ``backoffLimit`` beside ``clusterSelector``: KubeRay refuses it."""

    submission_mode: Literal["K8sJobMode", "HTTPMode"]
    entrypoint: str
    cluster_selector: Labels = {}
    ray_cluster_spec: ClusterSpec | None = None
    shutdown_after_job_finishes: bool = False
    ttl_seconds_after_finished: int = 0
    backoff_limit: int | None = None


class RayJob(Strict):
    api_version: Literal["ray.io/v1"]
    kind: Literal["RayJob"]
    metadata: Metadata
    spec: JobSpec


class ServiceSpec(Strict):
    serve_config_v2: str = Field(alias="serveConfigV2")
    ray_cluster_config: ClusterSpec


class RayService(Strict):
    api_version: Literal["ray.io/v1"]
    kind: Literal["RayService"]
    metadata: Metadata
    spec: ServiceSpec


class Selector(Strict):
    match_labels: Labels


class IpBlock(Strict):
    cidr: str
    except_: list[str] = Field(default=[], alias="except")


class Peer(Strict):
    pod_selector: Selector | None = None
    namespace_selector: Selector | None = None
    ip_block: IpBlock | None = None


class PolicyPort(Strict):
    protocol: Literal["TCP", "UDP"]
    port: int


class Ingress(Strict):
    from_: list[Peer] = Field(alias="from", min_length=1)
    ports: list[PolicyPort] = []


class Egress(Strict):
    to: list[Peer] = Field(min_length=1)
    ports: list[PolicyPort] = []


class PolicySpec(Strict):
    pod_selector: Selector
    policy_types: list[Literal["Ingress", "Egress"]]
    ingress: list[Ingress] = []
    egress: list[Egress] = []


class NetworkPolicy(Strict):
    api_version: Literal["networking.k8s.io/v1"]
    kind: Literal["NetworkPolicy"]
    metadata: Metadata
    spec: PolicySpec


class StatefulSetSpec(Strict):
    service_name: Name
    replicas: int
    selector: Selector
    template: Template
    volume_claim_templates: list[dict[str, Any]]


class StatefulSet(Strict):
    api_version: Literal["apps/v1"]
    kind: Literal["StatefulSet"]
    metadata: Metadata
    spec: StatefulSetSpec


class Plain(BaseModel):
    """Of a kind that no test looks into."""

    model_config = ConfigDict(extra="allow")

    kind: Literal["Namespace", "ResourceQuota", "LimitRange", "PersistentVolumeClaim", "Service"]
    metadata: Metadata


Document = RayCluster | RayJob | RayService | NetworkPolicy | StatefulSet | Plain
_DOCUMENT: TypeAdapter[Document] = TypeAdapter(Annotated[Document, Field(discriminator="kind")])


def documents(name: str) -> list[Document]:
    """The documents of a manifest. Raises ``ValidationError``."""
    text = (FOLDER / name).read_text()
    return [_DOCUMENT.validate_python(each) for each in yaml.safe_load_all(text)]
