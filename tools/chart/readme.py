#!/usr/bin/env python3
"""The chart's README, from the comments of its values.

  tools/chart/readme.py VALUES.yaml    prints the page

Each value has one row: its path, its default and the comment above it. A mapping whose keys have no comments is one value.
"""
import json
import pathlib
import re
import sys

import yaml

HEAD = """# Kepler chart

Installs Kepler, the agent that measures which process, container, pod or virtual machine used which joule, on each node.

```sh
kubectl create namespace kepler
kubectl label namespace kepler pod-security.kubernetes.io/enforce=privileged
helm install kepler deploy/helm/kepler --namespace kepler --set image.repository=REGISTRY/kepler
helm test kepler --namespace kepler --logs
```

There is no public image: build yours first ([install](../../../docs/kubernetes.md#install)). Other tasks, such as passwords and
the upgrade from Kepler 0.11's chart: [Kepler on Kubernetes](../../../docs/kubernetes.md). Rights of each profile:
[profiles](../../../docs/deploy-kubernetes.md#which-profile).

Made from `values.yaml` by `tools/chart.sh --write`. `null` empties a list or a mapping; for any other value it means the default, or
is refused.
"""


class Value:
    """A key of the file: its path, the comment above it and its keys."""

    def __init__(self, path, comment):
        self.path, self.comment, self.below = path, comment, []

    def leaves(self):
        """Itself, or those of its keys where any of them has a comment."""
        if not any(child.commented() for child in self.below):
            return [self]
        return [leaf for child in self.below for leaf in child.leaves()]

    def commented(self):
        return bool(self.comment) or any(child.commented() for child in self.below)


def parse(text):
    """The top-level values. Only block mappings are read as keys; what is in lists belongs to its value."""
    top = Value((), [])
    open_values, comment, skip = [(-1, top)], [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        key = re.match(r"\s*([A-Za-z][\w./-]*):(\s|$)", line)
        if not line.strip():
            comment = []
        elif line.lstrip().startswith("#"):
            comment.append(line.lstrip()[1:])
        elif skip is not None and indent > skip:
            continue
        elif line.lstrip().startswith("- "):
            skip, comment = indent - 1, []
        elif key:
            skip = None
            while open_values[-1][0] >= indent:
                open_values.pop()
            parent = open_values[-1][1]
            value = Value((*parent.path, key[1]), comment)
            parent.below.append(value)
            open_values.append((indent, value))
            comment = []
    return top.below


def prose(comment):
    """One line of Markdown. Indented lines, which are a table in the comment, become a list of clauses."""
    lines = []
    for line in comment:
        if line.startswith("   ") and lines:
            word, _, rest = line.strip().partition(" ")
            lines.append(f"`{word}`: {rest.strip()}")
        else:
            lines.append(line.strip())
    return " ".join(lines).replace("|", "\\|")


def row(leaf, default):
    for key in leaf.path:
        default = default[key]
    if not leaf.comment:
        sys.exit(f"readme.py: {'.'.join(leaf.path)} has no comment")
    return f"| `{'.'.join(leaf.path)}` | `{json.dumps(default)}` | {prose(leaf.comment)} |\n"


def page(text):
    """Values without keys of their own come first, then a section for each mapping."""
    defaults = yaml.safe_load(text)
    sections = {"General": []}
    for value in parse(text):
        leaves = value.leaves()
        sections.setdefault("General" if leaves == [value] else value.path[0], []).extend(leaves)
    return HEAD + "".join(f"\n## {name}\n\n| Value | Default | Meaning |\n|---|---|---|\n" + "".join(row(leaf, defaults) for leaf in leaves)
                          for name, leaves in sections.items())


if __name__ == "__main__":
    sys.stdout.write(page(pathlib.Path(sys.argv[1]).read_text()))
