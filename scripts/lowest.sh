#!/usr/bin/env bash
# Tests with the lowest versions that pyproject.toml allows, in an environment of their own: a bound
# that is too low shows here. The highest ones are those of constraints.txt (`make lock`).
#
#   scripts/lowest.sh [TEST ...]      default: what needs neither GPU nor vendors' compilers
#
# Needs Python with venv and the package registry. Writes below build/lowest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly HOME_OF=build/lowest
readonly EXTRAS=(train serve s3 mcp bench analysis lora)
TESTS=("$@")
[[ $# -gt 0 ]] || TESTS=(
  tests/api tests/dataset tests/storage tests/serve/http tests/serve/request tests/analysis
  tests/publish tests/llm tests/agents tests/assembly tests/browse tests/train/data
  tests/train/test_correctness.py tests/train/engines tests/test_config.py tests/test_cli.py
  tests/test_public_api.py
)

python3 -m venv "$HOME_OF/tools"
"$HOME_OF/tools/bin/pip" install --quiet uv
"$HOME_OF/tools/bin/uv" pip compile --quiet --resolution lowest-direct --no-header --no-annotate \
  "${EXTRAS[@]/#/--extra=}" pyproject.toml --output-file "$HOME_OF/resolved.txt"
# What torch brings depends on where its file comes from: with or without CUDA's libraries. Its own
# lowest version is what the tests marked `gpu` run with (2.11); here it is that of constraints.txt.
grep -vE '^(nvidia-cu|nvidia-n[cv]|triton|cuda-|torch==)' "$HOME_OF/resolved.txt" \
  >"$HOME_OF/lowest.txt"
grep '^torch==' constraints.txt >>"$HOME_OF/lowest.txt"
python3 -m venv --clear "$HOME_OF/venv"
"$HOME_OF/venv/bin/pip" install --quiet --constraint "$HOME_OF/lowest.txt" \
  --editable ".[$(IFS=,; echo "${EXTRAS[*]}")]" hypothesis 'moto[s3]' pytest
PYTHONPATH=. "$HOME_OF/venv/bin/python" -m pytest -p no:cacheprovider \
  -m "not slow and not amd and not nvidia and not gpu" "${TESTS[@]}"
