from __future__ import annotations

import pytest
import torch

from tests.format_model import save_format_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A tokenizer and a Qwen3 of one layer, which knows nothing."""
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    save_format_model(folder)
    return folder
