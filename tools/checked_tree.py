"""For the tests of the checks in tools/: a small repository, and the output of the check on it."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class CheckedTree(unittest.TestCase):
    TOOL = ""     # file name of the check
    FOLDER = "."  # of the paths that write() takes

    def setUp(self):
        tree = tempfile.TemporaryDirectory()
        self.addCleanup(tree.cleanup)
        self.tree = Path(tree.name)
        subprocess.run(["git", "init", "-q", self.tree], check=True)

    def write(self, path, text):
        file = self.tree / self.FOLDER / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self, tree=None):
        """Of the repository of the test, if `tree` is not given."""
        subprocess.run(["git", "-C", self.tree, "add", "-A"], check=True)
        done = subprocess.run([sys.executable, Path(__file__).with_name(self.TOOL), tree or self.tree], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout

    def assert_clean(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def assert_finding(self, *parts):
        code, output = self.check()
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)
