#!/usr/bin/env bash
# Check the first line of a commit message: at most 72 characters. Use: scripts/check_subject.sh FILE
set -euo pipefail
readonly MOST=72
subject=$(head -n 1 "$1")
if ((${#subject} > MOST)); then
  echo "The subject has ${#subject} characters, at most $MOST fit; the why belongs in the body:" >&2
  echo "  $subject" >&2
  exit 1
fi
