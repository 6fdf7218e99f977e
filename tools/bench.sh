#!/usr/bin/env bash
# Speed and memory of the whole agent on this machine's kernel, with 200, 1,000 and 10,000 sleeping processes and a meter of
# four zones: CPU per tick and per scrape, RSS, start, 50 readers at once. Costs are ratios to the yardstick of the same
# run: the CPU time of one plain pass over every /proc/PID/stat. Prints one table; takes about two minutes.
#   tools/bench.sh [--build DIR] [--strict] [--processes N]... [--rounds N]
#     --build DIR   measure what is built there (default: builds the preset release-tests)
#     --strict      exit 1 if a budget is exceeded; otherwise budgets are only shown
# In-process benchmarks are their own programs: DIR/bench/*_bench.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

build=
if [ "${1:-}" = --build ]; then
  [ -d "${2:-}" ] || die "--build wants a directory"
  build=$2
  shift 2
else
  tools/setup.sh dev
  say "building"
  configure_and_build release-tests kepler sleepers yardstick scrapers
  build=build/release-tests
fi
exec python3 -B bench/agent_bench.py "$build" "$@"
