#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_commands.sh COMMANDS FOLDER: runs the commands of a document, one a line, with the programs of FOLDER at hand.
set -euo pipefail

PATH="$2:$PATH"
while IFS= read -r command; do
  echo "\$ $command"
  bash -euo pipefail -c "$command"
done <"$1"
