#!/usr/bin/env bash
# Builds the agent and starts it: a live table of the top consumers, and the URLs of the live page and the metrics. Needs only
# Debian 12 and this checkout; stop it with Ctrl+C.
#   tools/run.sh [--for SECONDS] [KEPLER OPTION]...
#     --for SECONDS   stop after this time
#   Other options are passed to kepler (kepler --help). Page and metrics are served on this machine only; to serve them to others:
#   tools/run.sh --web.listen-address=:28282
set -euo pipefail
source "$(dirname "$0")/lib.sh"

run_for=0
options=()
own_address=no
while [ $# -gt 0 ]; do
  case "$1" in
    --for)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || die "--for wants a number of seconds"
      run_for=$2
      shift
      ;;
    --web.listen-address*) own_address=yes; options+=("$1") ;;
    *) options+=("$1") ;;
  esac
  shift
done

tools/setup.sh build
say "building (the first time takes a few minutes)"
configure_and_build release kepler
agent=$(built release kepler)
[ -n "$agent" ] || die "the build made no kepler"

if [ "$own_address" = no ]; then
  port=$(free_port 28282)
  options=("--web.listen-address=127.0.0.1:$port" "${options[@]}")
  page="http://127.0.0.1:$port/"
  metrics="${page}metrics"
else
  page="the address you gave"
  metrics="/metrics there"
fi

log=$root/build/run.log
header="Kepler: energy by consumer   live page: $page   metrics: $metrics   log: ${log#"$root"/}   end: Ctrl+C"
for counter in /sys/class/powercap/*/energy_uj; do
  if [ -e "$counter" ] && [ ! -r "$counter" ]; then
    header+=$'\n'"This user may not read the energy counters: watts are modelled. As root they are measured."
    break
  fi
done

# Not run in this shell's foreground: Ctrl+C reaches this script, which ends the agent in order.
exec 3< <(exec "$agent" --exporter.stdout --exporter.stdout.top=15 --monitor.interval=1s "${options[@]}" 2>"$log")
agent_pid=$!
stopping=no
stop() { stopping=yes; kill -TERM "$agent_pid" 2>/dev/null || true; }
trap stop INT TERM
trap 'kill -TERM "$agent_pid" 2>/dev/null || true' EXIT  # whatever ends this script, the agent does not stay behind

screen=no
[ -t 1 ] && screen=yes
show() {
  if [ "$screen" = no ]; then
    printf '%s\n' "$1"
    return
  fi
  # Home, each line cleared to its end, then the rest of the screen: no flicker. Cut to the terminal's height.
  local height
  height=$(stty size 2>/dev/null </dev/tty | cut -d' ' -f1) || true
  [[ "$height" =~ ^[1-9][0-9]*$ ]] || height=40
  printf '%s\n\n%s\n' "$header" "$1" | head -n "$((height - 1))" | { printf '\033[H'; sed 's/$/\x1b[K/'; printf '\033[J'; }
}

if [ "$screen" = yes ]; then printf '\033[2J'; fi
if [ "$screen" = no ]; then printf '%s\n\n' "$header"; fi

# A frame is what comes without a pause in between.
end=$((SECONDS + run_for))
while [ "$stopping" = no ]; do
  wait_for=()
  if [ "$run_for" -gt 0 ]; then
    left=$((end - SECONDS))
    [ "$left" -gt 0 ] || break
    wait_for=(-t "$left")
  fi
  status=0
  IFS= read -r "${wait_for[@]}" line <&3 || status=$?
  if [ "$status" -gt 128 ]; then continue; fi
  if [ "$status" -ne 0 ]; then break; fi
  frame=$line
  while IFS= read -r -t 0.1 line <&3; do frame+=$'\n'$line; done
  show "$frame" || true  # Ctrl+C may hit its helpers first
done

if [ "$run_for" -gt 0 ] && [ "$SECONDS" -ge "$end" ]; then stop; fi
# A signal ends the wait, not the agent: wait again while it is there.
while true; do
  status=0
  wait "$agent_pid" || status=$?
  kill -0 "$agent_pid" 2>/dev/null || break
done
if [ "$stopping" = no ] && [ "$status" -ne 0 ]; then
  echo "The agent ended with exit code $status. The end of $log:" >&2
  tail -n 15 "$log" >&2
  exit 1
fi
