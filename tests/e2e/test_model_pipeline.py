"""kepler-model validate, pipeline and plot of a table: what they print is what train, evaluate and the table say."""
import json

from harness import run_tests
from test_model import ModelTest, made_up, run

COLUMNS = ("--features=cpu_cycles,bpf_cpu_time_ms", "--trainer=linear")


class PipelineTest(ModelTest):
    def fail(self, *arguments, code=1, **_):
        """The one line on stderr of a command that fails, and what it printed before."""
        ended = run(*arguments)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        return ended.stderr, ended.stdout


class Validate(PipelineTest):
    def setUp(self):
        super().setUp()
        self.data = self.write("data.csv", made_up(["a"], rows=40))
        self.said = self.train(self.data, "model", "--target=package_power,dram_power", *COLUMNS)
        self.model = self.path("model")

    def test_each_component_has_a_line_with_its_own_error_and_the_stated_one(self):
        printed = self.succeed("validate", self.model, self.data).splitlines()
        evaluated = json.loads(self.succeed("evaluate", f"--model={self.model}", f"--data={self.data}", "--json"))
        self.assertEqual([line.partition(":")[0] for line in printed[:2]], ["package", "dram"])
        self.assertEqual(printed[2:], ["0 of 40 rows are outside the training range of the model"])
        for line in printed[:2]:
            name = line.partition(":")[0]
            own, stated = evaluated["components"][name], self.said["components"][name]
            self.assertEqual(line, f"{name}: MAE {own['mae']:.3f} W, MAPE {own['mape']:.2f} %, 40 rows; "
                                   f"stated: MAE {stated['mae']:.3f} W, MAPE {stated['mape']:.2f} %: ok")

    def test_a_limit_decides_the_exit_code(self):
        package = self.said["components"]["package"]["mae"]
        self.succeed("validate", self.model, self.data, f"--max-mae={package * 2}")
        why, printed = self.fail("validate", self.model, self.data, f"--max-mae={package / 2}")
        self.assertIn("the error of package on ", why)
        self.assertRegex(printed, r"(?m)^package: .*: FAILED: MAE is above ")
        self.assertRegex(printed, r"(?m)^dram: .*: ok$")
        why, printed = self.fail("validate", self.model, self.data, "--max-mape=0.001", "--json")
        said = json.loads(printed)
        self.assertFalse(said["valid"])
        self.assertEqual(said["components"]["package"]["exceeded"], ["MAPE is above 0.001 %"])
        self.assertEqual(said["components"]["package"]["stated_mae"], package)

    def test_data_of_another_machine_exceeds_the_stated_error(self):
        other = self.write("other.csv", made_up(["a", "b"], rows=40))
        why, printed = self.fail("validate", self.model, other)
        self.assertRegex(printed, r"(?m)^package: .*: FAILED: MAE is above \S+ W, 1.5 times the stated MAE$")
        self.assertIn("of package on", why)
        self.succeed("validate", self.model, other, "--tolerance=100")

    def test_a_model_that_states_no_error_needs_a_limit(self):
        with open(self.path("model/model.json"), encoding="utf-8") as file:
            model = json.load(file)
        for component in model["components"]:
            del component["accuracy"]
        silent = self.write("silent.json", json.dumps(model))
        why, printed = self.fail("validate", silent, self.data)
        self.assertIn("set --max-mae or --max-mape", why)
        self.assertEqual(printed, "")
        self.assertIn("no stated error: ok", self.succeed("validate", silent, self.data, "--max-mae=100"))

    def test_wrong_arguments(self):
        for arguments, words in (((), "model: is required"), ((self.model,), "data: is required"),
                                 ((self.model, self.data, "x"), "unexpected x"),
                                 ((self.model, self.data, "--max-mae=-1"), "non-negative"),
                                 ((self.model, self.data, "--tolerance=nan"), "--tolerance")):
            with self.subTest(arguments):
                ended = run("validate", *arguments)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""))
                self.assertIn(words, ended.stderr)


if __name__ == "__main__":
    run_tests()
