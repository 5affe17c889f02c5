"""Includes that another machine alone takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.corpus.program import Program, Provenance
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.include_paths import IncludePaths
from cass_ray.corpus.reading.include_spelling import with_paths_of_the_tree
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import StoredTrees, unpack
from cass_ray.corpus.reading.units import TreeUnits
from cass_ray.dataset.row import Origin
from cass_ray.storage.store import Store
from tests.corpus.reading.test_fragments import write_files

KERNEL = "__global__ void k(int *a) { a[0] = 1; }\n"
FILES = {"gov/nist/Shape.cuh": "", "src/a.cu": KERNEL, "src/util.h": "", "x/Log.h": "",
         "y/LOG.h": "", "src/both.h": "", "Both.h": ""}  # fmt: skip


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'#include "gov\nist\Shape.cuh"', '#include "gov/nist/Shape.cuh"'),
        (r"#include <sys\time.h>", "#include <sys/time.h>"),
        ('#include "GOV/NIST/shape.cuh"', '#include "gov/nist/Shape.cuh"'),
        ('  #  include "Util.h" // x', '  #  include "util.h" // x'),
        (r'#include "..\src\UTIL.H"', '#include "../src/util.h"'),
        ('#include "util.h"', '#include "util.h"'),
        ('#include "log.h"', '#include "log.h"'),  # which of the two is not known
        ('#include "both.h"', '#include "both.h"'),
        ('#include "absent.h"', '#include "absent.h"'),
        # The tree is a folder of another one; none of its own is called so.
        ('#include "cuda/Both.h"', '#include "Both.h"'),
        ('#include "mine/src/util.h"', '#include "src/util.h"'),
        ('#include "cuda/absent.h"', '#include "cuda/absent.h"'),
        ('#include "gov/Both.h"', '#include "gov/Both.h"'),
        ('#include "cub/Both.h"', '#include "cub/Both.h"'),
        ('#include "../cuda/Both.h"', '#include "../cuda/Both.h"'),
        ("#include <Util.h>", "#include <Util.h>"),
        ('#include "../../../../opt/cuda/include/vector_types.h"', "#include <vector_types.h>"),
        (
            '#include "/usr/local/cuda-11.8/include/crt/host_defines.h"',
            "#include <crt/host_defines.h>",
        ),
        ('#include "/usr/local/cuda/targets/x86_64-linux/include/cuda.h"', "#include <cuda.h>"),
        (
            r'#include "C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.6\include\cuda.h"',
            "#include <cuda.h>",
        ),
        ("#include </usr/include/stdio.h>", "#include <stdio.h>"),
        ('#include "../cuda/include/cuda.h"', '#include "../cuda/include/cuda.h"'),
        ('#include "/usr/local/cuda/include/own.h"', '#include "/usr/local/cuda/include/own.h"'),
        ('#include "/etc/passwd"', '#include "/etc/passwd"'),
        (r'const char *c = "a\n.h";', r'const char *c = "a\n.h";'),
    ],
)
def test_paths_are_spelled_as_the_tree_has_them(tmp_path: Path, written: str, read: str) -> None:
    write_files(tmp_path, FILES)
    paths = IncludePaths(DirectoryTree(tmp_path))
    assert with_paths_of_the_tree(f"{written}\n", paths.spelling) == f"{read}\n"


def test_a_program_and_its_headers_have_them(tmp_path: Path) -> None:
    files = {
        "k/Main.cu": '#include "Inc\\Shape.cuh"\n' + KERNEL,
        "k/inc/shape.cuh": '#include "Deep.H"\n',
        "k/inc/deep.h": "",
    }
    write_files(tmp_path / "tree", files)
    store = StoredTrees(Store(tmp_path / "store"))
    tree, provenance = DirectoryTree(tmp_path / "tree"), Provenance(Origin.LOCAL)
    units = TreeUnits(compiler_decides=True)

    program = ProgramReader(tree, provenance, store, units=units).read("k/Main.cu")

    assert isinstance(program, Program)
    assert program.source.startswith('#include "inc/shape.cuh"\n')
    assert program.encoding == "utf-8, include paths of another machine"
    unpack(store.get(program.tree), tmp_path / "out", program.tree)
    assert (tmp_path / "out/k/inc/shape.cuh").read_text() == '#include "deep.h"\n'
    assert (tmp_path / "out/k/inc/deep.h").is_file()
