from pathlib import Path

import pytest

from cass_ray.config import SettingsError, StrictModel, load, parse_overrides


class Inner(StrictModel):
    RENAMED = {"longest": "max_lines"}

    max_lines: int = 7000


class Outer(StrictModel):
    architecture: str = "sm_80"
    filters: Inner = Inner()


def test_unknown_key_names_the_key_and_the_nearest_one(tmp_path: Path) -> None:
    config = tmp_path / "build.yaml"
    config.write_text("architectur: sm_89\n")
    with pytest.raises(SettingsError) as error:
        load(Outer, config, {})
    assert str(error.value) == (
        f"{config}: unknown key `architectur`; did you mean `architecture`?"
    )


def test_unknown_nested_key_is_compared_with_its_own_siblings(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"`filters\.max_line`; did you mean `max_lines`"):
        load(Outer, None, {"filters": {"max_line": 3}})


def test_a_former_name_is_refused_with_the_new_one() -> None:
    with pytest.raises(SettingsError) as error:
        load(Outer, None, {"filters": {"longest": 3}})
    assert str(error.value) == (
        "settings: unknown key `filters.longest`; it is called `max_lines` now"
    )


def test_overrides_win_over_the_file_and_keep_the_rest(tmp_path: Path) -> None:
    config = tmp_path / "build.yaml"
    config.write_text("architecture: sm_89\nfilters: {max_lines: 10}\n")
    settings = load(Outer, config, parse_overrides(["filters.max_lines=20"]))
    assert settings == Outer(architecture="sm_89", filters=Inner(max_lines=20))


def test_every_problem_is_reported() -> None:
    with pytest.raises(SettingsError) as error:
        load(Outer, None, {"nothing_like_it_zzz": 1, "filters": {"max_lines": "many"}})
    message = str(error.value)
    assert "nothing_like_it_zzz" in message
    assert "known: architecture, filters" in message
    assert "filters.max_lines" in message
    assert "'many'" in message


@pytest.mark.parametrize("text", ["- a\n- b\n", "a: [unclosed\n"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    config = tmp_path / "build.yaml"
    config.write_text(text)
    with pytest.raises(SettingsError, match=r"build\.yaml"):
        load(Outer, config, {})


def test_override_without_value_is_refused() -> None:
    with pytest.raises(SettingsError, match="KEY=VALUE"):
        parse_overrides(["filters.max_lines"])
