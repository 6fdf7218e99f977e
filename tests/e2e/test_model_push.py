"""kepler-model push and pull with the shipped server: logins, client certificates and signatures, right and wrong."""
import contextlib
import json
import os
import shutil
import socket
import subprocess

from harness import Agent, end, free_port, run_tests, wait_until
from http_double import make_certificate
from kubernetes import make_certificates
from scratch import ScratchTest
from model_text import own
from test_model_server import PROGRAM, USERS

TLS = b"tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
CLIENTS = b"  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n"


class PushAndPull(ScratchTest):
    def setUp(self):
        super().setUp()
        make_certificates(self.directory)
        os.makedirs(self.path("store"))
        self.write("password", b"secret\n")
        self.write("wrong", b"wrong\n")
        for name in ("key", "other"):
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.path(name)], check=True,
                           capture_output=True)
            subprocess.run(["openssl", "pkey", "-in", self.path(name), "-pubout", "-out", self.path(name + ".pem")],
                           check=True, capture_output=True)
        self.port = free_port()

    @contextlib.contextmanager
    def server(self, web):
        with open(self.path("log"), "wb") as log:
            process = subprocess.Popen([PROGRAM, "serve", f"--store={self.path('store')}", "--config-dir=/nowhere",
                                        f"--listen-address=127.0.0.1:{self.port}",
                                        f"--web-config-file={self.write('web.yaml', web)}"], stdout=log, stderr=log)
        try:
            wait_until(self.listens, "the server")
            yield
        finally:
            end(process)

    def listens(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
            return True

    def run_model(self, command, *args, code=0, **flags):
        flags = {"server": f"https://127.0.0.1:{self.port}", "name": "m", "ca-file": self.path("ca.crt"), **flags}
        done = subprocess.run([PROGRAM, command, *(f"--{name}={value}" for name, value in flags.items()), *args],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done)
        return done.stdout + done.stderr

    def push(self, *args, **options):
        return self.run_model("push", *args, **{"model": self.path("model"), **options})

    def pull(self, *args, **options):
        return self.run_model("pull", *args, output=self.path("copy"), **options)

    def test_an_agent_logs_in(self):
        machine = subprocess.run([PROGRAM, "machine"], check=True, capture_output=True).stdout
        self.write("store/m/model.json", json.dumps({**json.loads(own("m", 7)), "machine": json.loads(machine)}).encode())
        os.makedirs(self.path("sys/class"))
        with self.server(TLS + USERS):
            for password, said in (("wrong", "the server answered 401"), ("password", "loaded power models.*m .version 1")):
                with Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", "--model.cache-dir=",
                           f"--model.server=https://127.0.0.1:{self.port}", "--model.server-user=alice",
                           f"--model.server-password-file={self.path(password)}",
                           env={**os.environ, "SSL_CERT_FILE": self.path("ca.crt")}) as agent:
                    agent.wait_log(said)

    def test_by_password(self):
        login = ("--user=alice", f"--password-file={self.path('password')}")
        text = own("m", 7).encode()
        self.write("model/model.json", text)
        with self.server(TLS + USERS):
            self.assertIn("401", self.push(code=1))
            self.assertIn("401", self.push("--user=alice", f"--password-file={self.path('wrong')}", code=1))
            self.assertIn("version 1 unsigned", self.push(*login))
            self.assertIn("version 1 unsigned", self.pull(*login))
            self.assertEqual(self.read("copy/model.json"), text)
            key = f"--public-key={self.path('key.pem')}"
            shutil.rmtree(self.path("copy"))
            self.assertIn("no signature", self.pull(*login, key, code=1))
            self.assertFalse(os.path.exists(self.path("copy")), "nothing is written")
            self.write("model/model.json", own("m", 8, 2).encode())
            self.assertIn("version 2 signed", self.push(*login, f"--sign-key={self.path('key')}"))
            self.assertIn("version 2 verified", self.pull(*login, key))
            self.assertEqual(self.read("copy/model.json"), own("m", 8, 2).encode())
            self.assertEqual(len(self.read("copy/model.json.sig")), 64)
            self.write("copy/model.json", b"kept")
            refused = self.pull(*login, f"--public-key={self.path('other.pem')}", code=1)
            self.assertIn("nothing is written", refused)
            self.assertEqual(self.read("copy/model.json"), b"kept")
            self.assertIn("409", self.push(*login, model=self.write("old.json", text), code=1))
            self.assertIn("404", self.pull(*login, code=1, name="none"))
            self.write("model/model.json", own("m", 9, 3).encode())
            self.push(*login)
            self.assertIn("version 3 unsigned", self.pull(*login))
            self.assertFalse(os.path.exists(self.path("copy/model.json.sig")), "the signature of an older version")

    def test_by_certificate(self):
        self.write("model/model.json", own("m", 7).encode())
        subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.path("key"), "-in",
                        self.path("model/model.json"), "-out", self.path("model/model.json.sig")], check=True)
        mine = (f"--cert-file={self.path('server.crt')}", f"--key-file={self.path('server.key')}")
        with self.server(TLS + CLIENTS):
            self.push("--retries=0", code=1)
            key = f"--public-key={self.path('key.pem')}"
            self.assertIn("not verified; verify it with --public-key", self.push(*mine))
            self.assertIn("version 1 verified", self.push(*mine, key))
            self.assertIn("version 1 verified", self.pull(*mine, key))
            # The signature of version 1 is left next to a copied version 2.
            self.write("model/model.json", own("m", 7, 2).encode())
            refused = self.push(*mine, key, code=1)
            self.assertIn("model.json: nothing is sent: its signature does not match its content", refused)
            self.write("model/model.json.sig", b"short")
            self.assertIn("model.json.sig: it is not an Ed25519 signature", self.push(*mine, code=1))
            os.remove(self.path("model/model.json.sig"))
            self.assertIn("it has no signature", self.push(*mine, key, code=1))
            other = f"--sign-key={self.path('other')}"
            self.assertIn("does not match its content and the public keys", self.push(*mine, key, other, code=1))
            self.assertIn("version 1 verified", self.pull(*mine, key))
            self.assertIn("version 2 verified", self.push(*mine, key, f"--sign-key={self.path('key')}"))
        with open(self.path("log"), encoding="utf-8") as file:
            self.assertRegex(file.read(), "published a model.*user=.?CN=node")

    def test_wrong_input_is_said_before_anything_is_sent(self):
        self.write("model/model.json", b"{}")
        self.push(code=1)
        self.push(code=1, model="/nowhere")
        for wrong in ({"user": "a"}, {"cert-file": "a"}, {"name": "../a"}, {"server": "x"}):
            self.push(code=2, **wrong)
        self.write("model/model.json", own("m", 1).encode())
        self.assertIn("private key", self.push(f"--sign-key={self.path('ca.crt')}", code=1))
        self.assertIn("use https", self.push("--user=alice", f"--password-file={self.path('password')}", code=1,
                                             server=f"http://127.0.0.1:{self.port}"))

    def test_a_server_that_is_another_one(self):
        self.write("model/model.json", own("m", 1).encode())
        with self.server(TLS + USERS):
            self.assertIn("certificate", self.push(code=3, **{"ca-file": make_certificate(self.directory)[0]}))


if __name__ == "__main__":
    run_tests()
