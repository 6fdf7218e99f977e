#!/bin/sh
# In a guest of tools/guest_demo.py: starts the agent, and then one load after the other. From the kernel's command line:
# demo_name, demo_clock (a port of the host), demo_loads (as in cpu:25,memory:90), demo_seconds of each load.
hostname "$demo_name"
for module in $(cat /tests/modules/order); do insmod "/tests/modules/$module.ko"; done
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.2.2
until /tests/bin/load clock "$demo_clock"; do sleep 1; done
/tests/bin/kepler --monitor.interval=1s --activity.source=procfs --metrics=node --web.listen-address=0.0.0.0:28282 >/dev/ttyS0 2>&1 &
until wget -q -O /dev/null http://127.0.0.1:28282/metrics 2>/dev/null; do sleep 1; done
echo "@@ ready"
sleep 6
for load in $(echo "$demo_loads" | tr , ' '); do
  /tests/bin/load "${load%:*}" "${load#*:}" "$demo_seconds" "$(nproc)"
  sleep 2
done
sleep 4
echo "@@ done"
