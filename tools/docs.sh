#!/usr/bin/env bash
# Writes the generated pages, docs/metrics.md and docs/configuration.md, from the tables in the code.
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
for page in metrics config; do
  case "$page" in metrics) file=docs/metrics.md ;; config) file=docs/configuration.md ;; esac
  generator=$(built "$preset" "kepler_${page}_docs")
  [ -n "$generator" ] || die "kepler_${page}_docs was not built"
  fresh=$(mktemp)
  "$generator" >"$fresh"
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
done
exit "$stale"
