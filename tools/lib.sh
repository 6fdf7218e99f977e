# Shared by the scripts of tools/ and .ci/run. Sourced, not run.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# configure PRESET: says why it fails, else nothing.
configure() {
  mkdir -p build/logs
  cmake --preset "$1" >"build/logs/configure-$1.log" 2>&1 || {
    tail -n 30 "build/logs/configure-$1.log" >&2
    return 1
  }
}

# configure_and_build PRESET [TARGET...]: quiet when all is well.
configure_and_build() {
  local preset=$1
  shift
  configure "$preset" || return
  # With another compiler CMake begins anew, and forgets what else the preset says.
  if grep -q 'variables that require your cache to be deleted' "build/logs/configure-$preset.log"; then
    configure "$preset" || return
  fi
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# built PRESET NAME: the path of an executable that was built, wherever its room put it.
built() {
  find "build/$1" -name "$2" -type f -perm -u+x -not -path '*/CMakeFiles/*' -not -path '*/_CPack_Packages/*' 2>/dev/null | head -n 1
}

# Sources under version control and new ones that are not ignored; without git, all there are.
source_files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- '*.cc' '*.c' '*.h' | while read -r file; do [ -f "$file" ] && echo "$file"; done
  else
    find src bpf tests bench fuzz tools -name '*.cc' -o -name '*.c' -o -name '*.h' | sort
  fi
}

# ctest_totals LOG: "passed failed skipped" of the summary that ctest ends with; nothing when there is none. Who was skipped
# has not passed; where LAB_REQUIRED=1 says that this machine can run everything, it has failed.
ctest_totals() {
  awk -v required="${LAB_REQUIRED:-}" '
    /^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$/ {failed += $4; all += $NF; found = 1}
    /^\t *[0-9]+ - .* \(Skipped\)$/ {++skipped}
    END {
      if (found) print all - failed - skipped, failed + (required == "1" ? skipped : 0), skipped + 0
    }' "$1"
}

# ctest_skipped PRESET: "test: reason" of each that the last ctest skipped, also of those within an end-to-end test.
ctest_skipped() {
  awk '
    /^[0-9]+\/[0-9]+ Test: / {test = $0; sub(/^[^:]*: /, "", test)}
    /^skipped: / {print test ": " substr($0, length("skipped: ") + 1)}
    /: Skipped$/ {getline; print test ": " $0}' "build/$1/Testing/Temporary/LastTest.log"
}

# ctest_failures LOG: what the failed tests said (unittest, GoogleTest, sanitizers), then their names.
ctest_failures() {
  local traces exceptions=""
  # Of unittest the whole traceback, which may be chained: its last line is the cause.
  traces=$(sed -n -E '/^(FAIL|ERROR): /,/^(={20}|Ran [0-9]+ test)/p' "$1")
  if [ -n "$traces" ]; then cut -c -600 <<<"$traces" | tail -n 100; else exceptions='|^[A-Za-z.]*(Error|Exception|Exit|Expired): '; fi
  { grep -E -A8 ": Failure\$|^(WARNING|SUMMARY): .*Sanitizer$exceptions" "$1" || true; } | cut -c -600 | tail -n 100
  sed -n '/^The following tests FAILED/,$p' "$1"
  awk '/\*\*\*(Failed|Timeout|Exception)/ {print $4, $5, $(NF - 1), $NF}' "$1"
}
