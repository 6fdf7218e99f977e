"""A directory for each test, and programs that log into a file."""
import contextlib
import os
import shutil
import subprocess
import unittest

from harness import end, scratch_directory, wait_until


class ScratchTest(unittest.TestCase):
    """Each test has a directory of its own."""

    def setUp(self):
        self.directory = scratch_directory()
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        """Text or bytes. Makes the folders. Returns the path."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class LoggingProgram(contextlib.AbstractContextManager):
    """Runs while it is entered. A subclass says when it is ready."""

    def __init__(self, args, log_path, environment=None):
        self.args, self.log_path, self.environment = args, log_path, environment or {}

    def __enter__(self):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(self.args, stdout=log, stderr=log, env={**os.environ, **self.environment})
        try:
            wait_until(self.has_started, type(self).__name__)
        except BaseException:
            end(self.process)
            raise
        return self

    def __exit__(self, *_):
        end(self.process)

    def has_started(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{type(self).__name__} ended with {self.process.returncode}:\n{self.log()}")
        return self.is_ready()

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()
