"""Source trees of a worker, unpacked once and kept: as they came and translated."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from cass_ray.corpus.trees import unpack
from cass_ray.translate.protocol import Translator
from cass_ray.translate.tree import translate_tree

DEFAULT_KEPT = 64


class UnpackedTrees:
    """Trees by digest in a private folder that is removed with this object.

    ``fetch`` returns the archive of a digest; at most ``kept`` trees stay on disk, the longest
    unused go first.
    """

    def __init__(self, fetch: Callable[[str], bytes], kept: int = DEFAULT_KEPT) -> None:
        self._fetch = fetch
        self._kept = kept
        self._folder = tempfile.TemporaryDirectory(prefix="cass-trees-")
        self._trees: OrderedDict[str, Path] = OrderedDict()

    def original(self, digest: str) -> Path:
        """The unpacked tree of ``digest``."""
        return self._get(digest, lambda root: unpack(self._fetch(digest), root))

    def translated(self, digest: str, translator: Translator) -> Path:
        """The tree of ``digest`` with every source and header translated."""
        source = self.original(digest)

        def build(root: Path) -> None:
            translate_tree(source, root, translator)

        return self._get(f"{digest}-{translator.name}", build)

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
