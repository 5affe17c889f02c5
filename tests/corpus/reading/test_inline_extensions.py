"""Sources without PyTorch's header, which load_inline puts before them, in a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.corpus.program import Program, Provenance
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.reading.units import TreeUnits
from cass_ray.dataset.row import Origin
from cass_ray.storage.store import Store
from tests.corpus.reading.test_fragments import write_files

KERNEL = "__global__ void k(float* p) { *p += 1; }\n"
USES = "torch::Tensor f(torch::Tensor x) { return x; }\n"


@pytest.mark.parametrize(
    ("source", "added"),
    [
        ("#include <c10/cuda/CUDAStream.h>\n" + KERNEL + USES, True),
        (KERNEL + "#define CHECK(x) TORCH_CHECK(x.is_cuda(), #x)\n", True),
        (KERNEL, False),
        ("#include <torch/extension.h>\n" + KERNEL + USES, False),
        ('#include "own.h"\n' + KERNEL + USES, False),
    ],
)
def test_the_header_is_added_where_no_other_brings_it(
    tmp_path: Path, source: str, added: bool
) -> None:
    write_files(tmp_path / "tree", {"a.cu": source, "own.h": "#include <ATen/ATen.h>\n"})
    store = StoredTrees(Store(tmp_path / "store"))
    tree, provenance = DirectoryTree(tmp_path / "tree"), Provenance(Origin.LOCAL)
    for of_a_project in (True, False):
        units = TreeUnits(compiler_decides=of_a_project)
        program = ProgramReader(tree, provenance, store, units=units).read("a.cu")
        assert isinstance(program, Program)
        assert program.source.startswith("#include <torch/types.h>\n") is (added and of_a_project)
        assert ("load_inline" in program.encoding) is (added and of_a_project)
