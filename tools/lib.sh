# Shared by the scripts of tools/ and .ci/run. Sourced, not run.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# configure_and_build PRESET [TARGET...]: quiet when all is well.
configure_and_build() {
  local preset=$1 log=build/logs/configure-$1.log
  shift
  mkdir -p build/logs
  cmake --preset "$preset" >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    return 1
  }
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# built PRESET NAME: the path of an executable that was built, wherever its room put it.
built() {
  find "build/$1" -name "$2" -type f -perm -u+x -not -path '*/CMakeFiles/*' -not -path '*/_CPack_Packages/*' 2>/dev/null | head -n 1
}

# Sources under version control and new ones that are not ignored; without git, all there are.
source_files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- '*.cc' '*.h' | while read -r file; do [ -f "$file" ] && echo "$file"; done
  else
    find src tests bench fuzz -name '*.cc' -o -name '*.h' | sort
  fi
}

# ctest_totals LOG: "passed failed" of the summary line that ctest ends with; nothing when there is none.
ctest_totals() {
  sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$1" |
    awk '{failed += $1; all += $2; found = 1} END {if (found) print all - failed, failed}'
}
