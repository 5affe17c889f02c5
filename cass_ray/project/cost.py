"""What will porting cost? Counts and findings of a translation that is thrown away.

The translator does the reading: what it converts is what the rules do, what it reports is what
remains for a person.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from cass_ray.corpus.parsing.lexer import significant_tokens
from cass_ray.project.build_system import BuildSystem, find_plan
from cass_ray.temporary import temporary_prefix
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.project.rocm_libraries import LIBRARIES
from cass_ray.translate.project.tree import FileResult, TreeResult, is_source, translate_tree
from cass_ray.translate.protocol import Severity, Translator

WARP_SIZE = frozenset({"CASS1005", "CASS1016"})
INLINE_PTX = "CASS1001"
MINUTES_BY_RULES = 1
"""Assumed time of a person to rename one construct and look it up."""
MINUTES_BY_SEVERITY = {Severity.ERROR: 45, Severity.WARNING: 10, Severity.NOTE: 0}
"""Assumed time of a person for one place that the rules report."""
_HEADERS = {
    **{name: rocm for name, rocm in LIBRARIES.items() if rocm},
    "cudnn": "MIOpen (another interface)",
    "cub": "hipcub",
    "thrust": "rocthrust",
    "cutlass": "Composable Kernel (another interface)",
    "cutensor": "hipTensor (another interface)",
    "nvml": "rocm_smi64 (another interface)",
    "npp": "none",
}
_PART_OF_RUNTIME = frozenset({"nvrtc"})
"""What the emulator's runtime has itself."""
_LIBRARY = re.compile(
    r"(?:#[ \t]*include[ \t]*[<\"]|-l|CUDA::)(?P<name>"
    + "|".join(sorted(map(re.escape, _HEADERS), key=len, reverse=True))
    + r")(?:[-_./]|XT|Xt|\b)"
)
_ASSEMBLY = re.compile(r"(?<![\w.])(?:asm|__asm__|__asm)\s*(?:volatile|__volatile__)?\s*\(")
_EXECUTABLE = (".cu", ".hip")
_QUALIFIERS = frozenset({"__global__", "__device__", "__constant__", "__shared__", "__managed__"})
_DEVICE_CODE = re.compile(r"<<<|" + "|".join(sorted(_QUALIFIERS)))
_IS_HIP = re.compile(r"#[ \t]*include[ \t]*[<\"]hip/")


class FileCost(BaseModel):
    """One file; ``by_person`` counts findings of severity error, ``to_look_at`` warnings."""

    path: str
    by_rules: int
    by_person: int
    to_look_at: int
    warp_size: int
    inline_ptx: int
    """Statements of inline PTX."""
    ptx_by_person: int
    """Those of them that the rules do not rewrite."""
    device_code: int = 0
    """Qualifiers of CUDA's and launches, which HIP writes alike."""


class Cost(BaseModel):
    """What a port takes, per file and over all."""

    name: str
    build_system: BuildSystem
    files: list[FileCost]
    """Those with something of CUDA in them, what takes a person the longest first."""
    read: int
    """How many files there are."""
    by_rules: int
    unchanged: int
    """Constructs that HIP has under the same name."""
    by_person: int
    to_look_at: int
    warp_size: int
    inline_ptx: int
    ptx_by_person: int
    device_code: int = 0
    libraries: dict[str, str]
    """Library of CUDA that is included or linked -> ROCm's."""
    kinds: dict[str, int]
    """Number of a diagnostic -> places with an error or a warning."""
    hours_by_rules: float
    """Estimate; see :data:`MINUTES_BY_RULES`."""
    hours_by_person: float
    """Estimate; see :data:`MINUTES_BY_SEVERITY`."""
    commands: list[str]
    """To go on with."""

    @property
    def verdict(self) -> str:
        """One line."""
        if not self.files:
            return "no CUDA is there: nothing to port"
        total = self.by_rules + self.by_person
        rest = f"a person ports {self.by_person} place(s) and checks {self.to_look_at}"
        if not total:
            return f"{self.device_code} construct(s) are the same in HIP; {rest}"
        share = self.by_rules / total
        return f"the rules port {self.by_rules} of {total} constructs ({share:.0%}); {rest}"


def cost_of(path: Path, translator: Translator, workers: int = 1) -> tuple[Cost, TreeResult]:
    """The cost of porting the file or folder ``path``, and the findings behind it.

    Raises:
        ValueError: a file is not text, or folders are nested deeper than the reader goes.
        OSError: it cannot be read.
        TranslatorError: the engine itself failed.
    """
    tree = _translated(path, translator, workers)
    root = path if path.is_dir() else path.parent
    texts = {file.path: _text(root / file.path) for file in tree.files}
    every = [_file_cost(file, texts[file.path]) for file in tree.files]
    files = [each for each in every if any(each.model_dump(exclude={"path"}).values())]
    files.sort(key=lambda each: (-each.by_person, -each.to_look_at, -each.by_rules, each.path))
    severities = Counter(item.severity for file in tree.files for item in file.findings)
    kinds = Counter(
        diagnostic_of(item).code
        for file in tree.files
        for item in file.findings
        if item.severity is not Severity.NOTE
    )
    minutes = sum(MINUTES_BY_SEVERITY[each] * number for each, number in severities.items())
    found = {match["name"] for text in texts.values() for match in _LIBRARY.finditer(text)}
    counts = tree.counts
    cost = Cost(
        name=path.resolve().name,
        build_system=find_plan(path).system if path.is_dir() else BuildSystem.NONE,
        files=files,
        read=len(tree.files),
        by_rules=counts.converted,
        unchanged=counts.unchanged,
        by_person=severities[Severity.ERROR],
        to_look_at=severities[Severity.WARNING],
        warp_size=sum(each.warp_size for each in files),
        inline_ptx=sum(each.inline_ptx for each in files),
        ptx_by_person=sum(each.ptx_by_person for each in files),
        device_code=sum(each.device_code for each in files),
        libraries={name: _HEADERS[name] for name in sorted(found)},
        kinds=dict(kinds.most_common()),
        hours_by_rules=round(counts.converted * MINUTES_BY_RULES / 60, 1),
        hours_by_person=round(minutes / 60, 1),
        commands=[],
    )
    return cost.model_copy(update={"commands": _commands(path, cost)}), tree


def _translated(path: Path, translator: Translator, workers: int) -> TreeResult:
    if path.is_dir():
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("check")) as folder:
            return translate_tree(path, Path(folder) / "port", translator, workers=workers)
    data = path.read_bytes()
    if b"\0" in data:
        raise ValueError(f"{path} is not text: give a CUDA file or a folder")
    text = data.decode("utf-8", "surrogateescape")
    made = translator.translate(text, filename=path.name)
    action = "unchanged" if made.source == text else "translated"
    return TreeResult([FileResult(path.name, action, made.findings, made.counts)])


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if _is_read(path) else ""


def _is_read(path: Path) -> bool:
    return (
        is_source(path.name)
        or path.suffix in {".txt", ".cmake", ".mk", ".py"}
        or (path.name.lower() in {"makefile", "gnumakefile"})
    )


def _file_cost(file: FileResult, text: str) -> FileCost:
    codes = [(diagnostic_of(item).code, item.severity) for item in file.findings]
    severities = Counter(severity for _, severity in codes)
    return FileCost(
        path=file.path,
        by_rules=file.counts.converted,
        by_person=severities[Severity.ERROR],
        to_look_at=severities[Severity.WARNING],
        warp_size=sum(code in WARP_SIZE for code, _ in codes),
        inline_ptx=len(_ASSEMBLY.findall(text)),
        ptx_by_person=sum(code == INLINE_PTX for code, _ in codes),
        device_code=_device_code(file.path, text),
    )


def _device_code(name: str, text: str) -> int:
    """How often ``text`` qualifies for a device or launches; 0 for what is HIP already."""
    if not is_source(name) or not _DEVICE_CODE.search(text) or _IS_HIP.search(text):
        return 0
    tokens = [token.text for token in significant_tokens(text)]
    qualifiers = sum(token in _QUALIFIERS for token in tokens)
    return qualifiers + sum(token == "<<<" for token in tokens)


def _beside(folder: Path) -> Path:
    """The folder of a port: not in ``folder``, whatever that is called."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}_hip")


def _commands(path: Path, cost: Cost) -> list[str]:
    if not cost.files:
        return []
    shown = shlex.quote(str(path))
    fetched = set(cost.libraries) & set(LIBRARIES) - _PART_OF_RUNTIME
    lines = ["cass setup libraries"] if fetched else []
    if path.is_dir() and cost.build_system is not BuildSystem.NONE:
        return [*lines, f"cass project {shown}"]
    if path.is_dir():
        return [*lines, f"cass translate {shown} -o {shlex.quote(str(_beside(path)))}"]
    port = shlex.quote(str(path.with_suffix(".hip")))
    lines.append(f"cass translate {shown} -o {port}")
    return [*lines, f"cass verify {shown} {port}"] if path.suffix in _EXECUTABLE else lines
