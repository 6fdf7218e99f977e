#!/usr/bin/env python3
"""Tests of tools/check_paths.py on a small repository, and its check of this repository."""
import unittest
from pathlib import Path

from checked_tree import CheckedTree


class CheckPaths(CheckedTree):
    TOOL = "check_paths.py"

    def setUp(self):
        super().setUp()
        for path in ("src/lab/fits.h", "src/lab/fits.cc", "src/lab/CMakeLists.txt", "src/os/file.h", "tools/a.sh",
                     "CONTRIBUTING.md", "docs/ARCHITECTURE.md"):
            self.write(path, "")

    def assert_exist(self, text):
        self.write("CONTRIBUTING.md", text)
        self.assert_clean()

    def assert_missing(self, text, *parts):
        self.write("CONTRIBUTING.md", text)
        self.assert_finding(*parts, f"check_paths: {len(parts)} missing")

    def test_paths_that_exist(self):
        self.assert_exist("`src/lab/`, `src/lab/fits.{h,cc}`, `lab/fits.h`, `src/NAME/CMakeLists.txt`, `src/os/*.h`, `tools/a.sh --all`\n")

    def test_missing_paths_are_printed_with_their_line(self):
        self.assert_missing("One.\n\nSee `src/fits/fits.h`,\nor `lab/gone/`.\n",
                            "CONTRIBUTING.md:3: `src/fits/fits.h`", "CONTRIBUTING.md:4: `lab/gone/`")

    def test_each_name_of_a_list_exists(self):
        self.assert_missing("`src/os/file.{h,cc}`\n", "`src/os/file.{h,cc}`")

    def test_a_name_is_a_file_of_a_folder_of_its_row(self):
        self.assert_exist("| `src/lab/fits.h` | `fits.cc` |\n| `os` | `file.h` |\n")
        self.assert_missing("| `src/lab/fits.h` | `file.h` |\n| `os` | `fits.cc` |\n", ":1: `file.h`", ":2: `fits.cc`")

    def test_words_of_code_are_no_paths(self):
        self.assert_exist("`EnergySource`, `/proc/stat`, `a::b`, `monitor.staleness`, `kernel/bpf`\n```sh\nrun `src/gone.h`\n```\n")

    def test_a_missing_page_is_an_error(self):
        (self.tree / "docs/ARCHITECTURE.md").unlink()
        self.assertEqual(self.check()[0], 2)

    def test_this_repository(self):
        code, output = self.check(Path(__file__).resolve().parents[1])
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
