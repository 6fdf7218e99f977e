"""The JSON API: the figures of a scrape, bounded and filtered, with the same logins, and hostile names as text."""
import base64
import contextlib
import datetime
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import unittest
from urllib.parse import quote

from exposition import Exposition, microjoules, unique
from harness import Agent, end, run_tests, wait_until

CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s}
exporter: {prometheus: {metricsLevel: [node, process, container, pod]}}
"""
USERS = "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
HOSTILE = "<b>\"&\n\x1b" + secrets.token_hex(4)  # 15 bytes at most; found once


def read(agent, query="", headers=None):
    status, head, body = agent.get("/api/v1/snapshot" + query, headers)
    if head["Content-Type"] != "application/json":
        raise AssertionError(f"{status} {head}: {body[:200]}")
    return status, json.loads(body.decode("utf-8", "strict"), parse_float=str, object_pairs_hook=unique)


def whole(joules):
    return int(joules.replace(".", ""))


def time_of(scrape):
    at = scrape.value("kepler_snapshot_timestamp_seconds")
    when = datetime.datetime.fromtimestamp(int(at * 1000) / 1000, datetime.timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03}Z"


def pair_of_one_tick(agent, query):
    """A scrape and an answer."""
    def pair():
        # One right after the other: the next tick may come while a page is parsed.
        text, (status, answer) = agent.text(), read(agent, query)
        scrape = Exposition(text)
        return (scrape, answer) if status == 200 and answer["time"] == time_of(scrape) else None
    return wait_until(pair, "a scrape and an answer of one tick")


class Api(unittest.TestCase):
    def test_figures_are_those_of_the_scrape_of_the_same_snapshot(self):
        with Agent(config=CONFIG) as agent:
            scrape, answer = pair_of_one_tick(agent, "?limit=1000&sort=joules")
        self.assertEqual((answer["api"], answer["stale"], answer["conservation_error_microjoules"]), (1, False, 0))
        self.assertEqual({zone["zone"] for zone in answer["zones"] if zone["domain"] == "cpu"}, set(scrape.zones()))
        for zone in answer["zones"]:
            if zone["domain"] != "cpu":
                continue
            for part in ("active", "idle"):
                value = scrape.value(f"kepler_node_cpu_{part}_joules_total", zone=zone["zone"])
                self.assertEqual(whole(zone[f"{part}_joules"]), microjoules(value))
            self.assertEqual(float(zone["watts"]), float(scrape.value("kepler_node_cpu_watts", zone=zone["zone"])))
        workloads = answer["workloads"]
        rows, name = workloads["rows"], workloads["zone"]
        self.assertEqual((workloads["matching"], len(rows)), (workloads["total"], min(workloads["total"], 1000)))
        for row in rows:
            labels = {"pid": str(row["pid"]), "state": "running" if row["running"] else "terminated"}
            for zone, figures in row["zones"].items():
                value = scrape.value("kepler_process_cpu_joules_total", zone=zone, **labels)
                self.assertEqual(whole(figures["joules"]), microjoules(value), (row, zone))
            self.assertEqual(float(row["cpu_seconds"]), float(scrape.value("kepler_process_cpu_seconds_total", pid=labels["pid"])))
        self.assertEqual(whole(workloads["listed_joules"]), microjoules(scrape.sum("kepler_process_cpu_joules_total", zone=name)))
        active, = [whole(zone["active_joules"]) for zone in answer["zones"] if zone["zone"] == name and zone["domain"] == "cpu"]
        parts = [workloads[f"{part}_joules"] for part in ("listed", "unlisted", "unattributed")]
        self.assertEqual(sum(map(whole, parts)), active)
        self.assertEqual(rows, sorted(rows, key=lambda row: (-whole(row["joules"]), row["pid"])))
        self.assertIn("in use", {meter["state"] for meter in answer["meters"]})

    def test_bad_queries_are_answered_400_with_the_allowed_values(self):
        with Agent(config=CONFIG) as agent:
            for query, text in (("level=vm", "process, container, pod"), ("sort=x", "watts, joules, cpu"),
                                ("limit=1001", "1 to 1000"), ("search=" + "a" * 65, "64 bytes"), ("search=%", "hexadecimal")):
                status, answer = read(agent, "?" + query)
                self.assertEqual(status, 400, query)
                self.assertIn(text, answer["error"])
            self.assertEqual(len(read(agent, "?limit=1")[1]["workloads"]["rows"]), 1)

    def test_hostile_names_are_found_and_stay_text(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, HOSTILE)
        shutil.copy("/bin/sleep", path)
        process = subprocess.Popen([path, "600"])
        self.addCleanup(end, process)
        with Agent(config=CONFIG) as agent:
            def row():
                rows = read(agent, f"?search={quote(HOSTILE[-8:])}")[1]["workloads"]["rows"]
                return [row for row in rows if row["pid"] == process.pid]
            found, = wait_until(row, "the process")
            self.assertEqual(found["comm"].replace("�", "?"), HOSTILE.replace("\x1b", "?"))
            rows = read(agent, "?search=" + quote('<B>"&\n'))[1]["workloads"]["rows"]
            self.assertIn(process.pid, [row["pid"] for row in rows])
            self.assertTrue(all('<b>"&' in row["comm"] for row in rows), rows)

    def test_logins_are_those_of_the_metrics(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        web = os.path.join(folder, "web.yml")
        with open(web, "w", encoding="ascii") as file:
            file.write(USERS)
        login = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
        with Agent(f"--web.config-file={web}", config=CONFIG, ready=False) as agent:
            wait_until(lambda: "serving" in agent.log(), "the server")
            for name in ("snapshot", "history", "events"):
                self.assertEqual(agent.get("/api/v1/" + name)[0], 401)
            wait_until(lambda: read(agent, headers=login)[0] == 200, "the first snapshot")

    def test_history_has_a_point_per_tick(self):
        with Agent(config=CONFIG) as agent:
            def points():
                history = json.loads(agent.get("/api/v1/history?seconds=60")[2])
                return history if len(history["points"]) >= 3 else None
            history = wait_until(points, "three ticks")
            self.assertEqual((history["api"], history["step_seconds"]), (1, 1))
            self.assertEqual(set(history["zones"]), set(agent.scrape().zones()))
            self.assertEqual(agent.get("/api/v1/history?seconds=3601")[0], 400)
        times = [point["time"] for point in history["points"]]
        self.assertEqual(times, sorted(set(times)))
        for point in history["points"]:
            self.assertEqual(len(point["active_watts"]), len(history["zones"]))
            self.assertTrue(all(watts >= 0 for watts in point["active_watts"] + point["idle_watts"]), point)

    def test_events_are_the_snapshots(self):
        with Agent(config=CONFIG) as agent, contextlib.closing(agent.http()) as connection:
            connection.request("GET", "/api/v1/events?limit=2")
            stream = connection.getresponse()
            self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
            answers = []
            while len(answers) < 3:
                self.assertEqual(stream.readline(), b"event: tick\n")
                answers.append(json.loads(stream.readline().removeprefix(b"data: ")))
                self.assertEqual(stream.readline(), b"\n")
            times = [answer["time"] for answer in answers]
            self.assertEqual(times, sorted(set(times)))
            self.assertEqual(len(answers[-1]["workloads"]["rows"]), 2)

    def test_fifty_viewers_of_which_one_reads_nothing(self):
        with Agent(config=CONFIG) as agent, contextlib.ExitStack() as stack:
            def viewer():
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", agent.port), 30))
                connection.sendall(b"GET /api/v1/events?limit=20 HTTP/1.1\r\nHost: x\r\n\r\n")
                return connection
            before = agent.rss_bytes()
            viewers = [viewer() for _ in range(50)]
            for one in viewers[1:]:
                self.assertTrue(one.recv(9).startswith(b"HTTP/1.1"))
                got = b""
                while got.count(b"event: tick") < 3:
                    got += one.recv(1 << 16)
            self.assertEqual(agent.get("/api/v1/events")[0], 503)
            self.assertEqual(read(agent)[0], 200)
            self.assertLess(agent.rss_bytes() - before, 8 << 20)

    def test_idle_energy_of_workloads_is_that_of_the_scrape(self):
        with Agent(config=CONFIG + "attribution: {idle: by-use}\n") as agent:
            scrape, answer = pair_of_one_tick(agent, "?limit=1000")
        self.assertEqual(sorted(zone["zone"] for zone in answer["zones"] if zone["domain"] == "cpu"), sorted(scrape.zones()))
        for row in answer["workloads"]["rows"]:
            for zone, figures in row["zones"].items():
                labels = {"pid": str(row["pid"]), "zone": zone, "state": "running" if row["running"] else "terminated"}
                for key, family in (("joules", "cpu_joules"), ("idle_joules", "cpu_idle_joules")):
                    value = scrape.value(f"kepler_process_{family}_total", **labels)
                    self.assertEqual(whole(figures[key]), microjoules(value), (row, key))

    def test_without_metrics_there_is_no_api(self):
        with Agent(config=CONFIG.replace("{metricsLevel", "{enabled: false, metricsLevel")) as agent:
            for name in ("snapshot", "history", "events"):
                self.assertEqual(agent.get("/api/v1/" + name)[0], 404)


if __name__ == "__main__":
    run_tests()
