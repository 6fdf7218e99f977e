#!/bin/sh
# Runs GoogleTest programs on this kernel, each as root and as uid 65534 with only CAP_BPF and CAP_PERFMON. Runs in the guest
# and on the host, so it is plain sh. Lines that start with @@ are for tests/kernels/results.py:
#   @@ kernel RELEASE btf=yes|no uptime=SECONDS
#   @@ begin PROGRAM RIGHTS
#   @@ end PROGRAM RIGHTS EXITCODE       (124 and 143: ran past the limit)
#   @@ done
# Use: run_tests.sh SECONDS PROGRAM...
limit=$1
shift
export GTEST_COLOR=no TMPDIR=/tmp

btf=no
[ -r /sys/kernel/btf/vmlinux ] && btf=yes
read -r uptime _ </proc/uptime
echo "@@ kernel $(uname -r) btf=$btf uptime=$uptime"

run() {
  rights=$1
  program=$2
  shift 2
  echo "@@ begin ${program##*/} $rights"
  timeout -k 10 "$limit" "$@" "$program" 2>&1
  # A program that was killed may have left a line unfinished.
  printf '\n@@ end %s %s %d\n' "${program##*/}" "$rights" $?
}

# With its path: busybox has a lesser setpriv of its own and prefers it.
only=-all,+bpf,+perfmon
for program in "$@"; do
  run root "$program"
  run bpf+perfmon "$program" /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups \
    --inh-caps=$only --ambient-caps=$only --bounding-set=$only
done
echo "@@ done"
