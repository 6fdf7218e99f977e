"""Pods that come and go, in each way of asking for them (tools/acceptance.sh runs more of them, and longer)."""
import pod_churn
from harness import run_tests
from scenarios import OutcomeTest


class PodChurn(OutcomeTest):
    def test_watch_of_pods_that_come_and_go(self):
        self.check(pod_churn.pod_churn("apiserver", 4_000, 250))

    def test_lists_that_name_other_pods_each_time(self):
        self.check(pod_churn.pod_churn("kubelet", 20_000, 1_000))


if __name__ == "__main__":
    run_tests()
