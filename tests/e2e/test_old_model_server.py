"""The agent and the estimator with a model server of Kepler 0.7, which has no GET for agents: the server here answers byte for
byte as that one does."""
import json
import os
import shutil
import subprocess

from harness import Agent, require, run_tests, wait_until
from http_double import Handler, HttpServer
from scratch import ScratchTest
from test_estimator import GO_BODY, Estimator

PROGRAM = os.path.abspath(os.environ["KEPLER_MODEL_BIN"])
# Of Flask 3.0 and Werkzeug 3.0.
NOT_FOUND = (b"<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not "
             b"found on the server. If you entered the URL manually please check your spelling and try again.</p>\n")
UNSERVED = (b"<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n<h1>Internal Server Error</h1>\n<p>The "
            b"server encountered an internal error and was unable to complete your request. Either the server is overloaded or "
            b"there is an error in the application.</p>\n")
FIELDS = {"metrics", "output_type", "source", "node_type", "weight", "trainer_name", "filter", "pipeline_name", "machine_spec",
          "loose_node_type"}


class OldServer(HttpServer):
    """Knows one model of one machine, of rapl-sysfs."""

    def __init__(self, bias, machine, page_cache=0.0):
        self.bias, self.machine, self.page_cache, self.requests = bias, machine, page_cache, []
        server = self

        class Flask(Handler):
            protocol_version, server_version, sys_version = "HTTP/1.1", "Werkzeug/3.0.6", "Python/3.10.15"

            def do_GET(self):
                self.answer("404 NOT FOUND", "text/html; charset=utf-8", NOT_FOUND)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path != "/model":
                    return self.do_GET()
                require(self.headers["Content-Type"] == "application/json", "Flask answers 415")
                self.answer(*server.model(json.loads(body)))

            def answer(self, status, content_type, body):
                code, _, phrase = status.partition(" ")
                self.send_response(int(code), phrase)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)
        super().__init__(Flask)

    def model(self, request):
        """What get_model() of model_server.py does with it."""
        self.requests.append(request)
        if set(request) - FIELDS or request["source"] != "rapl-sysfs":
            return "500 INTERNAL SERVER ERROR", "text/html; charset=utf-8", UNSERVED
        features = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
        if not request.get("weight") or not set(features) <= set(request["metrics"]):
            return "400 BAD REQUEST", "text/html; charset=utf-8", b"cannot find model for requested metrics"
        scales = {"bpf_cpu_time_ms": {"scale": 95877.0, "weight": 0.0},
                  "bpf_page_cache_hit": {"scale": 1.0, "weight": self.page_cache}}
        weights = {"package": {"All_Weights": {"Bias_Weight": self.bias, "Categorical_Variables": {},
                                               "Numerical_Variables": scales}}}
        if request.get("node_type", -1) == -1:
            weights |= {"model_name": "SGDRegressorTrainer_0", "machine_spec": self.machine, "mae": 9.5}
        return "200 OK", "application/json", json.dumps(weights).encode()


class OldModelServer(ScratchTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("sys/class"))
        machine = json.loads(subprocess.run([PROGRAM, "machine"], check=True, capture_output=True, text=True).stdout)
        require("processor" in machine, "this machine's processor has no name")
        self.machine = {"vendor": "", "processor": machine["processor"], "cores": machine["cores"], "chips": machine["chips"],
                        "memory": machine["memory_gib"], "frequency": machine.get("frequency_mhz", 0), "threads_per_core": 1}

    def agent(self, server, *args):
        return Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", f"--model.server={server.url}",
                     f"--model.cache-dir={self.path('kept')}", *args, config="model: {guestIdle: true}\n")

    def used(self, agent):
        page = agent.scrape_after()
        (info,) = [labels for labels, _ in page.series("kepler_model_info") if labels["zone"] == "package"]
        return info["name"], info["source"], round(page.value("kepler_node_cpu_watts", zone="package"), 3)

    def test_the_agent_gets_watts(self):
        with OldServer(77.0, self.machine) as server:
            with self.agent(server) as agent:
                agent.wait_log("loaded power models.*SGDRegressorTrainer_0")
                self.assertEqual(self.used(agent), ("SGDRegressorTrainer_0", f"{server.url}/best/model.json", 77))
        (request,) = server.requests
        self.assertEqual({key: request[key] for key in ("output_type", "source", "node_type", "weight")},
                         {"output_type": "AbsPower", "source": "rapl-sysfs", "node_type": -1, "weight": True})
        self.assertIn("bpf_page_cache_hit", request["metrics"])
        self.assertEqual(request["machine_spec"]["processor"], self.machine["processor"])
        with self.agent(server) as agent:
            self.assertEqual(self.used(agent)[0], "SGDRegressorTrainer_0", "the server is gone")

    def test_what_does_not_fit_is_refused_with_the_reason(self):
        with OldServer(77.0, self.machine, page_cache=1.0) as server, self.agent(server) as agent:
            agent.wait_log("model server of Kepler 0.7: .*it needs bpf_page_cache_hit")
            self.assertEqual(self.used(agent)[1], "built-in")
        with OldServer(77.0, {**self.machine, "processor": "another_processor"}) as server, self.agent(server) as agent:
            agent.wait_log("model server of Kepler 0.7: .*another_processor")
            self.assertEqual(self.used(agent)[1], "built-in")

    def test_with_a_key_nothing_is_taken(self):
        require(shutil.which("openssl"), "openssl makes keys")
        for arguments in (("genpkey", "-algorithm", "ed25519", "-out", self.path("key")),
                          ("pkey", "-in", self.path("key"), "-pubout", "-out", self.path("key.pem"))):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True)
        with OldServer(77.0, self.machine) as server:
            with self.agent(server, f"--model.public-key={self.path('key.pem')}") as agent:
                agent.wait_log("model server of Kepler 0.7: its models have no signature, and model.publicKey requires one")
        self.assertEqual(server.requests, [])

    def test_the_estimator_uses_it_too(self):
        with OldServer(12.0, self.machine) as server, Estimator(self.directory, f"--server={server.url}") as estimator:
            wait_until(lambda: estimator.ask(GO_BODY % "[[1,0]]")["powers"] == {"package": [12]}, "the model")


if __name__ == "__main__":
    run_tests()
