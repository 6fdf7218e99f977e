"""Boots a kernel with the test programs and this machine's libraries, and returns what it printed."""
from pathlib import Path

import machine

HERE = Path(__file__).resolve().parent
BOOT_SECONDS = 120


def make_initramfs(programs, path, script=HERE / "run_tests.sh", files=None):
    """programs: paths of programs for the script, which init runs. files: more files, by their path in the guest."""
    with machine.Image() as image:
        image.install("setpriv")
        for program in programs:
            image.program(program, f"/tests/bin/{Path(program).name}")
        for at, source in (files or {}).items():
            image.put(source, at)
        image.put(script, "/tests/run_tests.sh")
        image.put(HERE / "init", "/init")
        image.write(path)


def boot(kernel, initramfs, cgroups, program_seconds, run_count, logs, cpu="max", cpus=2):
    """Returns (results text, console text, seconds, how QEMU ended: "" when the guest powered off).

    logs: directory that keeps both texts, as NAME.console and NAME.results.
    """
    console, results = logs / f"{cgroups}.console", logs / f"{cgroups}.results"
    for file in (console, results):
        file.write_bytes(b"")
    seconds, ended = machine.run(
        machine.command(kernel, initramfs, console, f"kepler_cgroups={cgroups} kepler_seconds={program_seconds}",
                        "-serial", f"file:{results}", cpu=cpu, cpus=cpus),
        BOOT_SECONDS + run_count * program_seconds)
    return machine.text_of(results), machine.text_of(console), seconds, ended
