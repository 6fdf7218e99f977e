#!/usr/bin/env bash
# Builds the agent, starts it and a Prometheus with the recording rules and alerts of deploy/rules, and prints their URLs. If
# Grafana is installed, starts it too, with the dashboards of deploy/grafana. All serve this machine only. Ctrl+C stops them and
# removes their data.
#   tools/demo.sh [--for SECONDS] [KEPLER OPTION]...
#     --for SECONDS   stop after this time
#   Other options are passed to kepler. With KEPLER_BIN set, that agent is started and nothing is built.
#   GRAFANA_HOME is the folder of Grafana, with bin/grafana and conf (default: /usr/share/grafana, the folder of its packages).
set -euo pipefail
source "$(dirname "$0")/lib.sh"

if [ "${1:-}" = --help ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  exit
fi
run_for=infinity
if [ "${1:-}" = --for ]; then
  [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || die "--for needs a number of seconds"
  run_for=$2
  shift 2
fi
command -v prometheus >/dev/null || die "prometheus is not installed; run tools/setup.sh test, or apt-get install prometheus"

agent=${KEPLER_BIN:-}
if [ -z "$agent" ]; then
  tools/setup.sh build
  say "building (the first time takes a few minutes)"
  configure_and_build release kepler
  agent=$(built release kepler)
fi
[ -x "$agent" ] || die "there is no program '$agent'"

data=$(mktemp -d)
metrics=$(free_port 28282)
server=$(free_port 9090)
cat >"$data/prometheus.yml" <<END
global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: ["$root/deploy/rules/*.yaml"]
scrape_configs:
  - job_name: kepler
    static_configs: [{targets: ["127.0.0.1:$metrics"]}]
END

# grafana_program: the path of Grafana's program, if it is installed.
grafana_home=${GRAFANA_HOME:-/usr/share/grafana}
grafana_program() {
  [ -x "$grafana_home/bin/grafana" ] && echo "$grafana_home/bin/grafana"
}

# start_grafana PROGRAM: without a login, with the data source and dashboards of deploy/compose. Sets grafana_url.
start_grafana() {
  local provisioning=$data/provisioning port
  port=$(free_port 3000)
  mkdir -p "$provisioning/datasources" "$provisioning/dashboards" "$data/grafana"
  sed "s|http://prometheus:9090|http://127.0.0.1:$server|" deploy/compose/grafana/datasources.yaml \
    >"$provisioning/datasources/kepler.yaml"
  sed "s|/etc/kepler/dashboards|$root/deploy/grafana|" deploy/compose/grafana/dashboards.yaml \
    >"$provisioning/dashboards/kepler.yaml"
  GF_PATHS_DATA=$data/grafana GF_PATHS_LOGS=$data/grafana GF_PATHS_PLUGINS=$data/grafana/plugins \
    GF_PATHS_PROVISIONING=$provisioning GF_SERVER_HTTP_ADDR=127.0.0.1 GF_SERVER_HTTP_PORT=$port \
    GF_AUTH_ANONYMOUS_ENABLED=true GF_ANALYTICS_REPORTING_ENABLED=false GF_ANALYTICS_CHECK_FOR_UPDATES=false \
    GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH=$root/deploy/grafana/kepler-overview.json \
    "$1" server --homepath="$grafana_home" >"$data/grafana.log" 2>&1 &
  grafana_url=http://127.0.0.1:$port
  pids+=($!)
}

pids=()
stop() {
  kill -TERM "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$data"
}
trap stop EXIT
trap 'exit 0' INT TERM
"$agent" --web.listen-address="127.0.0.1:$metrics" "$@" >"$data/kepler.log" 2>&1 &
pids+=($!)
prometheus --config.file="$data/prometheus.yml" --storage.tsdb.path="$data/tsdb" --log.level=warn \
  --web.listen-address="127.0.0.1:$server" >"$data/prometheus.log" 2>&1 &
pids+=($!)

say "agent:      http://127.0.0.1:$metrics/metrics"
say "Prometheus: http://127.0.0.1:$server/graph?g0.expr=node_zone:kepler_node_cpu_watts:sum&g0.tab=0"
if grafana=$(grafana_program); then
  start_grafana "$grafana"
  say "Grafana:    $grafana_url"
fi
say "rules:      http://127.0.0.1:$server/rules   alerts: http://127.0.0.1:$server/alerts"
say "logs, data: $data   end: Ctrl+C"
sleep "$run_for" &
timer=$!
pids+=("$timer")
wait -n "${pids[@]}" || true
if kill -0 "$timer" 2>/dev/null; then
  tail -n 5 "$data"/*.log >&2
  die "the agent, Prometheus or Grafana has ended"
fi
