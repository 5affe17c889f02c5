"""What a model takes on this CPU to load, to read a program and to write its edits.

    python -m benchmarks.serve.cpu_decoding MODEL FILE.cu …

A line a program: tokens read and written, seconds of wall and of CPU for both, tokens a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cass_ray.translate.engines.edits import formatted_question
from cass_ray.translate.engines.model import ModelTranslator


def _clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


def _since(before: tuple[float, float]) -> tuple[float, float]:
    now = _clocks()
    return now[0] - before[0], now[1] - before[1]


def measured(model: str, files: Sequence[Path]) -> Iterator[str]:
    """Lines of the table as they come; reading ends with the first token that is written."""
    started = _clocks()
    answering = ModelTranslator.from_engine(f"model:{model}").answering
    wall, cpu = _since(started)
    yield f"loaded in {wall:.1f} s, {cpu:.1f} s of CPU"
    for file in files:
        question = formatted_question(answering.form, file.read_text(), "auto")
        room = question.room(answering.positions, None)
        started = _clocks()
        answer = answering.decoder.stream(
            question.ids, room, 0.0, answering.form.end, edits=question.marks(1)
        )
        next(answer)
        read, read_cpu = _since(started)
        started = _clocks()
        written = sum(1 for _ in answer)
        wrote, wrote_cpu = _since(started)
        yield (
            f"{file.name}: {len(question.ids)} tokens read in {read:.1f} s "
            f"({read_cpu:.1f} of CPU), "
            f"{written} written in {wrote:.1f} s ({wrote_cpu:.1f} of CPU): "
            f"{written / wrote:.1f} a second, {written / wrote_cpu:.1f} a second of CPU"
        )


if __name__ == "__main__":
    for line in measured(sys.argv[1], [Path(name) for name in sys.argv[2:]]):
        print(line, flush=True)
