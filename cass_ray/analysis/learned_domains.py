"""The domain of a program by a classifier that learned from CASS-Bench's own categories.

The benchmark's programs were filed by their authors, so the labels owe nothing to keywords.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.domains import split_words
from cass_ray.corpus.parsing.lexer import words_and_comments
from cass_ray.toolchain.errors import ToolMissing

_FOLDS = 3
_SEED = 0


def source_words(source: str) -> Counter[str]:
    """Words of identifiers and comments, lower case, calls of the CUDA runtime left out."""
    counts: Counter[str] = Counter()
    for text, times in Counter(words_and_comments(source)).items():
        if not text.startswith("cuda"):
            for word in split_words(text):
                if len(word) > 1:
                    counts[word] += times
    return counts


@dataclass(frozen=True)
class LearnedDomains:
    """A classifier and how good it is."""

    model: Any
    accuracy: float
    """Share of benchmark programs labelled right by classifiers that did not see them."""
    by_chance: float
    """Accuracy of always naming the most frequent category."""
    programs: int

    def of(self, words: Sequence[dict[str, int]]) -> list[str]:
        """The category of each program."""
        return [str(each) for each in self.model.predict(words)] if words else []


def _text(task: BenchTask) -> str:
    return "\n".join(task.files[name].decode("utf-8", "replace") for name in task.spec.sources)


@cache
def learn() -> LearnedDomains:
    """Train on the benchmark's CUDA programs. Raises :class:`ToolMissing`."""
    try:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.pipeline import make_pipeline
    except ImportError as error:
        raise ToolMissing("scikit-learn", "pip install 'cass-ray[analysis]'", str(error)) from None
    tasks = load_tasks()
    words = [source_words(_text(task)) for task in tasks]
    labels = np.array([task.spec.category for task in tasks])
    model = make_pipeline(
        DictVectorizer(),
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(C=20.0, max_iter=2000, random_state=_SEED),
    )
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    guessed = cross_val_predict(model, words, labels, cv=folds)
    most = Counter(labels.tolist()).most_common(1)[0][1]
    return LearnedDomains(
        model.fit(words, labels),
        float((guessed == labels).mean()),
        most / len(labels),
        len(labels),
    )
