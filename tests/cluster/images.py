"""Images without a registry: archives in the OCI layout, made of what this machine has."""
import functools
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile

import rights

PAUSE = "localhost/pause:1"
WORK = "localhost/work:1"
AGENT = "localhost/kepler:e2e"
NONROOT_AGENT = "localhost/kepler:nonroot"
HERE = os.path.dirname(os.path.abspath(__file__))


class Image:
    """One layer. `files` maps paths to bytes or, for links, to the text of where they lead; `capabilities` to what the
    kernel keeps with a file (security.capability)."""

    def __init__(self, name, command, files, user="", capabilities=None):
        self.name, self.command, self.user = name, command, user
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            above = {part for path in files for part in self._above(path)}
            for directory in sorted(above | {"tmp", "proc", "sys", "dev"}):
                entry = tarfile.TarInfo(directory)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            for path, content in sorted(files.items()):
                entry = tarfile.TarInfo(path.strip("/"))
                entry.mode = 0o755
                if capabilities and path in capabilities:
                    # Any bytes: what is no UTF-8 the archive writes as it is.
                    entry.pax_headers["SCHILY.xattr.security.capability"] = capabilities[path].decode(
                        "utf-8", "surrogateescape")
                if isinstance(content, str):
                    entry.type, entry.linkname = tarfile.SYMTYPE, content
                    tar.addfile(entry)
                else:
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
        self.layer = layer.getvalue()

    @staticmethod
    def _above(path):
        parts = path.strip("/").split("/")[:-1]
        return ["/".join(parts[:count + 1]) for count in range(len(parts))]

    def write(self, path):
        """The archive that `ctr images import` takes."""
        blobs = {}

        def put(content, kind):
            digest = hashlib.sha256(content).hexdigest()
            blobs[f"blobs/sha256/{digest}"] = content
            return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

        def put_json(content, kind):
            return put(json.dumps(content).encode(), kind)
        layer = put(self.layer, "layer.v1.tar")
        config = put_json({"architecture": os.uname().machine.replace("x86_64", "amd64").replace("aarch64", "arm64"),
                           "os": "linux", "config": {"Entrypoint": self.command, "User": self.user},
                           "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}, "config.v1+json")
        manifest = put_json({"schemaVersion": 2, "config": config, "layers": [layer]}, "manifest.v1+json")
        manifest["annotations"] = {"io.containerd.image.name": self.name, "org.opencontainers.image.ref.name": self.name}
        blobs["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
        blobs["oci-layout"] = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
        with tarfile.open(path, "w") as tar:
            for name, content in blobs.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def contents(path):
    with open(path, "rb") as file:
        return file.read()


@functools.cache
def static_program(name):
    """{path: the program} of a C source next to this file."""
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, name)
        subprocess.run(["cc", "-O2", "-static", os.path.join(HERE, f"{name}.c"), "-o", program], check=True)
        return {f"/{name}": contents(program)}


def pause():
    return Image(PAUSE, ["/pause"], static_program("pause"))


def work():
    """For pods that use CPU time."""
    return Image(WORK, ["/work"], static_program("work"))


def agent_files(program):
    """The agent as it was built, with the libraries that it was linked with, at the places where its loader looks; and what
    an attacker in its container would bring along."""
    files = {"/usr/bin/kepler": contents(program), **static_program("try_writes")}
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    if "not found" in listed:
        raise RuntimeError(f"{program} cannot run here:\n{listed}")
    for library in re.findall(r"(/\S+) \(0x", listed):
        files[library] = contents(library)
    return files


def write_all(program, directory):
    """What the cluster needs, as archives; their paths."""
    paths = []
    for name, image in (("pause", pause()), ("work", work()), ("agent", agent(program))):
        paths.append(os.path.join(directory, f"{name}.tar"))
        image.write(paths[-1])
    return paths


def agent(program):
    return Image(AGENT, ["/usr/bin/kepler"], agent_files(program))


def nonroot_agent(program):
    """As deploy/Dockerfile's target `nonroot`: another user, whose rights are the program file's."""
    return Image(NONROOT_AGENT, ["/usr/bin/kepler"], agent_files(program), rights.image_user(),
                 {"/usr/bin/kepler": rights.granted(program)})
