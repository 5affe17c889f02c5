"""Files that others include inside a namespace: what the translation adds to them goes outside.

A helper function with the headers that it includes would be declared in that namespace, and only
there: its guard leaves it out of every later file.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from cass_ray.translate.project.tree import is_source, source_files
from cass_ray.translate.rules.tables import SNIPPETS, snippets
from cass_ray.translate.rules.text import SourceText

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"", re.MULTILINE)
_ANY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_RUNTIME = "#include <hip/hip_runtime.h>\n"
_FOR_HIP = f"#ifdef __HIPCC__\n{_RUNTIME}#endif\n"
_WITH_HIP = f"#if defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)\n{_RUNTIME}"
"""Around the runtime's header, in headers that a host's compiler reads as well."""
_ROUNDS = 4
"""How deep such files may include each other."""
_ORDER = ["vectors", *(SNIPPETS / "order.txt").read_text(encoding="utf-8").split()]


def lift_out_of_namespaces(root: Path) -> list[Path]:
    """Move the helper functions of such files below ``root`` to those that include them.

    A file that is also included outside of every brace keeps its own. Returns what was changed.
    """
    texts = {path: text for path in source_files(root) if (text := _text(path)) is not None}
    changed: set[Path] = set()
    for _ in range(_ROUNDS):
        moved = _lift(texts)
        if not moved:
            break
        changed |= moved
    for path in changed:
        path.write_text(texts[path], "utf-8", newline="")
    return sorted(changed)


def _lift(texts: dict[Path, str]) -> set[Path]:
    inside: defaultdict[Path, set[Path]] = defaultdict(set)
    outside: set[Path] = set()
    for path, text in texts.items():
        for target, nested in _included(path, text, texts):
            if nested:
                inside[target].add(path)
            else:
                outside.add(target)
    changed: set[Path] = set()
    for target in sorted(inside.keys() - outside):
        held = _held(texts[target])
        if not held:
            continue
        for name in held:
            texts[target] = texts[target].replace(snippets()[name], "", 1)
        before, behind = _runtime(texts[target])
        texts[target] = texts[target].replace(before + behind, "", 1)
        for path in inside[target]:
            texts[path] = _with(texts[path], held, before, behind)
        changed |= {target, *inside[target]}
    return changed


def _included(path: Path, text: str, texts: dict[Path, str]) -> Iterator[tuple[Path, bool]]:
    """Files of the tree that ``text`` includes, and whether a brace is open there."""
    if '"' not in text:
        return
    code = SourceText(text).code
    depth = position = 0
    for match in _INCLUDE.finditer(text):
        depth += code.count("{", position, match.start()) - code.count("}", position, match.start())
        position = match.start()
        target = Path(os.path.normpath(path.parent / match[1]))
        if code.startswith("#", match.start() + match[0].index("#")) and target in texts:
            yield target, depth > 0


def _held(text: str) -> list[str]:
    """The helper functions in ``text``, in the order in which they may use each other."""
    found = []
    for name, snippet in snippets().items():  # the longer ones first, which may hold others
        if snippet in text:
            found.append(name)
            text = text.replace(snippet, "")
    return sorted(found, key=_ORDER.index)


def _runtime(text: str) -> tuple[str, str]:
    """The lines that include the runtime in ``text``: those before and behind helper functions."""
    if _FOR_HIP in text:
        return _FOR_HIP, ""
    return (_WITH_HIP, "#endif\n") if _WITH_HIP in text else (_RUNTIME, "")


def _with(text: str, names: list[str], before: str, behind: str) -> str:
    """``text`` with those of the helper functions that it has not, behind the vector types."""
    known = snippets()
    added = "".join(known[name] for name in names if known[name] not in text)
    vectors = known["vectors"]
    if vectors in text:
        place = text.index(vectors) + len(vectors)
    else:
        first = _ANY_INCLUDE.search(SourceText(text).code)
        place = first.start() if first else 0
    if added.startswith(vectors):
        added = added[len(vectors) :]
        return text[:place] + vectors + before + added + behind + text[place:]
    return text[:place] + before + added + behind + text[place:] if added else text


def _text(path: Path) -> str | None:
    if not is_source(path.name):
        return None
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
