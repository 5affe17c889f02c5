"""``run_make.py ARGUMENTS``: make, past included files that are missing.

Projects keep a file of settings for each machine (``make.inc.linux``, ``builds/host.summit``) and
include one by the name that somebody gives it. Make itself says which is missing; the file beside
it whose name goes on, or differs after the last separator, stands for it: one that speaks of CUDA
if there is one. An empty file stands for one that has none.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

_ROUNDS = 8
_SECONDS = 60
_NO_GOAL = "cass-no-such-goal"
_NO_FILE = re.compile(r"^[^\s:]+:\d+: ([^\s:]+): No such file or directory$", re.MULTILINE)
_NO_RULE = re.compile(r"No rule to make target ['`]([^'\n]+)'")
_OF_CUDA = re.compile(r"\bnvcc\b|CUDA|\bsm_\d\d")
_OF_OTHERS = re.compile(r"hip|rocm|sycl|amd|intel|darwin|mac|osx|win|mingw", re.IGNORECASE)
_COMMON = re.compile(
    r"linux|gnu|gcc|generic|default|example|sample|template|cuda|gpu", re.IGNORECASE
)


def _missing(arguments: list[str]) -> list[str]:
    """Included files that are not there and that nothing makes, as make says."""
    command = ["make", *arguments, "-n", _NO_GOAL]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return []
    said = done.stderr.decode(errors="replace")
    wanted = set(_NO_RULE.findall(said))
    return [name for name in dict.fromkeys(_NO_FILE.findall(said)) if name in wanted]


def _stand_in(path: Path) -> "Path | None":
    """The file beside ``path`` that is most like what is wanted."""
    beginning = re.sub(r"(?<=[._-])[^._-]+$", "", path.name)
    files = sorted(each for each in path.parent.glob("*") if each.is_file())
    longer = [each for each in files if re.match(rf"{re.escape(path.name)}\W", each.name)]
    if not longer and beginning not in ("", path.name):
        longer = [each for each in files if each.name.startswith(beginning)]
    return max(longer, key=_fitness, default=None)


def _fitness(path: Path) -> "tuple[bool, bool, bool]":
    cuda = _OF_CUDA.search(path.read_text(errors="replace")) is not None
    others = _OF_OTHERS.search(path.name) is not None
    return cuda and not others, not others, _COMMON.search(path.name) is not None


def _provide(name: str) -> bool:
    """Write the included file ``name``; whether that could be done."""
    path = Path(name)
    like = _stand_in(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(like.read_bytes() if like else b"")
    except OSError:
        return False
    print(f"{name} is missing: {like or 'an empty file'} stands for it", flush=True)
    return True


def main(arguments: "list[str]") -> None:
    """Provide what is missing, then become make."""
    for _ in range(_ROUNDS):
        provided = [_provide(name) for name in _missing(arguments)]
        if not any(provided):
            break
    os.execvp("make", ["make", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
