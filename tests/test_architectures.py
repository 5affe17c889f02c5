from __future__ import annotations

import pytest

from cass_ray.api.schema import ARCHITECTURES as OFFERED
from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    AMD_TARGETS,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    amd_target,
    emulated_architectures,
    known_architecture,
)
from cass_ray.bench.authoring.index import SASS_ARCHITECTURES
from cass_ray.config import SettingsError, validate
from cass_ray.lift.frontend.cubin import PREFERRED, SUPPORTED
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.toolchain.hip.root import architectures_of


def test_each_target_is_listed_once() -> None:
    assert len(set(AMD_ARCHITECTURES)) == len(AMD_TARGETS)


def test_what_a_target_is() -> None:
    assert amd_target("gfx1100").code_object == "amdgcn-amd-amdhsa--gfx1100"
    assert amd_target("gfx1100").wave_widths == (32, 64)
    assert amd_target("gfx942").wave_widths == (64,)
    assert emulated_architectures() == (
        *("gfx1100", "gfx90a", "gfx942", "gfx950", "gfx1200", "gfx1201"),
    )


def test_an_unknown_target_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown architecture gfx94: did you mean `gfx942`\?"):
        amd_target("gfx94")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("sm89", 89), ("sm_70", 75), ("sm_81", 80), ("sm_95", 90), ("sm_101", 100), ("sm_130", 121)],
)
def test_an_unknown_one_of_nvidias_is_answered_with_the_next_by_number(
    given: str, meant: int
) -> None:
    with pytest.raises(ValueError, match=f"unknown architecture {given}: .* `sm_{meant}`"):
        known_architecture(given, NVIDIA_ARCHITECTURES)


def test_the_lifter_takes_what_a_data_set_may_name() -> None:
    assert [f"sm_{number}" for number in SUPPORTED] == list(NVIDIA_ARCHITECTURES)
    assert sorted(PREFERRED) == list(SUPPORTED)
    settings = {"sources": ["shipped"], "out": "x", "nvidia_architectures": NVIDIA_ARCHITECTURES}
    assert validate(BuildSettings, settings, "settings").nvidia_architectures == list(
        NVIDIA_ARCHITECTURES
    )
    assert DEFAULT_NVIDIA_ARCHITECTURE in NVIDIA_ARCHITECTURES


def test_lists_elsewhere_come_from_the_table() -> None:
    assert OFFERED == ("gfx1100", "gfx1101", "gfx1102", "gfx1030", "gfx90a", "gfx942", "gfx1201")
    assert architectures_of(19)[:6] == (
        "gfx1100",
        "gfx1101",
        "gfx1102",
        "gfx1103",
        "gfx1150",
        "gfx1151",
    )
    assert architectures_of(19)[6:] == ("gfx90a", "gfx942", "gfx1200", "gfx1201")
    assert set(architectures_of(20)) - set(architectures_of(19)) == {"gfx950"}
    assert set(SASS_ARCHITECTURES) <= set(NVIDIA_ARCHITECTURES)


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("amd_architectures", ["gfx94"], "did you mean `gfx942`"),
        ("nvidia_architectures", ["sm_81"], "did you mean `sm_80`"),
    ],
)
def test_settings_name_the_nearest(key: str, value: object, hint: str) -> None:
    with pytest.raises(SettingsError, match=hint):
        validate(BuildSettings, {"sources": ["shipped"], "out": "x", key: value}, "settings")
