#!/usr/bin/env python3
"""Compares power models on data/nx12.csv with scikit-learn's and XGBoost's. See tools/bench.sh."""
import argparse
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from statistics import median

import small_tables

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "nx12.csv"
PEER = ROOT / "bench" / "models_peer.py"
SINGLE_THREADED = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
BUDGET = 0.5
MAX_SMALL_RATIO = 1.2

# Ours, and the same of theirs.
GRID = {"linear": "ols", "sgd": "sgd", "polynomial": "polynomial", "knn": "knn", "svr": "svr",
        "gradient-boosting": "gbr", "xgboost": "xgb-0.1"}
GRID_GROUPS = ["BPFOnly", "CounterOnly", "Basic07"]

# All of ours but auto; auto is to be as near as the best of PEERS and about as near as the best of OWN.
OWN = ["linear", "non-negative", "ridge", "sgd", "polynomial", "exponential", "logarithmic", "logistic", "knn", "svr",
       "gradient-boosting", "xgboost", "monotone", "linear-boosting", "random-forest"]
PEERS = ["ols", "gbr", "xgb"]
GROUPS = ["BPFOnly", "BPFIRQ", "CounterOnly", "CounterIRQCombined", "Basic", "Basic07"]
SPLITS = ["time70_30", "block5"]

Cell = collections.namedtuple("Cell", "group component trainer seconds mae columns")


def python_with_peers():
    """An interpreter with scikit-learn and XGBoost: in a virtual environment below build/, made at the first run."""
    home = ROOT / "build" / "models-venv"
    python = home / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import sklearn, xgboost"], capture_output=True).returncode:
        print(f"==> installing scikit-learn and xgboost into {home.relative_to(ROOT)}", file=sys.stderr)
        try:
            venv.create(home, with_pip=True)  # needs Debian's python3-venv
            subprocess.run([python, "-m", "pip", "install", "--quiet", "scikit-learn", "xgboost"], check=True)
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"models_bench: {error}: install python3-venv, or name an interpreter that has scikit-learn and "
                             "xgboost with --python") from None
    return python


def ours(build, split, trainers, groups):
    """A Cell for each line of bench/model_training."""
    out = subprocess.run([build / "bench" / "model_training", DATA, split, ",".join(trainers), ",".join(groups)],
                         check=True, stdout=subprocess.PIPE, text=True, env=os.environ | SINGLE_THREADED).stdout
    rows = list(csv.reader(out.splitlines(), delimiter="\t"))
    return [Cell(group, component, trainer, float(seconds), float(mae), columns.split(","))
            for group, component, trainer, seconds, mae, columns in rows]


def judged_by_peers(python, tasks):
    """CPU seconds and MAE of each task."""
    out = subprocess.run([python, "-B", PEER], check=True, input=json.dumps(tasks), stdout=subprocess.PIPE, text=True,
                         env=os.environ | SINGLE_THREADED).stdout
    return json.loads(out)


def theirs(python, split, trainers, cells):
    """The same for their trainers, on the groups, columns and components of `cells`."""
    tasks = {(cell.group, cell.component): cell.columns for cell in cells}
    wanted = [{"group": group, "component": component, "columns": columns, "trainer": trainer, "split": split,
               "data": str(DATA), "target": f"{component}_power"}
              for (group, component), columns in tasks.items() for trainer in trainers]
    return [Cell(task["group"], task["component"], task["trainer"], *figures, task["columns"])
            for task, figures in zip(wanted, judged_by_peers(python, wanted), strict=True)]


def seconds_of(cells, trainer):
    return sum(cell.seconds for cell in cells if cell.trainer == trainer)


def mae_of(cells, trainer):
    found = [cell.mae for cell in cells if cell.trainer == trainer]
    return sum(found) / len(found)


def show_grid(build, python, rounds):
    """Medians over the rounds, which take turns. True if the budget is kept."""
    here, there = [], []
    for _ in range(rounds):
        here.append(ours(build, "block5", GRID, GRID_GROUPS))
        there.append(theirs(python, "block5", GRID.values(), here[0]))
    print(f"{len(GRID_GROUPS)} groups x 3 components x 5 folds of block5, fits and predictions, one thread, CPU seconds, "
          f"median of {rounds} rounds; MAE: mean of the 9 models, W")
    print(f"{'trainer':18} {'here':>8} {'there':>8} {'ratio':>6} {'MAE here':>9} {'MAE there':>9}")
    sums = [0, 0]
    for own, peer in GRID.items():
        cost = [median(seconds_of(cells, own) for cells in here), median(seconds_of(cells, peer) for cells in there)]
        sums = [total + part for total, part in zip(sums, cost)]
        print(f"{own:18} {cost[0]:8.3f} {cost[1]:8.3f} {cost[0] / cost[1]:6.2f} {mae_of(here[0], own):9.3f} "
              f"{mae_of(there[0], peer):9.3f}")
    ratio = sums[0] / sums[1]
    print(f"{'all':18} {sums[0]:8.3f} {sums[1]:8.3f} {ratio:6.2f}   (budget <= {BUDGET}: {'ok' if ratio <= BUDGET else 'OVER'})")
    return ratio <= BUDGET


def show_accuracy(build, python):
    """A row for each model; what misses is named. True if nothing does."""
    print(f"{'split':9} {'group':18} {'component':9} {'auto':>7} {'linear':>7} | {'OLS':>7} {'GBR':>7} {'XGB':>7} | best of its own")
    misses = 0
    for split in SPLITS:
        here = ours(build, split, ["auto", *OWN], GROUPS)
        maes = {(cell.group, cell.component, cell.trainer): cell.mae
                for cell in here + theirs(python, split, PEERS, here)}
        for group, component in dict.fromkeys((cell.group, cell.component) for cell in here):
            mae = {trainer: maes[group, component, trainer] for trainer in ("auto", *OWN, *PEERS)}
            best = min(OWN, key=mae.get)
            wrong = [text for text, missed in (
                ("linear > 1.01 OLS", mae["linear"] > 1.01 * mae["ols"]),
                ("auto > best of OLS, GBR, XGB", mae["auto"] > min(mae[peer] for peer in PEERS)),
                ("auto > 1.1 best of its own", mae["auto"] > 1.1 * mae[best])) if missed]
            misses += len(wrong)
            print(f"{split:9} {group:18} {component:9} {mae['auto']:7.3f} {mae['linear']:7.3f} | {mae['ols']:7.3f} "
                  f"{mae['gbr']:7.3f} {mae['xgb']:7.3f} | {mae[best]:7.3f} {best:17} {'; '.join(wrong)}")
    print(f"{misses} misses")
    return misses == 0


def mae_of_auto(build, table, path):
    """The error that `kepler-model train` states for rows that the fit has not seen."""
    group = ["--group=node"] if "node" in table.rows[0] else []
    out = subprocess.run([build / "src/apps/kepler-model/kepler-model", "train", f"--data={path}", "--json", "--folds=fold",
                          f"--features={','.join(table.features)}", f"--target={table.target}",
                          f"--output={path.with_suffix('')}", *group],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         env=os.environ | SINGLE_THREADED).stdout
    return json.loads(out)["mae"]


def show_ratios(name, ratios):
    print(f"{name:32} {len(ratios):6} {median(ratios):7.3f} {max(ratios):7.2f} {sum(r > MAX_SMALL_RATIO for r in ratios):10}")


def show_small_tables(build, python, seed):
    """A row for each table, then summaries. True if the goals are kept."""
    tables = small_tables.draw_all(seed)
    trainers = [*PEERS, "chosen"]
    maes = []
    with tempfile.TemporaryDirectory() as home:
        paths = [Path(home) / f"{i}.csv" for i in range(len(tables))]
        for table, path in zip(tables, paths):
            small_tables.write(table, path)
            maes.append({"auto": mae_of_auto(build, table, path)})
        tasks = [{"data": str(path), "columns": table.features, "target": table.target, "split": "fold", "trainer": trainer}
                 for table, path in zip(tables, paths) for trainer in trainers]
        for task, (_, mae) in zip(tasks, judged_by_peers(python, tasks), strict=True):
            maes[paths.index(Path(task["data"]))][task["trainer"]] = mae
    print(f"{'table':40} {'rows':>4} {'auto':>7} {'OLS':>7} {'GBR':>7} {'XGB':>7} {'chosen':>7} ratio (MAE in W)")
    ratios = collections.defaultdict(list)
    for table, mae in zip(tables, maes):
        best = min(mae[peer] for peer in PEERS)
        for trainer in mae:
            ratios[trainer].append(mae[trainer] / best)
        ratios[table.kind].append(mae["auto"] / best)
        print(f"{table.kind + ', ' + table.name:40} {len(table.rows):4} {mae['auto']:7.2f} "
              f"{' '.join(f'{mae[trainer]:7.2f}' for trainer in trainers)} {mae['auto'] / best:5.2f}")
    print(f"\n{'error / best of OLS, GBR, XGB':32} tables  median   worst above {MAX_SMALL_RATIO:.2f}")
    for kind in dict.fromkeys(table.kind for table in tables):
        show_ratios(f"auto, {kind}", ratios[kind])
    for trainer in ["auto", *trainers]:
        show_ratios(trainer, ratios[trainer])
    return median(ratios["auto"]) <= 1 and max(ratios["auto"]) <= MAX_SMALL_RATIO


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="build directory")
    parser.add_argument("--accuracy", action="store_true", help="how near auto and linear come, instead of what training costs")
    parser.add_argument("--small-tables", action="store_true", help="errors of auto on tables of 100 to 200 rows")
    parser.add_argument("--seed", type=int, default=1, help="with --small-tables: another seed draws other tables")
    parser.add_argument("--python", type=Path, help="an interpreter that has scikit-learn and xgboost (default: one is made)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strict", action="store_true", help="exit 1 if a budget is exceeded")
    options = parser.parse_args()
    python = options.python or python_with_peers()
    if options.small_tables:
        good = show_small_tables(options.build, python, options.seed)
    elif options.accuracy:
        good = show_accuracy(options.build, python)
    else:
        good = show_grid(options.build, python, options.rounds)
    return 1 if options.strict and not good else 0


if __name__ == "__main__":
    raise SystemExit(main())
