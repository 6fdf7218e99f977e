"""What an image archive of tools/image.sh contains."""
import io
import json
import re
import tarfile

# What merged /usr makes of paths in lists of packages.
_MERGED = re.compile(r"^(bin|lib|lib64|sbin)/")


class Archive:
    """One image, from a file in the OCI layout. Layers are read into memory: the image is small."""

    def __init__(self, path):
        with tarfile.open(path) as tar:
            self.blobs = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
        manifests = json.loads(self.blobs["index.json"])["manifests"]
        if len(manifests) != 1:
            raise AssertionError(f"{path} has {len(manifests)} images, not one")
        self.annotations = manifests[0]["annotations"]
        self.manifest = self._json(manifests[0])
        self.config = self._json(self.manifest["config"])
        self.files = {}  # path without leading slash -> (TarInfo, content or None)
        self.unpacked_bytes = 0
        for layer in self.manifest["layers"]:
            self._add(self._blob(layer))

    def _blob(self, descriptor):
        return self.blobs["blobs/" + descriptor["digest"].replace(":", "/")]

    def _json(self, descriptor):
        return json.loads(self._blob(descriptor))

    def _add(self, layer):
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            for member in tar:
                self.unpacked_bytes += member.size
                if ".wh." in member.name:
                    raise AssertionError(f"a layer removes {member.name}, which another one still carries")
                self.files[member.name.strip("./") or "."] = (member, tar.extractfile(member).read() if member.isfile() else None)

    def text(self, path):
        return self.files[path][1].decode()

    def follow(self, path):
        """The path of the file that path leads to, through symbolic links of folders and files; None where nothing is."""
        for _ in range(10):
            for end in range(1, path.count("/") + 2):
                head = "/".join(path.split("/")[:end])
                member = self.files.get(head, (None,))[0]
                if member is not None and member.issym():
                    break
            else:
                return path if path in self.files else None
            folder = "" if member.linkname.startswith("/") else head.rpartition("/")[0] + "/"
            path = folder + member.linkname.lstrip("/") + path[len(head):]
        return None

    def packages(self):
        """dpkg's status: name to fields (without continuation lines)."""
        found = {}
        for block in self.text("var/lib/dpkg/status").strip().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and line[0] != " ")
            found[fields["Package"]] = fields
        return found

    def _lines(self, ending):
        return [line for path in self.files if path.startswith("var/lib/dpkg/info/") and path.endswith(ending)
                for line in self.text(path).splitlines()]

    def listed(self):
        """Paths that packages own, as dpkg's lists say."""
        return {_MERGED.sub(r"usr/\1/", line.strip("/")) for line in self._lines(".list")}

    def checksums(self):
        """Path to MD5 of the files that packages brought, as dpkg keeps it."""
        pairs = (line.split(maxsplit=1) for line in self._lines(".md5sums"))
        return {_MERGED.sub(r"usr/\1/", path): digest for digest, path in pairs}
