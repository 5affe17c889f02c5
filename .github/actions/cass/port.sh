#!/usr/bin/env bash
# The port, built and tested on each of $ARCHITECTURES; a line of the summary in $OUT, the status as output.
# Environment: PROJECT, ARCHITECTURES, BUILD, TEST, OUT; PORT_FOLDER, where the port goes (default $OUT/port).
set -euo pipefail

options=()
for name in $ARCHITECTURES; do options+=(--arch "$name"); done
if [ -n "$BUILD" ]; then options+=(--build "$BUILD"); fi
if [ -n "$TEST" ]; then options+=(--test "$TEST"); fi
status=0
cass project "$PROJECT" "${options[@]}" -o "${PORT_FOLDER:-$OUT/port}" \
  > "$OUT/project.out" 2> "$OUT/project.err" || status=$?
cat "$OUT/project.err" "$OUT/project.out"
if [ "$status" -gt 1 ]; then exit "$status"; fi
echo "status=$status" >> "$GITHUB_OUTPUT"
if [ "$status" -eq 0 ]; then word=pass; else word=fail; fi
printf '\nBuild and tests of the port on %s: **%s**.\n' "$ARCHITECTURES" "$word" >> "$OUT/summary.md"
# What the programs print beside the original's; indented, for it may quote a compiler.
sed -n 's/^gfx[0-9a-z]*: .*reference: .*/    &/p' "$OUT/project.out" > "$OUT/compared.md"
if [ -s "$OUT/compared.md" ]; then { echo; cat "$OUT/compared.md"; } >> "$OUT/summary.md"; fi
