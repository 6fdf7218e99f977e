#!/usr/bin/env python3
"""What becomes of each value of the chart that is null. Called by tools/chart.sh with the path of helm.

Helm forgets the chart's own value there. Then a list or a mapping is empty, one of Kubernetes' own fields is gone, and anything
else is as it is by default, or the schema says that it is missing. Helm's own message for a template that fails is not
readable.
"""
import json
import subprocess
import sys

import yaml
from manifests import CHART

# All of them are rendered each time, except the monitors: one at a time.
PARTS = {"serviceMonitor": ("enabled",), "podMonitor": ("enabled",), "prometheusRule": ("enabled",), "dashboard": ("enabled",),
         "networkPolicy": ("enabled",), "modelServer": ("enabled",), "openshift": ("scc", "create"), "namespace": ("create",)}
# What is below these is handed on as it is.
KUBERNETES = {"labels", "nodeSelector", "resources", "livenessProbe", "readinessProbe"}


def paths(node, above=()):
    for key, value in node.items():
        yield above + (key,), value
        if isinstance(value, dict):
            yield from paths(value, above + (key,))


def put(tree, path, leaf):
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = leaf


def main(helm):
    def render(path, *leaf):
        tree = {"image": {"allowPlaceholder": True}}
        other = "serviceMonitor" if path[0] == "podMonitor" else "podMonitor"
        for part, switch in PARTS.items():
            if part != other and (part,) != path[:1] * len(path):
                put(tree, (part, *switch), True)
        for value in leaf:
            put(tree, path, value)
        return subprocess.run([helm, "template", "kepler", str(CHART), "--kube-version", "1.34.0", "-f", "-"],
                              input=json.dumps(tree), capture_output=True, text=True, check=False, timeout=60)

    wrong, counts = [], {"refused": 0, "default": 0, "empty or gone": 0}
    plain = {}
    for path, value in paths(yaml.safe_load((CHART / "values.yaml").read_text())):
        name = ".".join(path)
        if path[0] not in plain:
            plain[path[0]] = render((path[0], ""))
        done = render(path, None)
        if done.returncode:
            counts["refused"] += 1
            if f"missing property '{path[-1]}'" not in done.stderr:
                wrong.append(f"{name}: {done.stderr.splitlines()[0]}")
        elif objects(done) == objects(plain[path[0]]):
            counts["default"] += 1
        elif isinstance(value, (dict, list)) and value or KUBERNETES & set(path[:-1]):
            counts["empty or gone"] += 1
        elif path[-1] != PARTS.get(path[0], ("",))[-1]:  # of a part itself: it is off, as by default
            wrong.append(f"{name}: something else than its default")
    print(f"nulls.py: {counts}, wrong: {'; '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def objects(done):
    """Without the empty ones among their fields: null, and nothing at all, are the same to the API server."""
    return [without_empty(item) for item in yaml.safe_load_all(done.stdout)]


def without_empty(node):
    if isinstance(node, dict):
        below = {key: without_empty(value) for key, value in node.items()}
        return {key: value for key, value in below.items() if value not in (None, "", {}, [])}
    return [without_empty(item) for item in node] if isinstance(node, list) else node


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
