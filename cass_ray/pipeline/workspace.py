"""Source trees of a worker, unpacked once and kept: as they came and translated.

A row's ``cuda_source`` and ``hip_source`` are authoritative: they are written over the main file of
the tree (which may predate an encoding repair), and a row without a tree gets a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cass_ray.cache import digest
from cass_ray.corpus.dialect import source_of
from cass_ray.corpus.reading.trees import unpack
from cass_ray.temporary import temporary_prefix
from cass_ray.translate.project.refusals import RefusingTranslator
from cass_ray.translate.project.tree import translate_tree, tree_context
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translator

DEFAULT_KEPT = 64
_WRITTEN = 1e9
"""When a main file was written, as compilers see it: at the same time in every build."""

Row = dict[str, Any]


class Workspace:
    """Trees in a private folder that is removed with this object.

    ``fetch`` returns the archive of a digest; at most ``kept`` trees stay on disk, the longest
    unused go first.
    """

    def __init__(self, fetch: Callable[[str], bytes], kept: int = DEFAULT_KEPT) -> None:
        self._fetch = fetch
        self._kept = kept
        self._folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("trees"))
        self._trees: OrderedDict[str, Path] = OrderedDict()
        self._contexts: dict[str, Context] = {}

    def original(self, row: Row) -> Path:
        """The root of the CUDA tree of ``row``."""
        root = self._tree(row)
        _write(root / row["path"], source_of(row))
        return root

    def translated(self, row: Row, translator: Translator) -> Path:
        """The root of the HIP tree of ``row``: headers translated, ``hip_source`` in its place.

        A header's text that has no translation is an error of the compiler where the row's unit
        compiles it (:mod:`cass_ray.translate.project.refusals`).
        """
        if row["tree"]:
            by_compiler = bool(row.get("configured"))
            root = self._get(
                f"{row['tree']}-{translator.name}-{by_compiler:d}",
                lambda root: translate_tree(
                    self._tree(row),
                    root,
                    RefusingTranslator(translator, names_are_known=by_compiler),
                    context=self.context(row),
                ),
            )
        else:
            root = self._get(f"{_alone(row)}-{translator.name}", Path.mkdir)
        _write(root / row["path"], row["hip_source"])
        return root

    def context(self, row: Row) -> Context:
        """What the files of the tree of ``row`` are translated with, its own among them."""
        tree = row["tree"]
        if not tree:
            return NO_CONTEXT
        if tree not in self._contexts:
            self._contexts[tree] = tree_context(self._tree(row))
        return self._contexts[tree]

    def _tree(self, row: Row) -> Path:
        tree = row["tree"]
        if not tree:
            return self._get(_alone(row), Path.mkdir)
        return self._get(tree, lambda root: unpack(self._fetch(tree), root, tree))

    def _get(self, name: str, build: Callable[[Path], object]) -> Path:
        root = self._trees.get(name)
        if root is None:
            root = Path(self._folder.name) / name
            build(root)
            self._trees[name] = root
            while len(self._trees) > self._kept:
                _, oldest = self._trees.popitem(last=False)
                shutil.rmtree(oldest, ignore_errors=True)
        self._trees.move_to_end(name)
        return root


def _alone(row: Row) -> str:
    return digest([row["path"], source_of(row)])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    # cicc makes names of it where a unit defines nothing that others see.
    os.utime(path, (_WRITTEN, _WRITTEN))
