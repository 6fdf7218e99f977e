#!/usr/bin/env python3
"""Tests of tools/fit_default_model.py, of the shipped model that it wrote, and of the errors in docs/default-model.md."""
import contextlib
import csv
import io
import tempfile
import unittest
from pathlib import Path

import fit_default_model as fit

ROOT = Path(__file__).resolve().parent.parent


class ShippedModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(fit.DATA / "processors.csv", newline="") as file:
            cls.processors = list(csv.DictReader(file))
        cls.names = [p["processors"] for p in cls.processors]
        cls.types = fit.read_types(cls.processors)

    def test_the_file_is_the_fit_of_the_data(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.csv"
            fit.write(path, self.processors, self.types, self.names)
            self.assertEqual(path.read_text(), (fit.DATA / "default-model.csv").read_text(),
                             "run tools/fit_default_model.py")

    def test_the_page_has_the_errors(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            fit.print_errors(self.types, self.names)
        self.assertIn(out.getvalue(), (ROOT / "docs/default-model.md").read_text(),
                      "copy the table of tools/fit_default_model.py --errors")

    def test_unseen_server_types_are_predicted_better_than_the_goal(self):
        halves = [t for i, t in enumerate(self.types) if i % 2], [t for i, t in enumerate(self.types) if i % 2 == 0]
        for known, unknown in (halves, halves[::-1]):
            errors = fit.Errors()
            model = fit.Fit(known, self.names)
            for t in unknown:
                errors.add(t, model.predict(t))
            self.assertLess(errors.mape(), 26)

    def test_measured_rows_have_types_and_others_have_none(self):
        found = {t.row_name() for t in self.types}
        for p in self.processors:
            self.assertEqual(p["measured"] == "yes", p["processors"] in found, p["processors"])


class Parts(unittest.TestCase):
    def test_curve_of_exact_measurements_is_the_measurements(self):
        watts = [50 + 7 * level * level for level in range(fit.LEVELS)]
        curve = fit.curve_of([(fit.place(level / 10), w) for level, w in enumerate(watts)])
        for expected, got in zip(watts, curve):
            self.assertAlmostEqual(expected, got, delta=0.1)

    def test_solve_finds_the_solution(self):
        solution = fit.solve([[4.0, 2.0], [2.0, 3.0]], [[10.0], [9.0]])
        self.assertAlmostEqual(solution[0][0], 1.5)
        self.assertAlmostEqual(solution[1][0], 2.0)

    def test_inputs_outside_the_data_are_moved_to_the_edge(self):
        processor = {"processors": "x", "vendor": "intel", "year": "2015", "names": "intel*", "data_names": "", "measured": "yes"}

        def server(chips, watts):
            row = {"node_type": "1", "processor": "intel_x", "cores": "8", "chips": str(chips), "memory_gib": "16",
                   "frequency_mhz": "2000"}
            return fit.Type([{**row, "utilisation": str(u / 10), "platform_watts": str(watts)} for u in range(11)], [processor])

        model = fit.Fit([server(1, 100), server(2, 180)], ["x"])
        self.assertEqual(model.inputs(server(24, 1))[2], model.inputs(server(2, 1))[2])


if __name__ == "__main__":
    unittest.main()
