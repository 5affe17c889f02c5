"""Settings of transformers' manager under the names that its versions have."""

from __future__ import annotations

from dataclasses import make_dataclass

import pytest

pytest.importorskip("transformers", reason="generation needs the extra `train`")

from serve.generation.batching import page_name


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (["block_size", "num_blocks"], "block_size"),  # 5.17
        (["page_size", "num_blocks"], "page_size"),
        (["block_size", "page_size"], "page_size"),  # 5.23 has both, the former deprecated
    ],
)
def test_the_page_has_the_name_that_is_there(fields: list[str], name: str) -> None:
    assert page_name(make_dataclass("Config", fields)) == name


def test_the_installed_version_takes_it() -> None:
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    config = ContinuousBatchingConfig(**{page_name(ContinuousBatchingConfig): 128})
    assert getattr(config, page_name(ContinuousBatchingConfig)) == 128
