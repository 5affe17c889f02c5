#!/usr/bin/env bash
# The digest of all files that decide whether the project sets itself up on a bare machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files Makefile pyproject.toml constraints.txt scripts/setup.sh cass_ray/toolchain/hip cass_ray/toolchain/archive |
  LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum | cut -c1-16
