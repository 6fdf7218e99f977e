"""What is in the images that tools/image.sh made.

KEPLER_IMAGES: the folder of the archives.
"""
import hashlib
import os
import pathlib
import re
import shutil
import ssl
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from archive import Archive  # noqa: E402
from harness import output_of, run_tests, scratch_directory  # noqa: E402
from image import ARCHIVES  # noqa: E402
from rights import image_user  # noqa: E402

# Limits of the image: what a node pulls, and what it keeps.
ARCHIVE_BYTES = 10_000_000
UNPACKED_BYTES = 25_000_000
# What tools/image_root.sh leaves out of packages, and what it makes itself.
LEFT_OUT = re.compile(r"usr/share/(man|locale|info|lintian)/|usr/lib/[^/]+/gconv/|usr/lib/systemd/|usr/sbin/|usr/share/doc/")
MADE = re.compile(r"(bin|lib|lib64|sbin|etc/ssl/certs/ca-certificates.crt|usr/lib/ssl/cert.pem|var/lib/dpkg/.*)$")


class Content(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = {target: Archive(path) for target, path in ARCHIVES.items()}

    def each(self):
        return self.images.items()

    def test_user_program_and_port(self):
        for target, one in self.each():
            settings = one.config["config"]
            self.assertEqual(settings.get("User", ""), {"runtime": "", "nonroot": image_user()}[target])
            self.assertEqual(settings["Entrypoint"], ["/usr/bin/kepler"])
            self.assertEqual(list(settings["ExposedPorts"]), ["28282/tcp"])

    def test_labels(self):
        for target, one in self.each():
            labels = {name.removeprefix("org.opencontainers.image."): value for name, value in one.config["config"]["Labels"].items()}
            self.assertEqual(labels["title"], "kepler")
            self.assertEqual(labels["version"], one.packages()["kepler"]["Version"])
            self.assertRegex(labels["revision"], r"^([0-9a-f]{40}|unknown)$")
            self.assertIn("Apache-2.0", labels["licenses"])
            suffix = {"runtime": "", "nonroot": "-nonroot"}[target]
            self.assertEqual(one.annotations["io.containerd.image.name"], f"localhost/kepler:{labels['version']}{suffix}")

    def test_architecture_is_that_of_the_package(self):
        for _, one in self.each():
            self.assertEqual(one.config["architecture"], one.packages()["kepler"]["Architecture"])

    def test_size(self):
        for target, one in self.each():
            size = os.path.getsize(ARCHIVES[target])
            print(f"{target}: {size / 1e6:.1f} MB to pull (limit {ARCHIVE_BYTES / 1e6:.0f}), {one.unpacked_bytes / 1e6:.1f} MB "
                  f"unpacked (limit {UNPACKED_BYTES / 1e6:.0f}), {len(one.packages())} packages")
            self.assertLessEqual(size, ARCHIVE_BYTES)
            self.assertLessEqual(one.unpacked_bytes, UNPACKED_BYTES)

    def test_both_images_share_the_layer_of_libraries(self):
        first = [one.manifest["layers"][0]["digest"] for _, one in self.each()]
        self.assertEqual(first[0], first[1])

    def test_every_file_is_of_a_package_or_named_here(self):
        """No shell, no history, no caches: nothing that nobody put there on purpose."""
        for _, one in self.each():
            listed = one.listed()
            strange = [path for path, (member, _) in one.files.items()
                       if not member.isdir() and path not in listed and not MADE.match(path)]
            self.assertEqual(strange, [])

    def test_only_one_program(self):
        for _, one in self.each():
            programs = [path for path, (member, _) in one.files.items() if re.match(r"(usr/(local/)?)?s?bin/.", path)]
            self.assertEqual(programs, ["usr/bin/kepler"])

    def test_nobody_but_root_may_write(self):
        for _, one in self.each():
            loose = [path for path, (member, _) in one.files.items() if not member.issym() and
                     (member.uid or (member.mode & 0o002 and not member.mode & 0o1000))]
            self.assertEqual(loose, [])

    def test_files_are_those_of_the_packages(self):
        for _, one in self.each():
            wrong = []
            for path, digest in one.checksums().items():
                if path in one.files:
                    if hashlib.md5(one.files[path][1]).hexdigest() != digest:
                        wrong.append(path)
                elif not LEFT_OUT.match(path):
                    wrong.append(path)
            self.assertEqual(wrong, [])

    def test_licenses_of_every_package(self):
        for _, one in self.each():
            self.assertGreater(len(one.packages()), 10)
            for name in one.packages():
                path = one.follow(f"usr/share/doc/{name}/copyright")
                self.assertIsNotNone(path, f"{name} has no copyright file")
                words = one.files[path][1].decode(errors="replace")
                for license_file in set(re.findall(r"usr/share/common-licenses/([A-Za-z0-9]+(?:-[0-9.]*[0-9])?)", words)):
                    self.assertTrue(one.follow(f"usr/share/common-licenses/{license_file}"), f"{name}: {license_file} is not there")

    def test_dependencies_are_there(self):
        for _, one in self.each():
            # The scripts of these two need more packages. They are not run here.
            scripts = {"ca-certificates", "base-files"}
            packages = one.packages()
            for name in set(packages) - scripts:
                fields = packages[name]
                for group in f"{fields.get('Depends', '')},{fields.get('Pre-Depends', '')}".split(","):
                    choices = {choice.split()[0].partition(":")[0] for choice in group.split("|") if choice.strip()}
                    if choices:
                        self.assertTrue(choices & set(packages), f"{name} depends on {group}")

    def test_dpkg_reads_its_database(self):
        folder = scratch_directory()
        self.addCleanup(shutil.rmtree, folder)
        for _, one in self.each():
            os.makedirs(f"{folder}/info", exist_ok=True)
            for path, (member, content) in one.files.items():
                if path.startswith("var/lib/dpkg/") and member.isfile():
                    pathlib.Path(folder, path.removeprefix("var/lib/dpkg/")).write_bytes(content)
            self.assertEqual(output_of(["dpkg", f"--admindir={folder}", "--audit"], 60), "")
            shown = output_of(["dpkg-query", f"--admindir={folder}", "-W", "-f", "${Package} ${db:Status-Abbrev}\n"], 60)
            self.assertEqual({line.split()[0]: line.split()[1] for line in shown.splitlines()},
                             {name: "ii" for name in one.packages()})

    def test_authorities_for_https(self):
        for _, one in self.each():
            path = one.follow("usr/lib/ssl/cert.pem")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cadata=one.text(path))
            self.assertGreater(len(context.get_ca_certs()), 100)


if __name__ == "__main__":
    run_tests()
