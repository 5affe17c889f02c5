from __future__ import annotations

import pytest

from cass_ray.api.schema import ARCHITECTURES as OFFERED
from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    AMD_TARGETS,
    CARDS,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    amd_target,
    architecture_named,
    cards_of,
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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        # Family by AMD's "GPU hardware specifications": RDNA runs wavefronts of 32, GCN of 64.
        ("gfx1102", r"gfx1102 \(rx7600xt, .*\) is compiled for, not run: test as gfx1100 \("),
        ("gfx1101", "test as gfx1100"),
        ("gfx1030", "test as gfx1100 .* `cass compile FILE.hip --arch gfx1030` needs ROCm"),
        ("gfx1150", "gfx1150 is compiled for, not run: test as gfx1100"),
        ("gfx908", r"gfx908 \(mi100\) is compiled for, not run: test as gfx90a"),
        ("gfx906", "test as gfx90a"),
        ("sm_90", r"sm_90 \(h100, h200, gh200\) is made by Nvidia; .* of AMD's: gfx1100"),
        ("sm_75", "made by Nvidia"),
        ("gfx9999", "unknown architecture gfx9999"),
    ],
)
def test_a_target_that_is_not_run_says_what_to_do(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        known_architecture(given, emulated_architectures())
    assert "\n" not in str(raised.value)


def test_amds_target_where_nvidias_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"gfx942 \(mi300x, .* is made by AMD; .* sm_80 \(a100\)"):
        known_architecture("gfx942", NVIDIA_ARCHITECTURES)


def test_what_is_not_run_is_tested_as_one_of_as_many_lanes() -> None:
    for target in AMD_TARGETS:
        assert bool(target.tested_as) is not target.emulated
        if target.tested_as:
            other = amd_target(target.tested_as)
            assert other.emulated
            assert other.wave_widths == target.wave_widths


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


@pytest.mark.parametrize(
    ("card", "architecture"),
    [
        # ROCm: "GPU hardware specifications"; Nvidia: "CUDA GPU Compute Capability".
        ("mi300x", "gfx942"),
        ("MI300A", "gfx942"),
        ("mi325x", "gfx942"),
        ("Instinct MI250X", "gfx90a"),
        ("mi210", "gfx90a"),
        ("mi350x", "gfx950"),
        ("mi355x", "gfx950"),
        ("RX 7900 XTX", "gfx1100"),
        ("w7900", "gfx1100"),
        ("rx7800xt", "gfx1101"),
        ("rx9070", "gfx1201"),
        ("Radeon RX 9070 XT", "gfx1201"),
        ("rx9060xt", "gfx1200"),
        ("h100", "sm_90"),
        ("h200", "sm_90"),
        ("a100", "sm_80"),
        ("NVIDIA GeForce RTX 4090", "sm_89"),
        ("l4", "sm_89"),
        ("t4", "sm_75"),
        ("b200", "sm_100"),
        ("rtx-5090", "sm_120"),
        ("gfx942", "gfx942"),
        ("gfx9999", "gfx9999"),
        ("sm_80", "sm_80"),
    ],
)
def test_a_card_has_its_processor(card: str, architecture: str) -> None:
    assert architecture_named(card) == architecture


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("mi300z", r"did you mean `mi300[xa]`\?"),
        ("h10", r"did you mean `h100`\?"),
        ("rx7900", r"did you mean `rx7900xt`\?"),
        ("v100", "has sm_70, an architecture older"),
        ("", "unknown card or architecture"),
    ],
)
def test_a_card_that_is_not_known(card: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        architecture_named(card)


def test_cards_of_a_processor() -> None:
    assert cards_of("gfx90a") == ("mi210", "mi250", "mi250x")
    assert cards_of("gfx1103") == ()
    assert len(CARDS) == len(set(CARDS))


def test_settings_take_cards() -> None:
    settings = {
        "sources": ["shipped"],
        "out": "x",
        "nvidia_architectures": ["h100", "sm_80"],
        "amd_architectures": ["rx7900xtx", "mi300x"],
    }
    made = validate(BuildSettings, settings, "settings")
    assert made.nvidia_architectures == ["sm_90", "sm_80"]
    assert made.amd_architectures == ["gfx1100", "gfx942"]
    with pytest.raises(SettingsError, match="named twice"):
        validate(BuildSettings, settings | {"amd_architectures": ["mi300x", "mi325x"]}, "settings")
    with pytest.raises(SettingsError, match="did you mean `mi300"):
        validate(BuildSettings, settings | {"amd_architectures": ["mi300z"]}, "settings")
