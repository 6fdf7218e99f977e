"""Trained power models in the agent, in place of a meter: of files, directories and servers, with signatures, and from
places that never answer."""
import contextlib
import glob
import http.server
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import time

from exposition import ScrapeChecker
from harness import Agent, free_port, require, run_tests, run_to_end
from http_double import Handler, HttpServer
from model_text import own
from scratch import ScratchTest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server(HttpServer):
    """Gives a directory's files by HTTP."""

    def __init__(self, directory, tls=None):
        class Files(Handler, http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=directory)
        super().__init__(Files, tls)
        self.url += "/"


def names_of_threads(process):
    names = []
    for path in glob.glob(f"/proc/{process}/task/*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            names.append(file.read().strip())
    return names


class Unmetered(ScratchTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("sys/class"))

    def agent(self, *args, **popen):
        """Without a meter, on a machine of its own, guest or not."""
        return Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", f"--model.cache-dir={self.path('kept')}",
                     *args, config="model: {guestIdle: true}\n", **popen)

    def used(self, agent):
        """Name and source of the model that says the package's watts, and these."""
        checker = ScrapeChecker()
        page = checker.check(agent.scrape_after())
        self.assertEqual(checker.problems, [])
        labels = next(labels for labels, _ in page.series("kepler_model_info") if labels["zone"] == "package")
        return labels["name"], labels["source"], round(page.value("kepler_node_cpu_watts", zone="package"), 3)


class WorkedExample(Unmetered):
    """docs/model.md: what it trains, the agent uses, although it only finds it in a directory."""

    def test_from_the_table_to_the_agent(self):
        with open(os.path.join(ROOT, "docs/model.md"), encoding="utf-8") as file:
            blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```$", file.read())
        example = next(block for block in blocks if "$ kepler-model machine >machine.json" in block)
        commands = [line.removeprefix("$ ") for line in example.splitlines() if line.startswith("$ ")]
        os.symlink(os.path.join(ROOT, "data"), self.path("data"))
        program = os.path.abspath(os.environ["KEPLER_MODEL_BIN"])
        said = "".join(subprocess.run(["sh", "-c", command], cwd=self.directory, check=True, capture_output=True, text=True,
                                      timeout=120, env={**os.environ, "PATH": f"{os.path.dirname(program)}:/usr/bin:/bin"}
                                      ).stdout for command in commands)
        self.assertEqual(said, "".join(f"{line}\n" for line in example.splitlines() if not line.startswith("$ ")))
        with open(self.path("machine.json"), encoding="utf-8") as file:
            require("processor" in json.load(file), "this machine's processor has no name")
        with self.agent(f"--model.sources={self.path('model')}") as agent:
            self.assertEqual(self.used(agent)[:2], ("model", self.path("model/model.json")))


class Models(Unmetered):
    def test_file_and_directory(self):
        path = self.write("a.json", own("a", 111))
        with self.agent(f"--model.sources={path}") as agent:
            self.assertEqual(self.used(agent), ("a", path, 111))
        self.write("b.json", own("b", 222))
        with self.agent(f"--model.sources={self.directory}") as agent:
            self.assertNotIn(self.used(agent)[0], ("a", "b"), "nobody named it, and it is of no machine")
            agent.wait_log("level=WARN .*does not name its machine.*train the model with --machine")

    def test_server_and_what_is_kept_of_it(self):
        self.write("a.json", own("a", 111))
        with Server(self.directory) as server:
            url = server.url + "a.json"
            with self.agent(f"--model.sources={url}") as agent:
                agent.wait_log("loaded power models.*a .version 1")
                self.assertEqual(self.used(agent), ("a", url, 111))
        with self.agent(f"--model.sources={url}") as agent:
            self.assertEqual(self.used(agent), ("a", url, 111), "the server is gone")

    def test_place_that_never_answers_costs_itself_only(self):
        path = self.write("a.json", own("a", 111))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/m.json"
            with self.agent(f"--model.sources={url}", f"--model.sources={path}") as agent:
                self.assertEqual(self.used(agent), ("a", path, 111))
                begin = time.monotonic()
                self.assertEqual(agent.stop(), 0)
                self.assertLess(time.monotonic() - begin, 10, "a request to a server takes up to 30 s")

    def test_unit_has_room_for_the_threads_of_all_places(self):
        with open(os.path.join(ROOT, "deploy/kepler.service"), encoding="utf-8") as file:
            most = int(re.search(r"^TasksMax=(\d+)$", file.read(), re.MULTILINE)[1])
        with contextlib.ExitStack() as open_ones:
            silent = open_ones.enter_context(socket.create_server(("127.0.0.1", 0)))
            silent.settimeout(60)
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            agent = open_ones.enter_context(self.agent(*(f"--model.sources={url}{place}.json" for place in range(16))))
            for _ in range(16):
                open_ones.enter_context(silent.accept()[0])
            threads = names_of_threads(agent.process.pid)
        of_places = threads.count("models")
        self.assertIn(of_places, (16, 16 + 1), threads)
        self.assertLessEqual(len(threads) - of_places, 12, threads)
        self.assertLessEqual(12 + 8 + 16 + 1, most)

    def test_places_have_their_descriptors_before_clients(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        sources = [f"--model.sources={self.path(str(place))}.json" for place in range(16)]
        few = "--activity.source=procfs"
        with self.agent(few, preexec_fn=limit):
            pass
        status, output = run_to_end(f"--host.sysfs={self.path('sys')}", f"--web.listen-address=127.0.0.1:{free_port()}", few,
                                    *sources, preexec_fn=limit)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"the limit of open files is 100, .* 112 are reserved for files and servers")


class Signatures(Unmetered):
    def setUp(self):
        super().setUp()
        require(shutil.which("openssl"), "openssl signs")
        for name in ("ours", "other"):
            self.openssl("genpkey", "-algorithm", "ed25519", "-out", self.path(name))
            self.openssl("pkey", "-in", self.path(name), "-pubout", "-out", self.path(name + ".pem"))
        self.key = f"--model.public-key={self.path('ours.pem')}"

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def sign(self, name, by="ours"):
        self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.path(by), "-in", self.path(name), "-out",
                     self.path(name + ".sig"))

    def test_only_what_is_signed_is_taken(self):
        path = self.write("a.json", own("a", 111))
        source = f"--model.sources={path}"
        with self.agent(source, self.key) as agent:
            agent.wait_log("a.json: it has no signature")
            self.assertEqual(self.used(agent)[1], "built-in")
        self.sign("a.json", by="other")
        with self.agent(source, self.key) as agent:
            agent.wait_log("a.json: its signature does not match")
            self.assertEqual(self.used(agent)[1], "built-in")
        self.sign("a.json")
        with self.agent(source, self.key) as agent:
            self.assertEqual(self.used(agent), ("a", path, 111))
        self.write("a.json", own("a", 112))
        with self.agent(source, self.key) as agent:
            self.assertEqual(self.used(agent)[1], "built-in")

    def test_of_a_server_and_of_what_was_kept(self):
        self.write("a.json", own("a", 111))
        self.sign("a.json")
        with Server(self.directory) as server:
            source = f"--model.sources={server.url}a.json"
            with self.agent(source, self.key) as agent:
                agent.wait_log("loaded power models.*a .version 1")
                self.assertEqual(self.used(agent)[0], "a")
        with self.agent(source, self.key) as agent:
            self.assertEqual(self.used(agent)[0], "a", "what was kept is signed too")
        with self.agent(source, f"--model.public-key={self.path('other.pem')}") as agent:
            agent.wait_log("cached copy: its signature does not match")
            self.assertEqual(self.used(agent)[1], "built-in")

    def test_key_that_is_none_ends_the_start(self):
        status, output = run_to_end(f"--model.public-key={self.path('ours')}")
        self.assertEqual(status, 1, output)
        self.assertIn("it is not a public key in PEM", output)


if __name__ == "__main__":
    run_tests()
