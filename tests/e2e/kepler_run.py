"""kepler run with the simulated meter, for the tests of it. METER needs set_up_meter() as their setUpModule."""
import json
import os
import subprocess
import tempfile
import unittest

from harness import binary

CONFIG = "cpu: {preferredMeters: [fake]}\n"
METER = []  # flags for the simulated meter


def set_up_meter():
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    os.chmod(folder, 0o755)
    with open(f"{folder}/kepler.yaml", "w", encoding="ascii") as file:
        file.write(CONFIG)
    METER.append(f"--config.file={folder}/kepler.yaml")


def run(*command, options=(), prefix=(), **how):
    return subprocess.run([*prefix, binary(), "run", *METER, *options, "--", *command], capture_output=True, text=True, timeout=120,
                          **how)


def measure(*command, options=(), **how):
    """(exit code, stdout, the report)"""
    done = run(*command, options=("--json", *options), **how)
    return done.returncode, done.stdout, json.loads(done.stderr)


def group_is_left(program, pid):
    """Whether the cgroup of that command exists. Other runs on this machine have commands of the same name."""
    return any(os.path.exists(f"{top}/kepler-run-{program}-{pid}")
               for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpuacct"))
