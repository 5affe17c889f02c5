"""Device assembly as points: vectors of each text, and their projections to a plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cass_ray.analysis.settings import INSTALL_ANALYSIS
from cass_ray.toolchain.errors import ToolMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS = 50
_SEED = 0


def vectors(words: Sequence[dict[str, int]], encoder: Path | None) -> NDArray[np.float64]:
    """One row a text, unit length: (texts, at most 50), or the encoder's width.

    ``words`` are mnemonics and how often they occur. Without an encoder: TF-IDF with sublinear
    counts and a truncated SVD (latent semantic analysis). Raises :class:`ToolMissing`.
    """
    return _encoded(words, encoder) if encoder else _latent(words)


def _latent(words: Sequence[dict[str, int]]) -> NDArray[np.float64]:
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.preprocessing import normalize
    except ImportError as error:
        raise ToolMissing("scikit-learn", INSTALL_ANALYSIS, str(error)) from None
    counts = DictVectorizer().fit_transform(words)
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    size = min(_DIMENSIONS, *(each - 1 for each in weighted.shape))
    if size < 2:
        return np.asarray(weighted.toarray(), dtype=np.float64)
    reduced = TruncatedSVD(size, random_state=_SEED).fit_transform(weighted)
    return np.asarray(normalize(reduced), dtype=np.float64)


def _encoded(words: Sequence[dict[str, int]], folder: Path) -> NDArray[np.float64]:
    """Mean of the last hidden states over each text's mnemonics, most frequent first."""
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise ToolMissing("transformers", "pip install 'cass-ray[train]'", str(error)) from None
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    means = []
    for each in words:
        text = " ".join(sorted(each, key=lambda name: (-each[name], name)))
        inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        with torch.inference_mode():
            means.append(model(**inputs).last_hidden_state[0].mean(0).double().numpy())
    stacked = np.stack(means)
    return np.asarray(stacked / np.linalg.norm(stacked, axis=1, keepdims=True).clip(1e-12))


def project(points: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """Shape (texts, 2), by ``t-SNE`` or ``UMAP``; both with a fixed seed. Raises ToolMissing."""
    if len(points) < 5:
        return np.zeros((len(points), 2))
    if method == "t-SNE":
        from sklearn.manifold import TSNE

        perplexity = min(30.0, (len(points) - 1) / 3)
        result = TSNE(2, perplexity=perplexity, init="pca", random_state=_SEED).fit_transform(
            points
        )
        return np.asarray(result, dtype=np.float64)
    try:
        import umap
    except ImportError as error:
        raise ToolMissing("umap-learn", INSTALL_ANALYSIS, str(error)) from None
    neighbours = min(15, len(points) - 1)
    reducer: Any = umap.UMAP(n_neighbors=neighbours, random_state=_SEED, n_jobs=1)
    return np.asarray(reducer.fit_transform(points), dtype=np.float64)
