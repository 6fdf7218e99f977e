"""The acceptance checks of who gets which energy, in short (tools/acceptance.sh runs them in full length)."""
import energy_shares
import scenarios
from harness import run_tests


class Acceptance(scenarios.OutcomeTest):
    def test_busy_containers_get_their_share_of_the_energy(self):
        # /proc/stat counts in steps of 10 ms, which 60 s average out and 8 s do not.
        for source in (None, "procfs"):
            with self.subTest(source):
                self.check(energy_shares.ground_truth(8, source, tolerance=0.03))

    def test_short_lived_processes_land_on_their_container(self):
        self.check(scenarios.short_lived(500))


if __name__ == "__main__":
    run_tests()
