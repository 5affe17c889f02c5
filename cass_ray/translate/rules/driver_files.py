"""Files of NVIDIA's driver by which programs ask whether there is one; AMD's tells by others."""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

_NAMED = re.compile(r'(?<=")/(?:proc/driver/nvidia|dev/nvidia)(?P<rest>[\w/.-]*)(?=")')
_OF_AMD = {
    "/proc/driver/nvidia": "/sys/module/amdgpu",
    "/proc/driver/nvidia/": "/sys/module/amdgpu/",
    "/proc/driver/nvidia/version": "/sys/module/amdgpu/version",
    "/dev/nvidiactl": "/dev/kfd",
}
"""The kernel's module, its version where DKMS built it, and what ROCm's runtime opens."""


def name_drivers_files(unit: Rewrite) -> None:
    """``"/proc/driver/nvidia"`` is the folder of the module ``amdgpu``; others are a finding."""
    for match in _NAMED.finditer(unit.source.text):
        if unit.source.code[match.start() - 1] != '"':
            continue  # a comment
        if of_amd := _OF_AMD.get(match[0]):
            unit.edits.replace(*match.span(), of_amd)
            unit.converted(match.start())
        else:
            unit.report(
                match.start(),
                match[0],
                Severity.WARNING,
                f"{match[0]} is a file of NVIDIA's driver, which AMD's does not have",
                "ask the runtime (hipGetDeviceCount) instead",
            )
