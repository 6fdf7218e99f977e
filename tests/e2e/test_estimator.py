"""kepler-model estimator, the shipped program: clients of the Python estimator of Kepler 0.7 get watts on its Unix socket,
whatever other clients do."""
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import zipfile

from harness import run_tests, wait_until
from scratch import LoggingProgram, ScratchTest
from test_agent_models import Server
from model_text import own
from test_model_server import ModelServer
from test_model_server import weights as weights_of_old_server

PROGRAM = os.path.abspath(os.environ["KEPLER_MODEL_BIN"])
ONE_READ = 4096  # of an agent of Kepler 0.7

# As pkg/model/estimator/sidecar of Kepler 0.7 writes it.
GO_BODY = ('{"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"values":%s,"output_type":"AbsPower","source":"intel_rapl",'
           '"system_features":["cpu_architecture"],"system_values":["Sapphire Rapids"],"trainer_name":"","filter":""}')


def model(name, machine=None):
    """10 W, and 2 W per ms of CPU time."""
    text = json.loads(own(name, 10))
    text["components"][0]["predictor"]["weights"] = [2]
    return json.dumps({**text, **({"machine": machine} if machine else {})})


class Estimator(LoggingProgram):
    def __init__(self, directory, *args, environment=None, config_dir="/nowhere"):
        self.path = os.path.join(directory, "estimator.sock")
        super().__init__([PROGRAM, "estimator", f"--socket={self.path}", f"--config-dir={config_dir}", *args],
                         os.path.join(directory, "estimator.log"), environment)

    def is_ready(self):
        return "msg=listening" in self.log()

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        client.connect(self.path)
        return client

    def ask(self, text):
        """As Kepler 0.7: one write, one read."""
        with self.connect() as client:
            client.sendall(text.encode() if isinstance(text, str) else text)
            return json.loads(client.recv(ONE_READ))

    def ask_in_chunks(self, text):
        """As the Python client: reads until a chunk ends in }."""
        with self.connect() as client:
            client.sendall(text.encode())
            received = b""
            while not received.endswith(b"}"):
                chunk = client.recv(1024)
                self_closed = not chunk
                if self_closed:
                    raise AssertionError(f"closed after {received!r}")
                received += chunk
            return json.loads(received)


class EstimatorTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.model = self.write("model.json", model("trained"))

    def estimator(self, *args, **options):
        return Estimator(self.directory, *(args or [f"--models={self.model}"]), **options)

    def test_old_clients_get_watts(self):
        with self.estimator() as estimator:
            self.assertEqual(estimator.ask(GO_BODY % "[[0,0]]"), {"powers": {"package": [10]}, "msg": "", "core_ratio": 1})
            rows = [[row, 1] for row in range(300)]
            answer = estimator.ask(GO_BODY % json.dumps(rows))
            self.assertEqual(answer["powers"]["package"], [10 + 2 * row for row in range(300)])
            self.assertEqual(estimator.ask_in_chunks(GO_BODY % json.dumps(rows)), answer)
            self.assertEqual(estimator.ask(GO_BODY % "[]")["powers"], {"package": []}, "no process runs")

    def test_each_wrong_request_gets_a_reason(self):
        right = GO_BODY % "[[1,2]]"
        with self.estimator() as estimator:
            for text, reason in ((b"GET / HTTP/1.1\r\n\r\n", "not a JSON object"), (b"{}", "metrics"), (b"{{}}", "JSON"),
                                 (right.replace('"AbsPower"', '"Watts"'), "output_type"),
                                 (right.replace('"AbsPower"', '"DynPower"'), "no model has this output_type"),
                                 (right.replace("[[1,2]]", "[[1]]"), "values[0]"),
                                 (right.replace("bpf_cpu_time_ms", "another"), "bpf_cpu_time_ms"),
                                 (right.replace('"trainer_name":""', '"trainer_name":"Xgboost"'), "trainer"),
                                 (right.replace("metrics", "\udcff".encode("utf-8", "surrogateescape").decode("latin-1")),
                                  "metrics"),
                                 (b"{" * 5000 + b"}" * 5000, "JSON")):
                answer = estimator.ask(text)
                self.assertEqual(answer["powers"], {}, text)
                self.assertIn(reason, answer["msg"], text)
            with estimator.connect() as client:
                client.sendall(right[:-10].encode())
                client.shutdown(socket.SHUT_WR)
                self.assertIn("incomplete", json.loads(client.recv(ONE_READ))["msg"])
            self.assertEqual(estimator.ask(right)["powers"], {"package": [12]})

    def test_hostile_clients_delay_nobody(self):
        with contextlib.ExitStack() as open_clients, self.estimator() as estimator:
            silent = [open_clients.enter_context(estimator.connect()) for _ in range(100)]
            for number, client in enumerate(silent[:50]):
                client.sendall(b"{" if number % 2 else b"\xff\xfe" if number % 3 else b"   ")
            for client in silent[50:60]:
                client.sendall((GO_BODY % json.dumps([[1, 1]] * 5000)).encode())  # and never reads its answer
            for number in range(200):
                self.assertEqual(estimator.ask(GO_BODY % f"[[{number},0]]")["powers"]["package"], [10 + 2 * number])
            flood = [open_clients.enter_context(estimator.connect()) for _ in range(300)]
            self.assertEqual(estimator.ask(GO_BODY % "[[3,0]]")["powers"]["package"], [16])
            self.assertEqual(flood[0].recv(1), b"", "the oldest are closed")
            with estimator.connect() as client, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(b'{"metrics":"' + b"x" * (5 << 20))
            self.assertEqual(estimator.ask(GO_BODY % "[[4,0]]")["powers"]["package"], [18])

    def test_the_socket_is_not_for_everybody(self):
        with self.estimator(f"--models={self.model}", "--socket-mode=0640", f"--socket-group={os.getgid()}") as estimator:
            self.assertEqual(stat.S_IMODE(os.stat(estimator.path).st_mode), 0o640)
            second = subprocess.run(estimator.args, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(second.returncode, 1)
            self.assertIn("another process listens", second.stdout + second.stderr)
            estimator.process.send_signal(signal.SIGTERM)
            self.assertEqual(estimator.process.wait(30), 0, estimator.log())
            self.assertFalse(os.path.exists(estimator.path))
        with self.estimator() as estimator:
            estimator.process.kill()
            estimator.process.wait()
        with self.estimator() as estimator:
            self.assertEqual(estimator.ask(GO_BODY % "[[0,0]]")["powers"]["package"], [10])

    def test_the_model_server_chooses(self):
        machine = json.loads(subprocess.run([PROGRAM, "machine"], check=True, capture_output=True, text=True).stdout)
        self.write("store/mine/model.json", model("mine", {**machine, "processor": machine.get("processor", "some")}))
        with ModelServer(os.path.join(self.directory, "store"), log=os.path.join(self.directory, "log")) as server:
            names = {"MODEL_SERVER_ENABLE": "true", "MODEL_SERVER_URL": server.url(""), "MODEL_PATH": "/mnt"}
            with Estimator(self.directory, environment=names) as estimator:
                wait_until(lambda: estimator.ask(GO_BODY % "[[1,0]]")["powers"] == {"package": [12]}, "the model")
                log = estimator.log()
        self.assertRegex(log, "level=INFO .*is used.* name=MODEL_SERVER_URL")
        self.assertRegex(log, "level=WARN .*is ignored.* name=MODEL_PATH reason=")

    def test_initial_archives_by_url(self):
        """As the Python estimator: NODE_COMPONENTS_INIT_URL and NODE_TOTAL_INIT_URL, from the environment or from files."""
        os.mkdir(self.path("db"))
        self.write("packed/model.json", model("packed"))
        self.write("packed/card.md", "# packed\n")
        subprocess.run([PROGRAM, "export", f"--model={self.path('packed')}", f"--output={self.path('db/packed.zip')}"], check=True,
                       capture_output=True)
        self.write("config/NODE_TOTAL_INIT_URL", f"file://{self.write_old_archive('db/SGDRegressorTrainer_0.zip')}\n")
        self.write("config/CONTAINER_TOTAL_INIT_URL", "https://models.example/a.zip")
        with Server(self.path("db")) as server:
            names = {"NODE_COMPONENTS_INIT_URL": server.url + "packed.zip", "NODE_TOTAL_INIT_URL": "https://models.example/b.zip"}
            with Estimator(self.directory, config_dir=self.path("config"), environment=names) as estimator:
                wait_until(lambda: estimator.ask(GO_BODY % "[[1,0]]")["powers"] == {"package": [12]}, "the archive of the URL")
                platform = (GO_BODY % "[[4,0]]").replace("intel_rapl", "acpi")
                self.assertEqual(estimator.ask(platform)["powers"], {"platform": [106]}, "the archive of the file")
                log = estimator.log()
        for name in ("NODE_COMPONENTS_INIT_URL", "NODE_TOTAL_INIT_URL"):
            self.assertRegex(log, f"level=INFO .*is used.* name={name}")
        self.assertRegex(log, "level=WARN .*is ignored.* name=CONTAINER_TOTAL_INIT_URL reason=")

    def write_old_archive(self, name):
        """As upstream's archive of a linear model whose pickles are missing: weight.json has 100 W, and 3 W for 2 ms of CPU
        time."""
        features = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
        weights = json.loads(weights_of_old_server(100).replace('"package"', '"platform"'))
        members = {"metadata.json": {"model_name": "SGDRegressorTrainer_0", "model_class": "scikit", "features": features,
                                     "fe_files": [], "model_file": "SGDRegressorTrainer_0.json", "output_type": "AbsPower",
                                     "mae": 1, "mape": 1},
                   "SGDRegressorTrainer_0.json": {"platform": {"model_file": "platform.pkl", "features": features,
                                                               "fe_files": ["scaler.pkl"]}},
                   "weight.json": weights}
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for member, content in members.items():
                archive.writestr(member, json.dumps(content))
        return self.path(name)

    def test_wrong_flags(self):
        for flag, reason in (("--models=relative", "models"), ("--socket-mode=9", "socket-mode"), ("--server=x", "server")):
            ended = subprocess.run([PROGRAM, "estimator", "--config-dir=/nowhere", flag], capture_output=True, text=True,
                                   timeout=60, check=False)
            self.assertEqual(ended.returncode, 2, ended)
            self.assertIn(reason, ended.stdout + ended.stderr)


if __name__ == "__main__":
    run_tests()
