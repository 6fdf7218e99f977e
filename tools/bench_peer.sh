#!/usr/bin/env bash
# Compares this agent with Debian's prometheus-process-exporter, alternating on the same 10,000 sleeping processes: CPU and
# wall time per scrape, RSS, size of the response. The peer works during a scrape, the agent also between scrapes, so a scrape
# of the agent includes its ticks (every 5 s, a scrape every 15 s). The peer shows each process, as the agent does, with its
# defaults and without threads and smaps. Takes about five minutes.
#   tools/bench_peer.sh [--build DIR] [--strict] [--processes N] [--rounds N] [--scrapes N]
#     --build DIR   measure the programs of this build (default: builds the preset release-tests)
#     --strict      exit 1 if a scrape of the agent, with its ticks, is not 50 times cheaper
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
exec /usr/bin/python3 -B bench/peer_bench.py "$build" "$@"
