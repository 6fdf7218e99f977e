#!/usr/bin/env python3
"""Tests of tools/check_words.py on a small repository."""
import unittest

from checked_tree import CheckedTree


class CheckWords(CheckedTree):
    TOOL = "check_words.py"

    def test_plain_sentences_pass(self):
        self.write("docs/a.md", "Set the maximum number of processes. Besides, the file is read.\n")
        self.write("src/a.cc", "// Returns the recent power.\nconstexpr int kMaxRows = 2;\nconst char* kText = \"so few\";\n")
        self.assert_clean()

    def test_a_phrase_is_printed_with_its_line_and_replacement(self):
        self.write("docs/a.md", "A page.\n\nIt lists so many processes.\n")
        self.assert_finding("docs/a.md:3: `so many`: use ", "maximum number of")

    def test_a_phrase_may_be_wrapped(self):
        self.write("src/a.h", "int F();  // all of them, but\n          // for the first\n")
        self.write("src/b.cc", 'const char* kHelp = "all of them, but "\n                    "for the first";\n')
        self.write("tools/c.sh", "# All of them, But\n#   for the first.\n")
        self.assert_finding("src/a.h:1: `but for`", "src/b.cc:1: `but for`", "tools/c.sh:1: `but for`")

    def test_code_is_no_prose(self):
        self.write("src/a.cc", "const int questions = 1'000'000;\nint whom = 'x';\nF(so, many);\n")
        self.assert_clean()

    def test_a_string_behind_a_character_is_seen(self):
        self.write("src/a.cc", "F('\"', \"no questions\", '\\'', \"kMostRows\");\n")
        self.assert_finding("src/a.cc:1: `questions`")

    def test_identifiers(self):
        self.write("src/a.cc", "constexpr int kMostRows = 2;\nbool WasTold();\n// kLeastRows\nbool IsLater(int almost);\n")
        self.assert_finding("src/a.cc:1: `kMostRows`: use kMax", "src/a.cc:2: `WasTold`", "2 findings")

    def test_none_of_python_is_code(self):
        self.write("tests/a.py", "require(value is None, text)\n")
        self.assert_clean()
        self.write("tests/a.py", "# Returns the next key; empty if there is none.\n")
        self.assert_clean()
        self.write("tests/a.py", "# A key that is none, is refused.\n")
        self.assert_finding("tests/a.py:1: `that is none`")

    def test_recorded_files_are_left_out(self):
        self.write("src/x/testdata/cgroups.txt", "beside\n")
        self.write("LICENSE", "of which\n")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
