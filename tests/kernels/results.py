"""Reads what tests/kernels/run_tests.sh printed and judges it. Nothing counts as passed unless it was seen to pass."""
import dataclasses
import re

RIGHTS = ("root", "bpf+perfmon")
TIMED_OUT = (124, 137, 143)

_ANNOUNCED = re.compile(r"^\[=+\] Running (\d+) tests? from ")
_ENDED = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \(\d+ ms\)$")


@dataclasses.dataclass
class Run:
    """One program with one set of rights."""
    program: str
    rights: str
    passed: int = 0
    skipped: list = dataclasses.field(default_factory=list)  # (test, reason)
    failed: list = dataclasses.field(default_factory=list)  # (test, its output)
    problem: str = ""  # of the run as a whole


@dataclasses.dataclass
class Results:
    kernel: str = "unknown kernel"
    btf: bool = False
    uptime: float = 0.0  # of the kernel when the tests began
    runs: list = dataclasses.field(default_factory=list)
    problems: list = dataclasses.field(default_factory=list)

    @property
    def passed(self):
        return sum(run.passed for run in self.runs)

    @property
    def failed(self):
        return sum(len(run.failed) + bool(run.problem) for run in self.runs) + len(self.problems)

    @property
    def skipped(self):
        return sum(len(run.skipped) for run in self.runs)


def _read_run(run, lines, code):
    announced = None
    output = []
    for line in lines:
        if match := _ANNOUNCED.match(line):
            announced = int(match[1])
        elif line.startswith("[ RUN "):
            output = []
        elif match := _ENDED.match(line):
            outcome, test = match.groups()
            if outcome == "OK":
                run.passed += 1
            elif outcome == "SKIPPED":
                # GoogleTest: "FILE:LINE: Skipped", then the reason.
                at = next((i for i, text in enumerate(output) if text.endswith(": Skipped")), len(output))
                run.skipped.append((test, " ".join(output[at + 1:]).strip() or "no reason given"))
            else:
                run.failed.append((test, output))
            output = []
        else:
            output.append(line)
    ended = run.passed + len(run.skipped) + len(run.failed)
    if code is None:
        run.problem = "did not end"
    elif code in TIMED_OUT:
        run.problem = f"ran past its limit (exit code {code}) in or after: {' | '.join(output[-3:])}"
    elif announced is None:
        run.problem = f"ran no tests (exit code {code}): {' | '.join(output[-3:])}"
    elif ended != announced:
        run.problem = f"{announced} tests announced, {ended} ended (exit code {code})"
    elif code != 0 and not run.failed:
        run.problem = f"exit code {code} though no test failed"
    elif run.passed == 0 and not run.failed:
        run.problem = "not one test passed"


def read(text, programs):
    """The results in `text`. Every program of `programs` must have run with each of RIGHTS."""
    results = Results()
    kernel = re.search(r"^@@ kernel (\S+) btf=(yes|no) uptime=([\d.]+)\r?$", text, re.MULTILINE)
    if kernel:
        results.kernel, results.btf, results.uptime = kernel[1], kernel[2] == "yes", float(kernel[3])
        if not results.btf:
            results.problems.append("the kernel has no BTF (/sys/kernel/btf/vmlinux)")
    else:
        results.problems.append("the tests did not begin")
    lines = text.splitlines()
    for program in programs:
        for rights in RIGHTS:
            run = Run(program, rights)
            results.runs.append(run)
            begin = f"@@ begin {program} {rights}"
            if begin not in lines:
                run.problem = "did not run"
                continue
            rest = lines[lines.index(begin) + 1:]
            end = re.compile(rf"^@@ end {re.escape(program)} {re.escape(rights)} (\d+)$")
            at = next((i for i, line in enumerate(rest) if end.match(line)), None)
            _read_run(run, rest[:at], None if at is None else int(end.match(rest[at])[1]))
    if kernel and "@@ done" not in lines:
        results.problems.append("the output is cut off")
    return results
