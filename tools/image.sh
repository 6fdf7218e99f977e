#!/usr/bin/env bash
# Builds the agent's images from deploy/Dockerfile with podman. It needs no image registry: the base of the build stage is made
# from Debian packages.
#   tools/image.sh [--arch ARCH]... [--deb FILE]... [--check]
#     --arch ARCH   amd64 or arm64; may be repeated (default: the architecture of this machine)
#     --deb FILE    an existing package of tools/package.sh, instead of --arch; may be repeated
#     --check       also test the images (content, size, rights, a run); only for this machine's architecture
# Archives for podman, docker, containerd and kind (docs/image.md) are then in build/image: kepler.tar, which runs as root,
# kepler-nonroot.tar, and kepler-model.tar, the model server. With several architectures each archive has all of them.
# With --check the last line is "N passed, N failed"; build/image/totals has "passed failed skipped", build/image/skipped names.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

check=no
archs=()
debs=()
while [ $# -gt 0 ]; do
  case "$1" in
    --check) check=yes ;;
    --arch) archs+=("${2:?--arch wants an architecture}"); shift ;;
    --deb) debs+=("$(realpath "${2:?--deb wants a file}")"); shift ;;
    *) die "unknown option '$1'" ;;
  esac
  shift
done
[ "${#archs[@]}" = 0 ] || [ "${#debs[@]}" = 0 ] || die "--arch and --deb exclude each other"
[ "$(id -u)" = 0 ] || die "cannot build as user $(id -un): podman and mmdebstrap need root here; use sudo"
native=$(dpkg --print-architecture)
if [ "${#debs[@]}" = 0 ] && [ "${#archs[@]}" = 0 ]; then archs=("$native"); fi

if [ "$check" = yes ]; then tools/setup.sh test; else tools/setup.sh image; fi
out=build/image
mkdir -p "$out"
rm -f "$out"/*.deb "$out"/kepler*.tar "$out/totals"
: >"$out/skipped"
for arch in "${archs[@]}"; do
  tools/package.sh --arch "$arch"
  cp build/package/kepler_*.deb build/package/kepler-model_*.deb "$out/"
done
# The package of kepler-model is the one next to that of the agent.
model_of() { echo "$(dirname "$1")/$(basename "$1" | sed 's/^kepler_/kepler-model_/')"; }
for deb in "${debs[@]}"; do cp "$deb" "$(model_of "$deb")" "$out/"; done
[ "$check" = no ] || [ "$(dpkg-deb -f "$out"/kepler_*.deb Architecture)" = "$native" ] || die "--check tests images of $native only"

# Stores of its own, on a disk: overlayfs does not lie on itself. The limits are those that root may set without
# CAP_SYS_RESOURCE; crun refuses machines with both kinds of cgroups.
store=$(mktemp -d /var/tmp/kepler-image-XXXXXX)
cleanup() {
  umount --lazy "$store"/*/root/overlay 2>/dev/null || true
  rm -rf "$store"
}
trap cleanup EXIT
cat >"$store/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
tmp_dir = "$store/tmp"
lock_type = "file"
END
export CONTAINERS_CONF=$store/containers.conf
podman_for() { podman --root "$store/$1/root" --runroot "$store/$1/runroot" --storage-driver overlay "${@:2}"; }

# base_archive: the path of Debian 12 with apt and what the build stage would install. The key is all that it is made from.
base_archive() {
  local include=libcap2-bin sources=() file archive
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    if [ -s "$file" ]; then sources+=("$file"); fi
  done
  archive=$out/base-$(cat "${sources[@]}" <(echo "$include") | sha256sum | cut -c -16).tar
  if [ ! -s "$archive" ]; then
    apt-config dump | grep '^Acquire::\(Check\|http\)' >"$store/apt.conf" || true
    mmdebstrap --quiet --variant=apt --include="$include" --aptopt="$store/apt.conf" bookworm "$store/base.tar" \
      "${sources[@]}" >&2
    mv "$store/base.tar" "$archive"
  fi
  echo "$archive"
}

# build ARCH DEB: leaves an OCI layout of each target in $store/TARGET-ARCH. Each architecture has a store, because the
# build cache of podman takes one for the other.
build() {
  local arch=$1 deb=$2 base=localhost/debian:12 target log=$out/build-$1.log
  podman_for "$arch" import --quiet "$base_archive" "$base" >"$log"
  for target in runtime nonroot model; do
    say "$arch: $target"
    # podman before 4.4 does not set BUILDPLATFORM by itself.
    podman_for "$arch" build --file deploy/Dockerfile --target "$target" --platform "linux/$arch" --build-arg BASE="$base" \
      --build-arg BUILDPLATFORM="linux/$native" --build-arg DEB="$deb" --build-arg MODEL_DEB="$(model_of "$deb")" --build-arg VERSION="$version" \
      --label org.opencontainers.image.revision="$revision" --timestamp "$committed" --pull=never --layers \
      --network host --isolation chroot --tag "localhost/$target" . >>"$log" 2>&1 || { tail -n 30 "$log" >&2; return 1; }
    podman_for "$arch" save --quiet --format oci-dir --output "$store/$target-$arch" "localhost/$target"
  done
}

say "base"
base_archive=$(base_archive)
committed=$(git log -1 --format=%ct 2>/dev/null || date +%s)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
for deb in "$out"/kepler_*.deb; do
  version=$(dpkg-deb -f "$deb" Version)
  build "$(dpkg-deb -f "$deb" Architecture)" "$deb"
done
python3 -B tools/image_archive.py "localhost/kepler:$version" "$out/kepler.tar" "$store"/runtime-*
python3 -B tools/image_archive.py "localhost/kepler:$version-nonroot" "$out/kepler-nonroot.tar" "$store"/nonroot-*
python3 -B tools/image_archive.py "localhost/kepler-model:$version" "$out/kepler-model.tar" "$store"/model-*
for archive in "$out"/kepler*.tar; do echo "image: $archive ($(du -h "$archive" | cut -f1))"; done
[ "$check" = yes ] || exit 0

say "check"
passed=0
failed=0
skipped=0
for test in content runs model; do
  log=$out/check-$test.log
  KEPLER_IMAGES=$out PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "tests/image/test_$test.py" >"$log" 2>&1 || true
  read -r more_passed more_failed more_skipped <<<"$(unittest_totals "$log")" || true
  [ -n "${more_passed:-}" ] || { tail -n 50 "$log" >&2; die "test_$test.py gave no result"; }
  passed=$((passed + more_passed))
  failed=$((failed + more_failed))
  skipped=$((skipped + more_skipped))
  grep -oE '(runtime|nonroot|model): [0-9.]+ MB .*' "$log" || true
  sed -n 's/^skipped: /image: /p' "$log" >>"$out/skipped"
  if [ "$more_failed" != 0 ]; then cat "$log"; fi
done
echo "$passed $failed $skipped" >"$out/totals"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
