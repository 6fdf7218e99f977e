"""Runs the checks of one scenario in the guest: main.py SCENARIO, the name of a module with CHECKS and set_up()."""
import importlib
import sys
import traceback

from lab import Lab


def main(scenario):
    lab = Lab()
    lab.host.say(f"LAB: up {lab.uptime()}")
    try:
        module = importlib.import_module(scenario)
        module.set_up(lab)
        lab.host.say(f"LAB: meters up {lab.uptime()}")
        for check in module.CHECKS:
            lab.run(check)
        lab.shut_down()
    except BaseException:  # pylint: disable=broad-except  # nobody else in this guest could tell
        for line in traceback.format_exc().splitlines():
            lab.host.say(f"LAB: {line}")
        lab.host.say(f"CHECK {scenario} fail the checks ended early")
    lab.host.say(f"LAB: done {lab.uptime()}")


if __name__ == "__main__":
    main(sys.argv[1])
