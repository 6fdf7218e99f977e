"""Figures of the whole machine, known for any moment while they are sampled."""
import bisect
import re
import time

from harness import Repeater, wait_until


class Sampler(Repeater):
    """read() every 50 ms. Snapshots are taken at moments of their own: what everybody else did in a second more or
    less would be an error of the truth."""

    PERIOD = 0.05

    def __init__(self, read):
        super().__init__(self.PERIOD)
        self.read = read
        self.points = []  # (Unix time, figure)

    def step(self):
        self.points.append((time.time(), self.read()))

    def at(self, moment):
        """Between two samples as if it grew evenly."""
        wait_until(lambda: self.points and self.points[-1][0] > moment, "the next sample")
        right = bisect.bisect(self.points, (moment, 0))
        (t0, u0), (t1, u1) = self.points[max(right - 1, 0)], self.points[right]
        return u0 + (u1 - u0) * (moment - t0) / (t1 - t0) if t1 > t0 else u1

    def near(self, moment, seconds):
        """How much it grew from the last sample before `moment - seconds` to the first one after `moment + seconds`."""
        self.at(moment + seconds)
        first = max(bisect.bisect(self.points, (moment - seconds, 0)) - 1, 0)
        last = bisect.bisect(self.points, (moment + seconds, 0))
        return self.points[last][1] - self.points[first][1]


def tasks_ended():
    """Threads of the machine that are gone, up to a constant: those ever made less those that are there."""
    with open("/proc/stat", encoding="ascii") as file:
        made = int(re.search(r"^processes (\d+)$", file.read(), re.MULTILINE)[1])
    with open("/proc/loadavg", encoding="ascii") as file:
        alive = int(file.read().split()[3].split("/")[1])
    return made - alive
