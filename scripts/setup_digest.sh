#!/usr/bin/env bash
# The digest of all that decides whether the project sets itself up on a bare machine: files, and of
# pyproject.toml what pip reads (not the settings of linters).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
  python3 -c '
import json, tomllib
read = tomllib.load(open("pyproject.toml", "rb"))
print(json.dumps([read["build-system"], read["project"], read["tool"].get("setuptools")], sort_keys=True))'
  git ls-files Makefile constraints.txt scripts/setup.sh cass_ray/toolchain/hip cass_ray/toolchain/archive |
    LC_ALL=C sort | xargs -d '\n' sha256sum
} | sha256sum | cut -c1-16
