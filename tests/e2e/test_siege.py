"""The siege of tools/acceptance.sh in short."""
import unittest

import siege
from harness import run_tests


class Siege(unittest.TestCase):
    def test_user_is_served_and_the_agent_ends_while_others_guess_and_nobody_reads_the_log(self):
        # Of so few scrapes the 99th percentile is nearly the slowest, on a machine that other tests keep busy too.
        outcome = siege.siege(rows=3, row_seconds=3, half_open=200, growth=0.3, max_p99=1)
        print(outcome.line, flush=True)
        self.assertEqual(outcome.problems, [], outcome.line)


if __name__ == "__main__":
    run_tests()
