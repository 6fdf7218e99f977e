#!/usr/bin/env python3
"""Tests of tools/served_archives.py."""
import pathlib
import tempfile
import unittest

import served_archives as tool


class Place(unittest.TestCase):
    def test_flat_names(self):
        self.assertEqual(tool.place("ec2-0.7.11_AbsPower_BPFOnly_XgboostFitTrainer_0.zip"),
                         "ec2-0.7.11/rapl-sysfs/AbsPower/BPFOnly/XgboostFitTrainer_0.zip")
        self.assertEqual(tool.place("nx12-std_v0.6_acpi_AbsPower_BPFOnly_SGDRegressorTrainer_1.zip"),
                         "nx12-std_v0.6/acpi/AbsPower/BPFOnly/SGDRegressorTrainer_1.zip")
        for name in ("SGDRegressorTrainer_0.zip", "ec2-0.7.11.zip", "README.md", "metadata.json"):
            self.assertIsNone(tool.place(name))

    def test_a_store_of_both_forms(self):
        with tempfile.TemporaryDirectory() as scratch:
            source, store = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "store")
            group = source / "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly"
            group.mkdir(parents=True)
            for path in (group / "SGDRegressorTrainer_0.zip", group / "SGDRegressorTrainer_0.json", source / "v0.7/ec2.zip",
                         source / "a_AbsPower_Basic_SVRRegressorTrainer_2.zip"):
                path.write_bytes(b"x")
            self.assertEqual(sorted(tool.make_store(source, store)),
                             ["a/rapl-sysfs/AbsPower/Basic/SVRRegressorTrainer_2.zip",
                              "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.zip"])
            self.assertTrue((store / "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.json").exists())


class Judge(unittest.TestCase):
    def test_counts_and_reasons(self):
        models = [{"id": "p/a", "weights": True}, {"id": "p/b", "weights": False}]
        skipped = [{"file": "p/c", "reason": "not a zip"}]
        imports = {"p/a.zip": "", "p/b.zip": "bad pickle", "p/c.zip": "bad pickle", "p/d.zip": ""}
        lines, missing = tool.judge(list(imports), models, skipped, imports)
        self.assertEqual(lines, ["4 archives", "2 served byte for byte", "1 served as weights, too",
                                 "2 read by kepler-model import", "not served: p/c.zip: not a zip",
                                 "not served: p/d.zip: not in the index", "not imported: 2 x bad pickle"])
        self.assertEqual(missing, ["p/c.zip", "p/d.zip"])


if __name__ == "__main__":
    unittest.main()
