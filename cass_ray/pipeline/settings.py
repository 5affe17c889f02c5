"""Settings of the jobs. Every field can be set in YAML and with ``--set key=value``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    DEFAULT_AMD_ARCHITECTURE,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    architecture_named,
    known_architecture,
)
from cass_ray.builds.settings import UnitSettings
from cass_ray.config import StrictModel
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.screening.selection import SelectionSettings
from cass_ray.corpus.screening.settings import ScreeningSettings
from cass_ray.storage.location import Location
from cass_ray.toolchain.provided.packages_table import packages
from cass_ray.translate.engines.registry import IN_PROCESS_ENGINES


class CompileLimits(StrictModel):
    """Limits of one compiler process."""

    cpu_seconds: int = Field(default=60, ge=1)
    wall_seconds: int = Field(default=180, ge=1)
    memory_mib: int = Field(default=4096, ge=256)
    output_mib: int = Field(default=64, ge=1)


class BuildSettings(ScreeningSettings):
    """What ``cass build-dataset`` does."""

    RENAMED = {"optimisation": "optimization", "amd_architecture": "amd_architectures"}

    sources: list[str] = Field(min_length=1)
    """``shipped``, ``local:PATH``, ``repository:URL[@REVISION]`` …"""
    out: Location
    """A folder, or ``s3://…``, ``gs://…``, ``az://…`` with the credentials in each node's
    environment."""
    nvidia_architectures: list[str] = Field(default=[DEFAULT_NVIDIA_ARCHITECTURE], min_length=1)
    amd_architectures: list[str] = Field(default=[DEFAULT_AMD_ARCHITECTURE], min_length=1)
    """The first has the columns ``hip_host`` and ``hip_device``, further ones are ``devices``."""
    optimization: Literal["-O0", "-O1", "-O2", "-O3", "-Os"] = "-Os"
    translator: str = "rules"
    read: ReadLimits = ReadLimits()
    selection: SelectionSettings = Field(default_factory=SelectionSettings)
    limits: CompileLimits = Field(default_factory=CompileLimits)
    rows_per_block: int | None = Field(default=None, ge=1)
    """Rows an actor takes at a time, also the batch of one disassembler run. Default: 8, and fewer
    where a small corpus would leave slots idle."""
    slots: int | None = Field(default=None, ge=1)
    """Compile slots of this machine; default: the number of cores. On a cluster: slots of each
    compiler that an autoscaler is asked for; default: those that there are, or one node."""
    node_wait_seconds: int = Field(default=300, ge=0)
    """How long a build on a cluster waits for nodes that offer its compilers."""
    cache: bool = True
    """Reuse results of earlier runs from the node's content cache."""
    compile: bool = True
    """Without it a pair is of sources alone, ``verified: none``: what an in-process engine
    translated without a finding. Files then need nothing beside them, so headers become rows
    too."""
    shared_results: str | None = None
    """Results that all nodes share, behind each node's own: a folder that they mount, or
    ``s3://…``, ``gs://…``, ``az://…`` with the credentials in each node's environment."""
    execute: bool = False
    lifted_reference: bool = True
    """With ``execute``: where no GPU has run the CUDA side, compare with its machine code, lifted.
    Takes nvcc and clang for AMDGPU on the same node; elsewhere rows stay ``compiled``."""
    headers: Literal["auto", "listed", "none"] = "auto"
    """Headers that projects take for granted (Nvidia's libraries, PyTorch, Boost …): found by what
    files include and fetched once, those of ``header_packages``, or none."""
    header_packages: list[str] = Field(default_factory=list)
    """Names of packages, for ``headers: listed``; ``cass setup headers`` fetches them."""
    recorded_builds: bool = True
    """Build each repository once with compilers that only write down their commands: flags and
    generated headers are then those of the project."""
    dependencies: dict[str, str] = Field(default_factory=dict)
    """Folders with what projects take from other repositories (submodules, FetchContent …), by
    name: read in place of what would be fetched."""
    fetch_dependencies: bool = True
    """Fetch what projects take from other repositories, at the commits or tags that they name."""
    lift: bool = False
    """Also lift each architecture's machine code to RDNA3 (column ``lifted``); with ``execute``,
    what was lifted runs too."""

    lifted_rows: bool = False
    """Rows with one side: where the source has no port (inline PTX), the AMD side is
    lifted from the machine code, and the row is of the level ``assembly``."""

    @property
    def keeps_cubins(self) -> bool:
        """Whether the Nvidia side leaves its machine code for the lifter."""
        return self.lift or self.lifted_rows

    @property
    def units(self) -> UnitSettings:
        """How much is found out about the way a project compiles its files."""
        return UnitSettings(
            headers=self.headers,
            header_packages=tuple(self.header_packages),
            recorded_builds=self.recorded_builds,
            dependencies=tuple(sorted(self.dependencies.items())),
            fetch_dependencies=self.fetch_dependencies,
        )

    @field_validator("header_packages")
    @classmethod
    def _known_packages(cls, value: list[str]) -> list[str]:
        if unknown := [name for name in value if name not in packages()]:
            raise ValueError(f"no package of headers is called {unknown[0]!r}")
        return value

    @model_validator(mode="after")
    def _sources_alone(self) -> Self:
        if not self.compile and (self.execute or self.keeps_cubins):
            raise ValueError("`execute`, `lift` and `lifted_rows` need `compile`")
        if not self.compile and self.translator not in IN_PROCESS_ENGINES:
            raise ValueError(
                f"`compile: false` translates as files are read, which `{self.translator}` is too "
                f"slow for; engines that are not: {', '.join(IN_PROCESS_ENGINES)}"
            )
        return self

    @field_validator("nvidia_architectures")
    @classmethod
    def _known_nvidia_architectures(cls, value: list[str]) -> list[str]:
        return _known(value, NVIDIA_ARCHITECTURES)

    @field_validator("amd_architectures")
    @classmethod
    def _known_amd_architectures(cls, value: list[str]) -> list[str]:
        return _known(value, AMD_ARCHITECTURES)


def _known(given: list[str], known: Sequence[str]) -> list[str]:
    names = [architecture_named(name) for name in given]
    for name in names:
        known_architecture(name, known)
    if len(set(names)) != len(names):
        raise ValueError("an architecture is named twice")
    return names
