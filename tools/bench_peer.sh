#!/usr/bin/env bash
# This agent and Debian's prometheus-process-exporter side by side, in turns on the same 10,000 sleeping processes: CPU and
# wall time per scrape, RSS, size of the answer. The peer does its work when it is asked, the agent between scrapes too: a
# scrape of the agent is counted with the ticks that feed it (every 5 s, a scrape every 15 s). The peer is configured to show
# each process by itself, as the agent does, with its own defaults and without threads and smaps. Takes about five minutes.
#   tools/bench_peer.sh [--build DIR] [--strict] [--processes N] [--rounds N] [--scrapes N]
#     --build DIR   measure what is built there (default: builds the preset release-tests)
#     --strict      exit 1 if the agent's scrape, with its ticks, is not 50 times cheaper
set -euo pipefail
source "$(dirname "$0")/lib.sh"

build=
if [ "${1:-}" = --build ]; then
  [ -d "${2:-}" ] || die "--build wants a directory"
  build=$2
  shift 2
else
  tools/setup.sh test
  say "building"
  configure_and_build release-tests kepler sleepers yardstick scrapers
  build=build/release-tests
fi
exec python3 -B bench/peer_bench.py "$build" "$@"
