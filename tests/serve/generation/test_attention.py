"""Our attention behind transformers' continuous batching: the same words as with its own."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("triton")

from cass_ray.translate.engines.model import Generator, ModelOptions  # noqa: E402
from serve.generation import attention  # noqa: E402
from serve.generation.continuous import ContinuousGenerator  # noqa: E402
from serve.settings import GenerationSettings  # noqa: E402
from tests.serve.generation.test_continuous import QUESTIONS, answer, save_model  # noqa: E402

SETTINGS = GenerationSettings(num_blocks=64, block_size=16, max_batch_tokens=24)
"""Questions longer than 24 tokens are read in pieces."""


def by_sequence(
    q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int,
    max_seqlen_k: int, softmax_scale: float | None = None, causal: bool = False,
) -> Any:  # fmt: skip
    """What the GPU's kernel does, one sequence after the other."""
    made = torch.zeros_like(q)
    assert causal
    for n in range(len(cu_seqlens_q) - 1):
        mine, keys = (slice(int(c[n]), int(c[n + 1])) for c in (cu_seqlens_q, cu_seqlens_k))
        count, length = mine.stop - mine.start, keys.stop - keys.start
        assert count <= max_seqlen_q
        assert length <= max_seqlen_k
        mask = torch.ones(count, length, dtype=torch.bool).tril(length - count)
        made[mine] = torch.nn.functional.scaled_dot_product_attention(
            *(each.transpose(0, 1)[None] for each in (q[mine], k[keys], v[keys])),
            attn_mask=mask, scale=softmax_scale, enable_gqa=True,
        )[0].transpose(0, 1)  # fmt: skip
    return made


async def answers(generator: ContinuousGenerator) -> list[Any]:
    ids = [generator.encode([{"role": "user", "content": question * 3}]) for question in QUESTIONS]
    return await asyncio.gather(*(answer(generator, each, max_new_tokens=12) for each in ids))


def test_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(tmp_path)
    found = []
    for ours in (False, True):
        monkeypatch.setattr(attention, "usable", lambda *_, ours=ours: ours)
        monkeypatch.setattr(attention, "flash_attn_varlen_func", by_sequence)
        generator = ContinuousGenerator(
            Generator.load(str(tmp_path), ModelOptions(device="cpu")), SETTINGS
        )
        found.append(asyncio.run(answers(generator)))
        name = generator.model.config._attn_implementation
        assert (name == attention.NAME) == ours
        generator.close()
    assert found[0] == found[1]
    assert any(text for text, _ in found[0])


def test_a_folder_of_flash_attention_4_is_not_version_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "flash_attn" / "cute").mkdir(parents=True)
    assert not attention._is_installed("flash_attn")
    (tmp_path / "flash_attn" / "__init__.py").touch()
    importlib.invalidate_caches()
    assert attention._is_installed("flash_attn")
