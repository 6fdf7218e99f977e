#!/usr/bin/env python3
"""Makes an archive for each trainer of Kepler's model server, in its layout, and expected.csv: what scikit-learn and XGBoost
predict with the pickles of every archive here, the published ones included. Needs scikit-learn 1.5.1, xgboost and scipy.

    make.py FOLDER

published-*.zip are from https://github.com/sustainable-computing-io/kepler-model-db (Apache-2.0), unchanged.
"""
import glob
import json
import os
import sys
import tempfile
import types
import zipfile

import joblib
import numpy as np
import xgboost
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

FEATURES = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]


def module(name, **members):
    """A module of that name, whose members say that they are of it."""
    made = sys.modules.setdefault(name, types.ModuleType(name))
    for key, member in members.items():
        member.__module__ = name
        member.__qualname__ = key
        setattr(made, key, member)


class CurveFitModel:
    def __init__(self, fit_func, popt, feature_index):
        self.fit_func, self.popt, self.pcov, self.feature_index = fit_func, np.array(popt), np.eye(3), feature_index

    def predict(self, rows):
        return self.fit_func(rows[:, self.feature_index], *self.popt)


def logi_func(x, a, x0, k, off):
    return a / (1 + np.exp(-k * (x - x0))) + off


def log_func(x, a, b, c):
    return a * np.log(b * x + 1) + c


def expo_func(x, a, b, c):
    return a * np.exp(b * x) + c


for parent in ("train", "train.trainer"):
    module(parent)
module("train.trainer.curvefit", CurveFitModel=CurveFitModel)
for trainer, function in (("Logistic", logi_func), ("Logarithmic", log_func), ("Exponential", expo_func)):
    module(f"train.trainer.{trainer}RegressionTrainer")
    module(f"train.trainer.{trainer}RegressionTrainer.main", **{function.__name__: function})

KINDS = {
    "SGDRegressor": (StandardScaler(), SGDRegressor(random_state=1)),
    "LinearRegression": (MinMaxScaler(), LinearRegression(positive=True)),
    "PolynomialRegression": (MaxAbsScaler(), LinearRegression()),
    "GradientBoostingRegressor": (MinMaxScaler(), GradientBoostingRegressor(n_estimators=3, random_state=1)),
    "KNeighborsRegressor": (MaxAbsScaler(), KNeighborsRegressor(n_neighbors=6)),
    "SVRRegressor": (MaxAbsScaler(), SVR(C=1.0, epsilon=0.2)),
    "XgboostFit": (MaxAbsScaler(), xgboost.XGBRegressor(n_estimators=3, max_depth=2)),
    "LogisticRegression": (MaxAbsScaler(), CurveFitModel(logi_func, [200, 0.5, 4, 60], 0)),
    "LogarithmicRegression": (MaxAbsScaler(), CurveFitModel(log_func, [90, 3, 60], 0)),
    "ExponentialRegression": (MaxAbsScaler(), CurveFitModel(expo_func, [40, 1.5, 30], 1)),
}


def make(folder, trainer, scaler, model):
    random = np.random.default_rng(1)
    rows = random.uniform(0, [9000, 400], (40, 2))
    watts = 60 + rows[:, 0] / 50 + rows[:, 1] / 9 + random.normal(0, 2, 40)
    name = f"{trainer}Trainer_0"
    with tempfile.TemporaryDirectory() as into:
        steps = [scaler.fit(rows)]
        if trainer == "PolynomialRegression":
            steps.append(PolynomialFeatures(degree=2).fit(scaler.transform(rows)))
        names = ["scaler.pkl", "poly_scaler.pkl"][:len(steps)]
        prepared = rows
        for step, file in zip(steps, names):
            joblib.dump(step, os.path.join(into, file))
            prepared = step.transform(prepared)
        if hasattr(model, "fit"):
            model.fit(prepared, watts)
        file = "package.json" if trainer == "XgboostFit" else "package.pkl"
        path = os.path.join(into, file)
        model.save_model(path) if trainer == "XgboostFit" else joblib.dump(model, path)
        listed = {"package": {"model_file": file, "features": FEATURES, "fe_files": names}}
        metadata = {"model_name": name, "output_type": "AbsPower", "features": FEATURES, "package_mae": 2.5,
                    "package_mape": 1.25}
        for text, content in ((f"{name}.json", listed), ("metadata.json", metadata)):
            with open(os.path.join(into, text), "w", encoding="utf-8") as out:
                json.dump(content, out)
        with zipfile.ZipFile(os.path.join(folder, f"{name}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for each in sorted(os.listdir(into)):
                archive.write(os.path.join(into, each), each)


def load(path):
    if path.endswith(".json"):
        booster = xgboost.XGBRegressor()
        booster.load_model(path)
        return booster
    return joblib.load(path)


def predictions(archive):
    """archive,component,row...,watts of each component that is not 0."""
    with tempfile.TemporaryDirectory() as into:
        zipfile.ZipFile(archive).extractall(into)
        name = json.load(open(os.path.join(into, "metadata.json"), encoding="utf-8"))["model_name"]
        for component, listed in json.load(open(os.path.join(into, f"{name}.json"), encoding="utf-8")).items():
            rows = np.random.default_rng(2).uniform(0, [9000, 400][:len(listed["features"])], (5, len(listed["features"])))
            prepared = rows
            for step in listed["fe_files"]:
                prepared = load(os.path.join(into, step)).transform(prepared)
            watts = load(os.path.join(into, listed["model_file"])).predict(prepared)
            for row, value in zip(rows, watts):
                if max(watts) > 0.001:
                    cells = [os.path.basename(archive), component, *map(float, row), float(value)]
                    yield ",".join(map(str, cells)) + "\n"


def main(folder):
    for trainer, (scaler, model) in KINDS.items():
        make(folder, trainer, scaler, model)
    with open(os.path.join(folder, "expected.csv"), "w", encoding="utf-8") as out:
        for archive in sorted(glob.glob(os.path.join(folder, "*.zip"))):
            out.writelines(predictions(archive))


if __name__ == "__main__":
    main(sys.argv[1])
