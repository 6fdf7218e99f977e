"""Energy by Unix user: long and hundreds of short processes of two users. The rows and what has no row are the node's active energy to
the microjoule at every scrape; no row falls; the users' shares are those of their CPU time; `kepler report --by=user` has the same."""
import contextlib
import json
import os
import subprocess
import tempfile
import threading
import time
import unittest

from exposition import microjoules
from harness import require, run_tests
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from test_report import lines_of
from workloads import BURN

LIGHT, HEAVY = 61_801, 61_802  # uids without a name; HEAVY uses three times the CPU time
SHORT = 300  # short processes of each user
SHARE = {LIGHT: 0.005, HEAVY: 0.015}  # seconds of CPU time of a short process
BURN_FOR = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"


def total(scrape, family, **labels):
    return sum(microjoules(value) for _, value in scrape.series(family, zone="package", **labels))


def users_of(scrape):
    return {int(labels["uid"]): microjoules(value) for labels, value in scrape.series("kepler_user_cpu_joules_total", zone="package")}


class User(threading.Thread):
    """Runs short processes as a user, a few milliseconds each, and adds up their CPU time."""

    def __init__(self, uid):
        super().__init__()
        self.uid, self.used = uid, 0.0

    def run(self):
        for _ in range(SHORT):
            with subprocess.Popen(["/usr/bin/python3", "-S", "-c", BURN_FOR, str(SHARE[self.uid])], user=self.uid, group=self.uid,
                                  extra_groups=[], cwd="/", close_fds=True) as short:
                _, _, usage = os.wait4(short.pid, 0)
                short.returncode = 0
                self.used += usage.ru_utime + usage.ru_stime


class Users(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root can run processes as other users")
        self.errors, self.last, self.scrapes = [], {}, 0

    def look(self, scrape):
        """Adds up a scrape."""
        rows = users_of(scrape)
        self.errors += [("fell", uid) for uid, energy in self.last.items() if rows.get(uid, -1) < energy]
        self.last = rows
        error = (total(scrape, "kepler_node_cpu_active_joules_total") - sum(rows.values())
                 - total(scrape, "kepler_node_cpu_unlisted_joules_total", level="user")
                 - total(scrape, "kepler_node_cpu_unattributed_joules_total"))
        self.errors += [("sum", error)] if error else []
        self.scrapes += 1
        return scrape

    @contextlib.contextmanager
    def agent(self, source):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.lines = f"{folder}/energy.jsonl"
        config = {"exporter": {"prometheus": {"metricsLevel": ["node", "user"]}, "jsonLines": {"path": self.lines, "interval": "1s"}}}
        with PowercapTree(ONE_PACKAGE) as tree, metered_agent(tree, source=source, config=json.dumps(config)) as agent:
            tree.start()
            yield agent

    def check(self, agent):
        self.assertEqual(self.errors, [])
        self.assertEqual(agent.scrape().value("kepler_conservation_error_joules", zone="package", level="user"), 0)

    def test_short_processes(self):
        with self.agent("bpf") as agent:
            before = users_of(self.look(agent.scrape_after()))
            self.assertNotIn(LIGHT, before)
            users = [User(LIGHT), User(HEAVY)]
            for user in users:
                user.start()
            while any(user.is_alive() for user in users):
                self.look(agent.scrape_after())
                time.sleep(0.2)
            scrape = self.look(agent.scrape_after(time.time() + 1))
            self.check(agent)
        rows = users_of(scrape)
        used = {user.uid: user.used for user in users}
        share = {of: values[HEAVY] / (values[LIGHT] + values[HEAVY]) for of, values in (("energy", rows), ("CPU time", used))}
        print(f"{2 * SHORT} processes, {self.scrapes} scrapes, {rows[LIGHT] / 1e6:.3f} J and {rows[HEAVY] / 1e6:.3f} J; share of the "
              f"second: {share['energy']:.4f} of the energy, {share['CPU time']:.4f} of the CPU time", flush=True)
        self.assertAlmostEqual(share["energy"], share["CPU time"], delta=0.02)
        self.assertIn("root", {labels["user"] for labels, _ in scrape.series("kepler_user_cpu_joules_total", uid="0")})
        made, _ = lines_of("--by=user", self.lines)
        names = {line["name"] for line in made["lines"] if line["kind"] == "user"}
        self.assertLessEqual({"root", f"uid {LIGHT}", f"uid {HEAVY}"}, names)
        self.assertEqual((made["incomplete_ticks"], made["impossible_ticks"]), (0, 0))

    def test_long_processes_without_bpf(self):
        with self.agent("procfs") as agent, contextlib.ExitStack() as stack:
            self.look(agent.scrape_after())
            burners = []
            for uid in (LIGHT, HEAVY, HEAVY, HEAVY):
                burner = stack.enter_context(subprocess.Popen(["sh", "-c", BURN], user=uid, group=uid, extra_groups=[], cwd="/"))
                stack.callback(burner.kill)
                burners.append((uid, burner.pid))
            for _ in range(5):
                scrape = self.look(agent.scrape_after(time.time() + 0.5))
            used = {LIGHT: 0.0, HEAVY: 0.0}
            for uid, pid in burners:
                used[uid] += time.clock_gettime((~pid << 3) | 2)  # the CPU clock of the process
            self.check(agent)
        rows = users_of(scrape)
        energy, cpu = rows[HEAVY] / (rows[LIGHT] + rows[HEAVY]), used[HEAVY] / (used[LIGHT] + used[HEAVY])
        print(f"share of the second user: {energy:.3f} of the energy, {cpu:.3f} of the CPU time", flush=True)
        self.assertGreater(cpu, 0.6, "three of four burners")  # so the bound of the next line excludes swapped users
        self.assertAlmostEqual(energy, cpu, delta=0.1)
        lines_of("--by=user", self.lines)


if __name__ == "__main__":
    run_tests()
