"""The acceptance checks in full length: one line of figures each. Run by tools/acceptance.sh, which explains them."""
import argparse
import sys

import activity_scenarios as activity
import energy_shares
import scenarios
import storm


def items(minutes, cpus):
    procfs = {"source": "procfs"}
    by_procfs = "--activity.source=procfs"
    return {
        "2": [scenarios.exposition_formats, lambda: scenarios.prometheus_under_churn(120)],
        "3": [lambda: scenarios.conservation_under_churn(300)],
        "4": [lambda: energy_shares.ground_truth(60), lambda: scenarios.short_lived(2000)],
        "5": [lambda: scenarios.exited_in_every_stream(workloads=10, fast=1, slow=15)],
        "exact": [lambda: activity.exact(2000), lambda: activity.exact(20_000),
                  lambda: scenarios.short_lived(2000, tolerance=0.001), lambda: activity.mixed(1),
                  lambda: activity.exact(2000, by_procfs, **procfs),
                  lambda: activity.exact(20_000, by_procfs, **procfs),
                  lambda: activity.mixed(1, by_procfs, **procfs)],
        "build": [lambda: energy_shares.build_beside_burner(120, "proc-stat"),
                  lambda: energy_shares.build_beside_burner(120, "exact")],
        "unprivileged": [lambda: activity.exact(2000, prefix=activity.ONLY_BPF),
                         lambda: activity.exact(2000, prefix=activity.NO_CAPABILITIES, **procfs),
                         activity.bpf_is_refused_without_capabilities],
        "storm": [lambda: storm.storm(minutes, 60, cpus)],
    }


def main():
    parser = argparse.ArgumentParser(prog="acceptance")
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--cpus", type=int)
    parser.add_argument("items", nargs="*")
    options = parser.parse_args()
    if options.minutes < 3:
        parser.error("--minutes: the storm's memory is compared from minute 2 on, so at least 3")
    known = items(options.minutes, options.cpus)
    unknown = [item for item in options.items if item not in known]
    if unknown:
        parser.error(f"no item {', '.join(unknown)}; there are {', '.join(known)}")
    bad = 0
    for item in options.items or known:
        for check in known[item]:
            outcome = check()
            bad += bool(outcome.problems)
            print(f"{item}  {'FAILED' if outcome.problems else 'ok'}  {outcome.line}", flush=True)
            for problem in outcome.problems[:20]:
                print(f"      {problem}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
