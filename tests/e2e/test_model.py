"""kepler-model, the shipped program: what it says of a model is what its own predictions show, and no bad input leaves
anything behind."""
import csv
import json
import os
import random
import re
import resource
import signal
import subprocess

from harness import run_tests
from scratch import ScratchTest

PROGRAM = os.environ["KEPLER_MODEL_BIN"]
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
NX12 = os.path.join(ROOT, "data", "nx12.csv")
MANUAL = os.path.join(ROOT, "deploy", "kepler-model.1")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def figures(predicted, measured):
    """n, mae, mape, r2 as anybody computes them."""
    count = len(measured)
    mean = sum(measured) / count
    above = [(p, y) for p, y in zip(predicted, measured) if y >= 0.001]
    return {"n": count,
            "mae": sum(abs(p - y) for p, y in zip(predicted, measured)) / count,
            "mape": 100 * sum(abs(p - y) / y for p, y in above) / len(above),
            "r2": 1 - sum((p - y) ** 2 for p, y in zip(predicted, measured)) / sum((y - mean) ** 2 for y in measured)}


def made_up(machines=("a", "b", "c"), rows=20, **changes):
    """Text of a table whose power is a straight line, with a little noise; a machine has its own idle power."""
    dice = random.Random(1)
    lines = ["machine,cpu_cycles,bpf_cpu_time_ms,package_power,dram_power"]
    for place, machine in enumerate(machines):
        for _ in range(rows):
            cycles, time = dice.uniform(0, 1e9), dice.uniform(0, 4000)
            package = 20 + 10 * place + 3e-8 * cycles + 0.01 * time + dice.gauss(0, 0.5)
            lines.append(f"{machine},{cycles:.0f},{time:.1f},{package:.3f},{changes.get('dram', 5 + cycles * 1e-9)}")
    return "\n".join(lines) + "\n"


class ModelTest(ScratchTest):
    maxDiff = None

    def succeed(self, *arguments, **options):
        ended = run(*arguments, **options)
        self.assertEqual((ended.returncode, ended.stderr), (0, self.hint(arguments)))
        return ended.stdout

    @staticmethod
    def hint(arguments):
        """What train says of a model that agents do not take from a directory."""
        given = {flag: value for flag, _, value in (argument.partition("=") for argument in arguments)}
        if arguments[0] != "train" or "--machine" in given:
            return ""
        remedy = "; train with --machine=FILE (see kepler-model machine) to let agents take it from a directory"
        return ("kepler-model: hint: the model names no machine, so an agent uses it only if model.sources names the file "
                f"{given['--output']}/model.json{remedy}\n")

    def train(self, data, output="model", *arguments, **options):
        return json.loads(self.succeed("train", f"--data={data}", f"--output={self.path(output)}", "--json", *arguments,
                                       **options))

    def assert_figures(self, said, expected):
        for name, value in expected.items():
            self.assertAlmostEqual(said[name], value, delta=1e-9 * max(1, abs(value)), msg=name)


class RealData(ModelTest):
    """A dual-socket server under benchmarks, 2202 rows."""

    LINEAR = ("--features=CounterOnly", "--trainer=linear")

    def test_figures_are_those_of_the_predictions(self):
        out = self.path("out.csv")
        said = self.train(NX12, "model", "--folds=block5", f"--predictions={out}", *self.LINEAR)
        measured = [row for row in rows_of(NX12) if int(row["block5"]) >= 0]
        predicted = rows_of(out)
        self.assertEqual([row["row"] for row in predicted], [row["row"] for row in measured])
        self.assertEqual(list(predicted[0]), ["row", "prediction"])
        watts = [float(row["package_power"]) for row in measured]
        expected = figures([float(row["prediction"]) for row in predicted], watts)
        self.assert_figures(said, expected)
        self.assert_figures(said["components"]["package"], expected)
        self.assertLess(said["mae"], said["components"]["package"]["predicting_the_mean"]["mae"])

        evaluated = json.loads(self.succeed("evaluate", f"--model={self.path('model')}", f"--data={NX12}", "--json"))
        everything = self.path("all.csv")
        self.succeed("predict", f"--model={self.path('model')}", f"--data={NX12}", f"--output={everything}")
        self.assert_figures(evaluated, figures([float(row["prediction"]) for row in rows_of(everything)], watts))
        self.assertEqual(evaluated["outside_domain"], 0)

    def test_rows_for_training_only_are_not_predicted(self):
        out = self.path("out.csv")
        said = self.train(NX12, "model", "--folds=time70_30", f"--predictions={out}", *self.LINEAR)
        tested = [row["row"] for row in rows_of(NX12) if row["time70_30"] == "0"]
        self.assertEqual([row["row"] for row in rows_of(out)], tested)
        self.assertEqual(said["n"], len(tested))

    def test_same_features_by_any_name_and_the_same_bytes_each_time(self):
        for name, features in (("group", "CounterOnly"), ("list", "cache_miss, cpu_cycles,cpu_instructions")):
            self.train(NX12, name, f"--features={features}", "--trainer=LinearRegressionTrainer", "--name=x")
        self.assertEqual(self.read("group/model.json"), self.read("list/model.json"))
        self.assertEqual(self.read("group/card.md"), self.read("list/card.md"))
        for name, features in (("old", "bpf_cpu_time_us"), ("new", "bpf_cpu_time_ms")):
            self.train(NX12, name, f"--features={features}", "--trainer=linear", "--name=x")
        self.assertEqual(self.read("old/model.json"), self.read("new/model.json"))


    def test_a_group_of_which_the_table_lacks_a_column_is_that_of_the_older_version(self):
        self.train(NX12, "model", "--features=BPFOnly", "--trainer=linear")
        self.assertEqual(json.loads(self.read("model/model.json"))["features"], ["bpf_cpu_time_ms"])
        ended = run("train", f"--data={NX12}", f"--output={self.path('none')}", "--features=AcceleratorOnly")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("nx12.csv: feature group AcceleratorOnly: missing: accelerator_intel_qat", ended.stderr)


class MadeUpData(ModelTest):
    FEATURES = ("--features=cpu_cycles,bpf_cpu_time_us", "--trainer=linear")

    def test_what_is_tested_is_not_looked_at(self):
        """Labels of one fold, and features of half of it, may be anything: what the other half is predicted stays."""
        plain = rows_of(self.write("plain.csv", made_up(rows=40)))
        for place, row in enumerate(plain):
            row["fold"] = str(place // 10 % 4)
            del row["machine"]  # with folds, several machines give a note

        def predictions(rows, name, trainer):
            with open(self.path("data.csv"), "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            out = self.path(f"{name}.csv")
            self.train(self.path("data.csv"), "model", "--folds=fold", f"--predictions={out}", f"--trainer={trainer}",
                       "--features=cpu_cycles,bpf_cpu_time_ms")
            return [row["prediction"] for row in rows_of(out)]

        for trainer in ("linear", "polynomial", "auto"):
            before = predictions(plain, "before", trainer)
            for factor in (0.01, 100):
                with self.subTest(trainer=trainer, factor=factor):
                    changed = [dict(row) for row in plain]
                    for place, row in enumerate(changed):
                        if row["fold"] == "2":
                            row["package_power"] = str(float(row["package_power"]) * factor)
                            if place % 2:
                                row["cpu_cycles"] = str(float(row["cpu_cycles"]) * factor)
                                row["bpf_cpu_time_ms"] = str(float(row["bpf_cpu_time_ms"]) * factor)
                    after = predictions(changed, "after", trainer)
                    kept = [i for i, row in enumerate(plain) if row["fold"] == "2" and i % 2 == 0]
                    self.assertEqual([before[i] for i in kept], [after[i] for i in kept])
                    others = [i for i, row in enumerate(plain) if row["fold"] != "2"]
                    self.assertNotEqual([before[i] for i in others], [after[i] for i in others])

    def test_a_candidate_of_auto_that_cannot_be_fitted_is_null(self):
        lines = made_up(["a"]).splitlines()
        lines[2] = "a,1e300,100,21,5"
        said = self.train(self.write("data.csv", "\n".join(lines)), "model", "--features=cpu_cycles,bpf_cpu_time_ms")
        candidates = said["components"]["package"]["candidates"]
        lost = [of for of in candidates if of["mae"] is None]
        self.assertTrue(lost)
        self.assertEqual([of["weight"] for of in lost], [0] * len(lost))
        self.assertLess(len(lost), len(candidates))

    def test_watts_of_next_to_nothing_leave_figures_that_are_numbers(self):
        lines = made_up(["a"]).splitlines()
        lines[3] = "a,1000,100,1e-310,5"
        said = self.train(self.write("data.csv", "\n".join(lines)), "model", *self.FEATURES)
        self.assertLess(said["mape"], 1e6)
        self.succeed("predict", f"--model={self.path('model')}", f"--data={self.path('data.csv')}")

    def test_whole_machines_are_left_out(self):
        data, out = self.write("fleet.csv", made_up()), self.path("out.csv")
        said = self.train(data, "model", "--group=machine", f"--predictions={out}", *self.FEATURES)
        self.assertEqual(said["n"], 60)
        self.assertIn("3 values of column machine", said["judged"])
        rows = [float(row["package_power"]) for row in rows_of(data)]
        predicted = [float(row["prediction"]) for row in rows_of(out)]
        # Machine a idles at 20 W, the mean of the others at 35 W: who has seen a would know.
        self.assertAlmostEqual(sum(predicted[:20]) / 20 - sum(rows[:20]) / 20, 15, delta=1)
        self.assertEqual([machine["name"] for machine in said["machines"]], ["a", "b", "c"])
        self.assertGreater(said["machines"][0]["errors"][0]["mae"], 14)
        self.assertIn("| a | package | 20 |", self.read("model/card.md").decode())

    def test_several_machines_are_left_out_in_turn_unless_folds_are_given(self):
        data = self.write("fleet.csv", made_up())
        self.assertIn("3 values of column machine", self.train(data, "model", *self.FEATURES)["judged"])
        self.assertIn("MAPE by machine: median ", self.succeed("train", f"--data={data}", f"--output={self.path('model')}",
                                                               *self.FEATURES))
        single = self.train(self.write("one.csv", made_up(["a"])), "model", *self.FEATURES)
        self.assertIn("5 blocks", single["judged"])
        self.assertNotIn("machines", single)
        renamed = self.train(self.write("host.csv", made_up().replace("machine", "host")), "model", *self.FEATURES)
        self.assertIn("5 blocks", renamed["judged"])

    def test_a_model_per_core_serves_another_size(self):
        """Machines of 2 to 8 CPUs with 5 W idle and 10 W of load per CPU; the largest is predicted by the others."""
        sizes = {"a": 2, "b": 3, "c": 4, "big": 8}
        lines = ["node,bpf_cpu_time_ms,package_power"]
        for node, cores in sizes.items():
            lines += [f"{node},{load * cores * 1000},{cores * (5 + 10 * load)}" for load in (0, .2, .4, .6, .8, 1)]
        small = self.write("small.csv", "\n".join(lines[:-6]))
        big = self.write("big.csv", "\n".join(lines[:1] + lines[-6:]))
        fleet = self.write("fleet.json", json.dumps({node: {"processor": "x", "cores": cores} for node, cores in sizes.items()}))
        model, flags = f"--model={self.path('model')}", ("--features=bpf_cpu_time_ms", "--trainer=linear", "--per=core")
        said = self.train(small, "model", f"--machine={fleet}", *flags)
        self.assertLess(said["mape"], 0.1)
        written = json.loads(self.read("model/model.json"))
        self.assertEqual((written["per"], written["domain"], written["machine"]), ("core", [[0, 1000]], {"processor": "x"}))
        self.assertIn("It is a model of one logical CPU.", self.read("model/card.md").decode())
        for machine in (fleet, self.write("one.json", '{"cores": 8}')):
            judged = json.loads(self.succeed("evaluate", model, f"--data={big}", f"--machine={machine}", "--json"))
            self.assertLess(judged["mape"], 0.1)
            self.assertEqual(judged["outside_domain"], 0)
        watts = [float(line.split(",")[1]) for line in self.succeed("predict", model, f"--data={big}",
                                                                    f"--machine={fleet}").splitlines()[1:]]
        self.assertAlmostEqual(watts[-1], 8 * 15, delta=0.1)
        ended = run("predict", model, f"--data={big}")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("big.csv: no column 'cores' with this attribute of the machine; add it, or set --machine", ended.stderr)
        printed = self.succeed("export", model, f"--output={self.path('model.zip')}")
        self.assertIn("per logical CPU", printed)

    def test_attributes_of_machines_are_features(self):
        data = self.write("fleet.csv", made_up())
        fleet = self.write("fleet.json", json.dumps({name: {"processor": name, "memory_gib": 2 * place + 1}
                                                     for place, name in enumerate("abc")}))
        flags = ("--features=cpu_cycles,bpf_cpu_time_ms,memory_gib", "--trainer=linear", f"--machine={fleet}", "--group=machine")
        ended = run("train", f"--data={data}", f"--output={self.path('model')}", "--json", *flags)
        self.assertIn("its machines have different processors", ended.stderr)
        self.assertLess(json.loads(ended.stdout)["mae"], 2)  # the idle power of a machine grows with its memory
        self.assertNotIn("machine", json.loads(self.read("model/model.json")))
        judged = json.loads(self.succeed("evaluate", f"--model={self.path('model')}", f"--data={data}", "--json",
                                         f"--machine={fleet}"))
        self.assertLess(judged["mae"], 2)
        ended = run("evaluate", f"--model={self.path('model')}", f"--data={data}",
                    f"--machine={self.write('less.json', json.dumps({'a': {'memory_gib': 1}}))}")
        self.assertIn("less.json: no machine 'b' of column 'machine'", ended.stderr)

    def test_folds_that_cut_through_a_machine_still_do_not_see_it(self):
        lines = made_up().splitlines()
        lines = [lines[0] + ",fold"] + [f"{line},{i % 2 if i < 20 else -1}" for i, line in enumerate(lines[1:])]
        data, out = self.write("fleet.csv", "\n".join(lines)), self.path("out.csv")
        self.train(data, "model", "--group=machine", "--folds=fold", f"--predictions={out}", *self.FEATURES)
        error = [float(p["prediction"]) - float(y["package_power"]) for p, y in zip(rows_of(out), rows_of(data))]
        self.assertAlmostEqual(sum(error) / len(error), 15, delta=1)

    def test_rows_sorted_by_load_are_noted(self):
        lines = made_up(rows=40).splitlines()
        place = lines[0].split(",").index("package_power")
        in_order = [lines[0], *sorted(lines[1:], key=lambda line: float(line.split(",")[place]))]
        without_machines = [line.split(",", 1)[1] for line in in_order]
        for rows, noted in ((without_machines, True), (in_order, False), ([line.split(",", 1)[1] for line in lines], False)):
            with self.subTest(noted=noted, columns=rows[0]):
                data = self.write("data.csv", "\n".join(rows) + "\n")
                ended = run("train", f"--data={data}", f"--output={self.path('model')}", *self.FEATURES)
                self.assertEqual((ended.returncode, "rows are sorted by 'package_power'" in ended.stderr), (0, noted),
                                 ended.stderr)

    def test_two_components_are_one_model(self):
        data, out = self.write("node.csv", made_up(["a"])), self.path("out.csv")
        said = self.train(data, "model", "--target=package_power,dram_power", f"--predictions={out}", *self.FEATURES)
        self.assertEqual(set(said["components"]), {"package", "dram"})
        self.assertNotIn("mae", said)
        self.assertEqual(list(rows_of(out)[0]), ["row", "package", "dram"])
        self.assertEqual([row["row"] for row in rows_of(out)], [str(i) for i in range(20)])
        printed = self.succeed("evaluate", f"--model={self.path('model')}", f"--data={data}")
        self.assertRegex(printed, r"(?m)^package +20 +\d")
        self.assertRegex(printed, r"(?m)^dram +20 +\d")
        self.assertEqual(self.succeed("predict", f"--model={self.path('model/model.json')}", "--data=-",
                                      input=made_up(["a"])).splitlines()[0], "row,package,dram")

    def test_other_names_of_targets(self):
        data = self.write("node.csv", made_up(["a"]).replace("package_power", "wall"))
        said = self.train(data, "model", "--target=wall", "--component=platform", *self.FEATURES)
        self.assertEqual(said["components"]["platform"]["target"], "wall")
        evaluated = json.loads(
            self.succeed("evaluate", f"--model={self.path('model')}", f"--data={data}", "--target=wall", "--json"))
        self.assertEqual(evaluated["n"], 20)

    def test_a_component_that_is_not_metered_is_zero(self):
        data = self.write("node.csv", made_up(["a"], dram=0))
        ended = run("train", f"--data={data}", f"--output={self.path('model')}", "--target=dram_power", "--json",
                    *self.FEATURES)
        self.assertEqual(ended.returncode, 0)
        self.assertIn("'dram_power' is 0 in every row", ended.stderr)
        self.assertEqual(json.loads(ended.stdout)["components"]["dram"]["trainer"], "constant")
        ended = run("predict", f"--model={self.path('model')}", f"--data={data}")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("dram and every other component give 0 W for every row", ended.stderr)

    def test_auto_is_reproducible_and_says_what_it_took(self):
        data = self.write("node.csv", made_up(["a"], rows=40))
        features = "--features=cpu_cycles,bpf_cpu_time_ms"
        said = self.train(data, "one", features, "--seed=7", "--name=x")
        self.train(data, "two", features, "--seed=7", "--name=x")
        self.assertEqual(self.read("one/model.json"), self.read("two/model.json"))
        of = said["components"]["package"]
        self.assertRegex(of["trainer"], r"^auto\(.+\)$")
        self.assertAlmostEqual(sum(candidate["weight"] for candidate in of["candidates"]), 1)
        self.assertLess(said["mae"], of["predicting_the_mean"]["mae"] / 2)

    def test_a_search_is_reproducible_and_a_part_of_what_is_said(self):
        data = self.write("node.csv", made_up(["a"], rows=40))
        arguments = ("--features=cpu_cycles,bpf_cpu_time_ms", "--seed=3", "--name=x")
        said = self.train(data, "one", "--search=4", *arguments)
        self.assertEqual({key: said[key] for key in ("seed", "search", "budget", "good_enough")},
                         {"seed": 3, "search": 4, "budget": "0s", "good_enough": 0})
        self.assertEqual(said["components"]["package"]["searched"], 4)
        self.assertIn("* seed: 3\n* `--search`: 4\n* package: tried at random for the model of all rows: 4\n",
                      self.read("one/card.md").decode())
        candidates = said["components"]["package"]["candidates"]
        self.train(data, "two", "--search=4", *arguments)
        self.assertEqual(self.read("one/model.json"), self.read("two/model.json"))
        plain = self.train(data, "plain", *arguments)["components"]["package"]["candidates"]
        self.assertTrue(len(plain) < len(candidates) <= len(plain) + 3)
        # What is good enough at once is not searched for.
        again = self.train(data, "three", "--search=4", "--good-enough=1000", *arguments)["components"]["package"]["candidates"]
        self.assertEqual(len(again), len(plain))

    def test_a_budget_ends_a_search(self):
        data = self.write("node.csv", made_up(["a"], rows=40))
        self.train(data, "model", "--features=cpu_cycles,bpf_cpu_time_ms", "--budget=100ms")
        # A share of it that is less than a nanosecond is not endless.
        said = self.train(data, "least", "--features=cpu_cycles,bpf_cpu_time_ms", "--budget=1ns")
        self.assertEqual(said["components"]["package"]["searched"], 1)
        self.assertIn("* `--budget`: 1ns\n", self.read("least/card.md").decode())

    def test_versions_and_errors_on_other_machines_stand_in_the_file(self):
        data = self.write("fleet.csv", made_up())
        self.train(self.write("node.csv", made_up(["a"])), "one", "--model-version=7", *self.FEATURES)
        one = json.loads(self.read("one/model.json"))
        self.assertEqual(one["version"], 7)
        self.assertNotIn("unseen", one["components"][0])
        said = self.train(data, "fleet", "--group=machine", *self.FEATURES)
        fleet = json.loads(self.read("fleet/model.json"))
        self.assertEqual(fleet["version"], 1)
        self.assertAlmostEqual(fleet["components"][0]["unseen"]["mae_watts"], said["mae"])

    def test_the_machine_stands_in_the_model_and_on_its_card(self):
        data = self.write("node.csv", made_up(["a"]))
        machine = self.write("machine.json", self.succeed("machine"))
        self.train(data, "model", f"--machine={machine}", *self.FEATURES)
        known = json.loads(self.read("machine.json"))
        self.assertTrue(known.items() <= json.loads(self.read("model/model.json"))["machine"].items())
        self.assertIn(f'"cores":{os.cpu_count()}', self.read("model/card.md").decode())
        for text, words in (("{}", "no property of this machine is known"), ('{"cores": -1}', "cores"), ("[", "parse JSON")):
            ended = run("train", f"--data={data}", f"--output={self.path('bad')}",
                        f"--machine={self.write('bad.json', text)}", *self.FEATURES)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("bad.json", ended.stderr)
            self.assertIn(words, ended.stderr)
            self.assertFalse(os.path.exists(self.path("bad")))

    def test_the_directory_keeps_its_other_files(self):
        data = self.write("node.csv", made_up(["a"]))
        os.mkdir(self.path("model"))
        self.write("model/notes.txt", "mine")
        self.write("model/model.json", "old")
        self.train(data, "model", *self.FEATURES)
        self.assertEqual(sorted(os.listdir(self.path("model"))), ["card.md", "model.json", "notes.txt"])
        self.assertIn(b"kepler_model", self.read("model/model.json"))
        card = self.read("model/card.md").decode()
        for words in ("node.csv`, 20 rows", "SHA-256", "| cpu_cycles |", "5 blocks", "Do not use it for"):
            self.assertIn(words, card)


class ModelsOfOthers(ModelTest):
    """Weight files of Kepler and JSON of XGBoost; what they predict is computed by hand."""

    ROWS = "bpf_cpu_time_ms,bpf_page_cache_hit,package_power,dram_power\n0,0,10,1\n1000,5,30,2\n2000,0,60,3\n"

    def setUp(self):
        super().setUp()
        self.data = self.write("data.csv", self.ROWS)

    def predicted(self, model, *arguments):
        out = self.path("out.csv")
        self.succeed("predict", f"--model={model}", f"--data={self.data}", f"--output={out}", *arguments)
        return [float(row["prediction"]) for row in rows_of(out)]

    @staticmethod
    def weights(inner):
        return json.dumps({"package": {"All_Weights": {
            "Categorical_Variables": {},
            "Numerical_Variables": {"bpf_cpu_time_ms": {"scale": 500, "weight": 8},
                                    "bpf_page_cache_hit": {"scale": 1, "weight": 0}}, **inner}}})

    BOOSTER = {"learner": {"objective": {"name": "reg:squarederror"},
                           "learner_model_param": {"base_score": "1E1", "num_feature": "2"},
                           "gradient_booster": {"name": "gbtree", "model": {"trees": [
                               {"left_children": [1, -1, -1], "right_children": [2, -1, -1],
                                "split_indices": [0, 0, 0], "split_conditions": [1000, 1, 42],
                                "default_left": [0, 0, 0]}]}}}}
    FEATURES = "--features=bpf_cpu_time_ms,bpf_page_cache_hit"

    def test_linear_weights(self):
        model = self.write("weights.json", self.weights({"Bias_Weight": 12}))
        self.assertEqual(self.predicted(model), [12, 28, 44])
        said = json.loads(self.succeed("evaluate", f"--model={model}", f"--data={self.data}", "--json"))
        self.assert_figures(said, figures([12, 28, 44], [10, 30, 60]))
        self.assertEqual(said["components"]["package"]["trainer"], "weights")
        self.assertNotIn("outside_domain", said)
        printed = self.succeed("evaluate", f"--model={model}", f"--data={self.data}")
        self.assertIn("does not state its training range", printed)

    def test_curves_go_by_the_name_of_their_file_or_directory(self):
        text = self.weights({"CurveFit_Weights": [8, 0.5, 2, 3]})
        expected = [3 + 8 / (1 + 2.718281828459045 ** (-2 * (x - 0.5))) for x in (0, 2, 4)]
        os.mkdir(self.path("LogisticRegressionTrainer_1"))
        for name in ("LogisticRegressionTrainer_0.json", "LogisticRegressionTrainer_1/weight.json"):
            model = self.write(name, text)
            for given in (model, os.path.dirname(model)) if name.endswith("/weight.json") else (model,):
                with self.subTest(given):
                    for said, wanted in zip(self.predicted(given), expected):
                        self.assertAlmostEqual(said, wanted, places=9)

    def test_xgboost_with_and_without_names(self):
        model = self.write("booster.json", json.dumps(self.BOOSTER))
        self.assertEqual(self.predicted(model, self.FEATURES), [11, 52, 52])
        ended = run("predict", f"--model={model}", f"--data={self.data}")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("booster.json: the file does not name its 2 features", ended.stderr)
        named = json.loads(json.dumps(self.BOOSTER))
        named["learner"]["feature_names"] = ["bpf_cpu_time_us", "bpf_page_cache_hit"]
        model = self.write("named.json", json.dumps(named))
        self.assertEqual(self.predicted(model), [11, 52, 52])
        said = json.loads(self.succeed("evaluate", f"--model={model}", f"--data={self.data}", "--target=dram_power",
                                       "--json"))
        self.assert_figures(said["components"]["dram"], figures([11, 52, 52], [1, 2, 3]))


GOOD = made_up(["a"])
COLUMNS = ("--target=package_power", "--features=cpu_cycles,bpf_cpu_time_ms", "--trainer=linear")
LINES = GOOD.splitlines()


def with_column(name, values):
    return "\n".join([f"{LINES[0]},{name}"] + [f"{line},{values[i % len(values)]}" for i, line in enumerate(LINES[1:])])


# What is wrong: text of the file, more arguments, what the message must say.
BAD = {
    "empty file": ("", (), "FILE: line 1"),
    "header only": (LINES[0] + "\n", (), "FILE: line 2: no row"),
    "three rows": ("\n".join(LINES[:4]), (), "FILE: 3 rows; training needs at least 10"),
    "short row": (GOOD.replace(LINES[5], "a,1,2"), (), "FILE: line 6: 3 cells, but the header has 5"),
    "quote that is not closed": (GOOD.replace(LINES[5], '"a,1,2,3,4'), (), "FILE: line "),
    "text for a number": (GOOD.replace(LINES[3], "a,many,1,2,3"), (), "FILE: line 4, column 2 ('cpu_cycles'): 'many'"),
    "empty cell": (GOOD.replace(LINES[3], "a,,1,2,3"), (), "FILE: line 4, column 2 ('cpu_cycles'): the cell is empty"),
    "NaN in the labels": (GOOD.replace(LINES[3], "a,1,1,nan,3"), (), "FILE: line 4, column 4 ('package_power')"),
    "infinite feature": (GOOD.replace(LINES[3], "a,inf,1,2,3"), (), "FILE: line 4, column 2"),
    "column twice": (GOOD.replace("dram_power", "cpu_cycles"), (), "FILE: line 1: two columns have the name 'cpu_cycles'"),
    "names of the same feature": (with_column("bpf_cpu_time_us", [1]), (), "FILE: columns 'bpf_cpu_time_ms' and"),
    "no such feature": (GOOD.replace("cpu_cycles", "cpu_cycle"), (), "FILE: no column 'cpu_cycles'; did you mean cpu_cycle?"),
    "no such target": (GOOD.replace("package_power", "pakage_power"), (), "FILE: no column 'package_power'; did you mean"),
    "no such fold column": (GOOD, ("--folds=fold",), "FILE: no column 'fold'"),
    "no such group column": (GOOD, ("--group=machines",), "FILE: no column 'machines'; did you mean machine?"),
    "one group": (GOOD, ("--group=machine",), "FILE: column 'machine' has a single value"),
    "folds that are no numbers": (with_column("fold", ["x"]), ("--folds=fold",), "FILE: line 2, column 6 ('fold'): 'x'"),
    "half a fold": (with_column("fold", [0, 0.5]), ("--folds=fold",), "FILE: line 3, column 'fold': 0.5 is not a fold"),
    "negative fold": (with_column("fold", [0, -2]), ("--folds=fold",), "FILE: line 3, column 'fold': -2 is not a fold"),
    "no fold to test": (with_column("fold", [-1]), ("--folds=fold",), "FILE: column 'fold' has no row to test"),
    "nothing to train on": (with_column("fold", [3]), ("--folds=fold",), "FILE: fold 1 of 1 leaves 0 rows to train on"),
    "constant labels": ("\n".join([LINES[0]] + [f"a,{i},{i},42,1" for i in range(20)]), (),
                        "FILE: column 'package_power' is 42 in every row"),
    "more folds than are fitted": ("cpu_cycles,bpf_cpu_time_ms,package_power,fold\n" +
                                   "".join(f"{i},{i},{i},{i}\n" for i in range(1001)), ("--folds=fold",),
                                   "FILE: column 'fold' has more than 1000 folds"),
    "watts that cannot be": (GOOD.replace(LINES[3], "a,1,1,1e13,3"), (), "FILE: line 4, column 'package_power': "),
    "watts below 0": ("cpu_cycles,bpf_cpu_time_ms,package_power\n" +
                      "".join(f"{i},{i},{-i if i else 0.5}\n" for i in range(50)), (),
                      "FILE: power is below 0 W in 49 of 50 rows (the first: line 3, column 'package_power': -1 W)"),
}


class WrongUsage(ModelTest):
    def test_every_mistake_on_the_command_line_has_one_form(self):
        for arguments in ((), ("--colour",), ("trian",), ("train", "--colour"), ("train", "--trainer=none", *COLUMNS[:2]),
                          ("train", f"--data={NX12}"), ("plot", f"--data={NX12}", "--output=page.pdf"),
                          *(("train", f"--data={NX12}", "--output=x", *COLUMNS[:2], "--trainer=knn", f"--set={wrong}")
                            for wrong in ("k", "k=nan", "k=0", "k=2.5", "kk=3")),
                          *((command, "--model=default", f"--data={NX12}", "--machine=cores=-1")
                            for command in ("predict", "evaluate", "validate")),
                          ("pipeline", f"--data={NX12}", "--output=x", "--machine=chips=2,cores=1"),
                          ("machine", "--machine=cores=nan"),
                          ("query", "--server=http://h", "--output=x"), ("isolate", "--input=x", "--output=y", "--method=q")):
            with self.subTest(arguments):
                ended = run(*arguments, cwd=self.directory)
                self.assertEqual((ended.returncode, ended.stdout, os.listdir(self.directory)), (2, "", []))
                program = "kepler-model" + (f" {arguments[0]}" if len(arguments) > 1 else "")
                self.assertRegex(ended.stderr, rf"\A({program}: error: .+(, t|\? T)ry --help\n)+\Z")


class SomeBadRows(ModelTest):
    def test_rows_below_0_watts_are_left_out_of_everything_and_counted(self):
        lines = GOOD.splitlines()
        bad = self.write("bad.csv", "\n".join([*lines[:8], "a,1,1,-3,0", *lines[8:]]))
        good = self.write("good.csv", GOOD)
        out = self.path("out.csv")
        train = ("train", f"--data={bad}", f"--output={self.path('model')}", f"--predictions={out}", "--json", *COLUMNS)
        ended = run(*train)
        self.assertEqual((ended.returncode, ended.stderr),
                         (0, f"kepler-model: {bad}: ignored 1 of 21 rows with power below 0 W\n"
                          + self.hint(train)))
        said = json.loads(ended.stdout)
        self.assertEqual((said["rows"], said["n"], said["mape_rows"]), (20, 20, 20))
        self.assertEqual([int(row["row"]) for row in rows_of(out)], [*range(7), *range(8, 21)])
        self.train(good, "same", "--name=model", *COLUMNS)
        self.assertEqual(json.loads(self.read("model/model.json"))["components"][0]["predictor"],
                         json.loads(self.read("same/model.json"))["components"][0]["predictor"])
        ended = run("evaluate", f"--model={self.path('model')}", f"--data={bad}", "--json")
        self.assertEqual((ended.returncode, json.loads(ended.stdout)["n"]), (0, 20))
        self.assertIn("ignored 1 of 21 rows", ended.stderr)

    def test_percentage_of_nothing_is_none(self):
        idle = self.write("idle.csv", "cpu_cycles,package_power\n" + "".join(f"{i},0\n" for i in range(20)))
        ended = run("train", f"--data={idle}", f"--output={self.path('model')}", "--features=cpu_cycles", "--trainer=linear")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"(?m)^package +20 +0\.000 +- ")
        self.train(self.write("data.csv", GOOD), "good", "--features=cpu_cycles", "--trainer=linear")
        evaluated = json.loads(self.succeed("evaluate", f"--model={self.path('good')}", f"--data={idle}", "--json"))
        self.assertEqual((evaluated["mape"], evaluated["mape_rows"]), (None, 0))


class BadInput(ModelTest):
    def refuse(self, *arguments, code=1, says=(), **options):
        before = sorted(os.listdir(self.directory))
        ended = run(*arguments, **options)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        for words in says:
            self.assertIn(words, ended.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def refuse_training(self, data, *arguments, **options):
        self.refuse("train", f"--data={data}", f"--output={self.path('model')}", f"--predictions={self.path('out.csv')}",
                    *COLUMNS, *arguments, **options)

    def test_each_bad_table_is_refused_with_its_place_and_leaves_nothing(self):
        for name, (text, arguments, message) in BAD.items():
            with self.subTest(name):
                data = self.write("data.csv", text)
                self.refuse_training(data, *arguments, says=[message.replace("FILE", data)])

    def test_files_that_cannot_be_read(self):
        self.refuse_training(self.path("none.csv"), says=["none.csv: No such file or directory"])
        self.refuse_training(self.directory, code=3, says=[f"{self.directory}: Is a directory"])
        with open(self.path("large.csv"), "w", encoding="utf-8") as file:
            file.truncate((1 << 30) + 1)
        self.refuse_training(self.path("large.csv"), says=["large.csv: larger than the maximum of 1024 MiB"])

    def test_pipes_without_a_writer_and_devices_are_not_waited_for(self):
        data = self.write("data.csv", GOOD)
        device = "/dev/zero: a device; use a file or a pipe"
        self.refuse_training("/dev/zero", says=[device])
        self.refuse_training(data, "--machine=/dev/zero", says=[device])
        self.refuse("predict", "--model=/dev/zero", f"--data={data}", says=[device])
        pipe = self.path("pipe")
        os.mkfifo(pipe)  # which takes seconds: one command stands for all
        self.refuse_training(pipe, says=[f"{pipe}: a pipe without a writer"])

    def test_places_that_cannot_be_written(self):
        data = self.write("data.csv", GOOD)
        self.refuse("train", f"--data={data}", f"--output={data}", *COLUMNS, says=["data.csv/model.json"])
        self.refuse("train", f"--data={data}", "--output=/proc/model", *COLUMNS, says=["/proc/model"])
        self.refuse_training(data, "--json", code=3, says=["File too large"], restore_signals=False, preexec_fn=self.small_files)
        self.refuse("train", f"--data={self.path('none')}", f"--output={self.path('model')}",
                    f"--predictions={self.path('x/../model/card.md')}", *COLUMNS, says=["are the same file"])
        self.refuse("train", f"--data={data}", f"--output={self.path('model')}", "--predictions=/dev/full", *COLUMNS,
                    code=3, says=["/dev/full: No space left on device"])

    def test_outputs_that_would_replace_inputs(self):
        data = self.write("data.csv", GOOD)
        machine = self.write("machine.json", '{"processor":"intel_xeon_gold_6230","cores":40}')
        model = self.path("model")
        self.succeed("train", f"--data={data}", f"--output={model}", *COLUMNS)
        says = ["are the same file; use another output"]
        for output in (data, machine):
            self.refuse("train", f"--data={data}", f"--output={self.path('new')}", f"--machine={machine}",
                        f"--predictions={output}", *COLUMNS, says=says)
        for output in (data, machine, f"{model}/model.json"):
            self.refuse("predict", f"--model={model}", f"--data={data}", f"--machine={machine}", f"--output={output}",
                        says=says)
        for output in ("model.json", "card.md"):
            self.refuse("export", f"--model={model}", f"--output={model}/{output}", says=says)
        self.refuse("import", f"--archive={model}/model.json", f"--output={model}", "--name=new", says=says)
        self.refuse("predict", f"--model={model}", f"--data={data}", "--output=",
                    says=["the name of the output file is empty"])

    @staticmethod
    def small_files():
        """As a full disk: model.json and the others end after 1 kB."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    def test_models_that_are_none(self):
        data = self.write("data.csv", GOOD)
        for text in ("", "{", '{"kepler_model": 1}', '{"kepler_model": 99}', "[]", "\x00" * 100):
            with self.subTest(text):
                model = self.write("model.json", text)
                self.refuse("evaluate", f"--model={model}", f"--data={data}", says=[f"{model}: "])
                self.refuse("predict", f"--model={model}", f"--data={data}", f"--output={self.path('out.csv')}",
                            says=[f"{model}: "])
        self.refuse("predict", f"--model={self.path('none')}", f"--data={data}", says=["No such file"])

    def test_a_model_larger_than_what_is_read_is_not_written(self):
        dice = random.Random(1)
        columns = [f"c{i}" for i in range(60)]
        bodies = [",".join(f"{dice.random()}" for _ in columns) for _ in range(50)]
        with open(self.path("large.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(columns) + ",package_power,fold\n")
            file.writelines(f"{bodies[i % 50]},{i % 7},{0 if i < 10 else -1}\n" for i in range(65_000))
        self.refuse("train", f"--data={self.path('large.csv')}", f"--output={self.path('model')}", "--trainer=knn",
                    "--folds=fold", f"--features={','.join(columns)}", says=["the model has ", "no more than 64 are read"])

    def test_data_that_the_model_cannot_be_judged_by(self):
        data = self.write("data.csv", GOOD)
        self.train(data, "model", *COLUMNS)
        model = f"--model={self.path('model')}"
        blind = self.write("blind.csv", GOOD.replace("package_power", "watts"))
        self.refuse("evaluate", model, f"--data={blind}", says=["blind.csv: no column 'package_power'", "--target"])
        poor = self.write("poor.csv", GOOD.replace("cpu_cycles", "x"))
        self.refuse("evaluate", model, f"--data={poor}", says=["poor.csv: no column 'cpu_cycles'"])
        self.refuse("predict", model, f"--data={poor}", says=["poor.csv: no column 'cpu_cycles'"])
        self.refuse("evaluate", model, f"--data={data}", "--target=dram_power", "--component=dram",
                    says=["no component dram"])
        self.refuse("evaluate", model, f"--data={data}", "--target=dram_power", says=["no component dram"])


class Usage(ModelTest):
    def test_wrong_flags_exit_with_2(self):
        full = ["train", "--data=x", "--features=y", f"--output={self.path('model')}"]
        for arguments, words in (
                ([], "a command is missing"),
                (["trainn"], "did you mean train?"),
                (["--data=x"], "unknown flag '--data=x' before a command"),
                (["train"], "data: is required; give --data"),
                (["train", "--dta=x"], "did you mean --data?"),
                (["evaluate", "--model=x"], "data: is required"),
                ([*full, "--trainer=linaer"], "no trainer 'linaer'; did you mean linear?"),
                ([*full, "--target=watts"], "--target: the name of column 'watts' contains no component"),
                ([*full, "--target=watts", "--component=cpu"], "'cpu' is not a component"),
                ([*full, "--target=package_power,package_watts"], "package appears twice"),
                ([*full, "--target=,"], "--target: has no column"),
                ([*full, "--set=trees=1"], "auto selects hyper-parameters itself"),
                ([*full, "--trainer=xgboost", "--set=bins=1"], "it must be 0, or a whole number from 2 to 65536"),
                ([*full, "--trainer=knn", "--set=k=3,k=4"], "parameter 'k' appears twice"),
                ([*full, "--search=3", "--trainer=linear"], "only auto searches"),
                ([*full, "--good-enough=3"], "needs --search or --budget"),
                ([*full, "--budget=-1s"], "must not be negative"),
                ([*full, "--model-version=-1"], "-1 is less than 0"),
                ([*full, f"--name={'x' * 256}"], "--name: name: longer than 255 bytes"),
                ([*full, "--seed=-1"], "--seed: -1 is less than 0")):
            with self.subTest(arguments):
                ended = run(*arguments)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""))
                self.assertIn(words, ended.stderr)

    def test_help_and_version(self):
        ended = run("--help")
        self.assertEqual(ended.returncode, 0)
        for words in ("train", "evaluate", "predict", "Examples:"):
            self.assertIn(words, ended.stdout)
        helped = run("train", "--help")
        self.assertEqual(helped.returncode, 0)
        self.assertTrue(helped.stdout.startswith("usage: kepler-model train [<flags>]\n"), helped.stdout)
        for words in ("--data=PATH", "(required)", "linear", "LinearRegressionTrainer", "Examples:"):
            self.assertIn(words, helped.stdout)
        with open(MANUAL, encoding="utf-8") as file:
            manual = file.read().replace("\\-", "-")
        for text in (ended.stdout, helped.stdout, manual):
            examples = re.findall(r"(?m)^ *kepler-model train --data=(?:.*\\\n)*.*$", text)
            self.assertTrue(examples)
            for example in examples:
                self.assertRegex(example, "--machine=|--group=", "agents would ignore the model")
                self.assertNotRegex(example, "CounterOnly|cpu_cycles", "most agents do not know these features")
        self.assertRegex(self.succeed("--version"), r"^kepler-model, version \S+ \(branch: ")

    def test_a_full_disk_under_stdout_is_an_error(self):
        data = self.write("data.csv", GOOD)
        self.train(data, "model", *COLUMNS)
        for command in ("evaluate", "predict"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                ended = subprocess.run([PROGRAM, command, f"--model={self.path('model')}", f"--data={data}"],
                                       stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 3)
            self.assertIn("No space left on device", ended.stderr)

    def test_training_that_cannot_say_how_it_went_writes_nothing(self):
        data = self.write("data.csv", GOOD)
        for more in ((), ("--json",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                ended = subprocess.run([PROGRAM, "train", f"--data={data}", f"--output={self.path('model')}", *COLUMNS,
                                        *more], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 3)
            self.assertIn("standard output: No space left on device", ended.stderr)
            self.assertEqual(os.listdir(self.directory), ["data.csv"])


class Machine(ModelTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("proc"))
        self.write("proc/cpuinfo", "processor : 0\nmodel name : Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz\nphysical id : 0\n")
        self.write("proc/meminfo", "MemTotal: 4294967 kB\n")
        self.tree = [f"--procfs={self.path('proc')}", f"--sysfs={self.path('none')}"]

    def test_what_this_machine_is(self):
        known = {"processor": "intel_xeon_e5_2686v4", "cores": 1, "chips": 1, "memory_gib": 4}
        said = self.succeed("machine", *self.tree)
        self.assertEqual(json.loads(said), known)
        self.assertEqual(self.succeed("machine", f"--machine={self.write('m.json', said)}"), said)

    def test_nothing_known_is_an_error(self):
        ended = run("machine", f"--procfs={self.path('none')}", f"--sysfs={self.path('none')}")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("no property of this machine is known", ended.stderr)

    def test_nearest_type_of_a_database(self):
        attributes = {"processor": "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory": 503, "frequency": 3000}
        other = {**attributes, "processor": "amd_epyc_7763"}
        types = self.write("types.json", json.dumps({"0": {"attrs": other, "members": ["a", "b"]},
                                                     "7": {"attrs": attributes, "members": ["c"]}}))
        said = json.loads(self.succeed("machine", *self.tree, f"--types={types}"))
        self.assertEqual(said["type"], 7)
        self.assertGreater(said["similarity"], 0.5)
        ended = run("machine", *self.tree, f"--types={self.write('bad.json', '{')}")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("bad.json", ended.stderr)


if __name__ == "__main__":
    run_tests()
