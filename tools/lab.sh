#!/usr/bin/env bash
# The hardware lab: the agent in emulated machines whose meters read programmed values through the kernel's own drivers
# (tests/lab/README.md). Needs no KVM, and no network once the packages are in build/kernels.
#   tools/lab.sh [--preset PRESET] [--no-build] [long | GUEST...]    (default: the guests of the short set)
#     long             every guest, and first a BMC that is read every 15 s (tests/e2e/test_slow_bmc.py; no guest)
#     --preset PRESET  use the agent of this preset (default: release-tests)
#     --no-build       do not build the agent
# The last line is "N passed, N failed"; exit code 1 if any failed. Logs are in build/lab/logs.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

preset=release-tests
build=yes
guests=()
while [ $# -gt 0 ]; do
  case "$1" in
    --preset)
      [ -n "${2:-}" ] || die "--preset wants a name"
      preset=$2
      shift
      ;;
    --no-build) build=no ;;
    -*) die "unknown argument '$1'" ;;
    *) guests+=("$1") ;;
  esac
  shift
done

tools/setup.sh dev lab
if [ "$build" = yes ]; then
  say "$preset: build"
  configure_and_build "$preset" kepler || die "the build of preset $preset failed"
fi
agent=$(built "$preset" kepler)
[ -n "$agent" ] || die "no agent in build/$preset; run without --no-build"
say "lab"
export PYTHONDONTWRITEBYTECODE=1
if [ "${guests[*]}" = long ]; then
  say "a BMC that is read every 15 s"
  SLOW_BMC=1 KEPLER_BIN="$PWD/$agent" /usr/bin/python3 tests/e2e/test_slow_bmc.py
fi
exec /usr/bin/python3 tests/lab/lab.py --agent "$agent" "${guests[@]}"
