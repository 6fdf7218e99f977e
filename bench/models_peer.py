#!/usr/bin/env python3
"""Trains scikit-learn's and XGBoost's models as bench/model_training.cc trains this project's. Started by
bench/models_bench.py: a list of tasks as JSON comes in, [CPU seconds, mean absolute error in watts] of each goes out."""
import csv
import json
import sys
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
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


def judge(model, features, labels, folds):
    predicted, measured = [], []
    begin = time.process_time()
    for fold in range(int(folds.max()) + 1):
        train, test = folds != fold, folds == fold
        fitted = make_pipeline(MaxAbsScaler(), model()).fit(features[train], labels[train])
        predicted.append(fitted.predict(features[test]))
        measured.append(labels[test])
    seconds = time.process_time() - begin
    return seconds, float(np.abs(np.concatenate(predicted) - np.concatenate(measured)).mean())


def main():
    with open(sys.argv[1], newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T))
    for name, model in MODELS.items():  # what is loaded late is not counted
        judge(model, np.arange(40.0).reshape(20, 2), np.arange(20.0), np.arange(20) % 2)
    figures = []
    for task in json.load(sys.stdin):
        features = np.column_stack([table[column] for column in task["columns"]])
        figures.append(judge(MODELS[task["trainer"]], features, table[f"{task['component']}_power"], table[task["split"]]))
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()
