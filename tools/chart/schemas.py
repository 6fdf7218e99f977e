#!/usr/bin/env python3
"""JSON schemas for kubeconform, from the OpenAPI document of a Kubernetes API server.

  tools/chart/schemas.py OPENAPI_V2.json DIRECTORY KIND...

OPENAPI_V2.json is what `kubectl get --raw /openapi/v2` prints, or api/openapi-spec/swagger.json of the module
k8s.io/kubernetes. Writes definitions.json, with what the kinds need and no more, and for each kind a file that points there.
"""
import json
import pathlib
import sys

PROSE = ("description", "default")


def needed(definitions, names):
    """The definitions of those names, and all that these refer to."""
    found, todo = {}, list(names)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = definitions[name]
        todo += [ref.rsplit("/", 1)[1] for ref in references(definitions[name])]
    return found


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def tighten(node):
    """Without prose, and such that an unknown key is an error."""
    if isinstance(node, list):
        return [tighten(item) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return {"$ref": "definitions.json#/definitions/" + node["$ref"].rsplit("/", 1)[1]}
    if node.get("format") == "int-or-string":
        return {"type": ["string", "integer"]}
    kept = {key: tighten(value) for key, value in node.items()
            if not (key in PROSE and not isinstance(value, dict)) and not key.startswith("x-kubernetes-")}
    if "properties" in kept:
        kept.setdefault("additionalProperties", False)
    return kept


def main(source, directory, kinds):
    definitions = json.loads(pathlib.Path(source).read_text())["definitions"]
    names = {}
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", []):
            if kind["kind"] in kinds and "properties" in definition:
                parts = (kind["kind"], kind["group"].split(".")[0], kind["version"])
                names["-".join(part for part in parts if part).lower()] = name
    missing = [kind for kind in kinds if not any(file.split("-")[0] == kind.lower() for file in names)]
    if missing:
        sys.exit(f"schemas.py: not in {source}: {' '.join(missing)}")
    chosen = {name: tighten(definition) for name, definition in sorted(needed(definitions, names.values()).items())}
    for name in chosen:
        if name.endswith(".api.resource.Quantity"):
            chosen[name] = {"type": ["string", "number"]}
    out = pathlib.Path(directory)
    for file, name in names.items():
        (out / f"{file}.json").write_text(json.dumps({"$ref": f"definitions.json#/definitions/{name}"}) + "\n")
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in chosen.items())
    (out / "definitions.json").write_text('{"definitions":{\n' + lines + "\n}}\n")
    print(f"{len(names)} kinds, {len(chosen)} definitions")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
