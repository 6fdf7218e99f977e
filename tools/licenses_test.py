#!/usr/bin/env python3
"""Tests of tools/licenses.py: with ninja and dpkg of this machine, and the headers of Debian's packages."""
import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import unittest

import licenses

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
License: Apache-2.0

Files: /usr/include/*.h /usr/lib/*/libc_nonshared.a
Copyright: 1999 Somebody
License: MIT or GPL-2

Files: /usr/include/fmt/*
License: MIT

License: Apache-2.0
 Words.

License: GPL-2
 Words.

License: MIT
 Words.
 .
 More words.
"""
EIGEN = """
Files: /usr/include/eigen3/*
License: Apache-2.0
"""
# The compiler's part: it leaves a list of headers, as gcc -MD.
NINJA = """rule CXX_COMPILER
  command = printf '$out: $headers' >$out.d && touch $out
  deps = gcc
  depfile = $out.d
rule CXX_EXECUTABLE_LINKER
  command = cp /bin/true $out
rule CUSTOM_COMMAND
  command = printf '$out: $headers' >bpf/probe.d && touch $out
  depfile = bpf/probe.d
build bpf/probe.o: CUSTOM_COMMAND
  headers = {probe}
build CMakeFiles/all.hxx.gch: CXX_COMPILER
  headers = {precompiled}
build CMakeFiles/main.o: CXX_COMPILER | CMakeFiles/all.hxx.gch
  headers = {headers}
build apps/program: CXX_EXECUTABLE_LINKER CMakeFiles/main.o | bpf/probe.o {libraries}
"""
LIBC = {"/usr/include/stdlib.h": "glibc", "/usr/include/stdio.h": "glibc"}
EIGEN_HEADERS = ("/usr/include/eigen3/Eigen/Core", "/usr/include/eigen3/Eigen/src/Core/Matrix.h")


class Text(unittest.TestCase):
    def test_all_files_are_named(self):
        self.assertEqual(licenses.unnamed({**LIBC, "/usr/include/fmt/core.h": "fmtlib"}, COPYRIGHT), [])

    def test_a_file_that_no_pattern_names_is_found(self):
        problems = licenses.unnamed({**LIBC, "/usr/include/zlib.hh": "zlib"}, COPYRIGHT)
        self.assertEqual(problems, ["no paragraph names /usr/include/zlib.hh (package zlib, 1 files)"])

    def test_a_wide_pattern_does_not_hide_a_library(self):
        problems = licenses.unnamed({**LIBC, "/usr/include/zlib.h": "zlib"}, COPYRIGHT)
        self.assertEqual(len(problems), 1)
        self.assertIn("/usr/include/stdio.h of glibc, /usr/include/zlib.h of zlib", problems[0])

    def test_the_pattern_of_the_project_names_no_library(self):
        self.assertEqual(len(licenses.unnamed({"/usr/include/b.h": "b"}, "Files: *\nLicense: MIT\n")), 1)

    def test_a_license_without_words_is_found(self):
        self.assertEqual(licenses.licenses_without_text(COPYRIGHT.replace("License: GPL-2\n Words.", "")), ["GPL-2"])

    def test_all_texts_are_there(self):
        self.assertEqual(licenses.licenses_without_text(COPYRIGHT), [])


class Programs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.prefix = os.path.join(self.directory, "usr")

    def write(self, path, text):
        path = os.path.join(self.directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *headers, probe="", precompiled="", libraries=(), text=COPYRIGHT, build=True):
        """What main says of a program that was made of these, installed with this copyright file."""
        self.write("build.ninja", NINJA.format(headers=" ".join(headers), probe=probe, precompiled=precompiled,
                                              libraries=" ".join(libraries)))
        if build:
            subprocess.run(["ninja", "-C", self.directory, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        os.makedirs(f"{self.prefix}/bin")
        shutil.copy("/bin/true", f"{self.prefix}/bin/program")
        if text:
            self.write("usr/share/doc/program/copyright", text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = licenses.main(self.directory, self.prefix)
        return status, said.getvalue()

    def test_a_header_only_library_that_is_not_named_is_found(self):
        status, said = self.check(*LIBC, *EIGEN_HEADERS)
        self.assertEqual(status, 1)
        self.assertIn("no paragraph names /usr/include/eigen3/Eigen/Core (package eigen3, 1 files)", said)
        self.assertIn("/usr/include/eigen3/Eigen/src/Core/Matrix.h of eigen3", said)

    def test_all_is_well_with_its_paragraph(self):
        status, said = self.check(*LIBC, *EIGEN_HEADERS, "/usr/include/fmt/core.h", text=COPYRIGHT + EIGEN)
        self.assertEqual(status, 0, said)
        self.assertIn("5 headers and libraries are in program, 0 problems", said)

    def test_headers_of_an_object_that_another_compiler_made_count_too(self):
        status, said = self.check(*LIBC, probe="/usr/include/bpf/bpf_helpers.h")
        self.assertEqual(status, 1)
        self.assertIn("/usr/include/bpf/bpf_helpers.h of libbpf", said)

    def test_precompiled_headers_count_too(self):
        status, said = self.check(*LIBC, precompiled="/usr/include/eigen3/Eigen/Core")
        self.assertEqual(status, 1)
        self.assertIn("no paragraph names /usr/include/eigen3/Eigen/Core", said)

    def test_a_static_library_counts_too(self):
        folder = "/usr/lib/" + subprocess.run(["cc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
        status, said = self.check(*LIBC, libraries=[f"{folder}/libc_nonshared.a"])
        self.assertEqual(status, 0, said)
        status, said = self.check_again(libraries=[f"{folder}/libgtest.a"])
        self.assertEqual(status, 1)
        self.assertIn(f"no paragraph names {folder}/libgtest.a (package googletest, 1 files)", said)

    def check_again(self, **options):
        shutil.rmtree(self.prefix)
        return self.check(*LIBC, **options)

    def test_a_program_without_a_copyright_file_is_found(self):
        status, said = self.check(*LIBC, text="")
        self.assertEqual(status, 1)
        self.assertIn("program has no share/doc/program/copyright", said)

    def test_a_program_that_is_not_built_is_an_error(self):
        status, said = self.check(*LIBC, build=False)
        self.assertEqual(status, 1)
        self.assertIn("program is not built in", said)

    def test_a_prefix_without_a_program_is_an_error(self):
        os.makedirs(self.prefix)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(licenses.main(self.directory, self.prefix), 1)
        self.assertIn("has no program", said.getvalue())


if __name__ == "__main__":
    unittest.main()
