"""The judge of what pods were given in a tick, by itself: needs no cluster."""
import unittest

from follower import growth


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


if __name__ == "__main__":
    unittest.main()
