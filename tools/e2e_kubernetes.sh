#!/usr/bin/env bash
# Tests the agent in a real Kubernetes cluster of one node (API server, scheduler, controller manager, kubelet, containerd), and in
# a simulated one of ten nodes (kwok). Needs root. The first run needs Go and builds the cluster's programs into
# build/cluster/bin. docs/kubernetes-results.md has the duration and the checks.
#   tools/e2e_kubernetes.sh [--systemd] [--build-only] [--no-install] [--openapi FILE] [TEST]...   (default: every test)
#     TEST            as unittest names it: test_pods, test_pods.Pods.test_crash
#     --systemd       the node is a guest with systemd, cgroup v2 only, the systemd cgroup driver and containerd 2
#                     (tests/cluster/guest.py); default: test_kinds
#     --build-only    build the programs of the cluster, and start no cluster
#     --no-install    install no packages
#     --openapi FILE  write the API description of the API server to FILE
#   KEPLER_BIN=PATH   test that program instead of building one
# The cluster has separate net and mount namespaces, its pods are in the cgroup kubepods. At exit, also after Ctrl-C, all of it
# is removed. The logs are in build/cluster/logs. The last line is "N passed, N failed"; exit code 1 if
# any failed.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

arguments=()
build_only=no
guest=no
install=yes
while [ $# -gt 0 ]; do
  case "$1" in
    --systemd) guest=yes ;;
    --build-only) build_only=yes ;;
    --no-install) install=no ;;
    --openapi)
      [ -n "${2:-}" ] || die "--openapi wants a file"
      arguments+=("$1" "$2")
      shift
      ;;
    -*) die "unknown option '$1'" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || die "needs root: it makes namespaces, mounts and cgroups"
export PYTHONDONTWRITEBYTECODE=1

groups=(build cluster)
programs=()
if [ "$guest" = yes ]; then
  groups+=(guest)
  programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl containerd containerd-shim-runc-v2 ctr)
fi
if [ "$install" = yes ]; then tools/setup.sh "${groups[@]}"; fi
say "the cluster's programs"
/usr/bin/python3 tests/cluster/programs.py "${programs[@]}" || die "the cluster's programs could not be built"
if [ "$build_only" = yes ]; then exit 0; fi

if [ -z "${KEPLER_BIN:-}" ]; then
  say "release: build"
  configure_and_build release kepler || die "the build of preset release failed"
  KEPLER_BIN=$root/$(built release kepler)
fi
export KEPLER_BIN

if [ "$guest" = yes ]; then
  say "cluster in a guest with systemd and cgroup v2"
  [ "${#arguments[@]}" -gt 0 ] || arguments=(test_kinds)
  exec /usr/bin/python3 tests/cluster/guest.py "${arguments[@]}"
fi

# A kubelet that is at work here already would lose its pods to ours.
for top in /sys/fs/cgroup /sys/fs/cgroup/*; do
  [ ! -d "$top/kubepods" ] && [ ! -d "$top/kubepods.slice" ] ||
    die "$top has the cgroup of a kubelet: a node of another cluster, or what a run that was killed has left (remove it)"
done

say "cluster"
mkdir -p build/cluster
# In the background: a shell that waits for a child in the foreground receives no signal. Such a child ignores Ctrl-C.
unshare --mount --net --propagation private /usr/bin/python3 -W error::ResourceWarning tests/cluster/main.py "${arguments[@]}" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null || true' INT TERM HUP
network() { readlink "/proc/$1/ns/net"; }
while theirs=$(network "$child" 2>/dev/null) && [ "$theirs" = "$(network self)" ]; do sleep 0.02; done

status=0
wait "$child" || status=$?
# A signal ends the waiting, not the child.
while kill -0 "$child" 2>/dev/null; do
  status=0
  wait "$child" || status=$?
done
trap '' INT TERM HUP
if [ -z "$theirs" ]; then die "no namespaces of its own can be made here"; fi
/usr/bin/python3 tests/cluster/sweep.py "$theirs" || status=1
rm -rf /var/tmp/kepler-cluster-*
exit "$status"
