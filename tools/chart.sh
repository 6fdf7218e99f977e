#!/usr/bin/env bash
# Checks the Helm chart, and makes its README and deploy/manifests.
#   tools/chart.sh [--write]   --write: write these files; without it, a file that differs is a failure
# tests/cluster/programs.py builds helm and kubeconform once, with Go. CI has neither of them, and runs only the checks without
# rendering (tests/chart, except test_renderings.py). The agent checks the configurations: KEPLER_BIN, or what is built in
# release-tests, dev or release.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# The manifests are for this version and newer; helm without a cluster needs it as an argument.
kubernetes=1.34.0
chart=deploy/helm/kepler
profiles=(exact proc nonRoot privileged)
out=build/chart

write=no
for option in "$@"; do
  case "$option" in
    --write) write=yes ;;
    *) die "unknown option '$option'" ;;
  esac
done

for preset in release-tests dev release; do
  agent=$(built "$preset" kepler || true)
  if [ -z "${KEPLER_BIN:-}" ] && [ -n "$agent" ]; then KEPLER_BIN=$root/$agent; fi
done
[ -n "${KEPLER_BIN:-}" ] || die "no agent is built: cmake --preset release && cmake --build --preset release, or set KEPLER_BIN"
export KEPLER_BIN

checks=0
failures=0
ok() { checks=$((checks + 1)); }
fail() { failures=$((failures + 1)); printf 'chart.sh: %s\n' "$*" >&2; }

helm_program=$(/usr/bin/python3 tests/cluster/programs.py helm)
kubeconform_program=$(/usr/bin/python3 tests/cluster/programs.py kubeconform)
helm() { "$helm_program" "$@"; }
placeholder=(--set image.allowPlaceholder=true)
template() {
  helm template "${release:-kepler}" "$chart" --namespace kepler --kube-version "$kubernetes" "${placeholder[@]}" "$@"
}

lint() {
  local profile
  for profile in "${profiles[@]}"; do
    if helm lint "$chart" --strict --quiet --kube-version "$kubernetes" "${placeholder[@]}" --set "profile=$profile"; then ok; else fail "lint: $profile"; fi
  done
}

# Only kinds of Kubernetes itself; kinds of operators and of OpenShift are only rendered.
conforms() {
  "$kubeconform_program" -strict -schema-location "$root/tests/chart/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" \
    -skip ServiceMonitor,PodMonitor,PrometheusRule,SecurityContextConstraints "$@"
}

# render NAME ARGUMENT...: renders and checks the chart once.
render() {
  local name=$1 file=$out/$1.yaml
  shift
  if template "$@" >"$file" && conforms "$file"; then ok; else fail "render: $name ($*)"; fi
}

render_all() {
  local profile values memory
  for profile in "${profiles[@]}"; do
    render "$profile" --set "profile=$profile"
    for values in tests/chart/values/*.yaml; do
      render "$profile-$(basename "$values" .yaml)" -f "$values" --set "profile=$profile"
    done
  done
  release=1234 render release-1234 --set fullnameOverride=kepler
  render upstream-web -f tests/chart/values/upstream.yaml --set web.secretName=kepler-web,web.tls=true
  for memory in 1.5G 300Mi 262144Ki 2e8 700000000 null; do
    render "memory-$memory" --set "prometheusRule.enabled=true,daemonset.resources.limits.memory=$memory"
  done
  render model-server --set modelServer.enabled=true,modelServer.readers=2,networkPolicy.enabled=true \
    --set "modelServer.storage.accessModes={ReadWriteMany},modelServer.extraArgs={--scan-interval=1m}"
  render model-training -f tests/chart/values/model-training.yaml
  render long-name --set "fullnameOverride=$(printf 'a%.0s' {1..63}),modelServer.enabled=true,modelServer.readers=1" \
    --set 'modelServer.storage.accessModes={ReadWriteMany},daemonset.hostNetwork=true,networkPolicy.enabled=true'
  # As an upgrade with --reuse-values from a chart without a model server.
  render no-model-server --set modelServer=null,networkPolicy.enabled=true
  render old-kubelets --set rbac.nodesProxy=true --kube-version 1.29.0
  if grep -q recursiveReadOnly "$out/old-kubelets.yaml"; then fail "a field that Kubernetes 1.29 does not know"; else ok; fi
}

# Values of a wrong type and unknown values must be errors of helm; one per line.
refuse_all() {
  local value placeholder=()
  while read -r value; do
    if template --set-json "$value" >/dev/null 2>"$out/refused"; then fail "not refused: $value"
    elif grep -q "schema" "$out/refused"; then ok
    else fail "refused, but not by the schema: $value: $(tail -n 1 "$out/refused")"
    fi
  done <tests/chart/refused.txt
}

# said TEXT ARGUMENT...: contradicting values are an error of helm with this text.
said() {
  local text=$1
  shift
  if template "$@" >/dev/null 2>"$out/said"; then fail "not refused: $*"
  elif grep -qF "$text" "$out/said"; then ok
  else fail "refused, but not because of '$text': $*: $(tail -n 1 "$out/said")"
  fi
}

refuse_placeholder() {
  local placeholder=()
  said "there is no public image"
}

refuse_together() {
  release=1234 said "set fullnameOverride"
  release=1234 said "set fullnameOverride" --set service.enabled=false,modelServer.enabled=true
  said "shows only the agent" --set daemonset.hostPID=false
  said "/sys is the container's own" --set config.host.sysfs=/sys/
  said "one of maxUnavailable and maxSurge must be 0" --set daemonset.updateStrategy.rollingUpdate.maxSurge=1
  said "one of maxUnavailable and maxSurge must be 0" --set daemonset.updateStrategy.rollingUpdate.maxUnavailable=0%
  said "/etc/kepler is the configuration" --set config.host.sysfs=/etc/kepler
  said "/proc is the container's own" --set config.host.sysfs=/proc
  said "is where the host's /proc is" --set config.host.sysfs=/host/proc/sys,config.host.procfs=/host/proc
  said "ports, probes, mounts and rights follow from values" --set "daemonset.extraArgs={--web.listen-address=:9}"
  said "there is no alert KeplerDwon" --set "prometheusRule.enabled=true,prometheusRule.disabledAlerts={KeplerDwon}"
  said "needs a serviceAccount.name" --set serviceAccount.create=false
  said "one of the two" --set serviceMonitor.enabled=true,podMonitor.enabled=true
  said "serviceMonitor needs service.enabled" --set serviceMonitor.enabled=true,service.enabled=false
  said "set web.secretName" --set web.tls=true
  said "set web.secretName" --set web.authenticated=true
  said "web.secretName: set web.tls, web.authenticated or both" --set web.secretName=kepler-web
  said "config.web.configFile: set web.tls, web.authenticated or both" --set config.web.configFile=/etc/web.yaml
  said "BPF is not in it: set daemonset.extraCapabilities" --set "daemonset.securityContext.capabilities.add={SYS_PTRACE}"
  said "by-request needs kubernetes.enabled" --set config.attribution.idle=by-request,kubernetes.enabled=false
  said "longer than the interval" --set serviceMonitor.enabled=true,serviceMonitor.interval=1m,serviceMonitor.scrapeTimeout=1m1ms
  said "basicAuth, authorization: Prometheus sends one kind of credentials" --set serviceMonitor.enabled=true \
    --set serviceMonitor.basicAuth.username.name=s,serviceMonitor.authorization.type=Bearer
  said "longer than the interval" --set podMonitor.enabled=true,podMonitor.scrapeTimeout=10s
  said "readers mount the volume of the writer" --set modelServer.enabled=true,modelServer.readers=1
  local trains=modelServer.enabled=true,modelServer.jobs.enabled=true,modelServer.resources.limits.memory=1Gi
  said "needs modelServer.jobs.enabled" --set modelServer.enabled=true,modelServer.retrain.name=a
  said "modelServer.retrain.server is missing" --set "$trains,modelServer.retrain.name=a"
  said "modelServer.jobs.memory: a job may use 769 MiB" --set "$trains,modelServer.jobs.memory=769"
  said "set modelServer.web.secretName" --set modelServer.enabled=true,modelServer.web.tls=true
  said "user and secretName need each other" --set modelServer.enabled=true,modelServer.agents.user=a
  said "passwords only with TLS" --set modelServer.enabled=true,modelServer.agents.user=a,modelServer.agents.secretName=b
  said "it follows from other values of modelServer" --set "modelServer.enabled=true,modelServer.extraArgs={--store=/x}"
  said "NODE_NAME is set by the chart" --set "daemonset.extraEnv[0].name=NODE_NAME"
  said "a service of type NodePort needs an address" --set service.type=NodePort,service.clusterIP=None
  said "with hostNetwork the old pod still uses the port of the node" --set daemonset.hostNetwork=true \
    --set daemonset.updateStrategy.rollingUpdate.maxSurge=1,daemonset.updateStrategy.rollingUpdate.maxUnavailable=0
}

# Identifies the chart that a file was rendered from, so that test_chart.py can check it without helm.
chart_digest() { (cd "$chart" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1); }

# Helm's labels have no meaning without helm.
objects() {
  template --set "profile=$1,namespace.create=true" --skip-tests |
    grep -v -E '^# Source: |^ *(helm\.sh/chart|app\.kubernetes\.io/managed-by): '
}

# The last line of its head is a checksum of the rest, so that changes by hand are found.
manifest() {
  local profile=$1 image=
  if [ "$profile" = nonRoot ]; then
    image=$'\n# The image is one of its own: docker build -f deploy/Dockerfile --target nonroot -t REGISTRY/kepler:0.1.0-nonroot .'
  fi
  objects "$profile" >"$out/objects"
  cat <<END
# Made by tools/chart.sh --write from deploy/helm/kepler, profile $profile; for Kubernetes 1.31 and newer. Set your image.
# After a change of the ConfigMap: kubectl -n kepler rollout restart daemonset/kepler$image
# chart: $(chart_digest)
# content: $(sha256sum <"$out/objects" | cut -d ' ' -f 1)
END
  cat "$out/objects"
}

# notes TEXT ARGUMENT...: the notes after an install contain the text; with ! before it, they do not. Only an install renders
# NOTES.txt, so a copy of the chart contains it in an object.
notes() {
  local not=no text=$1
  if [ "$text" = ! ]; then not=yes text=$2; shift; fi
  shift
  if ! helm template kepler "$out/noted" --kube-version "$kubernetes" "${placeholder[@]}" --show-only templates/noted.yaml "$@" >"$out/notes"
  then fail "NOTES.txt: $*"
  elif [ "$(grep -cF "$text" "$out/notes")" -gt 0 ] && [ "$not" = yes ]; then fail "NOTES.txt says '$text': $*"
  elif ! grep -qF "$text" "$out/notes" && [ "$not" = no ]; then fail "NOTES.txt does not say '$text': $*"
  else ok
  fi
}

notes_all() {
  cp -r "$chart" "$out/noted"
  mv "$out/noted/templates/NOTES.txt" "$out/noted/files/"
  printf 'notes: |\n  {{- tpl (.Files.Get "files/NOTES.txt") . | nindent 2 }}\n' >"$out/noted/templates/noted.yaml"
  notes "The metrics are open"
  notes ! "The metrics are open" --set web.secretName=s,web.authenticated=true
  notes ! "The metrics are open" --set networkPolicy.enabled=true --set-json 'networkPolicy.from=[{"podSelector":{}}]'
  notes "The metrics are open" --set networkPolicy.enabled=true
  notes "names of pods come from the kubelets only" --set config.kube.podInformer.mode=kubelet
  notes ! "names of pods come from the kubelets only"
  notes "Kubernetes before 1.31" --kube-version 1.29.0
  notes "containerd before 2"
  notes ! "containerd before 2" --kube-version 1.29.0 --set 'daemonset.cgroupV1Hierarchies={unified}'
  notes ! "containerd before 2" --set daemonset.recursiveReadOnly=Enabled
  notes "The agent refuses Prometheus" --set web.secretName=s,web.authenticated=true,serviceMonitor.enabled=true
  notes ! "The agent refuses Prometheus" --set web.secretName=s,web.authenticated=true,serviceMonitor.enabled=true \
    --set serviceMonitor.oauth2.tokenUrl=https://idp.example
  notes ! "model server"
  notes "http://kepler-model-server.default.svc:8100" --set modelServer.enabled=true
  notes "It has no models" --set modelServer.enabled=true
  notes ! "It has no models" -f tests/chart/values/model-training.yaml
  notes ! "agents refuse the models" -f tests/chart/values/model-training.yaml --set config.model.publicKey=/a
  notes "agents refuse the models" -f tests/chart/values/model-training.yaml \
    --set modelServer.retrain.signKeySecret=,config.model.publicKey=/a
  notes "is a loopback address" --set 'config.web.listenAddresses={127.0.0.1:28282}'
}

readme() {
  if ! /usr/bin/python3 tools/chart/readme.py "$chart/values.yaml" >"$out/README.md"; then fail "tools/chart/readme.py"
  elif cmp -s "$out/README.md" "$chart/README.md"; then ok
  elif [ "$write" = yes ]; then cp "$out/README.md" "$chart/README.md"; echo "$chart/README.md written"; ok
  else fail "$chart/README.md is not what values.yaml says; run tools/chart.sh --write"
  fi
}

# kubectl's kustomize, if kubectl is installed.
kustomization() {
  if ! command -v kubectl >/dev/null; then echo "chart.sh: no kubectl: deploy/manifests/kustomization.yaml is not rendered"
  elif kubectl kustomize deploy/manifests >"$out/kustomized" && conforms "$out/kustomized" &&
    grep -q 'image: REGISTRY/kepler:0.1.0$' "$out/kustomized"; then ok
  else fail "deploy/manifests/kustomization.yaml"
  fi
}

manifests() {
  local profile file
  for profile in "${profiles[@]}"; do
    file=deploy/manifests/$(tr '[:upper:]' '[:lower:]' <<<"$profile").yaml
    manifest "$profile" >"$out/manifest"
    if cmp -s "$out/manifest" "$file"; then ok
    elif [ "$write" = yes ]; then cp "$out/manifest" "$file"; echo "$file written"; ok
    else fail "$file is not what the chart says; run tools/chart.sh --write"
    fi
    if conforms "$file"; then ok; else fail "$file"; fi
  done
}

rm -rf "$out"
mkdir -p "$out" deploy/manifests
lint
render_all
refuse_all
refuse_placeholder
refuse_together
notes_all
readme
manifests
kustomization
if /usr/bin/python3 tests/chart/knobs.py "$helm_program"; then ok; else fail "values without effect"; fi
if /usr/bin/python3 tests/chart/nulls.py "$helm_program"; then ok; else fail "values that must not be null"; fi
for test in chart values renderings; do
  if KEPLER_CHART_RENDERED=$out /usr/bin/python3 "tests/chart/test_$test.py"; then ok; else fail "tests/chart/test_$test.py"; fi
done
echo "chart.sh: $checks checks passed, $failures failed"
[ "$failures" = 0 ]
