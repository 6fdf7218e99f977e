#!/usr/bin/env bash
# Unpacks the arm64 libraries that the cross build links against into build/sysroot-arm64. Needs no root and does not
# change the packages of the machine: libisal-dev and libyaml-cpp-dev exist once per machine, and installing their arm64 variants
# would remove the native ones. The dpkg database of the sysroot tells dpkg-shlibdeps the packages of the libraries.
#   tools/arm64_sysroot.sh [--force]
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source tools/debs.sh
sysroot=$root/build/sysroot-arm64
wanted=(libc6-dev libstdc++-12-dev libfmt-dev libyaml-cpp-dev libpugixml-dev
  libboost1.81-dev libssl-dev libcrypt-dev libisal-dev libprotozero-dev libsnappy-dev libnghttp2-dev libbpf-dev libxgboost-dev libeigen3-dev
  libzip-dev libcairo2-dev libncurses-dev)

stamp="$sysroot/.packages"
if [ "${1:-}" != --force ] && [ "$(cat "$stamp" 2>/dev/null)" = "$sysroot ${wanted[*]}" ]; then
  echo "arm64_sysroot.sh: build/sysroot-arm64 is there"
  exit 0
fi

state=$root/build/apt-arm64
rm -rf "$sysroot"
apt_of arm64 "$state"

echo "arm64_sysroot.sh: downloading ${wanted[*]} for arm64"
"${apt[@]}" update
"${apt[@]}" install -y --download-only --no-install-recommends "${wanted[@]}" >/dev/null

# Some development links are absolute paths through /lib.
merged_root "$sysroot"
for deb in "$state"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$sysroot"
  record "$deb" "$sysroot/var/lib/dpkg" "$sysroot"
done
find "$sysroot" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$sysroot$(readlink "$link")" "$link"
done
rm -rf "$state"
echo "$sysroot ${wanted[*]}" >"$stamp"
echo "arm64_sysroot.sh: done ($(du -sh "$sysroot" | cut -f1))"
