"""A model in parts that are small enough to be taken home one by one.

    P="python -m recipes.small.parts"
    $P snapshot OUT/run --to FOLDER          # the newest checkpoint of a run as an int8 copy
    $P cut FOLDER --to PARTS [--bytes N]     # FOLDER of files as PARTS/part.00, part.01 …
    $P cut MODEL --to PARTS --bf16           # a model with its weights in bf16
    $P join PARTS --to FOLDER                # and back, every file checked

A snapshot can be gone on from once it is joined (``small.model run --base FOLDER``): its weights
are restored then. Files of weights are stored with the bytes of their numbers sorted by place:
the exponents of bf16 then take a third of their size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import pyarrow as pa

PART_BYTES = 15_000_000
_LEVEL = 3
_BF16 = 2
"""Bytes of a number whose bytes are sorted by place."""


def cut(folder: Path, out: Path, part_bytes: int = PART_BYTES, bf16: bool = False) -> list[Path]:
    """Write the files of ``folder`` as parts of at most ``part_bytes``; the parts, in order.

    With ``bf16`` weights of more bytes are made bf16.
    """
    index, content = [], []
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        data = _in_bf16(path) if bf16 and path.suffix == ".safetensors" else path.read_bytes()
        places = _BF16 if path.suffix == ".safetensors" else 1
        planes = [data[place::places] for place in range(places)]
        packed = [
            pa.Codec("zstd", compression_level=_LEVEL).compress(p, asbytes=True) for p in planes
        ]
        index.append(
            {
                "name": path.name,
                "sha256": hashlib.sha256(data).hexdigest(),
                "planes": [[len(p), len(c)] for p, c in zip(planes, packed, strict=True)],
            }
        )
        content += packed
    head = json.dumps(index).encode()
    whole = b"".join([len(head).to_bytes(8, "little"), head, *content])
    out.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, start in enumerate(range(0, len(whole), part_bytes)):
        parts.append(out / f"part.{number:02}")
        parts[-1].write_bytes(whole[start : start + part_bytes])
    return parts


def _in_bf16(path: Path) -> bytes:
    import torch
    from safetensors.torch import load_file, save

    weights = load_file(path)
    low = {
        name: tensor.to(torch.bfloat16) if tensor.is_floating_point() else tensor
        for name, tensor in weights.items()
    }
    made: bytes = save(low, {"format": "pt"})
    return made


def join(parts: Path, out: Path) -> list[Path]:
    """Restore what :func:`cut` was given; the files.

    Raises ``ValueError`` where a part is missing or a file is not what it was.
    """
    found = sorted(parts.glob("part.*"))
    if [path.name for path in found] != [f"part.{n:02}" for n in range(len(found))] or not found:
        raise ValueError(f"{parts}: parts are missing: {[path.name for path in found]}")
    whole = b"".join(path.read_bytes() for path in found)
    place = 8 + int.from_bytes(whole[:8], "little")
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for entry in json.loads(whole[8:place]):
        planes = []
        for size, packed in entry["planes"]:
            piece = whole[place : place + packed]
            place += packed
            if len(piece) < packed:
                raise ValueError(f"{parts}: the last parts are missing")
            planes.append(pa.Codec("zstd").decompress(piece, decompressed_size=size, asbytes=True))
        data = bytearray(sum(map(len, planes)))
        for number, plane in enumerate(planes):
            data[number :: len(planes)] = plane
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise ValueError(f"{parts}: {entry['name']} is not what it was")
        made.append(out / Path(entry["name"]).name)
        made[-1].write_bytes(data)
    return made


def snapshot(run: Path, out: Path) -> int:
    """Write the newest checkpoint in ``run`` as an int8 copy; its step.

    What is not weights is taken from ``run/model``, which the trial of a run leaves there.
    Raises ``ValueError`` where there is no checkpoint.
    """
    from safetensors import safe_open
    from safetensors.torch import save_file

    from cass_ray.llm.int8_weights import write_int8_copy
    from cass_ray.train.checkpoint.reader import CheckpointReader
    from cass_ray.train.checkpoint.store import WEIGHT, CheckpointStore

    store = CheckpointStore(str(run / "checkpoints"))
    step = store.latest(print)
    if step is None:
        raise ValueError(f"{run} has no checkpoint yet")
    reader, weights = CheckpointReader(store, step), {}
    with safe_open(run / "model" / "model.safetensors", framework="pt") as like:
        for name in like.keys():  # noqa: SIM118 - not a mapping
            shape = like.get_slice(name).get_shape()
            size = 1
            for length in shape:
                size *= length
            values = reader.read(WEIGHT, f"model.{name}", 0, size)
            weights[name] = values.view(shape).bfloat16()
    reader.close()
    whole = out.with_name(f"{out.name}.bf16")
    shutil.copytree(run / "model", whole, ignore=shutil.ignore_patterns("*.safetensors"))
    save_file(weights, whole / "model.safetensors")
    write_int8_copy(whole, out)
    shutil.rmtree(whole)
    return step


def restored(copy: Path) -> None:
    """Put bf16 weights in place of an int8 copy's."""
    import torch
    from safetensors.torch import load_file, save_file

    from cass_ray.llm import int8_weights

    stored = load_file(copy / int8_weights.INT8_FILE)
    weights = {
        name: int8_weights.restored(tensor, stored[name + int8_weights.SCALES], torch.bfloat16)
        if name + int8_weights.SCALES in stored
        else tensor
        for name, tensor in stored.items()
        if not name.endswith(int8_weights.SCALES)
    }
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    (copy / int8_weights.INT8_FILE).unlink()


def arguments() -> argparse.ArgumentParser:
    """What the commands take."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("snapshot", "cut", "join"):
        command = commands.add_parser(name)
        command.add_argument("source", type=Path)
        command.add_argument("--to", type=Path, required=True)
        if name == "cut":
            command.add_argument("--bytes", type=int, default=PART_BYTES)
            command.add_argument("--bf16", action="store_true", help="Weights of more bytes.")
        if name == "join":
            command.add_argument("--bf16", action="store_true", help="Restore an int8 copy.")
    return parser


def main() -> None:
    options = arguments().parse_args()
    if options.command == "snapshot":
        print(f"step {snapshot(options.source, options.to)}")
    elif options.command == "cut":
        parts = cut(options.source, options.to, options.bytes, options.bf16)
        print(len(parts), "parts")
    else:
        print(*join(options.source, options.to))
        if options.bf16:
            restored(options.to)


if __name__ == "__main__":
    main()
