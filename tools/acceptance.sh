#!/usr/bin/env bash
# Runs the acceptance checks in full length, with each source of activity, against the release build. Prints one line of
# figures per check; exit code 1 if a figure is outside its bounds. Takes about 30 minutes, the storm 30, prometheus 35
# and the siege 130 more.
# Needs root for containers and cgroups. The tests contain short versions of the checks.
#   tools/acceptance.sh [--source bpf|procfs] [--minutes N] [--cpus N] [ITEM]...   (default: both, and all items)
#     2             promtool, the strict OpenMetrics parser, and Prometheus for 2 minutes under churn
#     3             5 minutes of churn: every scrape adds up to the microjoule, and the node equals the meter across wraps
#     4             60 s of burners in containers and cgroups; 2,000 short processes in a container
#     5             two scrapers, a probe and the stdout exporter: each sees every exited workload
#     exact         2,000 and 20,000 processes of less than a millisecond, burners of 5 ms to 3 s: CPU time of their
#                   container, and with bpf their records
#     build         2 minutes of this project's build in one container and a burner in another: energy by CPU share, with
#                   each usage ratio
#     unprivileged  the same as uid 65534: with CAP_BPF and CAP_PERFMON only (bpf), and with nothing (procfs)
#     storm         30 minutes (--minutes) of processes and threads that end at once, on all CPUs (or --cpus N): every record
#                   is counted, memory is constant; one line per minute; bpf only
#     prometheus    15 minutes (--minutes) of 200 short processes per second, scraped by Prometheus 3.16 (built once, with Go) and
#                   Debian's: the increase of all series is that of the node within 0.1 % (docs/exact-totals.md)
#     pods          20,000 pods are created and deleted, by watch and by lists, or (--minutes) one per second: running pods
#                   have names, no tick is missed, memory is constant
#     siege         an hour (--minutes) with TLS and a password under churn: 60 clients guess the password, 500 abandon TLS
#                   handshakes, no process reads the log; then 5 minutes of this from the user's address. Every scrape of
#                   the user is complete and adds up, 99 % take less than 100 ms, memory is constant, and the agent exits
#                   within 10 s after SIGTERM
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
