#!/usr/bin/env python3
"""Writes the Grafana dashboards of deploy/grafana from the tables in this folder.

    tools/dashboards/make.py --write     writes the files
    tools/dashboards/make.py             exits with 1 if a file is not what the tables give
"""
import json
import pathlib
import sys

import health
import nodes
import workloads

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/grafana"
DASHBOARDS = (nodes.OVERVIEW, workloads.NAMESPACES, workloads.WORKLOADS, workloads.MACHINES, health.HEALTH)


def main(write):
    made = {f"{one['uid']}.json": json.dumps(one, indent=1) + "\n" for one in DASHBOARDS}
    problems = 0
    for path in sorted({*FOLDER.glob("*.json"), *(FOLDER / name for name in made)}):
        text = made.get(path.name)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if not write:
            problems += 1
            print(f"{path.name} is not what tools/dashboards gives; run tools/dashboards/make.py --write", file=sys.stderr)
        elif text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path.name} written")
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(bool(sys.argv[1:])))
