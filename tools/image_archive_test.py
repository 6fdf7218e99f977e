#!/usr/bin/env python3
"""Tests of tools/image_archive.py."""
import gzip
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
import unittest

import image_archive

NAME = "localhost/kepler:1"


class ImageArchive(unittest.TestCase):
    LAYER = b"".join(b"file %d of the layer of " % (number * number) for number in range(10_000))

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.archive = os.path.join(self.directory, "out.tar")

    def layout(self, architecture, images=1, layers=1):
        """A folder in the OCI layout, as podman saves it."""
        folder = os.path.join(self.directory, architecture)
        os.makedirs(f"{folder}/blobs/sha256")

        def put(content, media_type="application/x"):
            digest = hashlib.sha256(content).hexdigest()
            with open(f"{folder}/blobs/sha256/{digest}", "wb") as file:
                file.write(content)
            return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}
        config = put(json.dumps({"architecture": architecture, "os": "linux"}).encode())
        layer = put(gzip.compress(self.LAYER + architecture.encode(), 1), "application/vnd.oci.image.layer.v1.tar+gzip")
        manifest = put(json.dumps({"config": config, "layers": [layer] * layers}).encode())
        with open(f"{folder}/index.json", "w", encoding="ascii") as file:
            json.dump({"manifests": [{**manifest, "annotations": {"x": "y"}}] * images}, file)
        return folder

    def read(self):
        with tarfile.open(self.archive) as tar:
            files = {member.name: tar.extractfile(member).read() for member in tar}
        for name, content in files.items():
            if name.startswith("blobs/"):
                self.assertEqual(name, "blobs/sha256/" + hashlib.sha256(content).hexdigest())
        return files

    def entry(self, files):
        (entry,) = json.loads(files["index.json"])["manifests"]
        self.assertEqual(entry["annotations"], {"io.containerd.image.name": NAME, "org.opencontainers.image.ref.name": NAME})
        return entry, json.loads(files["blobs/" + entry["digest"].replace(":", "/")])

    def test_one_image_for_every_reader(self):
        image_archive.main(NAME, self.archive, self.layout("amd64"))
        files = self.read()
        entry, manifest = self.entry(files)
        self.assertEqual(entry["platform"], {"architecture": "amd64", "os": "linux"})
        (docker,) = json.loads(files["manifest.json"])
        self.assertEqual(docker["RepoTags"], [NAME])
        layer = files[docker["Layers"][0]]
        self.assertEqual(gzip.decompress(layer), self.LAYER + b"amd64")
        self.assertLess(len(layer), len(gzip.compress(self.LAYER + b"amd64", 5)), "compressed again")
        self.assertEqual(docker["Config"], "blobs/" + manifest["config"]["digest"].replace(":", "/"))

    def test_two_architectures_behind_one_index(self):
        image_archive.main(NAME, self.archive, self.layout("amd64"), self.layout("arm64"))
        files = self.read()
        _, index = self.entry(files)
        self.assertEqual([image["platform"]["architecture"] for image in index["manifests"]], ["amd64", "arm64"])
        for image in index["manifests"]:
            self.assertIn("blobs/" + image["digest"].replace(":", "/"), files)
        self.assertNotIn("manifest.json", files)

    def test_same_layouts_same_bytes(self):
        layout = self.layout("amd64")
        image_archive.main(NAME, self.archive, layout)
        with open(self.archive, "rb") as file:
            first = file.read()
        os.utime(f"{layout}/index.json", (1, 1))
        image_archive.main(NAME, self.archive, layout)
        with open(self.archive, "rb") as file:
            self.assertEqual(file.read(), first)

    def test_a_layer_that_an_image_has_twice(self):
        image_archive.main(NAME, self.archive, self.layout("amd64", layers=2))
        _, manifest = self.entry(self.read())
        first, second = manifest["layers"]
        self.assertEqual(first, second)

    def test_a_layout_of_two_images_is_refused(self):
        with self.assertRaisesRegex(ValueError, "has 2 images instead of one"):
            image_archive.main(NAME, self.archive, self.layout("amd64", images=2))


if __name__ == "__main__":
    unittest.main()
