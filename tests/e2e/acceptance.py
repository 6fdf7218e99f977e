"""The acceptance checks in full length: one line of figures each. Run by tools/acceptance.sh."""
import sys

import scenarios

ITEMS = {
    "2": [scenarios.exposition_formats, lambda: scenarios.prometheus_under_churn(120)],
    "3": [lambda: scenarios.conservation_under_churn(300)],
    "4": [lambda: scenarios.ground_truth(60), lambda: scenarios.short_lived(2000)],
    "5": [lambda: scenarios.exited_in_every_stream(workloads=10, fast=1, slow=15)],
}


def main(chosen):
    unknown = [item for item in chosen if item not in ITEMS]
    if unknown:
        sys.exit(f"acceptance: no item {', '.join(unknown)}; there are {', '.join(ITEMS)}")
    bad = 0
    for item in chosen or ITEMS:
        for check in ITEMS[item]:
            outcome = check()
            bad += bool(outcome.problems)
            print(f"{item}  {'FAILED' if outcome.problems else 'ok'}  {outcome.line}", flush=True)
            for problem in outcome.problems[:20]:
                print(f"      {problem}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
