#!/usr/bin/env bash
# Findings that a change brings: SARIF and a summary in $OUT, their names and the status as outputs.
# Environment: PROJECT, BASE, FAIL_ON, OUT.
set -euo pipefail

mkdir -p "$OUT"
{
  echo "sarif=$OUT/findings.sarif"
  echo "summary=$OUT/summary.md"
} >> "$GITHUB_OUTPUT"
status=0
python -m cass_ray.project.changes --root "$PROJECT" --base "$BASE" --fail-on "$FAIL_ON" \
  --sarif "$OUT/findings.sarif" --summary "$OUT/summary.md" || status=$?
if [ "$status" -gt 1 ]; then exit "$status"; fi
echo "status=$status" >> "$GITHUB_OUTPUT"
