"""Clients of Kepler 0.7 with kepler-model serve: each sends byte for byte what its real counterpart sends, uses the model as that
one does, and gets the watts that our own programs predict. With the environment variable XGBOOST_PYTHON, a Python interpreter
with xgboost, scikit-learn and requests, these libraries are the client (CONTRIBUTING.md)."""
import csv
import http.client
import io
import json
import math
import os
import socket
import struct
import subprocess
import zipfile

from harness import free_port, require, run_tests, wait_until
from test_model_server import PROGRAM, ModelServerTest
from test_model_training import request as train_request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINE = {"processor": "intel_xeon_gold_6126", "cores": 48, "chips": 2, "memory_gib": 187, "frequency_mhz": 3700}
OLD_MACHINE = {"processor": "intel_xeon_gold_6126", "cores": 48, "chips": 2, "memory": 187, "frequency": 3700}
FEATURES = ["bpf_cpu_time_ms", "cache_miss", "cpu_cycles", "cpu_instructions"]
ROWS = 60  # that are predicted

# The body of an agent of Kepler 0.7: json.Marshal() of its ModelRequest, with the metrics of a node with counters.
GO_BODY = ('{"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit","cache_miss","cpu_cycles","cpu_instructions"],'
           '"output_type":"AbsPower","source":"intel_rapl","node_type":0,"weight":true,"trainer_name":"","filter":"",'
           '"machine_spec":{"vendor":"GenuineIntel","processor":"intel_xeon_gold_6126","cores":48,"chips":2,"memory":187,'
           '"frequency":3700,"threads_per_core":2}}')
# requests.post(url, json=make_model_request(power_request)) of the Python estimator.
PYTHON_BODY = json.dumps({"metrics": ["bpf_cpu_time_ms", "bpf_page_cache_hit", "cache_miss", "cpu_cycles", "cpu_instructions",
                                      "node_info", "cpu_scaling_frequency_hertz"],
                          "output_type": "AbsPower", "source": "rapl-sysfs", "filter": "", "trainer_name": "",
                          "machine_spec": OLD_MACHINE})
# Loads an archive as XgboostModelEstimator does, and prints the watts of the rows.
ESTIMATOR = """
import json, os, sys, xgboost
path, rows = sys.argv[1], json.load(sys.stdin)
with open(os.path.join(path, "metadata.json")) as file: metadata = json.load(file)
with open(os.path.join(path, metadata["model_file"])) as file: components = json.load(file)
watts = {}
for name, component in components.items():
    model = xgboost.XGBRegressor(n_estimators=1000, learning_rate=0.1)
    model.load_model(os.path.join(path, component["model_file"]))
    assert component["fe_files"] == []
    y = model.predict([[row[feature] for feature in component["features"]] for row in rows]).squeeze()
    y[y < 0] = 0
    watts[name] = y.tolist()
print(json.dumps(watts))
"""
REQUESTS = """
import sys, requests
answer = requests.post(sys.argv[1], json=__import__("json").load(sys.stdin))
assert answer.status_code == 200, answer.text
sys.stdout.buffer.write(answer.content)
"""


def python_of_upstream(program, argument, given):
    """Standard output of a program in an interpreter with upstream's libraries."""
    return subprocess.run([os.environ["XGBOOST_PYTHON"], "-c", program, argument], input=given.encode(), check=True,
                          capture_output=True, timeout=300).stdout


def raw_post(port, path, host, agent, body):
    """What Go's http.Client and Python's requests write to the socket; (status, headers, body) of the answer."""
    head = {"go": "User-Agent: Go-http-client/1.1\r\nContent-Length: {0}\r\nContent-Type: application/json\r\n"
                  "Accept-Encoding: gzip\r\n",
            "requests": "User-Agent: python-requests/2.32.3\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\n"
                        "Connection: keep-alive\r\nContent-Length: {0}\r\nContent-Type: application/json\r\n"}[agent]
    body = body.encode()
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: {host}\r\n{head.format(len(body))}\r\n".encode() + body)
        answer = http.client.HTTPResponse(client)
        answer.begin()
        content = answer.read()
        answer.close()
        return answer.status, answer.headers, content


def go_watts(weights, row):
    """As pkg/model/estimator/local/regressor of Kepler 0.7: linear, with values divided by their scale."""
    all_weights = weights["All_Weights"]
    require(all_weights["Categorical_Variables"] == {}, "no published file has some")
    return max(0, all_weights["Bias_Weight"] + sum(
        variable["weight"] * (row[name] / variable["scale"] if variable["scale"] != 0 else 0)
        for name, variable in all_weights["Numerical_Variables"].items()))


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def tree_watts(booster, values):
    """Prediction of XGBoost: float32 everywhere, left if the value is below the condition."""
    learner = json.loads(booster)["learner"]
    total = float32(float(learner["learner_model_param"]["base_score"].strip("[]")))
    for tree in learner["gradient_booster"]["model"]["trees"]:
        node = 0
        while tree["left_children"][node] != -1:
            left = float32(values[tree["split_indices"][node]]) < float32(tree["split_conditions"][node])
            node = tree["left_children" if left else "right_children"][node]
        total = float32(total + float32(tree["split_conditions"][node]))
    return max(0, total)


class OldClientTest(ModelServerTest):
    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "data/nx12.csv"), encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))[:400]
        names = ["bpf_cpu_time_us", *FEATURES[1:], "package_power", "dram_power"]
        with open(self.path("table.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(table)
        self.rows = [{"bpf_cpu_time_ms": float(row["bpf_cpu_time_us"]), "bpf_page_cache_hit": 0.0,
                      **{name: float(row[name]) for name in FEATURES[1:]}} for row in table[:ROWS]]
        self.write("machine.json", json.dumps(MACHINE).encode())

    def run_tool(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True, timeout=120).stdout

    def train(self, trainer):
        """A model in a store of its own, and its watts of the rows by our own programs, by component."""
        self.run_tool("train", f"--data={self.path('table.csv')}", f"--features={','.join(FEATURES)}",
                      "--target=package_power,dram_power", f"--trainer={trainer}", f"--machine={self.path('machine.json')}",
                      f"--output={self.path(f'{trainer}/model')}")
        told = csv.DictReader(io.StringIO(self.run_tool("predict", f"--model={self.path(f'{trainer}/model')}",
                                                        f"--data={self.path('table.csv')}")))
        predictions = list(told)[:ROWS]
        name = next(name for name in predictions[0] if name.startswith("package"))
        return {component: [float(row[name.replace("package", component)]) for row in predictions]
                for component in ("package", "dram")}

    def assert_equal_watts(self, watts, ours, tolerance):
        for component, values in ours.items():
            for number, (theirs, own) in enumerate(zip(watts[component], values, strict=True)):
                self.assertTrue(math.isclose(theirs, own, rel_tol=tolerance), (component, number, theirs, own))

    def test_an_agent_of_kepler_07(self):
        ours = self.train("linear")
        with self.server(store="linear") as server:
            status, headers, content = raw_post(server.port, "/model", "kepler-model-server.kepler.svc.cluster.local:8100", "go",
                                                GO_BODY)
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), content)
        weights = json.loads(content)
        self.assertEqual(weights["model_name"].rsplit("_", 1)[0], "SGDRegressorTrainer")
        self.assertEqual(weights["machine_spec"]["processor"], MACHINE["processor"])
        self.assert_equal_watts({component: [go_watts(weights[component], row) for row in self.rows] for component in ours},
                                ours, 1e-9)

    def test_the_python_estimator(self):
        ours = self.train("xgboost")
        with self.server(store="xgboost") as server:
            if "XGBOOST_PYTHON" in os.environ:
                content = python_of_upstream(REQUESTS, server.url("/model"), PYTHON_BODY)
            else:
                status, headers, content = raw_post(server.port, "/model", "localhost:8100", "requests", PYTHON_BODY)
                self.assertEqual((status, headers["Content-Disposition"]),
                                 (200, "attachment; filename=XgboostFitTrainer_0.zip"), content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(self.path("download"))
            metadata = json.loads(archive.read("metadata.json"))
            components = json.loads(archive.read(metadata["model_file"]))
            self.assertEqual(metadata["model_class"], "xgboost")
            self.assertLessEqual(set(metadata["features"]), set(FEATURES))
            if "XGBOOST_PYTHON" in os.environ:
                watts = json.loads(python_of_upstream(ESTIMATOR, self.path("download"), json.dumps(self.rows)))
            else:
                watts = {name: [tree_watts(archive.read(component["model_file"]),
                                           [row[feature] for feature in component["features"]]) for row in self.rows]
                         for name, component in components.items()}
        self.assert_equal_watts(watts, ours, 1e-5)

    def test_a_client_of_the_trainer(self):
        """tests/offline_trainer_test.py of upstream, with the isolators that need no profile: both kinds of power are trained."""
        port = free_port()
        for isolator in ("MinIdleIsolator", "NoneIsolator"):
            body = json.loads(train_request())
            body["name"] = f"sample_data_{isolator}"
            body["trainer"] |= {"abs_trainers": ["SGDRegressorTrainer", "PolynomialRegressionTrainer"], "isolator": isolator,
                                "dyn_trainers": ["SGDRegressorTrainer", "PolynomialRegressionTrainer"], "isolator_args": {}}
            with self.server(f"--jobs={self.path('jobs')}", f"--listen-address=127.0.0.1:{port}") as server:
                wait_until(lambda: server.get("/healthz")[0] == 200, "the server")
                status, _, content = raw_post(port, "/train", "localhost:8102", "requests", json.dumps(body))
            self.assertEqual(status, 200, content)
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                models = {name: json.loads(archive.read(name)) for name in archive.namelist() if name.endswith("-model.json")}
            self.assertEqual({model["output"] for model in models.values()}, {"AbsPower", "DynPower"}, sorted(models))


del ModelServerTest  # it has no test

if __name__ == "__main__":
    run_tests()
