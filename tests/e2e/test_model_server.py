"""kepler-model serve, the shipped program: old clients get models that they can use, wrong input gets a reason, a restart
loses nothing, and the agent takes its model from it."""
import base64
import contextlib
import fcntl
import http.client
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import zipfile

from exposition import Exposition
from harness import Agent, free_port, require, run_tests, wait_until
from model_text import own
from scratch import LoggingProgram, ScratchTest

PROGRAM = os.path.abspath(os.environ["KEPLER_MODEL_BIN"])
KILLS = int(os.environ.get("KEPLER_E2E_KILLS", "8"))  # of the server while it publishes
GROUP = "v0.7/ec2-0.7.11/rapl-sysfs/AbsPower/BPFOnly/"
FEATURES = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
XEON = {"processor": "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory": 503, "frequency": 3000}
# alice: secret
USERS = b"basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
EPYC = {"processor": "amd_epyc_7763", "cores": 128, "chips": 2, "memory": 503, "frequency": 3500}

# The body of an agent of Kepler 0.7 as Go writes it; machine_spec is that of the node.
GO_BODY = ('{"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"output_type":"AbsPower","source":"intel_rapl",'
           '"node_type":0,"weight":%s,"trainer_name":"","filter":"","machine_spec":{"vendor":"GenuineIntel",'
           '"processor":"intel_xeon_e5_2686v4","cores":72,"chips":2,"memory":503,"frequency":3000,"threads_per_core":2}}')


def archive(name, mae):
    """An archive as upstream publishes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("metadata.json", json.dumps({
            "model_name": name, "model_class": "scikit", "model_file": f"{name}.json", "features": FEATURES,
            "fe_files": [], "output_type": "AbsPower", "mae": mae, "mape": mae, "package_mae": mae,
            "package_mape": mae}))
        out.writestr(f"{name}.json", json.dumps({"package": {"model_file": "package.pkl", "features": FEATURES,
                                                             "fe_files": ["scaler.pkl"]}}))
        out.writestr("package.pkl", b"pickle")
        out.writestr("scaler.pkl", b"pickle")
    return file.getvalue()


def weights(bias):
    variables = {"bpf_cpu_time_ms": {"scale": 2.0, "weight": 3.0}, "bpf_page_cache_hit": {"scale": 1.0, "weight": 0.0}}
    return json.dumps({"package": {"All_Weights": {"Bias_Weight": bias, "Categorical_Variables": {},
                                                   "Numerical_Variables": variables}}})


class ModelServer(LoggingProgram):
    def __init__(self, store, *args, environment=None, log):
        self.port = free_port()
        super().__init__([PROGRAM, "serve", f"--listen-address=127.0.0.1:{self.port}", "--scan-interval=100ms",
                          "--config-dir=/nowhere", *args, *([f"--store={store}"] if store else [])], log, environment)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.get("/healthz")[0] in (200, 401)  # 401: there are users

    def request(self, method, path, body=None, headers=None):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def post(self, body, headers=None):
        return self.request("POST", "/model", body, {"Content-Type": "application/json", **(headers or {})})

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def names(self):
        return sorted(model["name"] for model in json.loads(self.get("/models")[2])["models"])

    def value(self, name, **labels):
        return Exposition(self.get("/metrics")[2].decode()).value(name, **labels)


class ModelServerTest(ScratchTest):
    def setUp(self):
        super().setUp()
        types = {"1": {"attrs": XEON, "members": ["a"]}, "10": {"attrs": EPYC, "members": []}}
        self.write("store/v0.7/ec2-0.7.11/metadata.json", json.dumps({"name": "ec2-0.7.11"}).encode())
        self.write("store/v0.7/ec2-0.7.11/node_type_index.json", json.dumps(types).encode())
        self.archives = {name: archive(name, mae) for name, mae in (
            ("SGDRegressorTrainer_1", 9), ("GradientBoostingRegressorTrainer_1", 4), ("XgboostFitTrainer_10", 1))}
        for name, content in self.archives.items():
            self.write(f"store/{GROUP}{name}.zip", content)
        self.write(f"store/{GROUP}SGDRegressorTrainer_1.json", weights(50).encode())
        self.write("store/own/epyc/model.json", own("trained", 123).encode())

    def server(self, *args, store="store", **options):
        return ModelServer(store and self.path(store), *args, log=self.path("log"), **options)


class OldClients(ModelServerTest):
    def test_the_bytes_of_an_agent_of_kepler_07(self):
        body = GO_BODY % "true"
        request = (f"POST /model HTTP/1.1\r\nHost: kepler-model-server:8100\r\nUser-Agent: Go-http-client/1.1\r\n"
                   f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n{body}")
        with self.server() as server, socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(request.encode())
            answer = http.client.HTTPResponse(client)
            answer.begin()
            self.assertEqual(answer.status, 200)
            got = json.loads(answer.read())
            answer.close()
        # What the agent reads: the formula by model_name, then bias + sum of weight * value / scale.
        self.assertEqual(got["model_name"].rsplit("_", 1)[0], "SGDRegressorTrainer")
        self.assertEqual((got["machine_spec"]["cores"], got["mae"]), (72, 9))
        all_weights = got["package"]["All_Weights"]
        used = {"bpf_cpu_time_ms": 10, "bpf_page_cache_hit": 7}
        watts = all_weights["Bias_Weight"] + sum(variable["weight"] * used[name] / variable["scale"] for name, variable
                                                 in all_weights["Numerical_Variables"].items())
        self.assertEqual(watts, 50 + 3 * 10 / 2)

    def test_the_python_estimator_opens_its_archive(self):
        body = json.dumps({"metrics": FEATURES + ["node_info", "cpu_scaling_frequency_hertz"], "output_type": "AbsPower",
                           "source": "rapl-sysfs", "filter": "", "trainer_name": "", "machine_spec": XEON})
        headers = {"User-Agent": "python-requests/2.32.3", "Accept-Encoding": "gzip, deflate", "Accept": "*/*",
                   "Connection": "keep-alive"}
        with self.server() as server:
            status, got, content = server.post(body, headers)
            self.assertEqual(status, 200, content)
            self.assertEqual(content, self.archives["GradientBoostingRegressorTrainer_1"])
            self.assertEqual(got["Content-Disposition"], "attachment; filename=GradientBoostingRegressorTrainer_1.zip")
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                self.assertEqual(json.loads(file.read("metadata.json"))["features"], FEATURES)
            status, _, content = server.post(body.replace('"filter": ""', '"filter": "mae:5;package_mape:4"'))
            self.assertEqual((status, content), (200, self.archives["GradientBoostingRegressorTrainer_1"]))
            self.assertEqual(server.post(body.replace('"filter": ""', '"filter": "mae:0.1"'))[0], 400)
            names = json.loads(server.get("/best-models?energy-source=rapl-sysfs&output-type=AbsPower&node-type=1")[2])
            self.assertEqual(names, {"AbsPower": {"BPFOnly": "GradientBoostingRegressorTrainer_1"}})
        with self.server("--selection=upstream") as server:
            body = json.dumps({"metrics": FEATURES, "output_type": "AbsPower"})
            self.assertEqual(server.post(body)[2], self.archives["XgboostFitTrainer_10"])

    def test_pages_for_people(self):
        with self.server() as server:
            _, headers, page = server.get("/")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            cards = re.findall('<a href="(/models/[^"]+)">', page.decode())
            self.assertEqual(len(cards), 4)
            for card in cards:
                status, _, page = server.get(card)
                self.assertEqual(status, 200, card)
                self.assertNotIn(b"<script", page)
                for file in re.findall('<a href="(/(?:models|db)/[^"]+)">', page.decode()):
                    self.assertEqual(server.get(file)[0], 200, file)

    def test_names_of_the_environment(self):
        names = {"MODEL_PATH": self.path("store"), "ERROR_KEY": "package_mape", "MODEL_TOPURL": "https://models.example",
                 "INITIAL_PIPELINE_URL": "https://models.example/a.zip"}
        with self.server(store=None, environment=names) as server:
            self.assertIn("epyc", server.names())
            log = server.log()
        for name in ("MODEL_TOPURL", "INITIAL_PIPELINE_URL"):
            self.assertRegex(log, f"level=WARN .*is ignored.* name={name} reason=")
        for name in ("MODEL_PATH", "ERROR_KEY"):
            self.assertRegex(log, f"level=INFO .*is used.* name={name}")


class WrongInput(ModelServerTest):
    def test_each_gets_a_reason(self):
        with self.server() as server:
            for body, reason in ((b"", "JSON"), (b"[]", "object"), (b'{"metrics":["a"]}', "output_type"),
                                 (b'{"metrics":{},"output_type":"AbsPower"}', "metrics"),
                                 (b'{"metrics":["a"],"output_type":"AbsPower","source":"sun"}', "source"),
                                 (b'{"metrics":["a"],"output_type":"AbsPower","trainer_name":"../../etc"}', "cannot find"),
                                 (b"[" * 5000, "JSON"), (b'{"metrics":["\xff"]}', "JSON"),
                                 ((GO_BODY % "true").encode()[:-3], "JSON")):
                status, _, answer = server.post(body)
                self.assertEqual(status, 400, (body, answer))
                self.assertIn(reason, answer.decode(), body)
            self.assertEqual(server.post(b" " * 100_000)[0], 413)
            self.assertEqual(server.post("{}", {"Content-Type": "text/plain"})[0], 415)
            self.assertEqual(server.request("DELETE", "/models/epyc/model.json")[0], 405)
            for path in ("/db/../../../etc/passwd", "/models/..%2f..%2f/model.json", "/models/epyc/model.json.sig"):
                self.assertIn(server.get(path)[0], (400, 404), path)
            self.assertEqual(server.post(GO_BODY % "true")[0], 200)
            unknown = (GO_BODY % "true").replace('{"metrics"', '{"new_field":[1],"metrics"')
            self.assertEqual(server.post(unknown)[0], 200)
            self.assertEqual(server.value("kepler_model_server_unknown_fields_total"), 1)
            self.assertEqual(server.value("kepler_model_server_requests_total", route="model", code="200"), 2)

    def test_a_missing_store_is_said_at_once(self):
        for arguments, reason, code in ((["--store=/nowhere"], "/nowhere", 1), ([], "store", 2),
                                        ([f"--store={self.directory}", "--listen-address=x"], "listen-address", 2)):
            ended = subprocess.run([PROGRAM, "serve", "--config-dir=/nowhere", *arguments], capture_output=True, text=True,
                                   timeout=60, check=False)
            self.assertEqual(ended.returncode, code, ended)
            self.assertIn(reason, ended.stdout + ended.stderr)


class Store(ModelServerTest):
    def test_changes_are_served_and_a_restart_loses_nothing(self):
        with self.server() as server:
            self.write("store/own/second/model.json", own("second", 5).encode())
            self.write(f"store/{GROUP}SVRRegressorTrainer_1.zip", b"PK half of an archive")
            wait_until(lambda: "second" in server.names(), "the new model")
            wait_until(lambda: server.value("kepler_model_server_skipped_files") == 1, "the broken file")
            names, answer = server.names(), server.post(GO_BODY % "true")[2]
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        with self.server() as server:
            self.assertEqual((server.names(), server.post(GO_BODY % "true")[2]), (names, answer))
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(30), 0, server.log())

    def test_the_agent_gets_the_model_of_its_machine(self):
        machine = json.loads(subprocess.run([PROGRAM, "machine"], check=True, capture_output=True, text=True).stdout)
        require("processor" in machine, "this machine's processor has no name")
        mine = {**json.loads(own("mine", 77)), "machine": machine}
        others = {**json.loads(own("others", 99)), "machine": {**machine, "processor": "another_processor", "cores": 1}}
        self.write("store/own/mine/model.json", json.dumps(mine).encode())
        self.write("store/own/others/model.json", json.dumps(others).encode())
        os.makedirs(self.path("sys/class"))
        with self.server() as server:
            with Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", f"--model.server={server.url('')}",
                       f"--model.cache-dir={self.path('kept')}", config="model: {guestIdle: true}\n") as agent:
                agent.wait_log("loaded power models.*mine .version 1")
                page = agent.scrape_after()
                names = {labels["name"] for labels, _ in page.series("kepler_model_info") if labels["zone"] == "package"}
            self.assertEqual(names, {"mine"})

    def test_the_agent_reads_the_names_of_kepler_07(self):
        machine = json.loads(subprocess.run([PROGRAM, "machine"], check=True, capture_output=True, text=True).stdout)
        require("processor" in machine, "this machine's processor has no name")
        self.write("store/own/mine/model.json", json.dumps({**json.loads(own("mine", 77)), "machine": machine}).encode())
        os.makedirs(self.path("sys/class"))
        with self.server() as server:
            names = {"MODEL_SERVER_ENABLE": "true", "MODEL_SERVER_URL": server.url(""), "MODEL_SERVER_PORT": "1"}
            with Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", "--model.cache-dir=",
                       env={**os.environ, **names}, config="model: {guestIdle: true}\n") as agent:
                agent.wait_log("setting of Kepler 0.7 is used.* name=MODEL_SERVER_URL")
                agent.wait_log("setting of Kepler 0.7 is ignored.* name=MODEL_SERVER_PORT")
                agent.wait_log("loaded power models.*mine .version 1")
                fetched = agent.scrape_after().value("kepler_model_last_fetch_timestamp_seconds")
                self.assertLess(abs(time.time() - float(fetched)), 60)

    def test_the_agent_takes_its_model_with_its_signature(self):
        require(shutil.which("openssl"), "openssl signs")
        sign = lambda *arguments: subprocess.run(["openssl", *arguments], check=True, capture_output=True)  # noqa: E731
        model = self.path("store/own/epyc/model.json")
        sign("genpkey", "-algorithm", "ed25519", "-out", self.path("key"))
        sign("pkey", "-in", self.path("key"), "-pubout", "-out", self.path("key.pem"))
        sign("pkeyutl", "-sign", "-rawin", "-inkey", self.path("key"), "-in", model, "-out", model + ".sig")
        os.makedirs(self.path("sys/class"))
        with self.server() as server:
            url = server.url("/models/epyc/model.json")
            with Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", f"--model.sources={url}",
                       f"--model.cache-dir={self.path('kept')}", f"--model.public-key={self.path('key.pem')}",
                       config="model: {guestIdle: true}\n") as agent:
                agent.wait_log("loaded power models.*trained .version 1")
                page = agent.scrape_after()
                self.assertEqual(round(page.value("kepler_node_cpu_watts", zone="package"), 3), 123)
            self.assertGreaterEqual(server.value("kepler_model_server_requests_total", route="own-files", code="200"), 2)


class Upload(ModelServerTest):
    def put(self, server, name, text, password="secret", signature=None):
        login = base64.b64encode(f"alice:{password}".encode()).decode()
        headers = {"Authorization": f"Basic {login}", **({"X-Model-Signature": signature} if signature else {})}
        return server.request("PUT", f"/models/{name}", text, headers)

    def uploads(self, *flags):
        return self.server(f"--web-config-file={self.write('web.yaml', USERS)}", *flags)

    def test_a_user_publishes_and_others_do_not(self):
        text = own("uploaded", 7)
        with self.server() as server:
            self.assertEqual(self.put(server, "uploaded", text)[0], 403)
        with self.uploads() as server:
            self.assertEqual(server.request("PUT", "/models/uploaded", text)[0], 401)
            self.assertEqual(self.put(server, "uploaded", text, password="wrong")[0], 401)
            self.assertEqual(self.put(server, "..", text)[0], 400)
            self.assertEqual(self.put(server, "uploaded", "{}")[0], 400)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it does not read all of it
                self.assertEqual(self.put(server, "uploaded", b" " * ((16 << 20) + 1))[0], 413)
            self.assertEqual(self.put(server, "epyc", own("trained", 1, 9))[0], 409, "somebody copied it there")
            status, _, answer = self.put(server, "uploaded", text, signature=base64.b64encode(b"sig").decode())
            self.assertEqual((status, json.loads(answer)["version"]), (201, 1))
            self.assertEqual(self.get(server, "/models/uploaded/model.json"), text.encode())
            self.assertEqual(self.get(server, "/models/uploaded/model.json.sig"), b"sig")
            self.assertEqual(self.put(server, "uploaded", text)[0], 200)
            self.assertEqual(self.put(server, "uploaded", own("uploaded", 8))[0], 409, "the same version")
            self.assertEqual(self.put(server, "uploaded", own("uploaded", 8, 2))[0], 201)

    def test_open_readers_and_an_agent_need_no_login(self):
        text = own("uploaded", 7)
        os.makedirs(self.path("sys/class"))
        with self.uploads("--readers=open") as server:
            self.assertEqual(server.request("PUT", "/models/uploaded", text)[0], 401)
            self.assertEqual(server.request("GET", "/models", headers={"Authorization": "Basic eDp5"})[0], 401, "a wrong login")
            self.assertEqual(self.put(server, "uploaded", text)[0], 201)
            self.assertEqual(server.get("/models/uploaded/model.json")[0], 200)
            with Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms",
                       f"--model.sources={server.url('/models/uploaded/model.json')}",
                       config="model: {guestIdle: true}\n") as agent:
                agent.wait_log("loaded power models.*uploaded .version 1")
        with self.server("--readers=open") as server:
            self.assertEqual(self.put(server, "uploaded", text)[0], 403, "there are no users")
            self.assertEqual(server.get("/models/uploaded/model.json")[0], 200)

    def test_another_process_publishes_the_same_model(self):
        with self.uploads() as server:
            self.assertEqual(self.put(server, "m", own("m", 1))[0], 201)
            with open(self.path("store/.locks/m"), "r+", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                lock.truncate()
                lock.write("a person (process 1)")
                lock.flush()
                status, headers, reason = self.put(server, "m", own("m", 1, 2))
                self.assertEqual((status, headers["Retry-After"]), (503, "1"))
                self.assertIn(b"a person (process 1)", reason)
                self.assertEqual(self.put(server, "other", own("m", 1))[0], 201)
            self.assertEqual(self.put(server, "m", own("m", 1, 2))[0], 201)

    def get(self, server, path):
        login = base64.b64encode(b"alice:secret").decode()
        status, _, body = server.request("GET", path, headers={"Authorization": f"Basic {login}"})
        self.assertEqual(status, 200, body)
        return body

    def test_killed_while_it_publishes_it_has_the_old_or_the_new_version(self):
        acknowledged = 0
        for turn in range(KILLS):
            with self.uploads() as server:
                version = self.version(server)
                self.assertIn(version, (acknowledged, acknowledged + 1))
                acknowledged = version
                killer = threading.Timer(0.02 * (turn % 8) + random.random() * 0.02, server.process.kill)
                killer.start()
                with contextlib.suppress(OSError, http.client.HTTPException):
                    while True:
                        status = self.put(server, "m", own("m", 1, acknowledged + 1))[0]
                        self.assertEqual(status, 201)
                        acknowledged += 1
                killer.join()
        print(f"{KILLS} kills of the server: {acknowledged} publishes")
        with self.uploads() as server:
            self.assertEqual(self.put(server, "m", own("m", 1, self.version(server) + 1))[0], 201)

    def version(self, server):
        """Of the published model; 0 if there is none."""
        names = [model["name"] for model in json.loads(self.get(server, "/models"))["models"]]
        return json.loads(self.get(server, "/models/m/model.json"))["version"] if "m" in names else 0


if __name__ == "__main__":
    run_tests()
