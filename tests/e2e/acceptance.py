"""The acceptance checks in full length: one line of figures each. Run by tools/acceptance.sh, which explains them."""
import argparse
import os
import subprocess
import sys

import activity_scenarios as activity
import energy_shares
import exact_totals
import pod_churn
import scenarios
import siege
import storm

SOURCES = ("bpf", "procfs")
SIEGE_FROM_ONE = 5  # minutes at most


def churn_of_pods(mode, minutes, source):
    """20,000 pods as fast as they are known, or one a second. A kubelet is asked every other second at most."""
    if not minutes:
        return pod_churn.pod_churn(mode, 20_000, 1_000 if mode == "kubelet" else 250, source=source)
    step = 3 if mode == "kubelet" else 1
    return pod_churn.pod_churn(mode, 60 * minutes, step, pause=step, source=source)


def totals_in_prometheus(minutes, source):
    programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster", "programs.py")
    subprocess.run([sys.executable, programs, "prometheus"], check=True, stdout=subprocess.DEVNULL)
    return exact_totals.exact_totals(60 * minutes, 15, source)


def items(source, minutes, cpus):
    """{item: its checks with that source of activity}"""
    asked = f"--activity.source={source}"
    bpf = source == "bpf"
    known = {
        "2": [lambda: scenarios.exposition_formats(source), lambda: scenarios.prometheus_under_churn(120, source)],
        "3": [lambda: scenarios.conservation_under_churn(300, source)],
        "4": [lambda: energy_shares.ground_truth(60, source), lambda: scenarios.short_lived(2000, source)],
        "5": [lambda: scenarios.exited_in_every_stream(10, fast=1, slow=15, source=source)],
        "exact": [lambda: activity.exact(2000, asked, source=source),
                  lambda: activity.exact(20_000, asked, source=source),
                  lambda: scenarios.short_lived(2000, source, tolerance=0.001 if bpf else 0.01),
                  lambda: activity.mixed(1, asked, source=source)],
        "build": [lambda: energy_shares.build_beside_burner(120, "proc-stat", source),
                  lambda: energy_shares.build_beside_burner(120, "exact", source)],
        "prometheus": [lambda: totals_in_prometheus(minutes or 15, source)],
        "pods": [lambda: churn_of_pods("apiserver", minutes, source), lambda: churn_of_pods("kubelet", minutes, source)],
        "siege": [lambda: siege.siege(minutes or 60, source=source),
                  lambda: siege.siege(min(minutes or 60, SIEGE_FROM_ONE), source=source, from_users_address=True)],
    }
    # What only BPF can do, and what comes without it where nobody asks for either.
    known["unprivileged"] = [lambda: activity.exact(2000, prefix=activity.ONLY_BPF),
                             activity.bpf_is_refused_without_capabilities] if bpf else [
        lambda: activity.exact(2000, prefix=activity.NO_CAPABILITIES, source=source)]
    known["storm"] = [lambda: storm.storm(minutes or 30, 60, cpus)] if bpf else []
    return known


def main():
    parser = argparse.ArgumentParser(prog="acceptance")
    parser.add_argument("--source", choices=SOURCES, action="append", help="only with this source of activity")
    parser.add_argument("--minutes", type=int)
    parser.add_argument("--cpus", type=int)
    parser.add_argument("items", nargs="*")
    options = parser.parse_args()
    if options.minutes is not None and options.minutes < 3:
        parser.error("--minutes: memory is compared from minute 2 on, so at least 3")
    known = items("bpf", options.minutes, options.cpus)
    unknown = [item for item in options.items if item not in known]
    if unknown:
        parser.error(f"no item {', '.join(unknown)}; there are {', '.join(known)}")
    bad = 0
    for item in options.items or known:
        for source in options.source or SOURCES:
            for check in items(source, options.minutes, options.cpus)[item]:
                outcome = check()
                bad += bool(outcome.problems)
                verdict = "FAILED" if outcome.problems else "ok"
                print(f"{item}  {source}  {verdict}  {outcome.line}", flush=True)
                for problem in outcome.problems[:20]:
                    print(f"      {problem}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
