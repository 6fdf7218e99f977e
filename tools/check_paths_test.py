#!/usr/bin/env python3
"""Tests of tools/check_paths.py on a small repository, and its check of this repository."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_paths.py"


class CheckPaths(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.TemporaryDirectory()
        self.addCleanup(self.tree.cleanup)
        subprocess.run(["git", "init", "-q", self.tree.name], check=True)
        for path in ("src/lab/fits.h", "src/lab/fits.cc", "src/lab/CMakeLists.txt", "src/os/file.h", "tools/a.sh"):
            self.write(path, "")
        self.write("CONTRIBUTING.md", "")
        self.write("docs/ARCHITECTURE.md", "")

    def write(self, path, text):
        file = Path(self.tree.name) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        subprocess.run(["git", "-C", self.tree.name, "add", path], check=True)

    def check(self, text):
        self.write("CONTRIBUTING.md", text)
        done = subprocess.run([sys.executable, TOOL, self.tree.name], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_clean(self, text):
        code, output = self.check(text)
        self.assertEqual(code, 0, output)

    def assert_missing(self, text, *parts):
        code, output = self.check(text)
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)
        self.assertIn(f"check_paths: {len(parts)} missing", output)

    def test_paths_that_exist(self):
        self.assert_clean("`src/lab/`, `src/lab/fits.{h,cc}`, `lab/fits.h`, `src/NAME/CMakeLists.txt`, `src/os/*.h`, `tools/a.sh --all`\n")

    def test_missing_paths_are_printed_with_their_line(self):
        self.assert_missing("One.\n\nSee `src/fits/fits.h`,\nor `lab/gone/`.\n",
                            "CONTRIBUTING.md:3: `src/fits/fits.h`", "CONTRIBUTING.md:4: `lab/gone/`")

    def test_each_name_of_a_list_exists(self):
        self.assert_missing("`src/os/file.{h,cc}`\n", "`src/os/file.{h,cc}`")

    def test_a_name_is_a_file_of_a_folder_of_its_row(self):
        self.assert_clean("| `src/lab/fits.h` | `fits.cc` |\n| `os` | `file.h` |\n")
        self.assert_missing("| `src/lab/fits.h` | `file.h` |\n| `os` | `fits.cc` |\n", ":1: `file.h`", ":2: `fits.cc`")

    def test_words_of_code_are_no_paths(self):
        self.assert_clean("`EnergySource`, `/proc/stat`, `a::b`, `monitor.staleness`, `kernel/bpf`\n```sh\nrun `src/gone.h`\n```\n")

    def test_a_missing_page_is_an_error(self):
        Path(self.tree.name, "docs/ARCHITECTURE.md").unlink()
        self.assertEqual(self.check("")[0], 2)

    def test_this_repository(self):
        done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
