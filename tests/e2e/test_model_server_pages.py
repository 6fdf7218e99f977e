"""The pages of kepler-model serve in a browser: the list of models and a card, light, dark, on a phone, and without scripts.

    tests/e2e/test_model_server_pages.py --screenshots    writes the pictures of docs/model-server.md"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import unittest

from chromium import Chromium
from harness import run_tests, scratch_directory
from test_model_server import EPYC, GROUP, PROGRAM, XEON, ModelServer, archive, weights

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MACHINE = "processor=intel_xeon_gold_6230,cores=80,chips=2,memory=187,frequency=3900"
NAME = "xeon-gold-6230"
PAGES = {"list": "/", "card": f"/models/{NAME}"}
WIDTHS = {"light": 840, "dark": 840, "phone": 390}
SHOWN = {"light": 1100, "dark": 1100, "phone": 1300}  # maximum height of a picture


def tables(directory):
    """The first measurements of data/nx12.csv, and all: they train two versions."""
    with open(os.path.join(ROOT, "data", "nx12.csv"), encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    for rows in (len(lines) // 4, len(lines)):
        path = os.path.join(directory, f"rows-{rows}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines[:rows])
        yield path


def make_store(directory):
    store = os.path.join(directory, "store")
    group = os.path.join(store, GROUP)
    os.makedirs(group)
    with open(os.path.join(store, GROUP, "../../..", "node_type_index.json"), "w", encoding="ascii") as file:
        json.dump({"1": {"attrs": XEON, "members": []}, "10": {"attrs": EPYC, "members": []}}, file)
    for name, mae in (("SGDRegressorTrainer_1", 9.31), ("GradientBoostingRegressorTrainer_1", 4.26),
                      ("XgboostFitTrainer_10", 5.78), ("PolynomialRegressionTrainer_10", 11.4)):
        with open(f"{group}{name}.zip", "wb") as file:
            file.write(archive(name, mae))
    with open(f"{group}SGDRegressorTrainer_1.json", "w", encoding="ascii") as file:
        file.write(weights(50))
    for table in tables(directory):
        subprocess.run([PROGRAM, "retrain", f"--store={store}", f"--name={NAME}", f"--data={table}", f"--machine={MACHINE}",
                        "--target=package_power,dram_power", "--features=bpf_cpu_time_us,cpu_cycles", "--trainer=xgboost",
                        f"--output={os.path.join(directory, 'new')}"], check=True, capture_output=True, timeout=300)
    return store


class Served(contextlib.ExitStack):
    def __enter__(self):
        super().__enter__()
        directory = scratch_directory()
        self.callback(shutil.rmtree, directory)
        self.server = self.enter_context(ModelServer(make_store(directory), log=os.path.join(directory, "log")))
        return self

    def views(self, browser):
        """(name, page) of each page in each view, while it is shown."""
        for page, path in PAGES.items():
            for view in WIDTHS:
                self.show(browser, view, 400)
                browser.open(self.server.url(path))
                yield page, view

    @staticmethod
    def show(browser, view, height):
        browser.show_as(WIDTHS[view], height, "dark" if view == "dark" else "light", phone=view == "phone")


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = cls.enterClassContext(Served())

    def test_they_fit_into_each_window_without_scripts_and_problems(self):
        with Chromium() as browser:
            browser.call("Emulation.setScriptExecutionDisabled", value=True)
            for page, view in self.served.views(browser):
                with self.subTest(page=page, view=view):
                    self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), WIDTHS[view])
                    cut = browser.run("[...document.querySelectorAll('.wide')].filter((at) => at.scrollWidth > at.clientWidth)"
                                      ".map((at) => at.querySelector('th').textContent)")
                    self.assertEqual(cut, [], "tables that are cut off")
                    self.assertGreater(browser.run("document.querySelectorAll('tbody tr').length"), 4)
                    self.assertEqual(browser.problems, [])

    def test_the_card_has_charts_errors_by_load_and_versions(self):
        with Chromium() as browser:
            browser.open(self.served.server.url(PAGES["list"]))
            browser.click(f"document.querySelector('a[href=\"{PAGES['card']}\"]')")
            browser.wait(f"location.pathname === '{PAGES['card']}' && document.readyState === 'complete'", "the card")
            self.assertEqual(browser.run("document.querySelectorAll('svg').length"), 2)
            titles = browser.run("[...document.querySelectorAll('h2, h3')].map((at) => at.textContent)")
            self.assertEqual(titles, ["Stated errors", "Rows outside the training data", "package: errors by load",
                                      "dram: errors by load", "Versions"])
            nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
            named = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node}
            for component in ("package", "dram"):
                label = f"{component}: predicted against actual watts"
                self.assertTrue({("image", label), ("img", label)} & named, named)


def take_screenshots():
    with Served() as served, Chromium() as browser:
        for page, view in served.views(browser):
            served.show(browser, view, min(browser.run("document.documentElement.scrollHeight"), SHOWN[view]))
            browser.screenshot(os.path.join(ROOT, "docs", f"model-server-{page}-{view}.png"))


if __name__ == "__main__":
    if "--screenshots" in sys.argv:
        take_screenshots()
    else:
        run_tests()
