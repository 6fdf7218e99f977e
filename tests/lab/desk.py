"""The host's end of a guest's second serial port: keeps what the guest says, and obeys its requests (lines "ASK ...")."""
import socket
import time


class Desk:
    """obey: {name of a request: function of its words}. Listens at `path` before QEMU starts."""

    def __init__(self, path, obey):
        self.obey = obey
        self.lines = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.arguments = ("-chardev", f"socket,id=desk,path={path}", "-serial", "chardev:desk")

    def serve(self, process, limit):
        """Until the guest is off: how it ended ("" when the guest powered off)."""
        deadline = time.monotonic() + limit
        self.listener.settimeout(min(limit, 30))
        connection, _ = self.listener.accept()
        with self.listener, connection:
            rest = b""
            while True:
                connection.settimeout(max(deadline - time.monotonic(), 0.01))
                try:
                    part = connection.recv(4096)
                except TimeoutError:
                    process.kill()
                    process.wait()
                    return f"no end after {limit} s"
                if not part:
                    break
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    self.take(connection, line.decode(errors="replace").rstrip("\r"))
        said, _ = process.communicate(timeout=30)
        return f"QEMU ended with {process.returncode}: {said.strip()}" if process.returncode else ""

    def take(self, connection, line):
        self.lines.append(line)
        if not line.startswith("ASK "):
            return
        name, *words = line.split()[1:]
        try:
            self.obey[name](*words)
            answer = "ok"
        except Exception as error:  # pylint: disable=broad-except  # the guest's check fails with it
            answer = f"{type(error).__name__}: {error}".replace("\n", " ")
        self.lines.append(f"ANSWER {answer}")
        connection.sendall(f"{answer}\n".encode())
