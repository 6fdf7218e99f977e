#!/usr/bin/env python3
"""Tests of tools/check_words.py on a small repository."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_words.py"


class CheckWords(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.TemporaryDirectory()
        self.addCleanup(self.tree.cleanup)
        subprocess.run(["git", "init", "-q", self.tree.name], check=True)

    def write(self, path, text):
        file = Path(self.tree.name) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        subprocess.run(["git", "-C", self.tree.name, "add", path], check=True)

    def run_tool(self, *options):
        done = subprocess.run([sys.executable, TOOL, *options, self.tree.name], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_clean(self):
        code, output = self.run_tool()
        self.assertEqual(code, 0, output)

    def assert_finding(self, *parts):
        code, output = self.run_tool()
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)

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

    def test_the_allow_list_only_shrinks(self):
        self.write("docs/a.md", "So many.\n")
        self.write("docs/b.md", "Of late.\n")
        self.write("tools/words_allowed.txt", "# A note.\ndocs/a.md: so many; whom\ndocs/gone.md: beside\n")
        self.assert_finding("docs/b.md:1: `of late`", "1 findings, 1 allowed", "2 entries are not needed any more")
        self.run_tool("--shrink")
        self.assertEqual(Path(self.tree.name, "tools/words_allowed.txt").read_text().splitlines()[1:], ["docs/a.md: so many"])
        self.assert_finding("docs/b.md:1: `of late`")

    def test_an_entry_that_is_not_needed_fails(self):
        self.write("docs/a.md", "So many.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: beside; so many\n")
        self.assert_finding("1 entries are not needed any more; run tools/check_words.py --shrink", "0 findings")
        self.assertEqual(self.run_tool("--shrink")[0], 0)
        self.assert_clean()

    def commit(self, branch=None):
        identity = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        subprocess.run(["git", "-C", self.tree.name, *identity, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
        if branch:
            subprocess.run(["git", "-C", self.tree.name, "update-ref", f"refs/remotes/origin/{branch}", "HEAD"], check=True)

    def test_a_list_that_grew_since_main_fails(self):
        self.write("docs/a.md", "So many.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: so many\n")
        self.commit("main")
        self.write("docs/b.md", "Beside.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: so many\ndocs/b.md: beside\n")
        self.commit()
        self.commit()
        self.assert_finding("tools/words_allowed.txt: `beside` is allowed in more files than before", "0 findings")

    def test_a_list_that_grew_in_the_last_commit_of_main_fails(self):
        self.write("tools/words_allowed.txt", "# None.\n")
        self.commit()
        self.write("docs/a.md", "So many.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: so many\n")
        self.commit("main")
        self.assert_finding("`so many` is allowed in more files than before")

    def test_a_moved_file_keeps_its_entry(self):
        self.write("docs/a.md", "So many.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: so many\n")
        self.commit("main")
        subprocess.run(["git", "-C", self.tree.name, "mv", "docs/a.md", "docs/b.md"], check=True)
        self.write("tools/words_allowed.txt", "docs/b.md: so many\n")
        self.commit()
        self.assert_clean()

    def test_an_allowed_phrase_is_allowed_in_that_file_only(self):
        self.write("docs/a.md", "So many.\n")
        self.write("docs/b.md", "So many.\n")
        self.write("tools/words_allowed.txt", "docs/a.md: so many\n")
        self.assert_finding("docs/b.md:1", "1 findings, 1 allowed")

    def test_recorded_files_are_left_out(self):
        self.write("src/x/testdata/cgroups.txt", "beside\n")
        self.write("LICENSE", "of which\n")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
