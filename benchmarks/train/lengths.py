"""Write ``lengths.json``: tokens of the examples that a data set of pairs gives, by task.

    python -m benchmarks.train.lengths out/demo

Lengths are in tokens of a 16,384-token vocabulary learned from the same pairs, prompt and answer
together; longer ones than a window are dropped, as training drops them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cass_ray.train.data.examples import ExampleGenerator
from cass_ray.train.data.prepare import make_tokenizer, pair_files, read_pairs
from cass_ray.train.settings import FreshModel, ModelSettings, TrainSettings


def main() -> None:
    """Measure the data sets named on the command line."""
    folders = [Path(name) for name in sys.argv[1:]]
    result = {}
    for task in ("source", "assembly"):
        settings = TrainSettings(
            name="lengths",
            out=Path("unused"),
            data={"pairs": folders, "tasks": [task], "held_out": 0.0},  # type: ignore[arg-type]
            model=ModelSettings(fresh=FreshModel(vocab_size=16384, max_position_embeddings=16384)),
        )
        files = pair_files(folders)
        maker = ExampleGenerator(settings.data, make_tokenizer(settings, files))
        rows = [row for pair in read_pairs(files) for row in maker.examples(pair)]
        result[task] = sorted(len(row["tokens"]) for row in rows if not row["dropped"])
    Path(__file__).with_name("lengths.json").write_text(json.dumps(result) + "\n")
    for task, lengths in result.items():
        print(task, len(lengths), "examples, mean", round(sum(lengths) / len(lengths)))


if __name__ == "__main__":
    main()
