#!/usr/bin/env python3
"""Tests of tools/check_commits.py on a small repository."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_commits.py"
# From a hook or `git rebase -x`, git's variables would name another repository.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b"}


def numbered(count, start=0):
    return "".join(f"line {number}\n" for number in range(start, start + count))


class CheckCommits(unittest.TestCase):
    def setUp(self):
        tree = tempfile.TemporaryDirectory()
        self.addCleanup(tree.cleanup)
        self.tree = Path(tree.name)
        self.git("init", "-q", "-b", "main")
        self.commit("src: add the first files", {"src/http/client/a.cc": "a\n", "docs/a.md": numbered(400)})
        self.git("branch", "base")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.tree, env=ENVIRONMENT, check=True, capture_output=True)

    def commit(self, message, files):
        """Writes the files (None removes one) and commits them."""
        for path, text in files.items():
            file = self.tree / path
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, TOOL, *arguments], cwd=self.tree, env=ENVIRONMENT, capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def assert_clean(self, message, files=None):
        self.commit(message, files or {})
        code, output, _ = self.run_tool("base..HEAD")
        self.assertEqual(code, 0, output)

    def assert_fault(self, reason, message, files=None):
        self.commit(message, files or {})
        code, output, _ = self.run_tool("base..HEAD")
        self.assertEqual(code, 1, output)
        self.assertIn(reason, output)

    def test_good_commits_pass_and_the_rebase_command_is_printed(self):
        self.commit("http: answer 400 to a bare LF", {"src/http/client/a.cc": "b\n"})
        self.assert_clean("http/client, docs: pass the deadline\n\nReads /proc/stat and /etc/kepler/config.yaml.")
        _, output, _ = self.run_tool("base..main")
        self.assertIn("check_commits: 2 commits, 0 violations", output)
        self.assertIn("git rebase -x tools/test.sh base main\n", output)

    def test_an_empty_range_passes(self):
        code, output, _ = self.run_tool("base..HEAD")
        self.assertEqual((code, output), (0, "check_commits: 0 commits, 0 violations\n"))

    def test_only_commits_of_the_range_are_checked(self):
        self.commit("Everything so far", {})
        self.git("branch", "-f", "base")
        self.assert_clean("docs: add a page")

    def test_a_subject_has_a_room_a_verb_and_72_characters(self):
        for subject in ("Add a page", "docs add a page", "docs: Add a page", "docs: add", "docs:add a page", "docs,http: add a page"):
            with self.subTest(subject):
                self.assert_fault('subject is not "room[, room]: verb ..."', subject)
                self.git("reset", "-q", "--hard", "base")
        self.assert_clean("docs: add " + "a" * 62)
        self.assert_fault("subject has 73 characters (at most 72)", "docs: add " + "a" * 63)

    def test_each_room_is_a_folder(self):
        self.assert_fault("'headers' is not a room", "docs, headers: add a page")

    def test_a_room_may_come_with_its_commit(self):
        self.assert_clean("model_server: add the room", {"src/model_server/a.cc": "a\n"})

    def test_the_verb_is_an_imperative(self):
        for verb in ("adds", "added", "adding", "what", "the", "tables"):
            with self.subTest(verb):
                self.assert_fault(f"'{verb}' is not an imperative", f"docs: {verb} a page")
                self.git("reset", "-q", "--hard", "base")
        for verb in ("add", "pass", "embed", "bring"):
            self.assert_clean(f"docs: {verb} a page")

    def test_paths_of_one_machine_are_found_in_subject_and_body(self):
        self.assert_fault("message has a path of one machine: /home/", "docs: build in /home/me/kepler")
        self.git("reset", "-q", "--hard", "base")
        self.assert_fault("message has a path of one machine: /tmp/", "docs: add a page\n\nChecked with `/tmp/x/run`.")

    def test_301_changed_lines_are_too_many(self):
        self.assert_clean("http: add b.cc", {"src/http/client/b.cc": numbered(300, 1000)})
        self.git("reset", "-q", "--hard", "base")
        self.assert_fault("301 changed lines (at most 300)", "http: add b.cc", {"src/http/client/b.cc": numbered(301, 1000)})

    def test_deleted_lines_count(self):
        self.assert_fault("400 changed lines", "docs: drop a page", {"docs/a.md": None})

    def test_moved_lines_do_not_count(self):
        self.assert_clean("docs: rename a page", {"docs/a.md": None, "docs/b.md": numbered(400) + "one more\n"})
        self.assert_clean("docs: split a page", {"docs/b.md": numbered(50), "docs/c.md": "  " + numbered(350, 50)})

    def test_a_line_that_is_copied_counts(self):
        self.assert_fault("400 changed lines", "docs: copy a page", {"docs/b.md": numbered(400)})

    def test_generated_files_and_data_do_not_count(self):
        for path in ("docs/metrics.md", "docs/configuration.md", "deploy/kepler.8", "deploy/manifests/x.yaml", "data/x.csv",
                     "src/http/testdata/x", "fuzz/corpus/x_fuzz/y"):
            self.assert_clean("docs: generate again", {path: numbered(400)})
        self.assert_clean("docs: drop a generated page", {"docs/metrics.md": None})
        self.assert_fault("400 changed lines", "docs: add a page", {"docs/metrics.md.txt": numbered(400)})

    def test_lines_that_look_like_a_diff_are_lines(self):
        text = "".join(f"-- docs/metrics.md {number}\n++ docs/metrics.md {number}\n" for number in range(200))
        self.assert_fault("400 changed lines", "docs: add a page", {"docs/d.md": text})

    def test_an_unknown_range_is_an_error(self):
        for arguments in ((), ("nothing..HEAD",), ("base",), ("..HEAD",)):
            with self.subTest(arguments):
                code, output, error = self.run_tool(*arguments)
                self.assertEqual((code, output), (2, ""))
                self.assertRegex(error, r"cannot read the commits .+: .+; give BASE\.\.HEAD")


if __name__ == "__main__":
    unittest.main()
