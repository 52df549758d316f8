# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: messages, the paths of the tree, and how many jobs to run.
# shellcheck shell=bash

SPOROS_SOURCE_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export SPOROS_SOURCE_DIR

if [[ -t 2 ]]; then
  sporos_bold=$'\033[1m' sporos_red=$'\033[31m' sporos_plain=$'\033[0m'
else
  sporos_bold='' sporos_red='' sporos_plain=''
fi

say() { printf '%s==> %s%s\n' "$sporos_bold" "$*" "$sporos_plain" >&2; }
warn() { printf '%swarning:%s %s\n' "$sporos_red" "$sporos_plain" "$*" >&2; }
die() {
  printf '%serror:%s %s\n' "$sporos_red" "$sporos_plain" "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The largest sources of the tests take 3 GB to compile; more jobs than memory allows would get the compiler killed.
jobs() {
  local cores memory_kb by_memory
  cores="$(nproc 2>/dev/null || echo 2)"
  memory_kb="$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)"
  by_memory=$((${memory_kb:-8000000} / 3000000))
  if ((by_memory < 1)); then by_memory=1; fi
  echo "${SPOROS_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}

# Configures build/<preset> and prints the summary of what was found; prints the rest only if it fails.
configure_preset() { # <preset> [cmake arguments...]
  local preset="$1" log
  shift
  log="$SPOROS_SOURCE_DIR/build/$preset.configure.log"
  mkdir -p "$SPOROS_SOURCE_DIR/build"
  say "configuring the preset $preset"
  if ! (cd "$SPOROS_SOURCE_DIR" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    die "configuring the preset $preset failed"
  fi
  sed -n '/^-- Sporos /,/^-- $/p' "$log" >&2
}

build_preset() { # <preset> [targets...]
  local preset="$1"
  shift
  say "building the preset $preset: ${*:-everything}"
  # A compiler fills gigabytes: with large pages, where the system gives them to programs that ask, clang takes a twentieth
  # less time.
  (cd "$SPOROS_SOURCE_DIR" && GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}" \
    NINJA_STATUS="    [%f/%t, %es] " cmake --build --preset "$preset" -j "$(jobs)" ${1:+--target "$@"} >&2) ||
    die "building the preset $preset failed"
}
