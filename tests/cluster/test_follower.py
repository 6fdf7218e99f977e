"""The judge of what pods were given in a tick, by itself: needs no cluster."""
import unittest
import unittest.mock

from follower import Follower, growth


class Growth(unittest.TestCase):
    def check(self, wanted, before, after):
        self.assertEqual(growth(before, after), wanted, (before, after))

    def test_new_one_is_given_all_that_it_has(self):
        self.check(7, {}, {"running": 7})
        self.check(7, {}, {"terminated": 7})

    def test_who_runs_on_is_given_what_was_added(self):
        self.check(3, {"running": 7}, {"running": 10})
        self.check(0, {"running": 7}, {"running": 7})

    def test_who_ends_keeps_what_it_had(self):
        self.check(2, {"running": 7}, {"terminated": 9})
        self.check(0, {"terminated": 9}, {"terminated": 9})

    def test_who_leaves_takes_it_along(self):
        self.check(0, {"terminated": 9}, {})
        self.check(0, {"running": 9}, {})

    def test_the_next_of_the_same_labels_begins_at_nothing(self):
        self.check(4, {"running": 7}, {"running": 4})
        self.check(4, {"terminated": 9}, {"terminated": 9, "running": 4})
        self.check(1 + 4, {"running": 7}, {"terminated": 8, "running": 4})
        self.check(1, {"terminated": 9, "running": 4}, {"terminated": 9, "running": 5})


class Waiting(unittest.TestCase):
    """A pod and its container that get their series later than their process."""

    def scrape(self, tick, process, container=None, pod=None, unnamed=(0, 0)):
        """Of joules; None: no series."""
        def line(name, value, **labels):
            text = ",".join(f'{key}="{of}"' for key, of in labels.items())
            return f"{name}{{{text}}} {value}\n"
        active, zone = 100, {"zone": "package"}
        text = f"kepler_ticks_total {tick}\n"
        for name, value in (("", active), ("active_", active), ("idle_", 0), ("unattributed_", 0)):
            text += line(f"kepler_node_cpu_{name}joules_total", value, **zone)
        own = {"process": {"container_id": "c", "comm": "w", "pid": 1},
               "container": {"container_id": "c", "pod_id": "p", "container_name": "app"},
               "pod": {"pod_id": "p", "pod_name": "web", "pod_namespace": "shop"}}
        waits = {"container": unnamed[0], "pod": unnamed[1]}
        for level, value in (("process", process), ("container", container), ("pod", pod), ("vm", None)):
            if value is not None:
                text += line(f"kepler_{level}_cpu_joules_total", value, state="running", **own[level], **zone)
            if level in waits:
                text += line("kepler_node_cpu_unnamed_joules", waits[level], level=level, **zone)
            text += line("kepler_node_cpu_unlisted_joules_total", 0, level=level, reason="unseen", **zone)
            text += line("kepler_node_cpu_unlisted_joules_total", active - (value or 0) - waits.get(level, 0), level=level,
                         reason="outside", **zone)
        return text

    def follow(self, *scrapes):
        texts = iter(scrapes)
        follower = Follower(unittest.mock.Mock(text=lambda: next(texts)))
        for _ in scrapes:
            follower.step()
        self.assertEqual([problem for problem in follower.checker.problems if "fell" not in problem], [])
        return follower

    def test_all_of_it_comes_later(self):
        follower = self.follow(self.scrape(1, 0), self.scrape(2, 5, unnamed=(5, 5)),
                               self.scrape(3, 7, pod=7, unnamed=(7, 0)), self.scrape(4, 9, 9, 9))
        self.assertEqual(follower.problems, [])
        self.assertEqual(follower.ticks, 3)
        self.assertEqual(follower.given["p"], 9_000_000)

    def test_the_start_is_lost(self):
        for last in (self.scrape(4, 9, 4, 9), self.scrape(4, 9, 9, 4), self.scrape(4, 9, 4, 4)):
            follower = self.follow(self.scrape(1, 0), self.scrape(2, 5, unnamed=(5, 5)),
                                   self.scrape(3, 7, unnamed=(7, 7)), last)
            self.assertTrue(follower.problems)

    def test_what_waits_at_the_first_look_is_not_judged(self):
        follower = self.follow(self.scrape(1, 5, unnamed=(5, 5)), self.scrape(2, 7, 7, 7), self.scrape(3, 8, 8, 8),
                               self.scrape(4, 9, 8, 8))
        self.assertEqual(len(follower.problems), 1)


if __name__ == "__main__":
    unittest.main()
