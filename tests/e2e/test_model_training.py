"""kepler-model serve --jobs, the shipped program: clients of the trainer of Kepler 0.7 get a trained pipeline, jobs have
status, log and cancel, and no training delays an answer or outlives its limits."""
import contextlib
import fcntl
import glob
import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
import zipfile
from concurrent import futures

from harness import free_port, require, run_tests, wait_until
from http_double import Double
from model_text import own
from test_model_server import GO_BODY, KILLS, PROGRAM, USERS, ModelServerTest

ROWS = 240


def recording(rows=ROWS, features=("bpf_cpu_time_ms", "bpf_page_cache_hit"), watts=0.05):
    """20 W, and 50 mW per ms of CPU time and second, as Prometheus answers the queries of the trainer of Kepler 0.7."""
    chance = random.Random(7)
    here = {"instance": "n1", "job": "kepler-exporter"}
    joules, counters, series = 0.0, dict.fromkeys(features, 0.0), {name: [] for name in (*features, "joules")}
    for row in range(rows):
        for name in features:
            rate = chance.uniform(0, 1000)
            counters[name] += 3 * rate
            joules += 3 * rate * (watts if name == "bpf_cpu_time_ms" else 0)
            series[name].append([1_700_000_000 + 3 * row, str(counters[name])])
        joules += 3 * 20
        series["joules"].append([1_700_000_000 + 3 * row, str(joules)])
    of_container = {**here, "container_id": "x", "pod_name": "p", "container_name": "c", "container_namespace": "n"}
    return {**{f"kepler_container_{name}_total": [{"metric": of_container, "values": series[name]}] for name in features},
            "kepler_node_package_joules_total": [
                {"metric": {**here, "source": "rapl-sysfs", "package": "0", "mode": "dynamic"}, "values": series["joules"]}]}


def request(trainers=("SGDRegressorTrainer",), dynamic=(), **changes):
    """The body of upstream's clients."""
    response = recording()
    return json.dumps({"name": "std_v0.7.11", "energy_source": "rapl-sysfs", "trainer": {
        "abs_trainers": list(trainers), "dyn_trainers": list(dynamic), "idle_prom_response": recording(rows=5),
        "isolator": "MinIdleIsolator", "isolator_args": {"abs_pipeline_name": "a"}}, "prom_response": response, **changes})


class TrainingServer(ModelServerTest):
    def training(self, *args):
        return self.server(f"--jobs={self.path('jobs')}", *args)

    def train(self, server, body, **headers):
        return server.request("POST", "/train", body, {"Content-Type": "application/json", **headers})

    def ask(self, server, **options):
        """A job that is not waited for."""
        status, headers, answer = self.train(server, request(**options), Prefer="respond-async")
        self.assertEqual(status, 202, answer)
        self.assertEqual(headers["Location"], "/jobs/" + json.loads(answer)["id"])
        return headers["Location"]

    def job(self, server, path):
        return json.loads(server.get(path)[2])

    def logs(self, server):
        return "".join(server.get(f"/jobs/{job['id']}/log")[2].decode() for job in json.loads(server.get("/jobs")[2])["jobs"])

    def children(self, server):
        with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children", encoding="ascii") as file:
            own = [int(pid) for pid in file.read().split()]
        for thread in os.listdir(f"/proc/{server.process.pid}/task"):
            with open(f"/proc/{server.process.pid}/task/{thread}/children", encoding="ascii") as file:
                own += [int(pid) for pid in file.read().split()]
        return sorted(set(own))

    def is_zombie(self, pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"


class TrainingTest(TrainingServer):
    def test_a_client_of_the_old_trainer_gets_a_pipeline(self):
        with self.training() as server:
            status, headers, content = self.train(server, request(dynamic=("SGDRegressorTrainer",)))
            self.assertEqual(status, 200, content)
            self.assertEqual(headers["Content-Disposition"], "attachment; filename=std_v0.7.11.zip")
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                names = file.namelist()
                model = json.loads(file.read("abs-BPFOnly-model.json"))
                dynamic = json.loads(file.read("dyn-BPFOnly-model.json"))
            self.assertIn("abs-report.html", names)
            self.assertEqual((model["output"], dynamic["output"]), ("AbsPower", "DynPower"))
            # watts of the model as the agent computes them
            self.write("model/model.json", json.dumps(model).encode())
            self.write("rows.csv", b"bpf_cpu_time_ms,bpf_page_cache_hit\n0,0\n500,9\n")
            told = subprocess.run([PROGRAM, "predict", f"--model={self.path('model')}", f"--data={self.path('rows.csv')}"],
                                  check=True, capture_output=True, text=True).stdout.split()
            self.assertAlmostEqual(float(told[1].split(",")[1]), 20, delta=1)
            self.assertAlmostEqual(float(told[2].split(",")[1]), 45, delta=1)

    def test_a_job_has_status_log_and_result(self):
        with self.training() as server:
            path = self.ask(server)
            wait_until(lambda: self.job(server, path)["status"] == "done", "the job")
            self.assertEqual(server.get(path + "/result")[1]["Content-Type"], "application/zip")
            self.assertRegex(server.get(path + "/log")[2], b"23[0-9] rows of 1 nodes")
            self.assertEqual([job["name"] for job in json.loads(server.get("/jobs")[2])["jobs"]], ["std_v0.7.11"])
            self.assertEqual(server.request("DELETE", path)[0], 409)
            self.assertEqual(server.value("kepler_model_server_ended_jobs_total", state="done"), 1)
            self.assertEqual(server.get("/jobs/../../etc/passwd")[0] // 100, 4)

    def test_wrong_bodies_get_a_reason(self):
        right = request()
        with self.training() as server:
            for body, reason in ((b"", "empty"), (b"{}", "name"), (right[:-5], "JSON"), (request(name="../a"), "name"),
                                 (request(trainers=("NoTrainer",)), "NoTrainer"), (request(trainers=()), "trainers"),
                                 (request(energy_source="--output=/etc/x"), "energy_source"),
                                 (request(prom_response={"a": 1}), "extract"), (request(prom_response=[]), "prom_response")):
                status, _, answer = self.train(server, body)
                self.assertEqual(status, 400, answer)
                self.assertIn(reason, answer.decode() + self.logs(server))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it does not read all of it
                self.assertEqual(self.train(server, b" " * (65 << 20))[0], 413)
            self.assertEqual(self.train(server, right)[0], 200)
        with self.server() as server:
            self.assertIn(self.train(server, right)[0], (404, 405), "training is off")
        for readers in ("login", "open"):
            with self.training(f"--web-config-file={self.write('web.yaml', USERS)}", f"--readers={readers}") as server:
                for method, path in (("POST", "/train"), ("GET", "/jobs"), ("GET", "/jobs/1"), ("DELETE", "/jobs/1")):
                    self.assertEqual(server.request(method, path)[0], 401, path)
        with self.training("--readers=open") as server:
            self.assertEqual([server.request("GET", path)[0] for path in ("/jobs", "/models")], [403, 200])

    def test_a_job_that_hangs_is_cancelled_or_ends_in_time(self):
        slow = {"trainers": ("KNeighborsRegressorTrainer", "SVRRegressorTrainer", "XgboostFitTrainer") * 5,
                "prom_response": recording(rows=3000)}
        with self.training("--job-time=2s") as server:
            status, _, answer = self.train(server, request(**slow))
            self.assertIn((status, b"timed_out" in answer), ((503, True), (200, False)), "this machine may be fast")
        with self.training() as server:
            paths = [self.ask(server, **slow) for _ in range(3)]
            wait_until(lambda: self.job(server, paths[0])["status"] != "queued", "the first job")
            child = self.children(server)
            self.assertEqual(len(child), 1, "one runs")
            wait_until(lambda: os.getpriority(os.PRIO_PROCESS, child[0]) == 19, "the child to lower its priority")
            for path in reversed(paths):
                server.request("DELETE", path)
            wait_until(lambda: not self.children(server), "the end of the child")
            states = [self.job(server, path)["status"] for path in paths]
            self.assertEqual(states[1:], ["cancelled"] * 2)
            self.assertIn(states[0], ("cancelled", "done"))

    def test_memory_is_limited(self):
        with self.training("--job-memory=64") as server:
            big = recording(rows=3000, features=tuple(f"feature{i}" for i in range(40)) + ("bpf_cpu_time_ms",))
            status, _, answer = self.train(server, request(prom_response=big))
            self.assertIn(status, (200, 400), answer)
            self.assertEqual(server.get("/healthz")[0], 200)

    def test_a_killed_child_is_a_fault_of_the_server(self):
        slow = request(trainers=("KNeighborsRegressorTrainer", "SVRRegressorTrainer", "XgboostFitTrainer") * 5)
        with self.training() as server, futures.ThreadPoolExecutor(1) as pool:
            training = pool.submit(self.train, server, slow)
            while not training.done():
                for child in self.children(server):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
            status, _, answer = training.result()
            self.assertEqual(status, 500, answer)
            self.assertIn(b"signal 9", answer)

    def test_a_job_that_cannot_be_written_is_a_fault_of_the_server(self):
        with self.training() as server:
            os.rmdir(self.path("jobs"))
            self.write("jobs", "a file")
            status, _, answer = self.train(server, request())
            self.assertEqual((status, answer.count(b"Not a directory")), (500, 1), answer)

    def test_no_training_delays_an_answer(self):
        body, times = GO_BODY % "true", []
        with self.training() as server, futures.ThreadPoolExecutor(1) as pool:
            trainers = ("XgboostFitTrainer", "GradientBoostingRegressorTrainer")
            training = pool.submit(self.train, server, request(trainers=trainers))
            while not training.done():
                begin = time.monotonic()
                self.assertEqual(server.post(body)[0], 200)
                times.append(time.monotonic() - begin)
                time.sleep(0.005)  # the training has the lowest priority
            training.result()
        times.sort()
        print(f"answers during a training: {len(times)}, median {times[len(times) // 2] * 1e3:.1f} ms, "
              f"p99 {times[len(times) * 99 // 100] * 1e3:.1f} ms")
        self.assertLess(times[len(times) // 2], 1)

    def test_jobs_end_with_the_server(self):
        with self.training() as server:
            self.ask(server, trainers=("SVRRegressorTrainer", "XgboostFitTrainer") * 5)
            wait_until(lambda: self.children(server), "the child")
            child = self.children(server)[0]
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            wait_until(lambda: not os.path.exists(f"/proc/{child}") or self.is_zombie(child), "the end of the child")
        with self.training() as server:
            self.assertEqual(json.loads(server.get("/jobs")[2]), {"jobs": []})
            self.assertIn("removed a training job of an earlier process", server.log())


class Retraining(TrainingServer):
    """Each table has rows every 3 s."""

    def table(self, begin, idle, slope, rows=200):
        chance = random.Random(begin)
        lines = ["timestamp,node,bpf_cpu_time_ms,package_power"]
        for row in range(rows):
            load = chance.uniform(0, 1000)
            lines.append(f"{begin + 3 * row},n1,{load:.3f},{idle + slope * load + chance.gauss(0, 0.5):.3f}")
        return self.write(f"table-{begin}.csv", ("\n".join(lines) + "\n").encode())

    def retrain(self, *args, command="retrain"):
        done = subprocess.run([PROGRAM, command, f"--store={self.path('store')}", "--name=mine", *args],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        signed = os.path.exists(self.path("store/models/mine/model.json.sig"))
        self.assertEqual("is not signed" in done.stderr, result["published"] and not signed, done.stderr)
        return result

    def train_on(self, table):
        return self.retrain(f"--data={table}", f"--output={self.path('new')}", "--features=bpf_cpu_time_ms",
                            "--trainer=linear")

    def watts(self, load):
        self.write("rows.csv", f"bpf_cpu_time_ms\n{load}\n".encode())
        told = subprocess.run([PROGRAM, "predict", f"--model={self.path('store/models/mine')}",
                               f"--data={self.path('rows.csv')}"], check=True, capture_output=True, text=True).stdout
        return float(told.split()[1].split(",")[1])

    def test_a_version_is_published_only_if_it_is_better_on_unseen_rows(self):
        first = self.train_on(self.table(1000, 20, 0.05))
        self.assertEqual((first["published"], first["old_version"], first["new_version"]), (True, 0, 1))
        same = self.train_on(self.table(2000, 20, 0.05))
        self.assertFalse(same["published"])
        self.assertEqual(same["rows"], 40)
        self.assertIn("the gain is less than 1 %", same["reason"])
        self.assertLess(abs(same["new_mae"] - same["old_mae"]), 0.1)
        seen = self.train_on(self.table(1000, 30, 0.08, rows=160))
        self.assertFalse(seen["published"])
        self.assertIn("only 0 rows are new to both models", seen["reason"])
        # As after a kill between the publish and its line in the log.
        os.rename(self.path("store/.versions/mine/decisions.jsonl"), self.path("log"))
        self.assertEqual(self.train_on(self.table(1000, 30, 0.08, rows=160))["reason"], seen["reason"])
        os.rename(self.path("log"), self.path("store/.versions/mine/decisions.jsonl"))
        # As a version that was published before there was training.json.
        training, = glob.glob(self.path("store/.versions/mine/*/training.json"))
        os.rename(training, self.path("training.json"))
        self.assertEqual(self.train_on(self.table(1000, 30, 0.08, rows=160))["reason"], seen["reason"])
        os.rename(self.path("training.json"), training)
        changed = self.train_on(self.table(3000, 30, 0.08))
        self.assertEqual((changed["published"], changed["new_version"]), (True, 2), changed)
        self.assertGreater(changed["old_mae"], 10 * changed["new_mae"])
        self.assertAlmostEqual(self.watts(500), 70, delta=1)
        back = self.retrain(command="rollback")
        self.assertEqual((back["published"], back["old_version"], back["new_version"]), (True, 2, 3))
        self.assertAlmostEqual(self.watts(500), 45, delta=1)
        with open(self.path("store/.versions/mine/decisions.jsonl"), encoding="utf-8") as file:
            kept = [json.loads(line) for line in file]
        self.assertEqual([each["published"] for each in kept], [True, False, False, False, True, True])
        with self.server() as server:
            self.assertIn("mine", server.names())
            self.assertEqual(json.loads(server.get("/models/mine/model.json")[2])["version"], 3)
            card = server.get("/models/mine")[2].decode()
            self.assertEqual(card.count("<svg"), 1, "the rows outside the training data")
            self.assertIn("package: errors by load", card)
            self.assertGreaterEqual(card.count("<td>yes</td>"), 3, "each version that was published, and why")

    def test_a_version_without_a_component_of_the_published_one_is_not_published(self):
        def table(begin, slope):
            chance = random.Random(begin)
            lines = ["timestamp,bpf_cpu_time_ms,package_power,dram_power"]
            for row in range(200):
                load = chance.uniform(0, 1000)
                lines.append(f"{begin + 3 * row},{load:.3f},{20 + slope * load:.3f},{5 + slope / 10 * load:.3f}")
            return self.write(f"both-{begin}.csv", ("\n".join(lines) + "\n").encode())

        def train_on(path, *more):
            return self.retrain(f"--data={path}", f"--output={self.path('new')}", "--features=bpf_cpu_time_ms",
                                "--trainer=linear", *more)

        both = "--target=package_power,dram_power"
        self.assertTrue(train_on(table(1000, 0.05), both)["published"])
        without = train_on(table(3000, 0.08))
        self.assertFalse(without["published"])
        self.assertIn("the published model has dram, and the new one has not", without["reason"])
        self.assertTrue(train_on(table(5000, 0.08), both)["published"])

    def test_wrong_tables_and_flags_change_nothing(self):
        for text in ("", "node,bpf_cpu_time_ms,package_power\nn1,1,2\n", 
                     "timestamp,bpf_cpu_time_ms,package_power\n2,1,1\n1,1,1\n"):
            table = self.write("wrong.csv", text.encode())
            done = subprocess.run([PROGRAM, "retrain", f"--store={self.path('store')}", "--name=mine", f"--data={table}",
                                   "--features=bpf_cpu_time_ms", f"--output={self.path('new')}"], capture_output=True,
                                  text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("wrong.csv", done.stderr)
        self.assertFalse(os.path.exists(self.path("store/models/mine")))
        for command, name, code in (("retrain", "../a", 2), ("retrain", "mine", 2), ("rollback", "../a", 2),
                                    ("rollback", "mine", 1)):
            done = subprocess.run([PROGRAM, command, f"--store={self.path('store')}", f"--name={name}"],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, code, done)

    def publish_by_hand(self, version):
        os.makedirs(self.path("store/models"), exist_ok=True)
        os.symlink(f"../.versions/mine/v{version}-0", self.path("next"))
        os.rename(self.path("next"), self.path("store/models/mine"))

    def test_a_version_that_comes_while_another_process_waits_is_not_replaced(self):
        """Rolled back to version 1 or 2 of 3, the store takes version 3 again: a smaller number than the next one."""
        for version, watts in ((1, 10), (2, 500), (3, 30)):
            self.write(f"store/.versions/mine/v{version}-0/model.json", own("mine", watts, version).encode())
        self.write("store/.locks/mine", b"a test (process 1)")
        args = [f"--store={self.path('store')}", "--name=mine"]
        train = [f"--data={self.table(1000, 20, 0.05)}", f"--output={self.path('new')}", "--features=bpf_cpu_time_ms",
                 "--trainer=linear"]
        for command, more, code in (("rollback", [], 1), ("retrain", train, 0)):
            self.publish_by_hand(2)
            with open(self.path("store/.locks/mine"), encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                waiting = subprocess.Popen([PROGRAM, command, *args, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           text=True)
                wait_until(lambda: lock.name in self.open_files(waiting.pid), f"{command} to wait for the lock")
                self.publish_by_hand(3)
            printed = waiting.communicate(timeout=60)[0]
            self.assertEqual(waiting.returncode, code, printed)
            self.assertIn("another process has published a version meanwhile", printed)
            with open(self.path("store/models/mine/model.json"), encoding="ascii") as file:
                self.assertEqual(json.load(file)["version"], 3, command)

    @staticmethod
    def open_files(pid):
        paths = []
        for link in glob.glob(f"/proc/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                paths.append(os.readlink(link))
        return paths

    def test_a_signed_model_stays_signed(self):
        require(shutil.which("openssl"), "openssl makes and verifies")
        self.make_keys()
        key = f"--sign-key={self.path('key')}"
        train = lambda begin, idle: self.retrain(  # noqa: E731
            f"--data={self.table(begin, idle, 0.05)}", f"--output={self.path('new')}", "--features=bpf_cpu_time_ms",
            "--trainer=linear", key)
        for publish, version in ((lambda: train(1000, 20), 1), (lambda: train(2000, 60), 2),
                                 (lambda: self.retrain(key, command="rollback"), 3),
                                 (lambda: self.retrain("--to=2", command="rollback"), 2)):
            self.assertEqual(publish()["new_version"], version)
            self.verify_signature()

    def test_killed_while_it_publishes_it_leaves_the_old_or_the_new_version(self):
        """retrain and the server over one store are killed together."""
        require(shutil.which("openssl"), "openssl makes and verifies")
        self.make_keys()
        args = [PROGRAM, "retrain", f"--store={self.path('store')}", "--name=mine", "--features=bpf_cpu_time_ms",
                "--trainer=linear", f"--output={self.path('new')}", f"--sign-key={self.path('key')}"]
        table = lambda turn: f"--data={self.table(1000 * (turn + 1), 20 + 40 * (turn % 2), 0.05)}"  # noqa: E731
        began = time.monotonic()
        subprocess.run([*args, table(0)], check=True, capture_output=True)
        seconds, versions = time.monotonic() - began, [1]
        for turn in range(1, KILLS + 1):
            data = table(turn)
            # A version that was written and not published keeps its number; a directory without the model has none.
            kept = self.path("store/.versions/mine")
            following = 1 + max(int(name[1:].split("-")[0]) for name in os.listdir(kept)
                                if name.startswith("v") and os.path.exists(f"{kept}/{name}/model.json"))
            with self.server() as server:
                self.assertEqual(json.loads(server.get("/models/mine/model.json")[2])["version"], versions[-1])
                training = subprocess.Popen([*args, data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(seconds * random.uniform(0.4, 1.1))
                for process in (training, server.process):
                    process.kill()
                    process.wait()
            self.verify_signature()
            with open(self.path("store/models/mine/model.json"), encoding="utf-8") as file:
                versions.append(json.load(file)["version"])
            self.assertIn(versions[-1], (versions[-2], following))
        print(f"{KILLS} kills of retrain and of the server: {len(set(versions)) - 1} publishes")
        # a lock of a killed process stops nobody, and neither do its files
        self.assertEqual(self.retrain(table(KILLS + 1), *args[4:])["old_version"], versions[-1])

    def make_keys(self):
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.path("key")], check=True,
                       capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", self.path("key"), "-pubout", "-out", self.path("key.pem")], check=True,
                       capture_output=True)

    def verify_signature(self):
        model = self.path("store/models/mine/model.json")
        subprocess.run(["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", self.path("key.pem"), "-in", model,
                        "-sigfile", model + ".sig"], check=True, capture_output=True)

    @staticmethod
    def prometheus(path, query):
        """A node of 20 W, and 4 W per busy CPU, whose load goes up and down."""
        if path.endswith("/values"):
            return 200, json.dumps({"status": "success",
                                    "data": ["kepler_node_cpu_seconds_total", "kepler_node_cpu_joules_total"]})
        start, end, step = (float(query[name]) for name in ("start", "end", "step"))
        values = []
        for point in range(int((end - start) / step + 1e-6) + 1):
            at = start + point * step
            seconds = 5 * (at - 1.6e9) - 175 * math.cos(at / 35)
            values.append([at, str(20 * (at - 1.6e9) + 4 * seconds if "joules" in query["query"] else seconds)])
        labels = {"__name__": "x", "node_name": "worker", **({"zone": "package"} if "joules" in query["query"] else {})}
        return 200, json.dumps({"status": "success", "data": {"resultType": "matrix",
                                                              "result": [{"metric": labels, "values": values}]}})

    def test_the_server_retrains_on_a_schedule(self):
        with Double(self.prometheus) as prometheus:
            with self.training("--retrain=mine", f"--retrain-server={prometheus.url}", "--retrain-last=1800s",
                               "--retrain-features=bpf_cpu_time_ms", "--retrain-trainer=linear",
                               "--retrain-interval=1s") as server:
                wait_until(lambda: "mine" in server.names(), "the first version", 60)
                wait_until(lambda: server.value("kepler_model_server_ended_jobs_total", state="done") >= 2, "a second job", 60)
                self.assertEqual(json.loads(server.get("/models/mine/model.json")[2])["version"], 1)
                self.assertIn("the gain is less than", self.logs(server))
        self.assertAlmostEqual(self.watts(5000), 40, delta=1)

    def test_files_that_no_training_could_use_end_the_start(self):
        self.write("key", b"no key")
        start = [PROGRAM, "serve", f"--store={self.path('store')}", f"--listen-address=127.0.0.1:{free_port()}",
                 f"--jobs={self.path('jobs')}", "--retrain=mine", "--retrain-server=http://127.0.0.1:9",
                 "--retrain-features=BPFOnly"]
        for wrong, words in ((f"--retrain-machine={self.path('none.json')}", "none.json: No such file"),
                             (f"--retrain-sign-key={self.path('key')}", self.path("key: "))):
            with self.subTest(wrong):
                done = subprocess.run([*start, wrong], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn(words, done.stdout)


del ModelServerTest  # it has no test

if __name__ == "__main__":
    run_tests()
