#!/usr/bin/env python3
"""Trains scikit-learn's and XGBoost's models as bench/model_training.cc trains this project's. Started by
bench/models_bench.py: a list of tasks as JSON comes in, [CPU seconds, mean absolute error in watts] of each goes out."""
import csv
import functools
import json
import sys
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures
from sklearn.svm import SVR
from xgboost import XGBRegressor

# With the parameters of Kepler's model server; xgb has the library's own rate.
MODELS = {
    "ols": LinearRegression,
    "sgd": lambda: SGDRegressor(random_state=0),
    "polynomial": lambda: make_pipeline(PolynomialFeatures(2), LinearRegression()),
    "knn": lambda: KNeighborsRegressor(n_neighbors=6),
    "svr": lambda: SVR(C=1, epsilon=0.2),
    "gbr": lambda: GradientBoostingRegressor(random_state=0),
    "xgb-0.1": lambda: XGBRegressor(learning_rate=0.1, n_jobs=1, random_state=0),
    "xgb": lambda: XGBRegressor(n_jobs=1, random_state=0),
}
PEERS = ["ols", "gbr", "xgb"]


def chosen():
    """The peer with the smallest error on parts of the training rows that its fit has not seen."""
    return GridSearchCV(Pipeline([("model", None)]), {"model": [MODELS[peer]() for peer in PEERS]},
                        scoring="neg_mean_absolute_error", cv=LeaveOneGroupOut())


def parts(machines, train):
    """The parts for chosen(): machines, or five blocks of rows if there is one machine."""
    rows = np.flatnonzero(train)
    return machines[rows] if machines is not None else np.arange(len(rows)) * 5 // len(rows)


def judge(model, features, labels, folds, machines=None):
    predicted, measured = [], []
    begin = time.process_time()
    for fold in range(int(folds.max()) + 1):
        train, test = folds != fold, folds == fold
        more = {"gridsearchcv__groups": parts(machines, train)} if model is chosen else {}
        fitted = make_pipeline(MaxAbsScaler(), model()).fit(features[train], labels[train], **more)
        predicted.append(fitted.predict(features[test]))
        measured.append(labels[test])
    seconds = time.process_time() - begin
    return seconds, float(np.abs(np.concatenate(predicted) - np.concatenate(measured)).mean())


@functools.cache
def read(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, dtype=float).T))


def main():
    for name, model in MODELS.items():  # what is loaded late is not counted
        judge(model, np.arange(40.0).reshape(20, 2), np.arange(20.0), np.arange(20) % 2)
    figures = []
    for task in json.load(sys.stdin):
        table = read(task["data"])
        model = chosen if task["trainer"] == "chosen" else MODELS[task["trainer"]]
        features = np.column_stack([table[column] for column in task["columns"]])
        figures.append(judge(model, features, table[task["target"]], table[task["split"]], table.get("node")))
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()
