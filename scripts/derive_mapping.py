"""Derive the CUDA -> HIP name tables of the ``rules`` translator from maintained sources.

    python scripts/derive_mapping.py --torch-wheel torch-2.13.0-*.whl \
        --cuda-include .venv/lib/python3.11/site-packages/nvidia/cu13/include \
        --hip-include ROCM/include [--hip-include MORE ...]

A name enters ``cass_ray/translate/rules/tables/names.csv`` when its HIP counterpart is found in
the HIP headers given, so every row names something that exists. Where counterparts come from, in
order of trust (the ``source`` column):

- ``override``: ``overrides.csv``, written by hand, each row with its reason;
- ``torch``: the tables in ``torch/utils/hipify`` of the wheel, read as syntax, never imported;
- ``rename``: the systematic renaming (``cudaX`` -> ``hipX``, ``cublasX`` -> ``hipblasX``, …) when
  both the CUDA and the HIP headers have the name;
- ``spelling``: constants equal but for case and underscores (``CU_STREAM_NON_BLOCKING`` ->
  ``hipStreamNonBlocking``).

CUDA names of the tables or headers without a counterpart go to ``unsupported.csv``: the translator
reports them instead of inventing a name. What was derived is recorded in ``sources.csv``.
"""

from __future__ import annotations

import argparse
import ast
import csv
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TABLES = Path(__file__).resolve().parent.parent / "cass_ray/translate/rules/tables"
TORCH_MODULE = "torch/utils/hipify/cuda_to_hip_mappings.py"
TORCH_TABLES = ("CUDA_IDENTIFIER_MAP", "CUDA_TYPE_NAME_MAP", "CUDA_SPECIAL_MAP")

LIBRARIES: tuple[tuple[str, str, str], ...] = (
    # CUDA prefix, HIP prefix, library; first match wins.
    ("cublasLt", "hipblasLt", "blaslt"),
    ("CUBLASLT_", "HIPBLASLT_", "blaslt"),
    ("cublas", "hipblas", "blas"),
    ("CUBLAS_", "HIPBLAS_", "blas"),
    ("cufft", "hipfft", "fft"),
    ("CUFFT_", "HIPFFT_", "fft"),
    ("curand", "hiprand", "rand"),
    ("CURAND_", "HIPRAND_", "rand"),
    ("cusparse", "hipsparse", "sparse"),
    ("CUSPARSE_", "HIPSPARSE_", "sparse"),
    ("cusolver", "hipsolver", "solver"),
    ("CUSOLVER_", "HIPSOLVER_", "solver"),
    ("nvrtc", "hiprtc", "rtc"),
    ("NVRTC_", "HIPRTC_", "rtc"),
    ("nvtx", "roctx", "tx"),
    ("cuda", "hip", "runtime"),
    ("CUDART_", "HIP_", "runtime"),
    ("CUDA_", "HIP_", "runtime"),
    ("CU_", "HIP_", "driver"),
    ("cu", "hip", "driver"),
    ("CU", "hip", "driver"),
    ("__nv_", "__hip_", "runtime"),
    ("make_cu", "make_hip", "runtime"),
)

FOREIGN = re.compile(
    r"^(nccl|NCCL|nvml|NVML|cudnn|CUDNN|nvshmem|NVSHMEM|magma|gloo|c10|caffe2|at::|cub$|thrust)"
    r"|Masquerading|::|\.|/|^USE_|^AT_|^(syev|gesv)"
)
"""Torch rows that are about torch itself, about file names, or about libraries whose interfaces
differ (cuDNN, NVML); ``ncclX`` keeps its names in RCCL."""

IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")
CUDA_NAME = re.compile(
    r"^(?:cuda[A-Z]\w*|CUDA_\w+|CUDART_\w+|CU_\w+|cu[A-Z]\w*|CU[a-z]\w*|cublas\w+|CUBLAS\w+"
    r"|cufft\w+|CUFFT_\w+|curand\w+|CURAND_\w+|cusparse\w+|CUSPARSE_\w+|cusolver\w+|CUSOLVER_\w+"
    r"|nvrtc\w+|NVRTC_\w+|nvtx\w+|NVTX_\w+|make_cu\w+|__nv_\w+|nv_bfloat162?)$"
)
INTERNAL = re.compile(
    r"(_params|_st|_enum|_impl|_v[0-9]{1,5})$|^__nv_(lambda|itex|isurf|tex)|_H_*$"
)
"""Names of the CUDA headers that no program writes; they are not listed as unsupported."""

VERSION = re.compile(
    r"#define\s+CUDART_VERSION\s+(\d+)"
    r"|#define\s+HIP_VERSION_MAJOR\s+(\d+)\s+#define\s+HIP_VERSION_MINOR\s+(\d+)"
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One name: the CUDA spelling, the HIP spelling, what it is and where that was learnt."""

    cuda: str
    hip: str
    kind: str
    library: str
    source: str


class Headers:
    """Every identifier of a set of header trees, and what each one looks like in them."""

    def __init__(self, roots: Iterable[Path], subfolders: tuple[str, ...]) -> None:
        self.names: set[str] = set()
        self._functions: set[str] = set()
        self._types: set[str] = set()
        self._macros: set[str] = set()
        self.files = 0
        self.version = ""
        """``CUDART_VERSION`` or ``HIP_VERSION_MAJOR.MINOR`` as the headers define it."""
        for path in _header_files(roots, subfolders):
            self._read(path.read_text("utf-8", "replace"))
            self.files += 1

    def _read(self, text: str) -> None:
        text = COMMENT.sub(" ", text)
        version = VERSION.search(text)
        if version:
            self.version = ".".join(part for part in version.groups() if part)
        self.names.update(IDENTIFIER.findall(text))
        self._macros.update(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE))
        self._types.update(re.findall(r"\b(?:struct|union|enum|class)\s+(\w+)", text))
        self._types.update(re.findall(r"[}\w*]\s*(\w+)\s*;", text))
        self._types.update(re.findall(r"\busing\s+(\w+)\s*=", text))
        self._functions.update(re.findall(r"\b(\w+)\s*\(", text))

    def kind(self, name: str) -> str:
        """``function``, ``macro``, ``type`` or ``enumerator``."""
        if name.endswith("_t"):
            return "type"
        if name in self._functions and name not in self._macros:
            return "function"
        if name in self._macros:
            return "macro"
        return "type" if name in self._types else "enumerator"


def _header_files(roots: Iterable[Path], subfolders: tuple[str, ...]) -> Iterator[Path]:
    for root in roots:
        folders = [root / name for name in subfolders] if subfolders else [root]
        for folder in folders:
            pattern = "**/*.h*" if subfolders else "*.h*"
            yield from sorted(path for path in folder.glob(pattern) if path.is_file())


def library_of(name: str) -> str:
    """The library a CUDA name belongs to, by its prefix."""
    return next((library for cuda, _, library in LIBRARIES if name.startswith(cuda)), "runtime")


def torch_rows(source: str) -> dict[str, str]:
    """CUDA name -> HIP name of the torch tables in ``source``, torch's own names left out."""
    mapping: dict[str, str] = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if node.targets[0].id not in TORCH_TABLES or not isinstance(node.value, ast.Call):
            continue
        for pair in ast.literal_eval(node.value.args[0]):
            cuda, hip = (str(item).strip() for item in pair)
            if not FOREIGN.search(cuda) and not FOREIGN.search(hip) and cuda.isidentifier():
                mapping.setdefault(cuda, hip)
    return mapping


def renamed(name: str) -> str:
    """The systematic HIP spelling of a CUDA name; empty when there is no rule."""
    for cuda, hip, _ in LIBRARIES:
        if name.startswith(cuda):
            return hip + name[len(cuda) :]
    return ""


def spelling(name: str) -> str:
    """``name`` without vendor prefix, case and underscores, to match enumerators by."""
    return re.sub(r"^(cuda|cu|hip)", "", name.replace("_", "").lower())


class Derivation:
    """Builds the tables from the sources."""

    def __init__(self, torch: dict[str, str], cuda: Headers, hip: Headers) -> None:
        self._torch = torch
        self._cuda = cuda
        self._hip = hip
        self._overrides = read_overrides()
        by_spelling: dict[str, list[str]] = {}
        for name in hip.names:
            if name.lower().startswith("hip"):
                by_spelling.setdefault(spelling(name), []).append(name)
        # A spelling that two HIP names share says nothing.
        self._by_spelling = {key: v[0] for key, v in by_spelling.items() if len(v) == 1}

    def run(self) -> tuple[list[Row], list[str]]:
        """The rows, and the CUDA names without a counterpart."""
        rows: dict[str, Row] = {}
        missing: set[str] = set()
        names = {name for name in self._cuda.names if CUDA_NAME.match(name)}
        # Libraries whose CUDA headers are not at hand: turn the HIP names round.
        names |= self._reversed()
        names -= _replaced_on_devices()
        for name in sorted(names | set(self._torch) | set(self._overrides)):
            hip, source = self._counterpart(name)
            if source == "override" and not hip:
                missing.add(name)
            elif hip:
                kind = self._hip.kind(hip) if hip in self._hip.names else self._cuda.kind(name)
                rows[name] = Row(name, hip, kind, library_of(name), source)
            elif not INTERNAL.search(name) and library_of(name) != "tx":
                missing.add(name)
        return list(rows.values()), sorted(missing)

    def _reversed(self) -> set[str]:
        names: set[str] = set()
        for cuda, hip, library in LIBRARIES:
            if library in {"runtime", "driver", "tx"}:
                continue
            names |= {
                cuda + name[len(hip) :]
                for name in self._hip.names
                if name.startswith(hip) and len(name) > len(hip)
            }
        return names

    def _counterpart(self, name: str) -> tuple[str, str]:
        if name in self._overrides:
            return self._overrides[name], "override"
        for hip, source in self._candidates(name):
            if hip in self._hip.names:
                return hip, source
        return "", ""

    def _candidates(self, name: str) -> Iterator[tuple[str, str]]:
        torch = self._torch.get(name, "")
        if torch:
            yield torch, "torch"
        rename = renamed(name)
        # cuStreamCreate takes flags, hipStreamCreate does not: a driver function is renamed only
        # where the runtime has no function of that name.
        clash = library_of(name) == "driver" and "cuda" + name[2:] in self._cuda.names
        if rename and not clash:
            yield rename, "rename"
        for prefix in ("cudaDevAttr", "CU_DEVICE_ATTRIBUTE_"):
            attribute = spelling("DeviceAttribute" + name.removeprefix(prefix))
            if name.startswith(prefix) and attribute in self._by_spelling:
                yield self._by_spelling[attribute], "spelling"
        # Only constants: driver functions share spellings with runtime functions that differ.
        if name.isupper() and spelling(name) in self._by_spelling:
            yield self._by_spelling[spelling(name)], "spelling"


def _replaced_on_devices() -> set[str]:
    """What ``device.csv`` replaces, for the names here would never be looked at."""
    with (TABLES / "device.csv").open(newline="", encoding="utf-8") as handle:
        return {row["cuda"] for row in csv.DictReader(handle)}


def read_overrides() -> dict[str, str]:
    """CUDA name -> HIP name (empty: no counterpart) of ``overrides.csv``."""
    with (TABLES / "overrides.csv").open(newline="", encoding="utf-8") as handle:
        return {row["cuda"]: row["hip"] for row in csv.DictReader(handle)}


def write(rows: list[Row], missing: list[str]) -> None:
    """Write ``names.csv`` and ``unsupported.csv``."""
    with (TABLES / "names.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["cuda", "hip", "kind", "library", "source"])
        for row in sorted(rows, key=lambda row: (row.library, row.cuda)):
            writer.writerow([row.cuda, row.hip, row.kind, row.library, row.source])
    with (TABLES / "unsupported.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["cuda", "library"])
        for name in missing:
            writer.writerow([name, library_of(name)])


LARGEST_ERROR = 2047
"""The largest value that hipError_t can hold: its largest enumerator is 1054."""


def error_values(roots: Iterable[Path], enumerations: str) -> dict[str, int]:
    """Enumerator -> value of the enumerations whose names match, where the header writes values."""
    values: dict[str, int] = {}
    pattern = re.compile(rf"enum\s+(?:\w+\s+)?(?:{enumerations})\b[^{{;]*{{(.*?)}}", re.DOTALL)
    for path in _header_files(roots, ()):
        for body in pattern.findall(COMMENT.sub(" ", path.read_text("utf-8", "replace"))):
            values.update(
                (name, int(value)) for name, value in re.findall(r"(\w+)\s*=\s*(\d+)", body)
            )
    return values


def write_absent(cuda: list[Path], hip: list[Path], rows: list[Row]) -> None:
    """Write ``absent.csv``: error codes that HIP never returns, under numbers it does not use.

    Programs compare with them and have a ``case`` for them: a cast of CUDA's number keeps that.
    """
    used = set(error_values([root / "hip" for root in hip], "hipError_t").values())
    known = {row.cuda for row in rows}
    values = error_values(cuda, "cudaError|cudaError_enum")
    with (TABLES / "absent.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["cuda", "type", "value"])
        for name, value in sorted(values.items()):
            number = value if value not in used else value + 1100
            if name not in known and number not in used and number <= LARGEST_ERROR:
                writer.writerow([name, "hipError_t", number])
        with (TABLES / "absent_by_hand.csv").open(newline="", encoding="utf-8") as library:
            for row in csv.DictReader(library):
                writer.writerow([row["cuda"], row["type"], row["value"]])


def write_sources(wheel: Path, cuda: Headers, hip: Headers) -> None:
    """Record what the tables were derived from in ``sources.csv``."""
    with (TABLES / "sources.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["source", "version", "files"])
        writer.writerow(["torch", "-".join(wheel.name.split("-")[:2]), 1])
        writer.writerow(["CUDA headers", cuda.version, cuda.files])
        writer.writerow(["HIP headers", hip.version, hip.files])


def main() -> int:
    """Read the sources, write the tables, print counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--torch-wheel", type=Path, required=True)
    parser.add_argument("--cuda-include", type=Path, action="append", required=True)
    parser.add_argument("--hip-include", type=Path, action="append", required=True)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.torch_wheel) as wheel:
        torch = torch_rows(wheel.read(TORCH_MODULE).decode("utf-8"))
    cuda = Headers(arguments.cuda_include, ())
    folders: tuple[str, ...] = (
        "hip",
        "hipblas",
        "hipblas-common",
        "hipblaslt",
        "hipfft",
        "hiprand",
        "rocrand",
    )
    folders += ("hipsparse", "hipsolver", "rccl", "roctracer")
    hip = Headers(arguments.hip_include, folders)
    if not hip.files or not cuda.files:
        print("error: no headers found below the folders given", file=sys.stderr)
        return 2
    rows, missing = Derivation(torch, cuda, hip).run()
    write(rows, missing)
    write_absent(arguments.cuda_include, arguments.hip_include, rows)
    write_sources(arguments.torch_wheel, cuda, hip)
    by_source: dict[str, int] = {}
    for row in rows:
        by_source[row.source] = by_source.get(row.source, 0) + 1
    print(f"{len(rows)} names {by_source}, {len(missing)} without a counterpart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
