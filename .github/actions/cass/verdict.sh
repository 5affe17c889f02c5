#!/usr/bin/env bash
# Fails where findings or the port failed. Environment: FINDINGS and PORT, what the two said.
set -euo pipefail

if [ "$FINDINGS" != 0 ]; then echo "new findings: see the summary" >&2; exit 1; fi
if [ "${PORT:-0}" != 0 ]; then echo "the port does not build or its tests fail" >&2; exit 1; fi
