#!/usr/bin/env bash
# Builds everything and runs every test: unit tests, end-to-end tests, the tests of the check scripts.
#   tools/test.sh [--preset PRESET]... [CTEST OPTION]...
#     --preset PRESET   release-tests (default), dev, asan-ubsan, tsan; may be repeated
#   Other options are passed to ctest: tools/test.sh -R attribution
# The tests of a room are one program. To run one test: build/release-tests/src/ROOM/ROOM_test --gtest_filter=NAME.
# The last line is "N passed, N failed"; exit code 1 if any failed. Skipped tests are listed and not counted; with
# LAB_REQUIRED=1 they are failures. build/logs/totals has "passed failed skipped" after all tests ran.
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
  started=$(date +%s)
  configure_and_build "$preset" || die "the build of preset $preset failed"
  say "$preset: tests"
  results=$root/build/logs/test-$preset.xml
  rm -f "$results"
  # The jobs of a preset are slots (tests/CMakeLists.txt). Hide passed tests of a program that failed.
  ctest --preset "$preset" --no-tests=error --output-junit "$results" --test-output-size-passed 10000000 \
    --test-output-size-failed 10000000 "${options[@]}" 2>&1 | grep -vE '^\[( RUN      |       OK |-{10})' || true
  [ -s "$results" ] || die "ctest of preset $preset gave no result"
  read -r more_passed more_failed more_skipped <<<"$(tools/test_report.py totals "$results")"
  passed=$((passed + more_passed))
  failed=$((failed + more_failed))
  skipped=$((skipped + more_skipped))
  if [ "$more_failed" != 0 ]; then failures+=("$preset"); fi
  tools/test_report.py skipped "$results" | sed "s/^/$preset: /" >>build/logs/skipped
  say "$preset: the ten slowest steps"
  tools/slowest.py --since "$started" "build/$preset" "$results"
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
  tools/test_report.py failures "build/logs/test-$preset.xml"
done
echo "$passed $failed $skipped" >build/logs/totals
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
