#!/usr/bin/env bash
# The digest of all that decides whether the project sets itself up on a bare machine: files, and of
# pyproject.toml what is installed and how (not our commands, nor the settings of linters).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
  python3 -c '
import json, tomllib
read = tomllib.load(open("pyproject.toml", "rb"))
needs = [read["project"].get(key) for key in ("requires-python", "dependencies", "optional-dependencies")]
print(json.dumps([needs, read["build-system"], read["tool"].get("setuptools")], sort_keys=True))'
  git ls-files Makefile constraints.txt scripts/setup.sh release/build_backend.py release/renaming.py cass_ray/toolchain/hip cass_ray/toolchain/archive |
    LC_ALL=C sort | xargs -d '\n' sha256sum
} | sha256sum | cut -c1-16
