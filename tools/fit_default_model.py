#!/usr/bin/env python3
"""Fits the shipped power model: data/specpower.csv and data/processors.csv -> data/default-model.csv.

    tools/fit_default_model.py [--output FILE]     writes the model
    tools/fit_default_model.py --errors            prints the errors of docs/default-model.md as a table

The model is a ridge regression of the logarithm of wall power, for each of 11 load levels. Its inputs are the logarithms of
cores per chip, chips, memory per core and nominal frequency, the year of the processor and its square, the vendor, and the
row of data/processors.csv. An input outside its range in the data is moved to the edge of the range.
Needs Python's standard library only. The result is the same on every machine.
"""
import argparse
import csv
import math
import sys
from fnmatch import fnmatchcase
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
LEVELS = 11  # 0 %, 10 %, ... 100 % load
PENALTY = 0.3  # of each squared weight; 0.1 to 1 give the same errors within 0.2 points
MIN_RISE = 0.27  # from idle to full load, of idle power: the smallest in the data
SMOOTHING = 1e-3  # of the second differences of a measured curve: fills levels without a row
VENDORS = {"intel": "Intel", "amd": "AMD", "arm": "Arm"}
NUMBERS = ("log_cores_per_chip", "log_chips", "log_memory_per_core", "log_frequency", "year", "year_squared")
SOURCE = """\
# The shipped power model of servers (docs/default-model.md). Do not edit: written by tools/fit_default_model.py
# Source: published SPECpower_ssj2008 results of 160 server types, 2007 to early 2024 (data/README.md), fitted 2026-11-25
"""


class Type:
    """Measured servers with the same attributes."""

    def __init__(self, rows, processors):
        first = rows[0]
        self.number = int(first["node_type"])
        name = first["processor"]
        self.processor = next((p for p in processors if is_named(p, name)), None)
        self.vendor = self.processor["vendor"] if self.processor else next((v for v in VENDORS if v in name), None)
        year = float(self.processor["year"]) if self.processor else newest_year(processors, self.vendor)
        cores, chips = float(first["cores"]), float(first["chips"])
        self.numbers = [math.log(cores / chips), math.log(chips), math.log(float(first["memory_gib"]) / cores),
                        math.log(float(first["frequency_mhz"])), (year - 2015) / 5, ((year - 2015) / 5) ** 2]
        self.rows = [(place(float(r["utilisation"])), float(r["platform_watts"])) for r in rows]
        self.curve = [math.log(w) for w in curve_of(self.rows)]
        self.weight = math.sqrt(len(rows))

    def row_name(self):
        return self.processor["processors"] if self.processor else None


def is_named(processors, name):
    patterns = (processors["names"] + "|" + processors["data_names"]).split("|")
    return any(fnmatchcase(name, pattern) for pattern in patterns if pattern)


def newest_year(processors, vendor):
    """Returns the year for a processor that is not listed: that of the newest measured row of its vendor, if known."""
    return max(float(p["year"]) for p in processors if p["measured"] == "yes" and vendor in (p["vendor"], None))


def place(utilisation):
    """Returns the level below and the share of the level above."""
    at = min(max(utilisation, 0.0), 1.0) * (LEVELS - 1)
    below = min(int(at), LEVELS - 2)
    return below, at - below


def curve_of(rows):
    """Returns the watts at each level: straight lines between them with the least squared error."""
    normal = [[0.0] * LEVELS for _ in range(LEVELS)]
    right = [[0.0] for _ in range(LEVELS)]
    for (below, share), watts in rows:
        parts = ((below, 1 - share), (below + 1, share))
        for i, a in parts:
            right[i][0] += a * watts
            for j, b in parts:
                normal[i][j] += a * b
    for level in range(1, LEVELS - 1):
        difference = ((level - 1, 1), (level, -2), (level + 1, 1))
        for i, a in difference:
            for j, b in difference:
                normal[i][j] += SMOOTHING * a * b
    return [row[0] for row in solve(normal, right)]


def solve(matrix, right):
    """Solves a symmetric positive definite system for several right sides (Cholesky)."""
    n = len(matrix)
    low = [row[:] for row in matrix]
    out = [row[:] for row in right]
    for j in range(n):
        for i in range(j, n):
            low[i][j] = low[i][j] - sum(a * b for a, b in zip(low[i][:j], low[j][:j]))
            low[i][j] = math.sqrt(low[i][j]) if i == j else low[i][j] / low[j][j]
    for i in range(n):
        for k in range(len(out[i])):
            out[i][k] = (out[i][k] - sum(low[i][j] * out[j][k] for j in range(i))) / low[i][i]
    for i in reversed(range(n)):
        for k in range(len(out[i])):
            out[i][k] = (out[i][k] - sum(low[j][i] * out[j][k] for j in range(i + 1, n))) / low[i][i]
    return out


class Fit:
    """The weights for some types."""

    def __init__(self, types, names):
        total = sum(t.weight for t in types)
        columns = list(zip(*(t.numbers for t in types)))
        self.names = names
        self.centre = [sum(t.weight * t.numbers[i] for t in types) / total for i in range(len(NUMBERS))]
        self.ends = [(min(c), max(c)) for c in columns]
        inputs = [self.inputs(t) for t in types]
        n = len(inputs[0])
        normal = [[0.0] * n for _ in range(n)]
        right = [[0.0] * LEVELS for _ in range(n)]
        for t, x in zip(types, inputs):
            for i in range(n):
                if x[i] == 0:
                    continue
                scaled = t.weight * x[i] * len(types) / total
                for j in range(n):
                    normal[i][j] += scaled * x[j]
                for level in range(LEVELS):
                    right[i][level] += scaled * t.curve[level]
        for i in range(1, n):
            normal[i][i] += PENALTY
        self.weights = solve(normal, right)

    def inputs(self, of):
        numbers = [min(max(v, low), high) - c for v, (low, high), c in zip(of.numbers, self.ends, self.centre)]
        vendor = [float(of.vendor == v) for v in VENDORS]
        return [1.0, *numbers, *vendor, *(float(of.row_name() == name) for name in self.names)]

    def predict(self, of):
        x = self.inputs(of)
        watts = [math.exp(sum(a * w[level] for a, w in zip(x, self.weights) if a)) for level in range(LEVELS)]
        for level in reversed(range(LEVELS - 1)):
            share = (1 + MIN_RISE * level / (LEVELS - 1)) / (1 + MIN_RISE)
            watts[level] = min(watts[level], watts[level + 1], watts[-1] * share)
        return watts


class Errors:
    def __init__(self):
        self.types = 0
        self.rows = 0
        self.percent = 0.0
        self.watts = 0.0

    def add(self, of, predicted):
        self.types += 1
        for (below, share), watts in of.rows:
            error = abs(predicted[below] * (1 - share) + predicted[below + 1] * share - watts)
            self.rows += 1
            self.percent += 100 * error / watts
            self.watts += error

    def mape(self):
        return self.percent / self.rows if self.rows else 0.0

    def mae(self):
        return self.watts / self.rows if self.rows else 0.0


def read_types(processors):
    by_number = {}
    with open(DATA / "specpower.csv", newline="") as file:
        for row in csv.DictReader(file):
            by_number.setdefault(int(row["node_type"]), []).append(row)
    return [Type(rows, processors) for _, rows in sorted(by_number.items())]


def judge(types, names, group_of):
    """Predicts each group by a fit of the other groups. Returns the errors by row of data/processors.csv, by vendor and in all."""
    errors = {}
    for group in dict.fromkeys(group_of(t) for t in types):
        fit = Fit([t for t in types if group_of(t) != group], names)
        for t in (t for t in types if group_of(t) == group):
            curve = fit.predict(t)
            for key in (t.row_name(), t.vendor, "all"):
                errors.setdefault(key, Errors()).add(t, curve)
    return errors


def write(path, processors, types, names):
    by_type = judge(types, names, lambda t: t.number)
    by_row = judge(types, names, lambda t: t.row_name() or t.number)
    fit = Fit(types, names)
    header = ["term", "kind", "vendor", "year", "names", "cpuid", "centre", "min", "max", "cores_per_chip", "types", "rows",
              "mape", *(f"load_{10 * level}" for level in range(LEVELS))]
    lines = [",".join(header)]
    weights = iter(fit.weights)

    def line(term, kind, *cells):
        lines.append(",".join([term, kind, *cells, *(f"{w:.4f}" for w in next(weights))]))

    def errors(of, members):
        cores = sum(t.weight * t.numbers[0] for t in members) / sum(t.weight for t in members)
        return f"{math.exp(cores):.1f}", str(of.types), str(of.rows), f"{of.mape():.1f}"

    none = [""] * 3
    line("other processor", "base", "", f"{newest_year(processors, None):.0f}", "", "", *none, *errors(by_row["all"], types))
    for name, centre, (low, high) in zip(NUMBERS, fit.centre, fit.ends):
        line(name, "number", "", "", "", "", f"{centre:.4f}", f"{low:.4f}", f"{high:.4f}", "", "", "", "")
    for vendor, name in VENDORS.items():
        line(f"other {name} processor", "vendor", vendor, f"{newest_year(processors, vendor):.0f}", "", "", *none,
             *errors(by_row[vendor], [t for t in types if t.vendor == vendor]))
    for p in processors:
        # A row without measurements is as good as no row: it has the errors of unlisted processors of its vendor.
        name = p["processors"]
        members = [t for t in types if t.row_name() == name] or [t for t in types if t.vendor == p["vendor"]]
        line(name, "processors", p["vendor"], p["year"], p["names"], p["cpuid"], *none,
             *errors(by_type.get(name, by_row[p["vendor"]]), members))
    Path(path).write_text(SOURCE + "\n".join(lines) + "\n")


def print_errors(types, names):
    by_type = judge(types, names, lambda t: t.number)
    by_row = judge(types, names, lambda t: t.row_name() or t.number)
    print("| Processors | Types | Rows | Error | Error, watts | Error without this row |\n|---|---|---|---|---|---|")
    for name in [*names, None, *VENDORS, "all"]:
        if name in by_type:
            e, other = by_type[name], by_row[name]
            print(f"| {VENDORS.get(name, name) or 'not listed'} | {e.types} | {e.rows} | {e.mape():.1f} % | {e.mae():.1f} | "
                  f"{other.mape():.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default=DATA / "default-model.csv")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    with open(DATA / "processors.csv", newline="") as file:
        processors = list(csv.DictReader(file))
    names = [p["processors"] for p in processors]
    types = read_types(processors)
    if options.errors:
        print_errors(types, names)
    else:
        write(options.output, processors, types, names)


if __name__ == "__main__":
    sys.exit(main())
