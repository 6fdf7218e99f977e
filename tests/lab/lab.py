"""The hardware lab: the agent on machines whose meters read programmed values. Run by tools/lab.sh; see README.md.

    lab.py --agent KEPLER [--jobs N] [long | GUEST...]      the guests of the short set if none is named
"""
import argparse
import concurrent.futures
import contextlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import build
import machine
from desk import Desk
from devices import Devices
from guests import GUESTS


# Guests share what build.py makes, and a BMC chooses a port that is free at that moment.
BUILDING = threading.Lock()


def run(guest, agent, logs):
    """(lines that the guest said, console, seconds from the start of QEMU, problem or "")."""
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        image, console = scratch / "initramfs", logs / f"{guest.name}.console"
        with BUILDING:
            kernel = build.initramfs(guest, agent, image)
            devices = stack.enter_context(Devices(guest, scratch / "devices"))
        desk = Desk(scratch / "desk", devices.obey)
        words = machine.command(kernel, image, console, " ".join((f"lab_scenario={guest.name}", *devices.words)),
                                *desk.arguments, *devices.arguments, *guest.arguments, cpus=guest.cpus,
                                memory_mib=guest.memory_mib)
        began = time.monotonic()
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            try:
                problem = desk.serve(process, guest.seconds)
            finally:
                process.kill()
        seconds = time.monotonic() - began
    (logs / f"{guest.name}.results").write_text("\n".join(desk.lines) + "\n")
    return desk.lines, machine.text_of(console), seconds, problem


def complaints(lines, console):
    """Of the kernel, once the checks run: an emulated machine whose host is busy may fail to start IPv6, for example. Errors in
    the ACPI tables are ours at any time."""
    up = min((float(line.split()[2]) for line in lines if line.startswith("LAB: up ")), default=0)
    found = []
    for line in console.splitlines():
        moment = re.match(r"\[ *([\d.]+)\]", line)
        is_early = moment is not None and float(moment[1]) < up
        if (machine.COMPLAINTS.search(line) and not is_early) or "ACPI BIOS Error" in line or "ACPI Error" in line:
            found.append(f"the kernel complained: {line.strip()}")
    return found


def judge(guest, lines, console, problem):
    """(checks that passed, those that failed). Nothing passes unless it was seen to pass."""
    checks = [line for line in lines if line.startswith("CHECK ")]
    passed = [line for line in checks if re.match(r"CHECK \S+ ok ", line)]
    failed = [line for line in checks if line not in passed]
    if problem:
        failed.append(f"QEMU: {problem}")
    if not any(line.startswith("LAB: done") for line in lines):
        failed.append("the checks did not end")
    if len(checks) < guest.checks:
        failed.append(f"{len(checks)} checks ran, not {guest.checks}")
    failed += complaints(lines, console)[:1]
    return passed, failed


def report(guest, lines, console, seconds, problem):
    """Prints a guest's results. (number of checks that passed, of those that failed)"""
    passed, failed = judge(guest, lines, console, problem)
    print(f"{guest.name}: {'FAILED' if failed else 'ok'}  {guest.title}, {len(passed)} passed, {len(failed)} failed, "
          f"{seconds:.0f} s")
    for line in passed + failed:
        print(f"    {line}")
    if problem or not passed:
        print("".join(f"        {line}\n" for line in lines[-20:] + console.splitlines()[-20:]), end="")
    sys.stdout.flush()
    return len(passed), len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agent", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2, help="guests that run at once")
    parser.add_argument("guests", nargs="*")
    options = parser.parse_args()
    if unknown := set(options.guests) - {"long", *GUESTS}:
        parser.error(f"unknown guest {', '.join(sorted(unknown))}; guests: {', '.join(GUESTS)}")
    wanted = [guest for guest in GUESTS.values()
              if guest.name in options.guests or "long" in options.guests or (guest.short and not options.guests)]
    logs = build.PLACE / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    totals = [0, 0]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for guest, results in zip(wanted, pool.map(lambda guest: run(guest, options.agent, logs), wanted)):
            totals = [sum(pair) for pair in zip(totals, report(guest, *results))]
    print(f"{totals[0]} passed, {totals[1]} failed")
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
