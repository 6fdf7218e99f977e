#!/usr/bin/env python3
"""What people wait for: the live page in headless Chromium (first paint, updates) and the CPU use of `kepler top` in tmux, with an
agent that ticks each second. See tools/bench.sh."""
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import BUDGETED, SOURCES, Agent, Meter, Sleepers, Table, Tools, cpu_seconds, median, parser_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))
from chromium import PROGRAM, Chromium  # noqa: E402  pylint: disable=wrong-import-position

SIZES = ((80, 24), (200, 60))
PAINT_BUDGET, UPDATE_BUDGET = 1000, 100  # milliseconds
TOP_BUDGET = 0.03  # of a core
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
UPDATE = "performance.getEntriesByName('update')[0]?.duration"


def page(url, seconds):
    """Milliseconds to the first paint, those of each update, and the number of problems in the console."""
    with Chromium() as browser:
        browser.open(url)
        paint = browser.wait(PAINT, "the first paint")
        updates, end = {}, time.monotonic() + seconds
        while time.monotonic() < end:
            seen = browser.run("document.getElementById('time').textContent")
            if duration := browser.run(UPDATE):
                updates[seen] = duration
            time.sleep(0.2)
        return paint, list(updates.values()), len(browser.problems)


@contextlib.contextmanager
def top(tools, port, columns, lines):
    """The pid of `kepler top` in a terminal."""
    folder = tempfile.mkdtemp(prefix="kepler-top-")
    tmux = ["tmux", "-u", "-S", f"{folder}/socket", "-f", "/dev/null"]
    try:
        subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(lines), "env", "LANG=C.UTF-8",
                        str(tools.kepler), "top", f"--url=http://127.0.0.1:{port}"], check=True)
        time.sleep(3)
        yield int(subprocess.run([*tmux, "display", "-p", "#{pane_pid}"], check=True, capture_output=True, text=True).stdout)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def share(pids, seconds):
    """CPU use of each process, as a share of a core."""
    before, begin = [cpu_seconds(pid) for pid in pids], time.monotonic()
    time.sleep(seconds)
    return [(cpu_seconds(pid) - then) / (time.monotonic() - begin) for pid, then in zip(pids, before)]


def measure(tools, count, source, seconds, table):
    label = f"{count:,} processes, {source}"
    with Meter() as meter, Sleepers(tools, count), Agent(tools, meter, "1s", options=[f"--activity.source={source}"]) as agent:
        table.add(f"{label}: agent, not watched", f"{share([agent.pid], seconds)[0]:.2%} of a core")
        paint, updates, problems = page(f"http://127.0.0.1:{agent.port}/", seconds)
        table.add(f"{label}: page, first paint", f"{paint:.0f} ms", budget=f"< {PAINT_BUDGET} ms", ok=paint < PAINT_BUDGET)
        table.add(f"{label}: page, update, median / maximum", f"{median(updates):.1f} / {max(updates):.1f} ms",
                  budget=f"< {UPDATE_BUDGET} ms", ok=max(updates) < UPDATE_BUDGET)
        table.add(f"{label}: page, problems in the console", str(problems), budget="0", ok=problems == 0)
        for columns, lines in SIZES:
            with top(tools, agent.port, columns, lines) as pid:
                its, agents = share([pid, agent.pid], seconds)
            table.add(f"{label}: top, {columns} x {lines}", f"{its:.2%} of a core", budget=f"<= {TOP_BUDGET:.0%}",
                      ok=its <= TOP_BUDGET)
            table.add(f"{label}: agent, watched by it", f"{agents:.2%} of a core")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, default=BUDGETED)
    parser.add_argument("--seconds", type=int, default=30, help="length of each measurement")
    options = parser.parse_args()
    for program in (PROGRAM, "tmux"):
        if not shutil.which(program):
            raise SystemExit(f"bench: there is no {program}: install it (tools/setup.sh test)")
    table = Table()
    for source in options.source or SOURCES:
        measure(Tools(options.build), options.processes, source, options.seconds, table)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
