#!/usr/bin/env bash
# Builds everything and runs every test: unit tests, end-to-end tests, the tests of the check scripts.
#   tools/test.sh [--preset PRESET]... [CTEST OPTION]...
#     --preset PRESET   release-tests (default), dev, asan-ubsan, tsan; may be repeated
#   Everything else goes to ctest, as in: tools/test.sh -R Ledger
# The last line is "N passed, N failed"; exit code 1 if any failed. Who is skipped is named, and counts as neither; with
# LAB_REQUIRED=1 it has failed. build/logs/totals has "passed failed skipped", once all tests ran.
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
rm -f build/logs/totals
passed=0
failed=0
skipped=0
failures=()
: >build/logs/skipped
for preset in "${presets[@]}"; do
  say "$preset: build"
  configure_and_build "$preset" || die "the build of preset $preset failed"
  say "$preset: tests"
  log=build/logs/test-$preset.log
  ctest --preset "$preset" -j 3 --no-tests=error "${options[@]}" 2>&1 | tee "$log" || true
  read -r more_passed more_failed more_skipped <<<"$(ctest_totals "$log")" || true
  [ -n "${more_passed:-}" ] || die "ctest of preset $preset gave no result"
  passed=$((passed + more_passed))
  failed=$((failed + more_failed))
  skipped=$((skipped + more_skipped))
  if [ "$more_failed" != 0 ]; then failures+=("$preset"); fi
  ctest_skipped "$preset" | sed "s/^/$preset: /" >>build/logs/skipped
done

if [ "${#options[@]}" = 0 ]; then
  say "check scripts"
  for check in tools/*_test.{py,sh}; do
    if "$check"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
fi
if [ -s build/logs/skipped ]; then
  say "skipped, and not counted"
  cat build/logs/skipped
fi
for preset in "${failures[@]}"; do
  say "$preset: what failed"
  ctest_failures "build/logs/test-$preset.log"
done
echo "$passed $failed $skipped" >build/logs/totals
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
