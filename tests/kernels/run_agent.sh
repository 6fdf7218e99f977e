#!/bin/sh
# Runs the agent in the guest until it shows the model of its package, and prints what tests/kernels/model_guest.py judges:
#   @@ machine JSON      as kepler-model machine prints it
#   @@ metric LINE       of kepler_model_info and kepler_model_error_*
#   @@ log LINE          of the agent
#   @@ done
# Use: run_agent.sh SECONDS PROGRAM...   (models are in /tests/models)
limit=$1
echo "@@ machine $(/tests/bin/kepler-model machine)"
ifconfig lo 127.0.0.1 up
/tests/bin/kepler --model.sources=/tests/models --model.cache-dir= --web.listen-address=127.0.0.1:28282 \
  --monitor.interval=1s >/tmp/log 2>&1 &
agent=$!
while [ "$limit" -gt 0 ] && kill -0 $agent; do
  wget -q -O /tmp/page http://127.0.0.1:28282/metrics && grep -q 'kepler_model_info.*zone="package"' /tmp/page &&
    grep -q 'for the zone\|estimated, not measured' /tmp/log && break
  sleep 1
  limit=$((limit - 1))
done
sed -n 's/^kepler_model_\(info\|error\)/@@ metric &/p' /tmp/page
sed 's/^/@@ log /' /tmp/log
echo "@@ done"
