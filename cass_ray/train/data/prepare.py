"""From data sets of pairs to the token files of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from cass_ray.dataset.parquet import file_version, parquet_dataset, parquet_files
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.llm.chat_format import check_tokenizer
from cass_ray.llm.pretrained import ModelError, load_config, load_tokenizer, positions
from cass_ray.llm.prompts import prompt_format
from cass_ray.train.data.examples import COLUMNS, LEVEL_COLUMNS, LIFTED, DataError, split_rows
from cass_ray.train.data.token_store import write_examples
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings

_TOKENIZER_CHARACTERS = 64_000_000
"""A tokenizer of our own learns from about so much text."""


def pair_files(places: Iterable[Path | str]) -> list[str]:
    """Parquet files of the data sets. Raises ``DataError`` for one that is not there."""
    result: list[str] = []
    for place in places:
        files = parquet_files(place)
        if not files:
            raise DataError(
                f"{place}: no pairs/*.parquet here; build a data set with "
                f"`cass build-dataset --out {place}`"
            )
        result.extend(files)
    return result


def by_data_set(files: Iterable[str]) -> Iterator[list[str]]:
    """``files`` of one data set after the other: all local, or all of one storage."""
    for _, some in groupby(files, key=lambda path: path.rpartition("/")[0]):
        yield list(some)


def read_pairs(
    files: list[str], columns: tuple[str, ...] = (*COLUMNS, LIFTED, *LEVEL_COLUMNS)
) -> Iterator[dict[str, Any]]:
    """Rows of ``files``; ``columns`` that a file does not have, for it is older, are None."""
    for some in by_data_set(files):
        data = parquet_dataset(some, PAIR_SCHEMA)
        for batch in data.to_batches(columns=list(columns), batch_size=64):
            yield from batch.to_pylist()


def make_tokenizer(settings: TrainSettings, files: list[str]) -> Any:
    """The tokenizer of the base model, or one learned from the training half of the pairs.

    Raises ``cass_ray.llm.pretrained.ModelError``: no such model, or no chat template.
    """
    base = settings.model.base
    if base is not None:
        tokenizer = load_tokenizer(base)
        check_tokenizer(tokenizer, base)
        if settings.model.rope is None:
            check_window(load_config(base), settings.data.window, base)
        return tokenizer
    from cass_ray.train.data.tokenizer import train_tokenizer

    assert settings.model.fresh is not None
    return train_tokenizer(_texts(settings, files), settings.model.fresh.vocab_size)


def _texts(settings: TrainSettings, files: list[str]) -> Iterator[str]:
    """Questions and answers, as they are written, of pairs that are learned from."""
    from cass_ray.train.data.examples import codes, is_held_out

    style = prompt_format(settings.data.prompt)
    left = _TOKENIZER_CHARACTERS
    for row in read_pairs(files):
        if is_held_out(row["id"], settings.data.held_out):
            continue
        for task in settings.data.parsed_tasks:
            for code in codes(row, task, settings.data):
                yield (question := style.question(task, code.question))
                yield (answer := style.answer(task, code.answer))
                left -= len(question) + len(answer)
        if left < 0:
            return


def check_window(config: Any, window: int, name: str) -> None:
    """Raise ``ModelError`` when ``window`` tokens are more than the model has positions."""
    limit = positions(config)
    if window > limit:
        factor = -(-window // limit)
        raise ModelError(
            f"data.window = {window} is larger than the {limit} positions of {name}: lower it, or "
            f"extend the model with `model.rope: {{kind: yarn, factor: {factor}.0}}`"
        )


def token_inputs(settings: TrainSettings, files: list[str]) -> dict[str, Any]:
    """What the token files depend on."""
    sizes = [(name, *file_version(name)) for name in files]
    return {
        "files": hashlib.sha256(json.dumps(sizes).encode()).hexdigest(),
        "data": settings.data.model_dump(mode="json", exclude={"seed"}),
        "base": settings.model.base,
        "fresh": settings.model.fresh.vocab_size if settings.model.fresh else None,
    }


def is_prepared(settings: TrainSettings, files: list[str]) -> bool:
    """Whether the run's folder holds tokens made from just this."""
    path = RunFiles(settings.out).data_record
    if not path.exists():
        return False
    inputs: dict[str, Any] = json.loads(path.read_text())["made_from"]
    return inputs == token_inputs(settings, files)


def store_examples(
    settings: TrainSettings, files: list[str], rows: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """Write the token files. Returns the counts. Raises ``DataError`` when nothing is left.

    Where no program fell to the held-out side and some should have, the first one by id does.
    """
    train, held_out, dropped = split_rows(rows)
    if not held_out and settings.data.held_out > 0:
        first = min(row["pair"] for row in train)
        held_out = [row for row in train if row["pair"] == first]
        train = [row for row in train if row["pair"] != first]
        if not train:
            raise DataError("one program alone cannot be split; set data.held_out = 0")
    paths = RunFiles(settings.out)
    counts = {
        "train": write_examples(train, paths.train),
        "held_out": write_examples(held_out, paths.held_out),
        "train_tokens": sum(len(row["tokens"]) for row in train),
        "dropped": dict(dropped),
    }
    content = {"made_from": token_inputs(settings, files), "counts": counts}
    paths.data_record.write_text(json.dumps(content, indent=1))
    return counts
