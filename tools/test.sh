#!/usr/bin/env bash
# Builds everything and runs every test: unit tests, end-to-end tests, the tests of the check scripts.
#   tools/test.sh [--preset PRESET]... [CTEST OPTION]...
#     --preset PRESET   release-tests (default), dev, asan-ubsan, tsan; may be repeated
#   Everything else goes to ctest, as in: tools/test.sh -R Ledger
set -euo pipefail
source "$(dirname "$0")/lib.sh"

presets=()
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --preset)
      [ -n "${2:-}" ] || die "--preset wants a name"
      presets+=("$2")
      shift
      ;;
    *) options+=("$1") ;;
  esac
  shift
done
[ "${#presets[@]}" -gt 0 ] || presets=(release-tests)

tools/setup.sh test
mkdir -p build/logs
passed=0
failed=0
: >build/logs/skipped
for preset in "${presets[@]}"; do
  say "$preset: build"
  configure_and_build "$preset" || die "the build of preset $preset failed"
  say "$preset: tests"
  log=build/logs/test-$preset.log
  ctest --preset "$preset" -j 2 --no-tests=error "${options[@]}" 2>&1 | tee "$log" || true
  read -r more_passed more_failed _ <<<"$(ctest_totals "$log")" || true
  [ -n "${more_passed:-}" ] || die "ctest of preset $preset gave no result"
  passed=$((passed + more_passed))
  failed=$((failed + more_failed))
  ctest_skipped "$preset" | sed "s/^/$preset: /" >>build/logs/skipped
done

if [ "${#options[@]}" = 0 ]; then
  say "check scripts"
  for check in tools/check_layers_test.py tools/lib_test.sh; do
    if "$check"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
fi
if [ -s build/logs/skipped ]; then
  say "skipped, and not counted"
  cat build/logs/skipped
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
