"""Shapes that generation is measured with: Qwen2.5's, from the models' config.json."""

from __future__ import annotations

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {"hidden": 128, "layers": 2, "heads": 4, "kv": 2, "intermediate": 256, "words": 512},
    "1.5b": {"hidden": 1536, "layers": 28, "heads": 12, "kv": 2, "intermediate": 8960},
    "7b": {"hidden": 3584, "layers": 28, "heads": 28, "kv": 4, "intermediate": 18944},
}
VOCABULARY = 152_064
