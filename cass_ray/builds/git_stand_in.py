"""Stands in git's place while a project is built, without a network: what was brought before is
copied, updates of submodules succeed, all else is git's own.

A program by itself, for any Python 3. ``git.json`` beside it has git's path, if there is one, and
the folders of dependencies by address.
"""

import json
import os
import shutil
import sys
from typing import Any

UPDATES = ("submodule", "fetch", "pull", "checkout", "reset", "remote", "lfs")


def main() -> int:
    here = os.path.dirname(os.path.realpath(__file__))
    with open(os.path.join(here, "git.json")) as file:
        settings = json.load(file)
    words = sys.argv[1:]
    while words and words[0].startswith("-"):
        with_value = words[0] in ("-C", "-c")
        if words[0] == "-C" and len(words) > 1 and os.path.isdir(words[1]):
            os.chdir(words[1])
        words = words[2:] if with_value else words[1:]
    command = words[0] if words else ""
    if command == "clone":
        return clone(words[1:], settings["places"])
    if command in UPDATES:
        return 0
    if settings["git"] is not None:
        os.execv(settings["git"], [settings["git"], *sys.argv[1:]])
    sys.stderr.write("git: not on this machine\n")
    return 1


def clone(words: "list[str]", places: "dict[str, Any]") -> int:
    plain = [word for word in words if not word.startswith("-")]
    at = next((i for i, word in enumerate(plain) if plain_address(word) in known(places)), None)
    if at is None:
        sys.stderr.write(f"git: {' '.join(plain)}: not brought before the build\n")
        return 128
    source = known(places)[plain_address(plain[at])]
    after = plain[at + 1 : at + 2]
    target = after[0] if after else plain_address(plain[at]).rsplit("/", 1)[-1]
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
    return 0


def known(places: "dict[str, Any]") -> "dict[str, Any]":
    return {plain_address(address): place for address, place in places.items()}


def plain_address(address: str) -> str:
    return address.rstrip("/").removesuffix(".git").lower()


if __name__ == "__main__":
    sys.exit(main())
