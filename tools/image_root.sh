#!/usr/bin/env bash
# Makes the file systems that deploy/Dockerfile copies into the image. It runs no program of the packages, so it works for any
# architecture.
#   tools/image_root.sh PACKAGE.deb DIR
#     DIR/system   the packages that PACKAGE depends on, CA certificates, license texts, no shell
#     DIR/agent    PACKAGE, and the dpkg database of both
set -euo pipefail
[ $# = 2 ] || { echo "usage: image_root.sh PACKAGE.deb DIR" >&2; exit 2; }
package=$(realpath "$1")
out=$(realpath -m "$2")
source "$(dirname "$0")/lib.sh"
source tools/debs.sh

arch=$(dpkg-deb -f "$package" Architecture)
rm -rf "$out"
mkdir -p "$out"
apt_of "$arch" "$out/apt"
"${apt[@]}" update
"${apt[@]}" install -y --download-only --no-install-recommends "$package" >/dev/null
# By name: only their files are wanted. What they depend on (debconf, openssl, awk) is for scripts that are not run.
# ncurses-base describes the terminals of `kepler top`; every other Debian system has it.
(cd "$out/apt/archives" && "${apt[@]}" download ca-certificates base-files ncurses-base)

# unpack DEB ROOT: without what has no use in an image that has no shell: manuals, scripts, translations, iconv tables.
unpack() {
  dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2" --exclude=./usr/share/{man,locale,info,lintian} \
    --exclude=./lib/systemd --exclude='./usr/lib/*/gconv' --exclude='./usr/sbin/*'
  find "$2/usr/share/doc" -type f ! -name copyright -delete
}

admin=$out/agent/var/lib/dpkg
merged_root "$out/system"
for deb in "$out"/apt/archives/*.deb; do
  unpack "$deb" "$out/system"
  record "$deb" "$admin"
done
unpack "$package" "$out/agent"
rmdir "$out/agent/lib"  # empty; copied, it would take the place of the link
record "$package" "$admin"
rm -f "$admin"/info/*.{shlibs,symbols}  # only for who links

# The bundle is what update-ca-certificates makes. OpenSSL reads cert.pem, so that a bundle mounted over it is in use.
mkdir -p "$out/system/etc/ssl/certs" "$out/system/usr/lib/ssl"
cat "$out"/system/usr/share/ca-certificates/mozilla/*.crt >"$out/system/etc/ssl/certs/ca-certificates.crt"
ln -s /etc/ssl/certs/ca-certificates.crt "$out/system/usr/lib/ssl/cert.pem"
rm -rf "$out/apt"
