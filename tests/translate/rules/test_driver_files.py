"""Files by which programs ask for a driver. AMD's: /sys/module/amdgpu, /dev/kfd (kernel, ROCm)."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ('exists("/proc/driver/nvidia")', 'exists("/sys/module/amdgpu")'),
        ('stat("/proc/driver/nvidia/", &s)', 'stat("/sys/module/amdgpu/", &s)'),
        ('open("/proc/driver/nvidia/version")', 'open("/sys/module/amdgpu/version")'),
        ('access("/dev/nvidiactl", R_OK)', 'access("/dev/kfd", R_OK)'),
        ('"of /proc/driver/nvidia"', '"of /proc/driver/nvidia"'),
        ('// "/proc/driver/nvidia"\n', '// "/proc/driver/nvidia"\n'),
        ('exists("/proc/driver/nvidiafs")', 'exists("/proc/driver/nvidiafs")'),
    ],
)
def test_files_of_the_driver(cuda: str, hip: str) -> None:
    assert RulesTranslator().translate(cuda, filename="a.h").source == hip


@pytest.mark.parametrize("name", ["/proc/driver/nvidia/gpus", "/dev/nvidia0", "/dev/nvidia-uvm"])
def test_others_are_named(name: str) -> None:
    made = RulesTranslator().translate(f'int a = exists("{name}");\n', filename="a.h")
    assert name in made.source
    assert [each.construct for each in made.findings] == [name]
