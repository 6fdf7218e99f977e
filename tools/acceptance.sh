#!/usr/bin/env bash
# The acceptance checks in full length (about 10 minutes), against the release build: one line of figures each, exit code 1
# if any is outside its bounds. Needs root, for containers and cgroups. The same checks run short among the tests.
#   tools/acceptance.sh [N]...   (default: all)
#     2   promtool, the strict OpenMetrics parser, and Prometheus for 2 minutes under churn
#     3   5 minutes of churn: every scrape adds up to the microjoule, the node equals the meter across wraps
#     4   60 s of burners in containers and cgroups; 2,000 short processes in a container
#     5   two scrapers, a probe and the stdout exporter: each sees every exited workload
#   KEPLER_BIN=PATH   test that program instead of building one
set -euo pipefail
source "$(dirname "$0")/lib.sh"

if [ -z "${KEPLER_BIN:-}" ]; then
  tools/setup.sh test
  configure_and_build release kepler
  KEPLER_BIN=$root/$(built release kepler)
fi
export KEPLER_BIN LAB_REQUIRED=1 PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/e2e/acceptance.py "$@"
