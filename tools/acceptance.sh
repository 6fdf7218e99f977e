#!/usr/bin/env bash
# The acceptance checks in full length, with each source of activity, against the release build: one line of figures each,
# exit code 1 if any is outside its bounds. About 30 minutes, the storm 30 and the siege 130 more. Needs root, for
# containers and cgroups. The same checks run short among the tests.
#   tools/acceptance.sh [--source bpf|procfs] [--minutes N] [--cpus N] [ITEM]...   (default: both, and all items)
#     2             promtool, the strict OpenMetrics parser, and Prometheus for 2 minutes under churn
#     3             5 minutes of churn: every scrape adds up to the microjoule, the node equals the meter across wraps
#     4             60 s of burners in containers and cgroups; 2,000 short processes in a container
#     5             two scrapers, a probe and the stdout exporter: each sees every exited workload
#     exact         2,000 and 20,000 processes of less than a millisecond, burners of 5 ms to 3 s: the CPU time of their
#                   container, and with bpf the records of them
#     build         2 minutes of this project's build in one container beside a burner in another: energy by CPU share,
#                   with each way of finding the usage ratio
#     unprivileged  the same as uid 65534: with CAP_BPF and CAP_PERFMON only (bpf), and with nothing (procfs)
#     storm         30 minutes (--minutes) of processes and threads that end at once, on all CPUs (--cpus: on so many of
#                   them): nothing uncounted, memory flat; one line a minute; bpf only, whose records it counts
#     pods          20,000 pods that come and go, by watch and by lists, or (--minutes) one a second: those that run have
#                   their names, the others leave nothing behind; no tick missed, memory flat
#     siege         an hour (--minutes) with TLS and a password under churn: 60 clients guess it, 500 begin TLS handshakes
#                   and leave them, nobody reads the log; then 5 minutes of it from the user's own address. Every scrape
#                   of the user is whole and adds up, 99 % of them take less than 100 ms, memory is flat, and SIGTERM
#                   ends the agent within 10 s
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
