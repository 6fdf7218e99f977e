#!/usr/bin/env bash
# Runs every fuzz target for a while, two at a time, under AddressSanitizer and UBSan, from its seeds in fuzz/corpus/NAME.
#   tools/fuzz.sh [SECONDS] [NAME]...   (default: 10 seconds each, at least 2; all targets)
# Findings are in build/fuzz/findings/. New corpus files are not kept.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

seconds=10
if [[ "${1:-}" =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi

[ "$seconds" -ge 2 ] || die "a target runs for at least 2 seconds"
seconds=$((seconds - 1))  # libFuzzer runs until more than max_total_time whole seconds have passed

tools/setup.sh dev
if [ $# -gt 0 ]; then targets=("$@"); else
  mapfile -t targets < <(sed -nE 's/^kepler_fuzz\(([a-z0-9_]+).*/\1/p' fuzz/CMakeLists.txt)
fi
[ "${#targets[@]}" -gt 0 ] || die "no fuzz target in fuzz/CMakeLists.txt"
configure_and_build asan-ubsan "${targets[@]}"
mkdir -p build/fuzz/findings build/fuzz/logs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fuzz_one() {
  local name=$1 corpus=$work/$1 log=build/fuzz/logs/$1.log
  mkdir -p "$corpus"
  if [ -d "fuzz/corpus/$name" ]; then cp -r "fuzz/corpus/$name/." "$corpus/"; fi
  if "build/asan-ubsan/fuzz/$name" "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="build/fuzz/findings/$name-" -print_final_stats=1 >"$log" 2>&1; then
    echo "PASS $name ($(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs)"
  else
    echo "FAIL $name: see $log"
    tail -n 15 "$log" | sed 's/^/    /'
  fi
}
export -f fuzz_one
export work seconds

printf '%s\n' "${targets[@]}" | xargs -P 2 -I {} bash -c 'fuzz_one {}' | tee "$work/summary"
passed=$(grep -c '^PASS' "$work/summary" || true)
failed=$((${#targets[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
