#!/usr/bin/env bash
# The kernel matrix: the activity tests on this machine's kernel and on Debian's, booted in QEMU with the cgroups laid out
# as unified, hybrid and legacy; each test program runs as root and as uid 65534 with CAP_BPF and CAP_PERFMON only. Needs
# root. No kernel is installed: packages are downloaded and unpacked into build/kernels. QEMU emulates, so KVM is not
# needed, and speed figures have no meaning.
#   tools/kernels.sh [--preset PRESET] [--no-build] [host] [debian] [debian:PACKAGE]... [model | guests]  (default: host debian)
#     host             the running kernel
#     debian           Debian's kernel for virtual machines, linux-image-cloud-amd64
#     debian:PACKAGE   any other kernel package that apt knows, as in debian:linux-image-amd64
#     model            only alone: the agent in guests of this processor, with a model of their host
#     guests           only alone: train models of guests, and print their errors (tools/guest_demo.py); 15 minutes
#     --preset PRESET  use the test programs of this preset (default: release-tests)
#     --no-build       do not build the test programs
# A kernel passes when every program ran with both rights and no test failed; skipped tests are listed with their reasons.
# The logs are in build/kernels/logs. The last line is "N passed, N failed"; exit code 1 if any failed.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

programs=(activity_procfs_test activity_bpf_test activity_bpf_live_test)
guest_programs=(kepler kepler-model)

preset=release-tests
build=yes
chosen=()
while [ $# -gt 0 ]; do
  case "$1" in
    --preset)
      [ -n "${2:-}" ] || die "--preset wants a name"
      preset=$2
      shift
      ;;
    --no-build) build=no ;;
    host | debian | debian:?* | model | guests) chosen+=("$1") ;;
    *) die "unknown argument '$1'" ;;
  esac
  shift
done
[ "${#chosen[@]}" -gt 0 ] || chosen=(host debian)
[ "$(id -u)" = 0 ] || die "needs root: the tests make cgroups and drop rights"

# vmlinuz PACKAGE: the path of its kernel, downloaded once per version.
vmlinuz() {
  /usr/bin/python3 tests/kernels/debian.py "$1"
}

case "${chosen[*]}" in model | guests) programs=("${guest_programs[@]}") ;; esac
groups=(dev kernels)
[ "${chosen[*]}" = guests ] && groups+=(test)
tools/setup.sh "${groups[@]}"
if [ "$build" = yes ]; then
  say "$preset: build"
  configure_and_build "$preset" "${programs[@]}" || die "the build of preset $preset failed"
fi

export PYTHONDONTWRITEBYTECODE=1
if [ "${chosen[*]}" = model ]; then
  exec /usr/bin/python3 tests/kernels/model_guest.py --kernel "$(vmlinuz linux-image-cloud-amd64)" \
    --agent "$(built "$preset" kepler)" --tool "$(built "$preset" kepler-model)" --data data/nx12.csv --logs build/kernels/logs
fi
if [ "${chosen[*]}" = guests ]; then
  kernel=$(vmlinuz linux-image-cloud-amd64)
  exec env KEPLER_BIN=$(realpath "$(built "$preset" kepler)") KEPLER_MODEL_BIN=$(realpath "$(built "$preset" kepler-model)") \
    /usr/bin/python3 tools/guest_demo.py --kernel="${kernel%/boot/*}" --output=build/kernels/guests
fi
arguments=()
for name in "${programs[@]}"; do
  path=$(built "$preset" "$name")
  arguments+=(--program "${path:-build/$preset/$name}")
done
for kernel in "${chosen[@]}"; do
  case "$kernel" in
    host) arguments+=(--host) ;;
    debian) arguments+=(--kernel "debian=$(vmlinuz linux-image-cloud-amd64)") ;;
    model | guests) die "$kernel runs alone" ;;
    debian:*) arguments+=(--kernel "$kernel=$(vmlinuz "${kernel#debian:}")") ;;
  esac
done

say "the judge itself"
/usr/bin/python3 tests/kernels/test_results.py || die "the judge of the results is broken"
say "kernels: ${chosen[*]}"
exec /usr/bin/python3 tests/kernels/matrix.py "${arguments[@]}" --logs build/kernels/logs
