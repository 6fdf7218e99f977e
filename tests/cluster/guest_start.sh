#!/bin/bash
# The only service of the guest that tests/cluster/guest.py boots: furnishes it as a node, runs the tests, leaves their exit
# code in the logs.
#   guest_start.sh IMAGES LOGS TEST...     LOGS: a directory of the host, as the host names it
set -eu
images=$1
logs=$2
shift 2
exec >/dev/console 2>&1
here=$(cd "$(dirname "$0")" && pwd)
place=${here%/tests/cluster}/build/cluster

mount -t hostfs -o "$logs" none "$place/logs"
trap 'echo $? >"$place/logs/guest.status"' EXIT
version=$(uname -r)
mkdir -p "/lib/modules/$version"
mount --bind "/host/usr/lib/uml/modules/$version" "/lib/modules/$version"
modprobe -a overlay veth

# The kubelet wants to know a clock speed, which this kernel does not tell.
{ cat /proc/cpuinfo; printf 'cpu MHz\t\t: 2000.000\n'; } >/run/cpuinfo
mount --bind /run/cpuinfo /proc/cpuinfo
# Names without a version: containerd looks for its shim by name.
for program in containerd containerd-shim-runc-v2 ctr; do ln -s "$place/bin/$program"-[0-9]* "/usr/local/bin/$program"; done
export PYTHONDONTWRITEBYTECODE=1 HOME=/root KEPLER_E2E_PATIENCE=4
unshare --mount --net --propagation private /usr/bin/python3 "$here/main.py" --images "$images" --cgroup-driver systemd "$@"
