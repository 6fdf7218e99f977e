"""A BMC that speaks Redfish over TLS: shapes of several vendors, logins, sessions and faults.

    redfish_server.py --cert FILE --key FILE [--port N] [--shape NAME] [--watts FILE] [--user U --password P]

As a module: a RedfishServer in this process, whose attributes a test changes at any time.
"""
import argparse
import base64
import contextlib
import http.server
import json
import ssl
import sys
import threading
import time

from redfish_shapes import ROOT, SHAPES

SESSIONS = "/redfish/v1/SessionService/Sessions"
LICENCE = {"error": {"code": "Base.1.8.GeneralError", "@Message.ExtendedInfo": [
    {"MessageId": "Oem.1.0.LicenseRequired", "Message": "This feature requires an Enterprise licence."}]}}


class RedfishServer(contextlib.AbstractContextManager):
    """`faults`: path -> what happens instead of an answer: a status, (status, headers, JSON), "hang", "cut", "huge", "endless",
    or a JSON value to serve. `login`: "basic", "session", or None for everybody."""

    def __init__(self, certificate, key, shape="modern", watts=300.0, port=0):
        self.shape, self.watts = shape, watts
        self.user, self.password, self.login = "kepler", "s3cret", "basic"
        self.faults = {}
        self.requests = []  # (monotonic time, method, path)
        self.connections = 0
        self.sessions = {}  # path -> token
        self.max_sessions = self.sessions_made = self.refused_logins = 0
        self.session_limit = 8
        self.login_delay = 0  # seconds before the answer to a login
        self.lock = threading.Lock()
        self.done = threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server = Listener(("127.0.0.1", port), type("Of", (Handler,), {"bmc": self}))
        self.server.tls = context
        self.port = self.server.server_address[1]

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind, value, trace):
        self.done.set()
        self.server.shutdown()
        self.server.server_close()

    def current_watts(self):
        """`watts` may be a function."""
        return self.watts() if callable(self.watts) else self.watts

    def resources(self):
        return SHAPES[self.shape](self.current_watts())

    def count(self, method=None, path=None):
        """Requests of that method and path so far."""
        with self.lock:
            return sum(method in (None, m) and path in (None, p) for _, m, p in self.requests)

    def expire_sessions(self):
        with self.lock:
            self.sessions.clear()


class Listener(http.server.ThreadingHTTPServer):
    """The handshake is made by the thread of the connection: a client that does none delays nobody."""
    daemon_threads = True
    tls = None

    def handle_error(self, request, client_address):
        """Clients may go at any time."""

    def finish_request(self, request, client_address):
        if self.tls is None:
            self.RequestHandlerClass(request, client_address, self)
            return
        with self.tls.wrap_socket(request, server_side=True) as secure:
            self.RequestHandlerClass(secure, client_address, self)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120
    bmc = None

    def setup(self):
        super().setup()
        with self.bmc.lock:
            self.bmc.connections += 1

    def log_message(self, *args):
        """Tests read `requests`."""

    def answer(self, status, value=None, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("OData-Version", "4.0")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self):
        with self.bmc.lock:
            self.bmc.refused_logins += 1
        self.answer(401, {"error": {"code": "Base.1.8.NoValidSession", "message": "No valid session"}})

    def has_login(self):
        bmc = self.bmc
        if bmc.login == "basic":
            wanted = base64.b64encode(f"{bmc.user}:{bmc.password}".encode()).decode()
            return self.headers.get("Authorization") == f"Basic {wanted}"
        return bmc.login is None or self.headers.get("X-Auth-Token") in bmc.sessions.values()

    def note(self):
        with self.bmc.lock:
            self.bmc.requests.append((time.monotonic(), self.command, self.path))

    def do_GET(self):
        self.note()
        if self.path in self.bmc.faults:
            return self.fail(self.bmc.faults[self.path])
        if self.path.rstrip("/") != ROOT.rstrip("/") and not self.has_login():
            return self.refuse()
        resources = self.bmc.resources()
        if self.path in resources:
            return self.answer(200, resources[self.path])
        for other in (self.path + "/", self.path.rstrip("/")):  # as iLO does for a missing slash
            if other in resources:
                return self.answer(308, Location=other)
        return self.answer(404, {"error": {"message": "The resource does not exist."}})

    def do_POST(self):
        self.note()
        bmc = self.bmc
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path != SESSIONS:
            return self.answer(404)
        if (given.get("UserName"), given.get("Password")) != (bmc.user, bmc.password):
            return self.refuse()
        bmc.done.wait(bmc.login_delay)
        with bmc.lock:
            if len(bmc.sessions) >= bmc.session_limit:
                return self.answer(503, {"error": {"message": "SessionLimitExceeded"}})
            bmc.sessions_made += 1
            path, token = f"{SESSIONS}/{bmc.sessions_made}", f"token-{bmc.sessions_made}"
            bmc.sessions[path] = token
            bmc.max_sessions = max(bmc.max_sessions, len(bmc.sessions))
        return self.answer(201, {"@odata.id": path}, X_Auth_Token=token, Location=path)

    def do_DELETE(self):
        self.note()
        if not self.has_login():
            return self.refuse()
        with self.bmc.lock:
            gone = self.bmc.sessions.pop(self.path, None)
        return self.answer(204 if gone else 404)

    def fail(self, fault):
        if fault == "hang":
            self.bmc.done.wait(120)
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"PowerControl": [')
        elif fault == "huge":
            return self.answer(200, ["x" * 1000] * 10_000)
        elif fault == "endless":
            self.send_response(200)
            self.end_headers()
            while not self.bmc.done.is_set():
                self.wfile.write(b" " * 4096)
        elif isinstance(fault, int):
            return self.answer(fault, {"error": {"message": f"fault {fault}"}})
        elif isinstance(fault, tuple):
            status, headers, value = fault
            return self.answer(status, value, **headers)
        else:
            return self.answer(200, fault)
        self.close_connection = True
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--shape", choices=SHAPES, default="modern")
    parser.add_argument("--watts", help="file with a number, read for each answer; default: 300 W")
    parser.add_argument("--user", default="kepler")
    parser.add_argument("--password", default="s3cret")
    given = parser.parse_args()

    def watts():
        if given.watts is None:
            return 300.0
        with open(given.watts, encoding="ascii") as file:
            return float(file.read())
    with RedfishServer(given.cert, given.key, given.shape, watts, given.port) as bmc:
        bmc.user, bmc.password = given.user, given.password
        print(bmc.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
