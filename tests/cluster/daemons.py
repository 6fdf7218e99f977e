"""The cluster's programs as child processes, each with a log of its own."""
import contextlib
import os
import signal
import subprocess

from harness import wait_until


class Daemon:
    """`ready`: a condition that holds once it serves."""

    def __init__(self, name, command, logs, ready=None):
        self.name, self.command, self.ready = name, command, ready
        self.log_path = os.path.join(logs, f"{name}.log")
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        return self

    def log(self, count=2000):
        with open(self.log_path, "rb") as file:
            return file.read()[-count:].decode(errors="replace")

    def wait_ready(self, seconds=90):
        def look():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self.process.returncode}:\n{self.log()}")
            return self.ready()
        try:
            wait_until(look, f"{self.name} to serve", seconds, period=0.1)
        except AssertionError as error:
            error.add_note(f"{self.name}:\n{self.log()}")
            raise

    def freeze(self):
        """It keeps its sockets and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self, seconds=10):
        """Asks it to end; kills it when it does not."""
        if self.process is None or self.process.poll() is not None:
            return
        self.thaw()
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def frozen(daemon):
    daemon.freeze()
    try:
        yield
    finally:
        daemon.thaw()


@contextlib.contextmanager
def dead(daemon):
    """Killed; started again, and waited for, at the end."""
    daemon.kill()
    try:
        yield
    finally:
        daemon.start().wait_ready()
