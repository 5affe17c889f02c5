"""Public programs translated: what counts as compiled, which programs are taken."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.translate.public import TranslationRow, TranslationState, candidates, table


def test_a_program_that_lacks_a_library_is_not_compiled() -> None:
    states = (TranslationState.RAN, TranslationState.LIBRARY, TranslationState.BACKEND)
    rows = [TranslationRow("r", f"{state.name}.cu", "rules", state.value) for state in states]
    text = table(rows, Counter({"r": 4}))
    assert "| r | rules | 3 | 2 (66.7%) | 1 | 0 | 0 |" in text
    assert "r: 4 programs left out, nvcc does not compile them." in text


def test_programs_that_include_from_a_folder(tmp_path: Path) -> None:
    main = "int main() { return 0; }\n"
    (tmp_path / "a.cu").write_text(f"#include <thrust/sort.h>\n{main}")
    (tmp_path / "copy.cu").write_text(f"#include <thrust/sort.h>\n{main}")
    (tmp_path / "b.cu").write_text(f"#include <cub/cub.cuh>\n{main}")
    (tmp_path / "header_only.cu").write_text("#include <thrust/sort.h>\n")
    (tmp_path / "plain.cu").write_text(f"// thrust/\n{main}")
    found = {path.name for path in candidates(tmp_path, ("thrust/", "cub/"))}
    assert "b.cu" in found
    assert len(found & {"a.cu", "copy.cu"}) == 1
    assert len(found) == 2
