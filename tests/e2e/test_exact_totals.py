"""Totals over time in Prometheus, in short (tools/acceptance.sh prometheus runs it for 15 minutes)."""
import os

import exact_totals
from harness import require, run_tests
from prometheus import NEWER
from scenarios import OutcomeTest


class ExactTotals(OutcomeTest):
    def test_two_scrapes_add_up_on_every_server(self):
        self.check(exact_totals.exact_totals(8, 2, newer=False))

    def test_the_pages_configuration_is_exact_under_short_processes(self):
        require(os.access(NEWER, os.X_OK), "Prometheus 3.16 is not built: tests/cluster/programs.py prometheus")
        self.check(exact_totals.exact_totals(16, 2))


if __name__ == "__main__":
    run_tests()
