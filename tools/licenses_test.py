#!/usr/bin/env python3
"""Tests of tools/licenses.py."""
import unittest

import licenses

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
License: Apache-2.0

Files: /usr/include/a/*
 /usr/include/*/a.h
Copyright: 1999 Somebody
License: MIT or GPL-2

License: Apache-2.0
 Words.

License: MIT
 Words.
 .
 More words.
"""


class Licenses(unittest.TestCase):
    def test_a_header_that_no_pattern_names_is_found(self):
        headers = {"/usr/include/a/deep/x.h", "/usr/include/x86/a.h", "/usr/include/b.h"}
        self.assertEqual(licenses.unnamed_headers(headers, COPYRIGHT), ["/usr/include/b.h"])

    def test_the_pattern_of_the_project_names_no_library(self):
        self.assertEqual(licenses.unnamed_headers({"/usr/include/b.h"}, "Files: *\nLicense: MIT\n"), ["/usr/include/b.h"])

    def test_a_license_without_words_is_found(self):
        self.assertEqual(licenses.licenses_without_text(COPYRIGHT), ["GPL-2"])

    def test_all_texts_are_there(self):
        self.assertEqual(licenses.licenses_without_text(COPYRIGHT.replace(" or GPL-2", "")), [])


if __name__ == "__main__":
    unittest.main()
