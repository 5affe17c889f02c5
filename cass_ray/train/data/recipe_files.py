"""What a run with a recipe keeps on disk: its tokenizer, its pairs, examples to measure with."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from cass_ray.llm.line_edits import MARKS
from cass_ray.llm.pretrained import load_tokenizer
from cass_ray.llm.translation_format import TranslationFormat, special_tokens
from cass_ray.train.data.augment import ApiNames
from cass_ray.train.data.examples import DataError, is_source_pair
from cass_ray.train.data.prepare import token_inputs
from cass_ray.train.data.recipe import ExampleRecipe, RecipePair, recipe_pairs
from cass_ray.train.data.token_store import write_examples
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.translate.rules import tables

PAIR_COLUMNS = ("id", "kind", "repository", "filename", "cuda_source", "hip_source")
_SCHEMA = pa.schema([(name, pa.string()) for name in PAIR_COLUMNS])
_TOKENIZER_CHARACTERS = 48_000_000


def api_names() -> ApiNames:
    """The names of the mapping tables that need no more than another spelling."""
    special = {*tables.calls(), *tables.device_functions(), *tables.casts(), *tables.absent()}
    with (tables.FOLDER / "names.csv").open(newline="", encoding="utf-8") as stream:
        rows = [(row["cuda"], row["hip"], row["kind"]) for row in csv.DictReader(stream)]
    own = [row for row in rows if row[0].startswith("cuda")]
    return ApiNames.of(own, frozenset(special))


def kind_of(row: Mapping[str, Any]) -> str:
    """``synthetic`` pairs as they are; of others, whether the file is a program."""
    if row.get("kind"):
        return str(row["kind"])
    if row.get("origin") == "synthetic":
        return "synthetic"
    return "program" if " main(" in row["cuda_source"] else "file"


def write_pairs(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write the columns of ``PAIR_COLUMNS``; returns how many rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as writer:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append({name: row.get(name) or "" for name in PAIR_COLUMNS})
            if len(batch) == 256:
                writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=_SCHEMA))
                number, batch = number + len(batch), []
        writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=_SCHEMA))
    return number + len(batch)


def stored_pairs(path: Path) -> Iterator[dict[str, Any]]:
    """What :func:`write_pairs` wrote."""
    with pa.ipc.open_file(pa.memory_map(str(path), "r")) as reader:
        for number in range(reader.num_record_batches):
            yield from reader.get_batch(number).to_pylist()


def prepare_recipe(
    settings: TrainSettings, files: list[str], rows: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Write the files of the run, made from ``files``; the numbers of pairs.

    Rows have ``id``, ``repository``, both sources, ``kind`` or ``origin``, and ``filename`` for
    messages; those of held-out repositories are measured with. Raises ``DataError`` when nothing
    is left to learn from.
    """
    recipe = settings.data.recipe
    assert recipe is not None
    paths = RunFiles(settings.out)
    apart = frozenset(recipe.held_out_repositories)
    learned, held_out = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    skipped = 0
    for given in rows:
        if not is_source_pair(given):
            skipped += 1
            continue
        row = {**given, "kind": kind_of(given)}
        (held_out if row.get("repository") in apart else learned).append(row)
    if not learned:
        why = f"; {skipped} rows have no source on both sides" if skipped else ""
        raise DataError(f"no pairs to draw from: data.pairs holds held-out repositories only{why}")
    counts = {"pairs": write_pairs(learned, paths.recipe_pairs), "held_out": len(held_out)}
    counts["no_sources"] = skipped
    write_pairs(held_out, paths.recipe_held_out)
    _tokenizer(settings, learned).save_pretrained(paths.tokenizer)
    example_recipe = load_recipe(settings)
    programs = recipe_pairs(held_out, example_recipe.format.snippets)
    counts["held_out_examples"] = write_examples(
        _measured(example_recipe, programs, recipe.max_tokens), paths.held_out
    )
    content = {"made_from": token_inputs(settings, files), "counts": counts}
    paths.data_record.write_text(json.dumps(content, indent=1))
    return counts


def _tokenizer(settings: TrainSettings, rows: Iterable[Mapping[str, Any]]) -> Any:
    """The tokenizer of the base model, which was trained so before; or one of the pairs."""
    from cass_ray.train.data.tokenizer import train_tokenizer

    if settings.model.fresh is None:
        return load_tokenizer(str(settings.model.base))
    special = special_tokens(sorted(tables.snippets()))
    size = settings.model.fresh.vocab_size - len(special)
    return train_tokenizer(_texts(rows), size, prefixes=True, special=special)


def _texts(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Both sides of every pair; of the answer the lines that are new."""
    left = _TOKENIZER_CHARACTERS
    for row in rows:
        lines = set(row["cuda_source"].split("\n"))
        changed = "\n".join(line for line in row["hip_source"].split("\n") if line not in lines)
        yield row["cuda_source"]
        yield changed[: len(row["cuda_source"])]
        left -= len(row["cuda_source"])
        if left < 0:
            return


def _measured(
    recipe: ExampleRecipe, programs: Iterable[RecipePair], longest: int
) -> Iterator[dict[str, Any]]:
    for program in programs:
        for whole_file in (True, False):
            if len(program.cuda) > MARKS:
                continue
            example = recipe.example(program.id, program.cuda, program.hip, whole_file)
            if len(example) <= longest:
                yield {
                    "pair": program.id,
                    "task": "file" if whole_file else "edits",
                    "tokens": [*example.question, *example.answer],
                    "answer_start": len(example.question),
                    "weight": 1.0,
                    "held_out": True,
                    "dropped": "",
                }


def load_recipe(settings: TrainSettings) -> ExampleRecipe:
    """The recipe of a run that :func:`prepare_recipe` has prepared."""
    assert settings.data.recipe is not None
    paths = RunFiles(settings.out)
    texts = tables.snippets()
    form = TranslationFormat(load_tokenizer(str(paths.tokenizer)), texts)
    pairs = recipe_pairs(list(stored_pairs(paths.recipe_pairs)), texts)
    return ExampleRecipe(settings.data.recipe, pairs, form, api_names())
