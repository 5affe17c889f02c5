"""How the names of engines that are language models begin; what follows says which model."""

from __future__ import annotations

MODEL_PREFIX = "model:"
"""A model of ours or of the hub, run here: ``model:out/train/tiny/model``."""

CHAT_PREFIX = "chat:"
"""A model behind an API: ``chat:gpt-5-mini``."""
