"""Texture and surface objects are one type in CUDA (``unsigned long long``) and two in HIP."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.tree import translate_tree

TEXTURE, SURFACE = "hipTextureObject_t", "hipSurfaceObject_t"


def declared(declaration: str, use: str, folder: Path) -> str:
    """The type of what ``declaration`` declares in one file where another one has ``use``."""
    root = folder / "project"
    root.mkdir()
    (root / "a.h").write_text(f"#pragma once\n#include <cuda_runtime.h>\n{declaration}\n")
    (root / "b.cu").write_text(f'#include "a.h"\nvoid f(octave& o, octave* p) {{ {use} }}\n')
    translate_tree(root, folder / "out", make_translator("rules"))
    text = (folder / "out" / "a.h").read_text()
    [kind] = {each for each in (TEXTURE, SURFACE) if each in text}
    return kind


@pytest.mark.parametrize(
    ("declaration", "use", "expected"),
    [
        ("struct octave { cudaSurfaceObject_t tex; };",
         "cudaCreateTextureObject(&o.tex, &r, &t, nullptr);", TEXTURE),
        ("struct linear { cudaSurfaceObject_t tex{}; }; struct octave { linear l; };",
         "cudaCreateTextureObject( &p->l.tex, &r, &t, 0 );", TEXTURE),
        ("extern cudaSurfaceObject_t all[4];",
         "cudaCreateTextureObject(&all[i], &r, &t, 0);", TEXTURE),
        ("struct octave { cudaTextureObject_t out; };",
         "cudaCreateSurfaceObject(&o.out, &r);", SURFACE),
        ("struct octave { cudaSurfaceObject_t out; };",
         "cudaCreateSurfaceObject(&o.out, &r);", SURFACE),
        # Of one name that holds both it is not known which is which.
        ("struct octave { cudaSurfaceObject_t any; };",
         "cudaCreateSurfaceObject(&o.any, &r); cudaCreateTextureObject(&q.any, &r, &t, 0);",
         SURFACE),
        ("struct octave { cudaSurfaceObject_t other; };",
         "cudaCreateTextureObject(&o.tex, &r, &t, 0);", SURFACE),
    ],
)  # fmt: skip
def test_a_variable_has_the_type_of_what_it_holds(
    declaration: str, use: str, expected: str, tmp_path: Path
) -> None:
    assert declared(declaration, use, tmp_path) == expected


def test_a_file_on_its_own() -> None:
    text = (
        "cudaSurfaceObject_t tex;\n"
        "void f() { cudaCreateTextureObject(&tex, &resource, &how, nullptr); }\n"
    )
    made = make_translator("rules").translate(text, filename="a.cu").source
    assert f"{TEXTURE} tex;" in made
