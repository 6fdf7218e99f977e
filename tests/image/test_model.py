"""The image of the model server that tools/image.sh made.

KEPLER_IMAGES: the folder of the archives. Running it needs root and podman.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from archive import Archive  # noqa: E402
from harness import free_port, run_tests, scratch_directory, wait_until  # noqa: E402
from image import FOLDER  # noqa: E402
from model_text import own  # noqa: E402
from workloads import Podman  # noqa: E402

ARCHIVE = os.path.join(FOLDER, "kepler-model.tar")
ARCHIVE_BYTES = 40_000_000
UNPACKED_BYTES = 110_000_000


class Content(unittest.TestCase):
    def setUp(self):
        self.image = Archive(ARCHIVE)

    def test_settings(self):
        settings = self.image.config["config"]
        self.assertEqual(settings["User"], "65532:65532")
        self.assertEqual(settings["Entrypoint"], ["/usr/bin/kepler-model"])
        self.assertEqual(settings["Cmd"], ["serve", "--store=/var/lib/kepler-models"])
        self.assertEqual(list(settings["ExposedPorts"]), ["8100/tcp"])
        store, _ = self.image.files["var/lib/kepler-models"]
        self.assertEqual((store.uid, store.gid, store.isdir()), (65532, 65532, True))

    def test_size_and_programs(self):
        size = os.path.getsize(ARCHIVE)
        print(f"model: {size / 1e6:.1f} MB to pull (limit {ARCHIVE_BYTES / 1e6:.0f}), "
              f"{self.image.unpacked_bytes / 1e6:.1f} MB unpacked (limit {UNPACKED_BYTES / 1e6:.0f})")
        self.assertLessEqual(size, ARCHIVE_BYTES)
        self.assertLessEqual(self.image.unpacked_bytes, UNPACKED_BYTES)
        for shell in ("usr/bin/sh", "usr/bin/bash", "usr/bin/dash"):
            self.assertNotIn(shell, self.image.files)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Run(unittest.TestCase):
    def test_it_serves_a_volume_and_trains(self):
        podman = self.enterContext(Podman())
        podman.run("load", "-i", ARCHIVE)
        image = f"localhost/kepler-model:{Archive(ARCHIVE).packages()['kepler-model']['Version']}"
        store = scratch_directory()
        self.addCleanup(shutil.rmtree, store)
        os.makedirs(f"{store}/epyc")
        pathlib.Path(store, "epyc/model.json").write_text(own("epyc", 7), encoding="utf-8")
        for path in (store, f"{store}/epyc"):
            os.chown(path, 65532, 65532)
            os.chmod(path, 0o755)
        port = free_port()
        command = podman.command("run", "--rm", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                                 "--network=host", "-v", f"{store}:/var/lib/kepler-models", image, "serve",
                                 "--store=/var/lib/kepler-models", "--jobs=/var/lib/kepler-models/.jobs",
                                 f"--listen-address=127.0.0.1:{port}")
        server = subprocess.Popen(command, env=podman.environment(), stdout=subprocess.DEVNULL)
        try:
            model = wait_until(lambda: self.fetch(f"http://127.0.0.1:{port}/models/epyc/model.json"), "the model")
            self.assertEqual(model, own("epyc", 7))
            self.assertEqual(self.fetch(f"http://127.0.0.1:{port}/jobs"), '{"jobs":[]}\n')
        finally:
            server.terminate()
            server.wait(60)

    def fetch(self, url):
        return subprocess.run(["curl", "-sf", url], capture_output=True, text=True, timeout=60, check=False).stdout


if __name__ == "__main__":
    run_tests()
