#!/usr/bin/env bash
# Generates docs/metrics.md, docs/configuration.md and the options of deploy/kepler.8 from the tables in the code.
#   tools/docs.sh [--check] [--preset PRESET]   --check: write nothing, exit 1 if a page is not up to date
set -euo pipefail
source "$(dirname "$0")/lib.sh"

check=no
preset=release-tests
while [ $# -gt 0 ]; do
  case "$1" in
    --check) check=yes ;;
    --preset) preset=$2; shift ;;
    *) die "unknown option '$1'" ;;
  esac
  shift
done

configure_and_build "$preset" kepler_metrics_docs kepler_config_docs
stale=0
# renew FILE PROGRAM [ARGUMENT]...: makes FILE the output of PROGRAM.
renew() {
  local file=$1 program=$2 generator fresh
  shift 2
  generator=$(built "$preset" "$program")
  [ -n "$generator" ] || die "$program was not built"
  fresh=$(mktemp)
  "$generator" "$@" >"$fresh"
  if cmp -s "$fresh" "$file"; then
    echo "$file is up to date"
  elif [ "$check" = yes ]; then
    echo "$file is not what the code says; run tools/docs.sh" >&2
    diff -u "$file" "$fresh" | head -n 30 >&2 || true
    stale=1
  else
    cp "$fresh" "$file"
    chmod 644 "$file"
    echo "$file written"
  fi
  rm -f "$fresh"
}

renew docs/metrics.md kepler_metrics_docs
renew docs/configuration.md kepler_config_docs
renew deploy/kepler.8 kepler_config_docs deploy/kepler.8
exit "$stale"
