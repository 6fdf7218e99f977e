"""The kernel matrix: runs the test programs on this kernel and on others, one line of figures each. Run by tools/kernels.sh.

  matrix.py --program PATH... [--host] [--kernel NAME=VMLINUZ]... --logs DIRECTORY
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import guest
import machine
import results

# What a machine with systemd has by default, with systemd.unified_cgroup_hierarchy=0, and with
# systemd.legacy_systemd_cgroup_controller in addition.
CGROUPS = ("unified", "hybrid", "legacy")
HOST_SECONDS = 300
GUEST_SECONDS = 600
TAIL = 30


def report(name, found, seconds, tails):
    """Prints one kernel; returns (passed, failed). tails: ((name, text), ...) to show when something is wrong."""
    boot = f"booted in {found.uptime:.1f} s, " if found.uptime else ""
    print(f"{name}: {'FAILED' if found.failed else 'ok'}  {found.kernel}, {found.passed} passed, {found.failed} failed, "
          f"{found.skipped} skipped; {boot}{seconds:.1f} s in all")
    for run in found.runs:
        what = f"{run.program} as {run.rights}"
        print(f"    {what}: {run.passed} passed, {len(run.failed)} failed, {len(run.skipped)} skipped")
        for test, reason in run.skipped:
            print(f"        skipped {test}: {reason}")
        for test, output in run.failed:
            print(f"        FAILED {test}")
            print("".join(f"            {line}\n" for line in output[-TAIL:]), end="")
        if run.problem:
            print(f"        FAILED {run.problem}")
    for problem in found.problems:
        print(f"    FAILED {problem}")
    if found.problems or any(run.problem for run in found.runs):
        for title, text in tails:
            print(f"    end of {title}:")
            print("".join(f"        {line}\n" for line in text.splitlines()[-TAIL:]), end="")
    sys.stdout.flush()
    return found.passed, found.failed


def on_host(programs, names, logs):
    # Readable for uid 65534 wherever the checkout lies.
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        copies = [shutil.copy(program, scratch) for program in programs]
        started = time.monotonic()
        done = subprocess.run(["/bin/sh", guest.HERE / "run_tests.sh", str(HOST_SECONDS), *copies], cwd="/",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        seconds = time.monotonic() - started
    text = done.stdout.decode(errors="replace")
    (logs / "results").write_text(text)
    found = results.read(text, names)
    found.uptime = 0.0
    return report("host", found, seconds, (("the output", text),))


def in_guest(title, kernel, initramfs, cgroups, names, logs):
    runs = max(1, len(names)) * len(results.RIGHTS)
    text, console, seconds, ended = guest.boot(kernel, initramfs, cgroups, GUEST_SECONDS, runs, logs)
    found = results.read(text, names)
    if ended:
        found.problems.append(ended)
    for line in console.splitlines():
        if machine.COMPLAINTS.search(line):
            found.problems.append(f"the kernel complained: {line.strip()}")
            break
    return report(f"{title} {cgroups}", found, seconds, (("the results", text), ("the console", console)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--logs", type=Path, required=True)
    options = parser.parse_args()

    names = [Path(program).name for program in options.program]
    present = [program for program in options.program if Path(program).is_file()]
    for program in set(options.program) - set(present):
        print(f"matrix: {program} has not been built: counted as failed on every kernel")
    totals = []
    if options.host:
        logs = options.logs / "host"
        logs.mkdir(parents=True, exist_ok=True)
        totals.append(on_host(present, names, logs))
    for title, _, kernel in (kernel.partition("=") for kernel in options.kernel):
        logs = options.logs / title.replace(":", "-")
        logs.mkdir(parents=True, exist_ok=True)
        initramfs = logs / "initramfs"
        guest.make_initramfs(present, initramfs)
        totals += [in_guest(title, kernel, initramfs, cgroups, names, logs) for cgroups in CGROUPS]
    passed, failed = (sum(column) for column in zip(*totals)) if totals else (0, 1)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
