#!/usr/bin/env bash
# Makes the Debian packages kepler and kepler-model from the release build, and prints their paths.
#   tools/package.sh [--check] [--preset PRESET | --arch ARCH]
#     --check   also check the result: a plain install, the licenses, lintian, the unit file, the shipped configuration
#     --arch    amd64 or arm64 (default: the architecture of this machine); the other one is cross-compiled
set -euo pipefail
source "$(dirname "$0")/lib.sh"

check=no
preset=release
while [ $# -gt 0 ]; do
  case "$1" in
    --check) check=yes ;;
    --preset) preset=$2; shift ;;
    --arch)
      preset=release
      if [ "$2" != "$(dpkg --print-architecture)" ]; then preset=$2; fi  # the preset of a cross build has its name
      shift
      ;;
    *) die "unknown option '$1'" ;;
  esac
  shift
done

groups=(package)
cross=()
if [ "$preset" = arm64 ]; then
  groups+=(cross)
  # For dpkg-shlibdeps: which package each linked library belongs to.
  cross=(DEB_HOST_ARCH=arm64 "DPKG_ADMINDIR=$root/build/sysroot-arm64/var/lib/dpkg")
fi
tools/setup.sh "${groups[@]}"
configure_and_build "$preset"
rm -rf build/package
mkdir -p build/package
env "${cross[@]}" cpack --config "build/$preset/CPackConfig.cmake" -G DEB -B build/package
# package_of NAME: its path.
package_of() { find build/package -maxdepth 1 -name "$1_*.deb" | head -n 1; }
deb=$(package_of kepler)
model_deb=$(package_of kepler-model)
[ -n "$deb" ] && [ -n "$model_deb" ] || die "cpack did not make both packages"
echo "package: $deb"
echo "package: $model_deb"
[ "$check" = yes ] || exit 0

say "cmake --install"
cmake --install "build/$preset" --prefix build/package/prefix >/dev/null
build/package/prefix/bin/kepler --version

say "content"
dpkg-deb -x "$deb" build/package/root
for file in usr/bin/kepler etc/kepler/config.yaml lib/systemd/system/kepler.service usr/share/man/man8/kepler.8.gz; do
  [ -s "build/package/root/$file" ] || die "$file is not in the package"
done
[ ! -e build/package/root/usr/bin/kepler-model ] || die "kepler-model is in the agent's package"
dpkg-deb -x "$model_deb" build/package/model
for file in usr/bin/kepler-model usr/share/man/man1/kepler-model.1.gz lib/systemd/system/kepler-model-server.service \
  usr/lib/sysusers.d/kepler-model.conf; do
  [ -s "build/package/model/$file" ] || die "$file is not in the package"
done
build/package/model/usr/bin/kepler-model --version
# What only training, archives and charts need is not pulled onto every node.
for library in libxgboost libzip libcairo; do
  dpkg-deb -f "$model_deb" Depends | grep -q "$library" || die "kepler-model does not depend on $library, which it links"
  ! dpkg-deb -f "$deb" Depends | grep -q "$library" || die "the agent depends on $library"
done
build/package/root/usr/bin/kepler --config.check --config.file=build/package/root/etc/kepler/config.yaml

say "licenses"
[ -s build/package/prefix/share/doc/kepler/LICENSE ] || die "LICENSE is not installed"
python3 -B tools/licenses.py "build/$preset" build/package/prefix build/package/root/usr build/package/model/usr

say "lintian"
lintian --fail-on error,warning --allow-root "$deb" "$model_deb"

say "unit files"
# check_unit TREE UNIT PROGRAM LIMIT: LIMIT is the maximum exposure, times ten. A unit names the installed program, so it is
# verified in the package's tree. systemd only warns about an unknown key, so check the messages too.
check_unit() {
  local unit=build/package/$2 program=$root/build/package/$1/usr/bin/$3 words
  sed "s#/usr/bin/$3#$program#" "build/package/$1/lib/systemd/system/$2" >"$unit"
  words=$(SYSTEMD_LOG_TARGET=console systemd-analyze verify --man=no "$root/$unit" 2>&1 | grep -F "$2" || true)
  [ -z "$words" ] || die "systemd-analyze verify: $words"
  systemd-analyze security --offline=true --threshold="$4" "$root/$unit" | tail -n 1
}
# 2.7: PrivateDevices= would hide the IPMI device.
check_unit root kepler.service kepler 27
check_unit model kepler-model-server.service kepler-model 15
