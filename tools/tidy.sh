#!/usr/bin/env bash
# Runs clang-tidy on the changed sources, two at a time. Needs build/dev, configured, with its target kepler_bpf_skeleton. The other
# presets compile several sources at once.
#   tools/tidy.sh [--all] [--seconds N]
#     --all        every source file
#     --seconds N  start no file after N seconds; the remaining files are listed and in build/logs/tidy-left; with
#                  LAB_REQUIRED=1 they are a failure
# Checked files are in build/logs/tidy-done.
# Changed files: since the merge base with origin/main, else since the previous commit, and uncommitted files. Without history use
# --all. A changed header selects the sources that include it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

all=no
seconds=0
while [ $# -gt 0 ]; do
  case "$1" in
    --all) all=yes ;;
    --seconds) seconds=$2; shift ;;
    *) die "unknown option '$1'" ;;
  esac
  shift
done

mkdir -p build/logs
left=build/logs/tidy-left
: >"$left"
: >build/logs/tidy-done

base=""
if [ "$all" = no ]; then
  head=$(git rev-parse -q --verify HEAD 2>/dev/null || true)
  base=$(git merge-base origin/main HEAD 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$head" ]; then base=$(git rev-parse -q --verify HEAD~1 2>/dev/null || true); fi
fi

changed() {
  if [ -n "$base" ]; then
    { git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h'; git ls-files --others --exclude-standard -- '*.cc' '*.h'; }
  elif [ "$all" = yes ]; then
    source_files
  fi
}

# Program code before tests: if time runs out, only tests are unchecked.
pick() {
  local file
  while read -r file; do
    case "$file" in
      *.cc) echo "$file" ;;
      src/*.h) grep -lF "#include \"${file#src/}\"" $(source_files | grep '\.cc$') || true ;;
    esac
  done | sort -u | grep -v '^fuzz/' | awk '/_test\.cc$|^(tests|bench)\// {later[++n] = $0; next} {print} END {for (i = 1; i <= n; i++) print later[i]}'
}
# Only sources in the compile commands of the preset.
[ -f build/dev/compile_commands.json ] || die "no build/dev: cmake --preset dev && cmake --build --preset dev -t kepler_bpf_skeleton"
mapfile -t files < <(changed | pick | while read -r file; do
  if grep -qF "$root/$file\"" build/dev/compile_commands.json; then echo "$file"; fi
done)

[ "${#files[@]}" -gt 0 ] || { echo "tidy: no source changed"; exit 0; }
echo "tidy: ${#files[@]} files${base:+ changed since ${base:0:12}}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
started=$(date +%s)
tidy_one() {
  if [ "$seconds" -gt 0 ] && [ $(($(date +%s) - started)) -ge "$seconds" ]; then
    echo "$1" >>"$left"
    return
  fi
  echo "$1" >>build/logs/tidy-done
  if ! clang-tidy-19 -p build/dev --quiet "$1" >"$work/$$.log" 2>"$work/$$.err"; then
    grep -vE '^[0-9]+ warnings? (generated|treated)' "$work/$$.log" || cat "$work/$$.err"
    echo "$1" >>"$work/failed"
  fi
}
export -f tidy_one
export work left seconds started

printf '%s\n' "${files[@]}" | xargs -P 2 -I {} bash -c 'tidy_one {}'
bad=0
if [ -s "$left" ]; then
  echo "tidy: out of time, not checked (all: tools/tidy.sh --all): $(sort "$left" | tr '\n' ' ')"
  if [ "${LAB_REQUIRED:-}" = 1 ]; then bad=1; fi
fi
if [ -s "$work/failed" ]; then
  echo "tidy: findings in $(sort -u "$work/failed" | tr '\n' ' ')"
  bad=1
fi
if [ "$bad" = 0 ]; then echo "tidy: clean"; fi
exit "$bad"
