#!/usr/bin/env python3
"""Writes an image archive that podman, docker, containerd, kind, minikube, k3s and skopeo read.

    tools/image_archive.py NAME ARCHIVE LAYOUT...

Each LAYOUT is a folder in the OCI image layout with one image (podman save --format oci-dir). ARCHIVE holds them as NAME:
one image as it is, images of several architectures behind one index. With one image it also has the manifest.json of
docker's own format: docker reads the OCI layout only from version 25 on. The layers in the layouts are compressed again, with
gzip's best compression: podman 4.3 has no option for it. The same layouts give the same bytes.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

INDEX = "application/vnd.oci.image.index.v1+json"


def read_json(*path: str):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def blob_path(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def replace_blob(layout: str, descriptor: dict, content: bytes) -> dict:
    """Puts content in place of the blob of the descriptor. Returns the descriptor of the content."""
    os.remove(os.path.join(layout, blob_path(descriptor["digest"])))
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    with open(os.path.join(layout, blob_path(digest)), "wb") as file:
        file.write(content)
    return {**descriptor, "digest": digest, "size": len(content)}


def read_index(layout: str) -> dict:
    index = read_json(layout, "index.json")
    if len(index["manifests"]) != 1:
        raise ValueError(f"{layout} has {len(index['manifests'])} images instead of one")
    return index


def compress_layers(layout: str) -> None:
    index = read_index(layout)
    image = index["manifests"][0]
    manifest = read_json(layout, blob_path(image["digest"]))
    layers = {layer["digest"]: layer for layer in manifest["layers"]}  # an image may have the same layer twice
    for digest, layer in layers.items():
        if layer["mediaType"].endswith("+gzip"):
            with gzip.open(os.path.join(layout, blob_path(digest))) as file:
                layers[digest] = replace_blob(layout, layer, gzip.compress(file.read(), mtime=0))
    manifest["layers"] = [layers[layer["digest"]] for layer in manifest["layers"]]
    index["manifests"] = [replace_blob(layout, image, json.dumps(manifest).encode())]
    with open(os.path.join(layout, "index.json"), "w", encoding="ascii") as file:
        json.dump(index, file)


def described(layout: str) -> dict:
    """The descriptor of the layout's one image, with its platform."""
    image = read_index(layout)["manifests"][0]
    descriptor = {key: image[key] for key in ("mediaType", "digest", "size")}
    config = read_json(layout, blob_path(read_json(layout, blob_path(descriptor["digest"]))["config"]["digest"]))
    platform = {key: config[key] for key in ("architecture", "os", "variant") if config.get(key)}
    return {**descriptor, "platform": platform}


def docker_manifest(layout: str, name: str, descriptor: dict) -> bytes:
    manifest = read_json(layout, blob_path(descriptor["digest"]))
    return json.dumps([{"Config": blob_path(manifest["config"]["digest"]), "RepoTags": [name],
                        "Layers": [blob_path(layer["digest"]) for layer in manifest["layers"]]}]).encode()


def contents(name: str, layouts: list[str]) -> dict[str, bytes]:
    """The archive's files, except the blobs of the images."""
    images = [described(layout) for layout in layouts]
    files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode()}
    if len(images) == 1:
        entry = images[0]
        files["manifest.json"] = docker_manifest(layouts[0], name, entry)
    else:
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": images}).encode()
        entry = {"mediaType": INDEX, "digest": "sha256:" + hashlib.sha256(index).hexdigest(), "size": len(index)}
        files[blob_path(entry["digest"])] = index
    # containerd reads the first of the two names, everything else the second.
    entry["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode()
    return files


def main(name: str, archive: str, *layouts: str) -> None:
    for layout in layouts:
        compress_layers(layout)
    files = contents(name, list(layouts))
    blobs = {}
    for layout in layouts:
        for digest in os.listdir(os.path.join(layout, "blobs/sha256")):
            blobs[f"blobs/sha256/{digest}"] = os.path.join(layout, "blobs/sha256", digest)
    with tarfile.open(archive, "w") as tar:
        for path in sorted({*files, *blobs}):
            entry = tarfile.TarInfo(path)
            if path in files:
                entry.size = len(files[path])
                tar.addfile(entry, io.BytesIO(files[path]))
            else:
                entry.size = os.path.getsize(blobs[path])
                with open(blobs[path], "rb") as file:
                    tar.addfile(entry, file)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
