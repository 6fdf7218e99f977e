# Shared by the scripts of tools/ and .ci/run. Sourced, not run.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# configure PRESET: prints the output only on failure.
configure() {
  mkdir -p build/logs
  cmake --preset "$1" >"build/logs/configure-$1.log" 2>&1 || {
    tail -n 30 "build/logs/configure-$1.log" >&2
    return 1
  }
}

# configure_and_build PRESET [TARGET...]: prints the output only on failure.
configure_and_build() {
  local preset=$1
  shift
  configure "$preset" || return
  # With another compiler CMake starts again and ignores other settings of the preset.
  if grep -q 'variables that require your cache to be deleted' "build/logs/configure-$preset.log"; then
    configure "$preset" || return
  fi
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# built PRESET NAME: the path of a built executable.
built() {
  find "build/$1" -name "$2" -type f -perm -u+x -not -path '*/CMakeFiles/*' -not -path '*/_CPack_Packages/*' 2>/dev/null | head -n 1
}

# Sources under version control, and new ones that are not ignored; without git, all sources.
source_files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- '*.cc' '*.c' '*.h' | while read -r file; do [ -f "$file" ] && echo "$file"; done
  else
    find src bpf tests bench fuzz tools -name '*.cc' -o -name '*.c' -o -name '*.h' | sort
  fi
}

# unittest_totals LOG: "passed failed skipped" of a program of Python's unittest; nothing if it has no summary.
unittest_totals() {
  awk '
    function count(name) {return match($0, name "=[0-9]+") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : 0}
    /^Ran [0-9]+ tests? in / {all = $2}
    /^(OK|FAILED)( \(.*\))?$/ {failed = count("failures") + count("errors"); skipped = count("skipped"); found = 1}
    END {if (found) {passed = all - failed - skipped; print passed < 0 ? 0 : passed, failed, skipped}}' "$1"
}

# Listening on this TCP port already? From the kernel's own table: state 0A is LISTEN.
port_is_taken() {
  local hex
  hex=$(printf '%04X' "$1")
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v port=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == port {found = 1} END {exit !found}'
}

# free_port FIRST: the first of 100 ports from there that nothing listens on.
free_port() {
  local port
  for ((port = $1; port < $1 + 100; port++)); do
    if ! port_is_taken "$port"; then
      echo "$port"
      return
    fi
  done
  die "no free port between $1 and $(($1 + 99))"
}
