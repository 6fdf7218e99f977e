"""What scrapers see, in short (tools/acceptance.sh runs it in full length): right whatever else runs on the machine."""
import scenarios
from harness import run_tests


class Scrapes(scenarios.OutcomeTest):
    def test_promtool_and_strict_parser_accept_them(self):
        self.check(scenarios.exposition_formats())

    def test_prometheus_under_churn_every_one_is_up_and_whole(self):
        self.check(scenarios.prometheus_under_churn(5))

    def test_under_churn_every_one_adds_up_and_node_equals_the_meter(self):
        for source in (None, "procfs"):
            with self.subTest(source):
                self.check(scenarios.conservation_under_churn(8, source))

    def test_exited_workloads_appear_in_every_stream(self):
        for source in (None, "procfs"):
            with self.subTest(source):
                self.check(scenarios.exited_in_every_stream(workloads=2, fast=0.3, slow=1.5, source=source))


if __name__ == "__main__":
    run_tests()
