#!/usr/bin/env bash
# Measures speed and memory on this machine's kernel. Prints one table; docs/benchmarks.md explains its rows.
#   tools/bench.sh [agent] [--build DIR] [--strict] [--source bpf|procfs] [--processes N]... [--rounds N]
#     The whole agent with both sources of activity, 200, 1,000 and 10,000 sleeping processes and a meter of four zones:
#     CPU per tick and per scrape, RSS, startup, 50 concurrent readers. Costs are ratios to the yardstick of the same run:
#     the CPU time of one plain pass over every /proc/PID/stat. Takes about five minutes.
#   tools/bench.sh activity [--build DIR] [--strict] [--only switches|lives|ticks|exits]... [--pairs N] [--processes N]...
#                           [--rounds N] [--seconds N] [--source bpf|procfs]
#     Cost of BPF accounting: a context switch and a short-lived process with and without the agent, a tick with 1,000,
#     10,000 and 25,000 processes and BPF or /proc, 20,000 thread exits per second. Needs root, or CAP_BPF and CAP_PERFMON.
#     Takes about seven minutes.
#   tools/bench.sh models [--build DIR] [--strict] [--rounds N] [--accuracy | --small-tables [--seed N]] [--python FILE]
#     Power models on data/nx12.csv compared with scikit-learn and XGBoost: CPU seconds of training, or with --accuracy
#     errors of predictions. --small-tables compares the errors of `kepler-model train --trainer=auto` on 61 tables of 100 to
#     200 rows from data/; another --seed draws other tables. The first run installs both libraries with pip into
#     build/models-venv; --python FILE is an interpreter that has them. Takes one minute, with an option four.
#   tools/bench.sh meters [--build DIR] [--strict] [--processes N] [--rounds N]
#     What four meters of the machine with ten sensors add to a tick, to memory and to the number of threads. Takes one minute.
#   tools/bench.sh exporters [--build DIR] [--strict] [--source bpf|procfs] [--processes N] [--rounds N]
#     A plain agent, and one that sends by OpenTelemetry and remote write, writes JSON lines and has 50 viewers of its live page:
#     ticks, scrapes, pushes, memory. Takes two minutes.
#   tools/bench.sh screens [--build DIR] [--strict] [--source bpf|procfs] [--processes N] [--seconds N]
#     The live page in headless Chromium (first paint, updates) and the CPU use of kepler top in tmux. Takes four minutes.
#   tools/bench.sh report [--build DIR] [--strict] [--pods N] [--minutes N] [--rounds N]
#     kepler report from a file of a day with 2,000 pods (1 GB in the directory for temporary files), compared with Python's json
#     and wc -l on the same file. Takes one minute.
#   tools/bench.sh server [--build DIR] [--strict] [--rate N] [--seconds N]
#     kepler-model serve with 5,000 models: startup, memory, 1,000 requests a second, 10,000 agents. A Flask server with the
#     same answer is measured in the same run, if python3-flask is installed. Takes one minute.
#   --build DIR   measure the programs of this build (default: builds the preset release-tests)
#   --strict      exit 1 if a budget is exceeded; otherwise budgets are only printed
# In-process benchmarks are separate programs: DIR/bench/*_bench.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

bench=agent
case "${1:-}" in
  agent | activity | exporters | meters | models | report | screens | server) bench=$1; shift ;;
esac
programs=(kepler sleepers yardstick scrapers context_switches process_lives thread_exits)
[ "$bench" != models ] || programs=(model_training kepler-model)
[ "$bench" != report ] || programs=(kepler)
[ "$bench" != server ] || programs=(kepler-model request_rate)
build=
if [ "${1:-}" = --build ]; then
  [ -d "${2:-}" ] || die "--build wants a directory"
  build=$2
  shift 2
else
  tools/setup.sh dev
  say "building"
  configure_and_build release-tests "${programs[@]}"
  build=build/release-tests
fi
exec /usr/bin/python3 -B "bench/${bench}_bench.py" "$build" "$@"
