"""Textures and surfaces in software, on devices that have no image instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.translate.programs import output_of
from tests.translate.rules.textures import model

FOLDER = Path(__file__).parent / "textures"
pytestmark = pytest.mark.amd


def test_every_filter_address_coordinate_and_type_is_as_the_programming_guide_says() -> None:
    printed = output_of((FOLDER / "matrix.cu").read_text(), architecture="gfx942")
    found = {name: words.split() for name, words in printed.items()}
    expected = model.expected()
    assert found.keys() == expected.keys()
    different = [name for name, words in expected.items() if found[name] != words]
    assert different == []
