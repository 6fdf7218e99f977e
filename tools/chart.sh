#!/usr/bin/env bash
# Judges the Helm chart, and renders deploy/manifests from it.
#   tools/chart.sh [--write]   --write: renew deploy/manifests; else a file that is not what the chart says is a failure
# Needs Go, which nothing else here does: helm and kubeconform are built from their modules into build/tools, once. What
# needs neither is in tests/chart/test_chart.py, which CI runs.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

helm_version=v3.22.0
kubeconform_version=v0.8.0
# The manifests are for this one and newer; helm without a cluster wants to be told.
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

checks=0
failures=0
ok() { checks=$((checks + 1)); }
fail() { failures=$((failures + 1)); printf 'chart.sh: %s\n' "$*" >&2; }

# tool NAME MODULE VERSION PACKAGE: a module with "replace" lines cannot be installed, one of our own that needs it can.
tool() {
  local name=$1 module=$2 version=$3 package=$4
  local binary=$root/build/tools/$name-$version
  if [ ! -x "$binary" ]; then
    command -v go >/dev/null || die "$name $version is not in build/tools, and there is no Go to build it with (package golang-go, 1.24 or newer)"
    say "building $name $version"
    mkdir -p "build/tools/src/$name"
    (
      cd "build/tools/src/$name"
      rm -f go.mod go.sum
      go mod init tools/"$name"
      go get "$module@$version"
      CGO_ENABLED=0 go build -mod=mod -trimpath -ldflags "-s -w" -o "$binary" "$package"
    ) >"build/tools/$name.log" 2>&1 || { tail -n 20 "build/tools/$name.log" >&2; die "$name cannot be built"; }
  fi
  ln -sf "$name-$version" "build/tools/$name"
}

helm() { "$root/build/tools/helm" "$@"; }
template() { helm template "${release:-kepler}" "$chart" --namespace kepler --kube-version "$kubernetes" "$@"; }

lint() {
  local profile
  for profile in "${profiles[@]}"; do
    if helm lint "$chart" --strict --quiet --kube-version "$kubernetes" --set "profile=$profile"; then ok; else fail "lint: $profile"; fi
  done
}

# Of those kinds that Kubernetes itself knows; operators' and OpenShift's are only rendered.
conforms() {
  build/tools/kubeconform -strict -schema-location "$root/tests/chart/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" \
    -skip ServiceMonitor,PodMonitor,PrometheusRule,SecurityContextConstraints "$@"
}

# render NAME ARGUMENT...: one rendering, judged.
render() {
  local name=$1 file=$out/$1.yaml
  shift
  if template "$@" >"$file" && conforms "$file"; then ok; else fail "render: $name ($*)"; fi
}

render_all() {
  local profile values
  for profile in "${profiles[@]}"; do
    render "$profile" --set "profile=$profile"
    for values in tests/chart/values/*.yaml; do
      render "$profile-$(basename "$values" .yaml)" -f "$values" --set "profile=$profile"
    done
  done
  render user-namespace --set profile=proc,daemonset.hostUsers=false
  release=1234 render release-1234
  render upstream-web -f tests/chart/values/upstream.yaml --set web.secretName=kepler-web
  render old-kubelets --set rbac.nodesProxy=true --kube-version 1.29.0
  if grep -q recursiveReadOnly "$out/old-kubelets.yaml"; then fail "a field that Kubernetes 1.29 does not know"; else ok; fi
}

# Values of the wrong type, or that nobody knows, must stop helm; one a line.
refuse_all() {
  local value
  while read -r value; do
    if template --set-json "$value" >/dev/null 2>"$out/refused"; then fail "not refused: $value"
    elif grep -q "schema" "$out/refused"; then ok
    else fail "refused, but not by the schema: $value: $(tail -n 1 "$out/refused")"
    fi
  done <tests/chart/refused.txt
}

# said TEXT ARGUMENT...: what goes together with nothing stops helm, and the chart says so.
said() {
  local text=$1
  shift
  if template "$@" >/dev/null 2>"$out/said"; then fail "not refused: $*"
  elif grep -qF "$text" "$out/said"; then ok
  else fail "refused, but not because of '$text': $*: $(tail -n 1 "$out/said")"
  fi
}

refuse_together() {
  said "goes with neither hostPID nor hostNetwork" --set daemonset.hostUsers=false
  said "set web.secretName" --set web.tls=true
  said "set web.secretName" --set web.authenticated=true
}

# What says from which chart a file was rendered: test_chart.py finds out whether it still is, without helm.
chart_digest() { (cd "$chart" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1); }

# Helm's own labels mean nothing to those who apply these without it.
manifest() {
  local profile=$1
  printf '# Made by tools/chart.sh --write from deploy/helm/kepler, profile %s; for Kubernetes 1.31 and newer. Set your image.\n' "$profile"
  printf '# chart: %s\n' "$(chart_digest)"
  template --set "profile=$profile,namespace.create=true" |
    grep -v -E '^# Source: |^ *(helm\.sh/chart|app\.kubernetes\.io/managed-by): '
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

tool helm helm.sh/helm/v3 "$helm_version" helm.sh/helm/v3/cmd/helm
tool kubeconform github.com/yannh/kubeconform "$kubeconform_version" github.com/yannh/kubeconform/cmd/kubeconform
rm -rf "$out"
mkdir -p "$out" deploy/manifests
lint
render_all
refuse_all
refuse_together
manifests
if /usr/bin/python3 tests/chart/knobs.py build/tools/helm; then ok; else fail "values without effect"; fi
for test in chart values; do
  if KEPLER_CHART_RENDERED=$out /usr/bin/python3 "tests/chart/test_$test.py"; then ok; else fail "tests/chart/test_$test.py"; fi
done
echo "chart.sh: $checks checks passed, $failures failed"
[ "$failures" = 0 ]
