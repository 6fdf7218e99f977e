"""Sees every tick of an agent, and adds up what each pod was given in it, at every level.

Absolute figures do not tell: a series whose labels change ends, and another begins at 0. What was given in one tick does:
the growth of each series that goes on, and all of one that is new.

New pods and containers have no series while the agent waits for their names, and their processes do. Such ticks are judged
together, with the one after which nothing waits.
"""
import collections
import re
import time

from exposition import Exposition, ScrapeChecker, microjoules
from harness import PATIENCE, Repeater, wait_until

TICKS = re.compile(r"^kepler_ticks_total\S* (\d+)$", re.MULTILINE)
LEVELS = ("process", "container", "pod")


def growth(before, after):
    """Of one workload, from {state: µJ} of two ticks that follow each other. Who ends keeps its joules, as terminated;
    who is not listed any more takes them along."""
    carried = 0
    was, now = before.get("terminated"), after.get("terminated")
    if was is not None and now is not None and now >= was:
        carried = was
    running, runs = before.get("running"), after.get("running")
    if running is not None:
        ended = now is not None and now - carried >= running and now != was
        if ended or (runs is not None and runs >= running):
            carried += running
    return sum(after.values()) - carried


def by_identity(exposition, level):
    """{labels without the state: {state: µJ}}"""
    found = collections.defaultdict(dict)
    for labels, value in exposition.families.get(f"kepler_{level}_cpu_joules_total", {}).items():
        state = dict(labels)["state"]
        found[tuple(pair for pair in labels if pair[0] != "state")][state] = microjoules(value)
    return found


class Follower(Repeater):
    """`ticks` were compared with the one before; after a tick that was not seen, comparing begins anew (`gaps`)."""

    def __init__(self, agent):
        super().__init__(0.1 * PATIENCE)
        self.agent = agent
        self.checker = ScrapeChecker(pids_return=lambda labels: True)  # pids of the shells of one pod may return
        self.previous = None  # (number of the tick, {level: {identity: {state: µJ}}}, µJ unlisted)
        self.pod_of = {}  # container -> pod
        self.names = collections.defaultdict(set)  # id of a container or pod -> names it was seen with
        self.given = collections.Counter()  # pod -> µJ
        self.named = collections.Counter()  # pod -> µJ of them under its name
        self.ticks = self.gaps = 0
        self.problems = []
        self.waiting = collections.Counter()  # container whose pod is not known yet, zone -> µJ of its processes
        self.missing = collections.Counter()  # pod, zone, level -> µJ that the level above was given and it was not
        self.unseen = collections.Counter()  # level, zone -> µJ; both since the latest tick in which nothing waited
        self.blind = True  # until nothing waits: what waits now was given before the first look
        self.unlisted_microjoules = collections.Counter()  # level -> of pods, and of none there that has a series
        self.scrape_seconds = []

    def step(self):
        began = time.monotonic()
        text = self.agent.text()
        self.scrape_seconds.append(time.monotonic() - began)
        number = int(TICKS.search(text)[1])
        if self.previous and number == self.previous[0]:
            return
        exposition = Exposition(text)
        self.checker.check(exposition)
        for labels, _ in exposition.series("kepler_container_cpu_joules_total"):
            if labels["pod_id"]:
                self.pod_of[labels["container_id"]] = labels["pod_id"]
            self.names[labels["container_id"]].add(labels["container_name"])
        for labels, _ in exposition.series("kepler_pod_cpu_joules_total"):
            self.names[labels["pod_id"]].add((labels["pod_namespace"], labels["pod_name"]))
        levels = {level: by_identity(exposition, level) for level in LEVELS}
        unlisted = {(level, zone): microjoules(exposition.value(
            "kepler_node_cpu_unlisted_joules_total", zone=zone, level=level, reason="unseen"))
            for zone in exposition.zones() for level in LEVELS}
        waits = exposition.sum("kepler_node_cpu_unnamed_joules") > 0
        if self.previous and number == self.previous[0] + 1:
            self.compare(number, levels, unlisted, waits)
            self.ticks += 1
        else:
            self.gaps += 1 if self.previous else 0
            self.blind = True
        if self.blind:
            self.waiting.clear()
            self.missing.clear()
            self.unseen.clear()
            self.blind = waits
        self.previous = (number, levels, unlisted)

    def compare(self, number, levels, unlisted, waits):
        _, levels_before, unlisted_before = self.previous
        sums = {level: collections.Counter() for level in LEVELS}
        grown = collections.defaultdict(dict)  # for the reader of a failure
        for level in LEVELS:
            for identity, after in levels[level].items():
                labels = dict(identity)
                before = levels_before[level].get(identity, {})
                pod = (labels["pod_id"] if level != "process"
                       else self.pod_of.get(labels["container_id"]))
                if not pod and labels.get("container_id"):
                    self.waiting[labels["container_id"], labels["zone"]] += growth(before, after)
                if pod:
                    grew = growth(before, after)
                    sums[level][pod, labels["zone"]] += grew
                    if labels.get("pod_name"):
                        self.named[pod] += grew
                    name = [labels.get(key, "") for key in ("container_name", "container_id", "comm", "pid", "pod_name")]
                    grown[pod, labels["zone"]][level, *filter(None, name)] = (before, after)
        for container, zone in [key for key in self.waiting if key[0] in self.pod_of]:
            sums["process"][self.pod_of[container], zone] += self.waiting.pop((container, zone))
        for level, zone in unlisted:
            self.unseen[level, zone] += unlisted[level, zone] - unlisted_before[level, zone]
        for key in set().union(*sums.values()):
            self.given[key[0]] += sums["pod"][key]
            for below, above in (("container", "pod"), ("process", "container")):
                self.missing[*key, below] += sums[above][key] - sums[below][key]
        if waits or self.blind:
            return
        # What came and went between two scans has no series of its own. That much, and not more, may be missing.
        for (pod, zone, level), left in self.missing.items():
            self.unlisted_microjoules[level] += abs(left)
            if not 0 <= left <= self.unseen[level, zone]:
                self.problems.append(f"tick {number}: pod {pod}, {zone}: level {level} was given {left} µJ less than the one "
                                     f"above, unseen {self.unseen[level, zone]} µJ: {grown[pod, zone]}")
        self.missing.clear()
        self.unseen.clear()

    def wait_ticks(self, count, seconds=60):
        """Waits until `count` more ticks were compared."""
        wanted = self.ticks + count
        wait_until(lambda: self.ticks >= wanted or self.error, f"{count} more ticks", seconds)

    def wait_named(self, identifier, name, seconds=60):
        wait_until(lambda: name in self.names[identifier] or self.error,
                   f"{name!r} of {identifier}, which has {self.names[identifier]}", seconds)

    def judge(self, test, least_ticks, max_gaps=0.05):
        """Nothing of any tick is lost or counted twice, at any level, of any pod. max_gaps: share of ticks not scraped; the
        next scrape covers their energy."""
        if self.error:
            raise self.error
        test.assertEqual(self.checker.problems, [])
        test.assertEqual(self.problems, [])
        test.assertGreaterEqual(self.ticks, least_ticks)
        test.assertLessEqual(self.gaps, self.ticks * max_gaps, "ticks that were not seen")
