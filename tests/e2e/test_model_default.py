"""The shipped power model, in the shipped program: what it predicts for published servers, and bad machines."""
import csv
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = os.environ["KEPLER_MODEL_BIN"]
DATA = Path(__file__).resolve().parents[2] / "data"


def predict(machine, rows, *flags):
    text = "bpf_cpu_time_ms\n" + "".join(f"{row}\n" for row in rows)
    return subprocess.run([TOOL, "predict", "--model=default", f"--machine={machine}", "--data=-", *flags], input=text,
                          capture_output=True, text=True, timeout=30, check=False)


class DefaultModel(unittest.TestCase):
    MACHINE = "processor=amd_epyc_7763,cores=64,chips=1,memory=128,frequency=2400"

    def test_published_servers_are_predicted(self):
        types = {}
        with open(DATA / "specpower.csv", newline="") as file:
            for row in csv.DictReader(file):
                types.setdefault(row["node_type"], []).append(row)
        errors = []
        for rows in types.values():
            first = rows[0]
            machine = (f"processor={first['processor']},cores={first['cores']},chips={first['chips']},"
                       f"memory={first['memory_gib']},frequency={first['frequency_mhz']}")
            done = predict(machine, [float(row["utilisation"]) * int(first["cores"]) * 1000 for row in rows])
            self.assertEqual(done.returncode, 0, done.stderr)
            for row, said in zip(rows, csv.DictReader(io.StringIO(done.stdout)), strict=True):
                watts = float(row["platform_watts"])
                errors.append(abs(float(said["platform_power"]) - watts) / watts)
        self.assertEqual(len(types), 160)
        mape = 100 * sum(errors) / len(errors)
        self.assertLess(mape, 15, "servers in the data are not worse than those outside it")
        self.assertGreater(mape, 5, "servers of one type differ")

    def test_columns_are_components_with_their_unit(self):
        done = predict(self.MACHINE, [0, 64000])
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "row,platform_power,dram_power,package_power")
        self.assertEqual([line.split(",")[0] for line in lines[1:]], ["0", "1"])
        self.assertIn("AMD Zen 3: the mean error on other server types is ", done.stderr)

    def test_bad_machines_are_explained(self):
        for machine, said in (("cpus=8", "the keys are processor, cores, chips, memory, frequency, threads_per_core"),
                              ("cores=many", "cores: \"many\" is not a whole number"),
                              ("cores=8,cores=8", "the key cores appears twice"),
                              ("cores=0", "cores: \"0\" is not a whole number from 1"),
                              ("cores=8,frequency=-1", "frequency: \"-1\" is not a number"),
                              ("cores=8,chips=9", "chips: 9 is more than the 8 cores"),
                              ("processor=,cores=8", "processor="),
                              ("chips=1", "add cores=N"),
                              ("no-such-file.json", "no-such-file.json")):
            done = predict(machine, [0])
            self.assertNotEqual(done.returncode, 0, machine)
            self.assertIn(said, done.stderr)
        self.assertEqual(predict("", [0]).returncode, 2, "the machine is required")

    def test_a_table_without_cpu_time_is_explained(self):
        done = subprocess.run([TOOL, "predict", "--model=default", f"--machine={self.MACHINE}", "--data=-"],
                              input="row,cpu_time\n0,1\n", capture_output=True, text=True, timeout=30, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("bpf_cpu_time_ms", done.stderr)

    def test_file_is_the_machine_without_its_maximum_frequency(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "machine.json"
            made = subprocess.run([TOOL, "machine", f"--machine={self.MACHINE}"], capture_output=True, text=True, check=True)
            path.write_text(made.stdout)
            self.assertEqual(predict(path, [1000, 2000]).stdout,
                             predict(self.MACHINE.replace(",frequency=2400", ""), [1000, 2000]).stdout)


if __name__ == "__main__":
    unittest.main()
