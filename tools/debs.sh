# Unpacks Debian packages of any architecture into a folder, without root, without running them, and without a change to the
# packages of this machine. Sourced, not run.
# shellcheck shell=bash

# apt_of ARCH STATE: sets `apt` to apt-get with a separate state in the folder STATE: an empty machine of that architecture with
# this machine's sources. Downloads are in STATE/archives.
apt_of() {
  local state
  state=$(realpath -m "$2")
  rm -rf "$state"
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  apt=(apt-get -qq -o APT::Architecture="$1" -o APT::Architectures="$1" -o Dir::State="$state"
    -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status" -o Dir::Cache="$state"
    -o Dir::Cache::archives="$state/archives" -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Languages=none)
}

# merged_root DIR: an empty root file system whose /usr is merged, as on a real system.
merged_root() {
  local name
  for name in bin lib lib64 sbin; do
    mkdir -p "$1/usr/$name"
    ln -s "usr/$name" "$1/$name"
  done
}

# record DEB ADMIN [PREFIX]: puts a package that was unpacked below PREFIX into the dpkg database ADMIN, as installed, so that
# dpkg-query, dpkg-shlibdeps and scanners know it. With a PREFIX its /usr is merged.
record() {
  local name merge='' part
  name=$(dpkg-deb -f "$1" Package)
  if [ "$(dpkg-deb -f "$1" Multi-Arch)" = same ]; then name+=:$(dpkg-deb -f "$1" Architecture); fi
  if [ -n "${3:-}" ]; then merge="s#^/lib/#/usr/lib/#; s#^/#$3/#"; fi
  mkdir -p "$2/info"
  echo 1 >"$2/info/format"  # of names with architectures
  dpkg-deb -f "$1" | sed 's/^Package: .*/&\nStatus: install ok installed/' >>"$2/status"
  echo >>"$2/status"
  dpkg-deb --fsys-tarfile "$1" | tar -t --quoting-style=literal |
    sed -e 's#^\./#/#; s#\(.\)/$#\1#; s#^/$#/.#' -e "$merge" >"$2/info/$name.list"
  for part in md5sums shlibs symbols; do
    dpkg-deb --ctrl-tarfile "$1" | tar -xO "./$part" >"$2/info/$name.$part" 2>/dev/null || rm "$2/info/$name.$part"
  done
}
