#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_program.sh EXPECTED PROGRAM: runs the program of a document and compares what it prints with what the document
# says. EXPECTED may be missing: then the program only has to succeed.
set -euo pipefail

expected="$1" program="$2"
printed="$(basename "$program").printed"
"$program" >"$printed"
if [[ -r $expected ]] && ! diff --unified "$expected" "$printed"; then
  echo "The document promises the lines marked with -, the program prints those marked with +." >&2
  exit 1
fi
