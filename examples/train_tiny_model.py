"""Make pairs, train a tiny model on them, and ask it for a translation.

A million parameters and a few steps make no good translator; what comes out is judged like any
other engine's answer. The recipes for real models are ``jobs/configs/train_*.yaml``.
"""

import sys
from pathlib import Path

import cass_ray as cass
from cass_ray.config import load
from cass_ray.train.settings import TrainSettings
from jobs.train import main as train

RECIPE = Path(__file__).parents[1] / "jobs" / "configs" / "train_tiny.yaml"
QUESTION = "__global__ void twice(int *p) { *p *= 2; }\nint main() { cudaDeviceReset(); }\n"


def main(folder: Path) -> None:
    pairs = folder / "pairs_of_random_programs"
    # Random, correct CUDA programs, of which a model can have as many as it likes.
    cass.build(["generated:16@7"], pairs)
    # The recipe, made smaller: fewer steps, and one worker instead of two.
    smaller = {
        "out": folder / "tiny",
        "data": {"pairs": [pairs]},
        "steps": 4,
        "workers": {"number": 1},
    }
    summary = train(load(TrainSettings, RECIPE, smaller), resume=False)
    print(f"{summary['steps']} steps, loss {summary['loss']:.3f}")
    answer = cass.translate(QUESTION, engine=f"model:{summary['model']}?max_new_tokens=32")
    print(answer.source)
    for finding in answer.findings:
        print(finding.format("question.cu"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples").absolute())
