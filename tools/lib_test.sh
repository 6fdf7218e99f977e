#!/usr/bin/env bash
# Tests of tools/lib.sh: what ctest says is counted and named as it should be.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset LAB_REQUIRED

# expect WHAT WANTED GOT
expect() { [ "$2" = "$3" ] || die "$1: '$3' instead of '$2'"; }

# summary OF_ALL FAILED [SKIPPED TEST]...: the end of what ctest prints.
summary() {
  printf '50%% tests passed, %s tests failed out of %s\n\nThe following tests did not run:\n' "$2" "$1"
  for name in "${@:3}"; do printf '\t 28 - %s (Skipped)\n' "$name"; done
  printf '\nThe following tests FAILED:\n\t  3 - Other.Skipped (Failed)\n'
}

summary 5 1 >log
expect "nobody skipped" "4 1 0" "$(ctest_totals log)"
summary 5 1 Faults.NoRights e2e.tasks >log
expect "two skipped" "2 1 2" "$(ctest_totals log)"
expect "two skipped where nobody may be" "2 3 2" "$(LAB_REQUIRED=1 ctest_totals log)"
: >log
expect "no summary" "" "$(ctest_totals log)"

mkdir -p build/some/Testing/Temporary
cat >build/some/Testing/Temporary/LastTest.log <<'EOF'
1/3 Testing: Faults.NoRights
1/3 Test: Faults.NoRights
[ RUN      ] Faults.NoRights
src/faults_test.cc:91: Skipped
needs root
[  SKIPPED ] Faults.NoRights (0 ms)
2/3 Test: Faults.Fine
[       OK ] Faults.Fine (0 ms)
3/3 Test: e2e.start
skipped: Meters.test_one: only root can
EOF
expect "the skipped" "Faults.NoRights: needs root
e2e.start: Meters.test_one: only root can" "$(ctest_skipped some)"
echo "tools/lib.sh: fine"
