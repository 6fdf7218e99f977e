"""A server that receives the requests of an exporter that pushes. A test chooses its answers."""
import tempfile
import threading

from harness import free_port, run_to_end
from http_double import Handler, HttpServer


def check_refused(test, exporter, settings, key):
    """A start and --config.check both refuse `settings` of `exporter`, and name the `key` with its file and line."""
    with test.subTest(settings), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"exporter: {{{exporter}: {{enabled: true, {settings}}}}}\n")
        file.flush()
        for flag in ("--config.check", f"--web.listen-address=127.0.0.1:{free_port()}"):
            code, output = run_to_end(flag, f"--config.file={file.name}")
            test.assertEqual(code, 1, output)
            test.assertIn(f"exporter.{exporter}.{key}", output)
            test.assertIn(f"{file.name}:1: exporter.{exporter}.", output)


class PushServer(HttpServer):
    """`answer(handler, number)` answers request `number` in place of say_ok(); it returns whether the request counts as taken.
    `tls`: (certificate, key) as files. `port`: 0 for any."""

    path = None         # of the requests; others are answered with 404
    answer_type = None  # Content-Type of the answers

    def __init__(self, answer=None, tls=None, port=0):
        self.requests, self.answer = 0, answer
        server = self

        class Request(Handler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.requests += 1
                if self.path != server.path or not self.headers["Content-Type"].startswith("application/x-protobuf"):
                    return self.say(404)
                if server.answer is None or server.answer(self, server.requests):
                    server.take(body, self.headers)
                    if server.answer is None:
                        server.say_ok(self)

            def say(self, status, body=b"", **headers):
                super().say(status, body, Content_Type=server.answer_type, **headers)

            def say_endlessly(self):
                """A 200 whose body lasts for a minute, or until the client leaves."""
                self.send_response(200)
                self.send_header("Content-Length", "10000000000")
                self.end_headers()
                for _ in range(600):
                    threading.Event().wait(0.1)
                    self.wfile.write(b"x" * 1000)
        super().__init__(Request, tls, port)

    def take(self, body, headers):
        """Reads a request that counts as taken."""
        raise NotImplementedError

    def say_ok(self, handler):
        handler.say(200)
