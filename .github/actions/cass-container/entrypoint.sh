#!/usr/bin/env bash
# What the steps of the composite action do, in one container.
set -euo pipefail
steps=$(cd "$(dirname "${BASH_SOURCE[0]}")/../cass" && pwd)

# The workspace belongs to the runner's user; git would not read it. Paths are relative to it, so that
# later steps, outside of this container, find what lies there.
git config --global --add safe.directory '*'
cd "$GITHUB_WORKSPACE"
export OUT=.cass PORT_FOLDER=/tmp/cass-port  # not inside what is ported

output() { sed -n "s/^$1=//p" "$GITHUB_OUTPUT" | tail -n 1; }

"$steps/findings.sh"
FINDINGS=$(output status) PORT=0
if [ "$TEST_PROJECT" = true ]; then
  "$steps/port.sh"
  PORT=$(output status)
fi
cat "$OUT/summary.md" >> "$GITHUB_STEP_SUMMARY"
export FINDINGS PORT
status=0
"$steps/verdict.sh" || status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"
exit "$status"
