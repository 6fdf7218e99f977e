"""The acceptance checks in short (tools/acceptance.sh runs them in full length)."""
import unittest

import energy_shares
import scenarios
from harness import run_tests


class Acceptance(unittest.TestCase):
    def check(self, outcome):
        print(outcome.line, flush=True)
        self.assertEqual(outcome.problems, [], outcome.line)

    def test_exposition_promtool_and_strict_parser_accept_it(self):
        self.check(scenarios.exposition_formats())

    def test_prometheus_under_churn_every_scrape_is_up_and_whole(self):
        self.check(scenarios.prometheus_under_churn(5))

    def test_every_scrape_under_churn_adds_up_and_node_equals_the_meter(self):
        self.check(scenarios.conservation_under_churn(8))

    def test_busy_containers_get_their_share_of_the_energy(self):
        # /proc/stat counts in steps of 10 ms, which 60 s average out and 8 s do not.
        self.check(energy_shares.ground_truth(8, tolerance=0.03))

    def test_every_scrape_under_churn_adds_up_and_node_equals_the_meter_procfs(self):
        self.check(scenarios.conservation_under_churn(8, "procfs"))

    def test_busy_containers_get_their_share_of_the_energy_procfs(self):
        self.check(energy_shares.ground_truth(8, "procfs", tolerance=0.03))

    def test_exited_workloads_appear_in_every_scrape_stream_procfs(self):
        self.check(scenarios.exited_in_every_stream(2, fast=0.3, slow=1.5, source="procfs"))

    def test_short_lived_processes_land_on_their_container(self):
        self.check(scenarios.short_lived(500))

    def test_exited_workloads_appear_in_every_scrape_stream(self):
        self.check(scenarios.exited_in_every_stream(workloads=2, fast=0.3, slow=1.5))


if __name__ == "__main__":
    run_tests()
