"""HTTP servers on ports of their own, in place of the programs that the agent and kepler-model talk to."""
import contextlib
import http.server
import ssl
import subprocess
import sys
import threading
import urllib.parse


def make_certificate(folder):
    """Writes cert.pem and key.pem for 127.0.0.1. Returns their paths."""
    paths = f"{folder}/cert.pem", f"{folder}/key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    return paths


class Handler(http.server.BaseHTTPRequestHandler):
    def say(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *request):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that leaves is no error of ours
            super().handle_error(*request)


class HttpServer(contextlib.AbstractContextManager):
    """Each request has a thread with a `handler`. `tls`: (certificate, key) as files. `port`: 0 for any."""

    def __init__(self, handler, tls=None, port=0):
        self.server = _Listener(("127.0.0.1", port), handler)
        self.port = self.server.server_port
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            # The thread of the connection makes the handshake: a client that makes none delays nobody.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


class Double(HttpServer):
    """Says what answer(path, query) gives: (status, text), or None for silence."""

    def __init__(self, answer, tls=None):
        double = self
        self.logins = set()  # what clients said of themselves
        self._ended = threading.Event()

        class Answer(Handler):
            def do_GET(self):
                double.logins.add(self.headers.get("Authorization"))
                parts = urllib.parse.urlsplit(self.path)
                query = {name: values[0] for name, values in urllib.parse.parse_qs(parts.query).items()}
                said = answer(parts.path, query)
                if said is None:
                    double._ended.wait(60)
                else:
                    self.say(said[0], said[1].encode())
        super().__init__(Answer, tls)

    def __exit__(self, *_):
        self._ended.set()
        super().__exit__()
