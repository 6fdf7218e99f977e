#!/usr/bin/env bash
# Installs the packages that this project needs from Debian's repositories. It is safe to run again, and never removes a package.
#   tools/setup.sh [build|dev|test|package|image|layout|cross|kernels|lab|cluster|guest]...   (default: build)
#     build    to build and run the agent
#     dev      build + linters, sanitizers, fuzzers, unit-test libraries
#     test     dev + package + image + programs of the end-to-end tests (Prometheus, podman), and YAML for the chart
#     package  build + tools that make and check the .deb
#     image    to build and run the image without a registry (tools/image.sh)
#     layout   for the layout of the image in deploy/Dockerfile
#     cross    build + the arm64 cross compiler; the arm64 libraries go into build/sysroot-arm64
#     kernels  to boot other kernels (tools/kernels.sh); installs no kernel
#     lab      kernels + what the hardware lab builds and simulates (tools/lab.sh)
#     cluster  for a Kubernetes node (tools/e2e_kubernetes.sh), without Kubernetes itself, which that script builds with Go 1.26
#              or newer (not in Debian 12) from PATH or /usr/local/go/bin
#     guest    to boot that node as a guest with systemd and cgroup v2 (tools/e2e_kubernetes.sh --systemd)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

build=(cmake ninja-build g++ pkg-config ccache
  libfmt-dev libyaml-cpp-dev libpugixml-dev
  libboost1.81-dev libssl-dev libcrypt-dev libisal-dev libprotozero-dev libsnappy-dev libnghttp2-dev libncurses-dev
  libxgboost-dev libeigen3-dev libzip-dev libcairo2-dev
  clang-19 bpftool libbpf-dev)
dev=(clang-tidy-19 clang-format-19 libclang-rt-19-dev llvm-19 mold
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev python3)
package=(dpkg-dev file lintian systemd python3)
image=(podman runc mmdebstrap python3)
layout=(libcap2-bin)
peers=(prometheus prometheus-process-exporter python3-prometheus-client python3-protobuf python3-grpcio busybox-static curl openssl procps stress-ng tmux
  chromium python3-yaml libcap2-bin)
cross=(g++-aarch64-linux-gnu)
kernels=(qemu-system-x86 busybox-static cpio util-linux kmod python3)
lab=(acpica-tools gcc make libelf1 openipmi libopenipmi-dev ipmitool freeipmi-tools libfuse3-dev pkg-config openssl)
cluster=(containerd runc containernetworking-plugins iproute2 openssl util-linux libcap2-bin gcc libc6-dev python3)
guest=(user-mode-linux mmdebstrap e2fsprogs)

wanted=()
sysroot=no
for group in "${@:-build}"; do
  case "$group" in
    build) wanted+=("${build[@]}") ;;
    dev) wanted+=("${build[@]}" "${dev[@]}") ;;
    test) wanted+=("${build[@]}" "${dev[@]}" "${package[@]}" "${image[@]}" "${peers[@]}") ;;
    package) wanted+=("${build[@]}" "${package[@]}") ;;
    image) wanted+=("${image[@]}") ;;
    layout) wanted+=("${layout[@]}") ;;
    cross) wanted+=("${build[@]}" "${cross[@]}"); sysroot=yes ;;
    kernels) wanted+=("${kernels[@]}") ;;
    lab) wanted+=("${kernels[@]}" "${lab[@]}") ;;
    cluster) wanted+=("${cluster[@]}") ;;
    guest) wanted+=("${guest[@]}") ;;
    *)
      echo "setup.sh: unknown group '$group' (build, dev, test, package, image, layout, cross, kernels, lab, cluster, guest)" >&2
      exit 2
      ;;
  esac
done

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "setup.sh: cannot install packages: not root, and there is no sudo; run this script as root" >&2; return 1
  fi
}

# --no-remove: a package that would remove another one is an error.
apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
    install -y -qq --no-install-recommends --no-remove "$@"
}

missing=()
for name in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null || true)
  [[ "$state" == ii* ]] || missing+=("$name")
done

if [ "${#missing[@]}" = 0 ]; then
  echo "setup.sh: nothing to install (${#wanted[@]} packages present)"
else
  echo "setup.sh: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # Package lists may be old or missing: update them once if the first try fails.
  if ! apt_install "${missing[@]}" >"$log" 2>&1; then
    as_root apt-get -o DPkg::Lock::Timeout=300 update -qq
    if ! apt_install "${missing[@]}" >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      echo "setup.sh: installing failed: apt's own message is above" >&2
      exit 1
    fi
  fi
  echo "setup.sh: done"
fi

[ "$sysroot" = no ] || "$root/tools/arm64_sysroot.sh"
