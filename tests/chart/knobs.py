#!/usr/bin/env python3
"""Turns each knob of the chart alone and says which of them change nothing. Called by tools/chart.sh with the path of helm.

What a knob is turned to is its value in values/all-knobs.yaml, or, where that is the default, another one below.
"""
import copy
import json
import subprocess
import sys

import yaml
from manifests import CHART, ROOT
from test_values import has, leaves

# With everything on, so that each part is rendered.
BASE = {"image": {"repository": "registry.example/kepler"}, "namespace": {"create": True}, "web": {"secretName": "kepler-web", "tls": True}, "dashboard": {"enabled": True},
        "serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True},
        "networkPolicy": {"enabled": True},
        "modelServer": {"enabled": True, "image": {"repository": "registry.example/kepler-model"}, "web": {"secretName": "models-web", "tls": True},
                        "agents": {"user": "agents", "secretName": "agents-login"},
                        "storage": {"accessModes": ["ReadWriteMany"]}, "jobs": {"enabled": True},
                        "retrain": {"name": "mine", "server": "http://prometheus:9090"}, "resources": {"limits": {"memory": "3Gi"}}}, "openshift": {"scc": {"create": True}},
        "daemonset": {"startupProbe": {"httpGet": {"path": "/-/healthy", "port": "http"}}}}
CREDENTIALS = {"authorization": {"credentials": {"name": "s", "key": "token"}},
               "oauth2": {"clientId": {"secret": {"name": "s", "key": "id"}}, "tokenUrl": "https://idp.example/token"}}
OTHER = {"profile": "proc", "modelServer.image.repository": "registry.example/other", "modelServer.web.secretName": "other",
         "modelServer.agents.user": "other", "modelServer.agents.secretName": "other",
         "modelServer.storage.accessModes": ["ReadWriteOncePod"], "modelServer.nodeSelector.kubernetes.io/os": "other", "daemonset.hostPID": False, "web.secretName": "other", "service.protocol": "SCTP",
         "serviceMonitor.path": "/other", "podMonitor.path": "/other",
         "serviceMonitor.scrapeTimeout": "3s", "podMonitor.scrapeTimeout": "3s",
         **{f"{monitor}.{name}": value for monitor in ("serviceMonitor", "podMonitor") for name, value in CREDENTIALS.items()},
         "serviceMonitor.bearerTokenFile": "/token", "serviceMonitor.scheme": "http", "podMonitor.scheme": "http",
         "daemonset.livenessProbe.httpGet.port": 1, "daemonset.readinessProbe.httpGet.port": 1,
         "daemonset.updateStrategy.type": "OnDelete", "service.clusterIP": "None", "daemonset.nodeSelector.kubernetes.io/os": "other",
         "dashboard.labels.grafana_dashboard": "2", "namespace.labels.pod-security.kubernetes.io/enforce": "baseline"}
# What goes only with something else. There is one monitor at a time.
MONITOR = "podMonitor.enabled=false"
NEEDS = {"daemonset.hostPID": f"config.host.procfs=/host/proc,{MONITOR}", "podMonitor": "serviceMonitor.enabled=false",
         "service.enabled": "serviceMonitor.enabled=false", "web.tls": f"web.authenticated=true,{MONITOR}",
         "modelServer.web.tls": f"modelServer.agents.user=,modelServer.agents.secretName=,{MONITOR}",
         "modelServer.jobs.enabled": f"modelServer.retrain.name=,{MONITOR}",
         "serviceAccount.create": f"serviceAccount.name=other,{MONITOR}"}
# Values for Kepler 0.11 may have them: nothing but a line for who installs it, and what can only be true.
WITHOUT_EFFECT = {"daemonset.nvidia", "daemonset.hostUsers", "image.allowPlaceholder"}


def value(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def turn(path, leaf):
    """The base with one value more."""
    tree = below = copy.deepcopy(BASE)
    for key in path[:-1]:
        below = below.setdefault(key, {})
    below[path[-1]] = leaf
    return tree


def main(helm):
    def render(tree, needs):
        command = [helm, "template", "kepler", str(CHART), "--kube-version", "1.34.0", "--skip-schema-validation", "-f", "-"]
        done = subprocess.run([*command, "--set", needs], input=json.dumps(tree), capture_output=True,
                              text=True, check=False, timeout=60)
        if done.returncode:
            sys.exit(f"knobs.py: {tree}: {done.stderr}")
        return done.stdout

    values = yaml.safe_load((CHART / "values.yaml").read_text())
    turned = yaml.safe_load((ROOT / "tests/chart/values/all-knobs.yaml").read_text())
    plain = {needs: render(BASE, needs) for needs in {MONITOR, *NEEDS.values()}}
    dead, count = [], 0
    for path in leaves(values):
        name = ".".join(path)
        now = value(BASE, path) if has(BASE, path) else value(values, path)
        new = OTHER.get(name, (not now) if isinstance(now, bool) else value(turned, path))
        needs = NEEDS.get(name) or NEEDS.get(path[0], MONITOR)
        count += 1
        if render(turn(path, new), needs) == plain[needs] and name not in WITHOUT_EFFECT:
            dead.append(name)
    print(f"knobs.py: {count} knobs, without effect: {', '.join(dead) or 'none'}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
