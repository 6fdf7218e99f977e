"""kepler-model import --pipeline, the shipped program: all archives of a pipeline in one call, with the machines of its index and
the errors that they state, tested on the machines that did not train them; what cannot be imported is named."""
import json
import os
import shutil

from harness import run_tests
from test_model import ModelTest, run
from test_model_server import ModelServer

TESTDATA = os.path.join(os.path.dirname(__file__), "../../src/lab/files/testdata")
GROUP = "rapl-sysfs/AbsPower/BPFOnly"
PREFIX = "lab-v1-rapl-sysfs-AbsPower-BPFOnly-"
TYPES = {"0": {"attrs": {"processor": "intel_xeon_platinum_8259cl", "cores": 96, "chips": 2, "memory": 377, "frequency": 3600},
               "members": ["a"]},
         "3": {"attrs": {"processor": "amd_epyc_7763", "cores": 128, "chips": 2, "memory": 503, "frequency": 3500},
               "members": ["b"]}}


class ImportPipelineTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.pipeline = self.path("lab-v1")
        os.makedirs(os.path.join(self.pipeline, GROUP))
        self.add("node_type_index.json", json.dumps(TYPES).encode())
        for trainer in ("SGDRegressor", "XgboostFit", "KNeighborsRegressor"):
            with open(f"{TESTDATA}/{trainer}Trainer_0.zip", "rb") as archive:
                self.add(f"{GROUP}/{trainer}Trainer_0.zip", archive.read())

    def add(self, name, content):
        with open(os.path.join(self.pipeline, name), "wb") as file:
            file.write(content)

    def imported(self, *arguments):
        """The index that is printed, which is the one in the directory."""
        index = json.loads(self.succeed("import", f"--pipeline={self.pipeline}", f"--output={self.path('store')}", "--json",
                                        *arguments))
        with open(self.path("store/index.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), index)
        return {model["name"].removeprefix(PREFIX): model for model in index["models"]}, index["skipped"]

    def test_every_archive_has_its_machine_and_the_stated_errors(self):
        models, skipped = self.imported()
        self.assertEqual([], skipped)
        self.assertEqual({"SGDRegressorTrainer_0", "XgboostFitTrainer_0", "KNeighborsRegressorTrainer_0"}, set(models))
        for name, model in models.items():
            self.assertEqual("intel_xeon_platinum_8259cl", model["machine"]["processor"])
            self.assertEqual("package_mae 2.5, package_mape 1.25", model["stated"])
            self.assertEqual(f"{GROUP}/{name}", model["from"])
            with open(self.path(f"store/{PREFIX}{name}/model.json"), encoding="utf-8") as file:
                stored = json.load(file)
            self.assertEqual(96, stored["machine"]["cores"])
            self.assertEqual(2.5, stored["components"][0]["accuracy"]["mae_watts"])
            self.assertNotIn("unseen", stored["components"][0])
            one = self.path("one.zip")
            shutil.copy(f"{TESTDATA}/{name}.zip", one)
            self.succeed("import", f"--archive={one}", f"--output={self.path('one')}")
            with open(self.path("one/model.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["components"], stored["components"])

    def test_the_output_is_a_store_and_a_second_import_changes_nothing(self):
        first = self.imported()
        self.assertEqual(first, self.imported())
        with ModelServer(self.path("store"), log=self.path("server.log")) as server:
            listed = json.loads(server.get("/models")[2])
        self.assertEqual({PREFIX + name for name in first[0]}, {model["name"] for model in listed["models"]})

    def table(self, types, name="servers.csv"):
        lines = ["bpf_cpu_time_ms,bpf_page_cache_hit,package_power,node_type"]
        lines += [f"{100 * i},{i},{20 + i},{types[i % len(types)]}" for i in range(60)]
        others = [line for line in lines if not line.endswith(",0")]
        return self.write(name, "\n".join(lines) + "\n"), others

    def test_each_model_is_tested_on_the_machines_that_did_not_train_it(self):
        data, others = self.table(types=(0, 3, 7))
        models, _ = self.imported(f"--data={data}", "--group=node_type")
        rest = self.write("others.csv", "\n".join(others) + "\n")
        for name, model in models.items():
            directory = self.path(f"store/{PREFIX}{name}")
            expected = json.loads(self.succeed("evaluate", f"--model={directory}", f"--data={rest}", "--json"))
            tested = model["components"]["package"]["other_machines"]
            self.assertEqual(40, tested["n"])
            for key in ("n", "mae", "mape"):
                self.assertEqual(expected[key], tested[key])
            with open(f"{directory}/model.json", encoding="utf-8") as file:
                component = json.load(file)["components"][0]
            self.assertEqual(tested["mae"], component["unseen"]["mae_watts"])
            self.assertEqual(2.5, component["accuracy"]["mae_watts"])
            with open(f"{directory}/card.md", encoding="utf-8") as file:
                self.assertIn("Errors on other machines", file.read())

    def test_a_node_type_is_a_number_however_a_program_writes_it(self):
        models, _ = self.imported(f"--data={self.table(types=(0, 3, 7))[0]}", "--group=node_type")
        data, _ = self.table(types=("0.0", "3.0", "7.0"))  # as pandas writes a column of floats
        written, _ = self.imported(f"--data={data}", "--group=node_type")
        self.assertEqual({name: model["components"] for name, model in written.items()},
                         {name: model["components"] for name, model in models.items()}, "not on its own machine's rows")

    def test_what_cannot_be_imported_or_tested_is_named(self):
        self.add(f"{GROUP}/GradientBoostingRegressorTrainer_0.zip", b"PK\x03\x04 and no more")
        with open(f"{TESTDATA}/SVRRegressorTrainer_0.zip", "rb") as archive:
            whole = archive.read()
        self.add(f"{GROUP}/SVRRegressorTrainer_0.zip", whole[:len(whole) // 2])
        data, _ = self.table(types=(0, 3))
        with open(data, encoding="utf-8") as file:
            renamed = self.write("renamed.csv", file.read().replace("bpf_page_cache_hit", "something"))
        models, skipped = self.imported(f"--data={renamed}", "--group=node_type")
        self.assertEqual({f"{GROUP}/GradientBoostingRegressorTrainer_0", f"{GROUP}/SVRRegressorTrainer_0"},
                         {file["file"] for file in skipped})
        self.assertTrue(all(file["reason"] for file in skipped), skipped)
        self.assertEqual(3, len(models))
        for model in models.values():
            self.assertIn("bpf_page_cache_hit", model["untested_because"])
        text = self.succeed("import", f"--pipeline={self.pipeline}", f"--output={self.path('store')}")
        self.assertIn("3 models imported, 2 files not", text)
        self.assertIn(f"{GROUP}/SVRRegressorTrainer_0: not imported: ", text)

    def test_wrong_calls(self):
        into = f"--output={self.path('store')}"
        os.makedirs(self.path("empty"))
        for code, arguments, words in [
                (1, [f"--pipeline={self.path('empty')}"], "SOURCE/OUTPUT/GROUP/MODEL.zip"),
                (1, [f"--pipeline={self.path('nowhere')}"], "nowhere"),
                (1, [f"--pipeline={self.pipeline}", f"--data={self.table(types=(0,))[0]}", "--group=node_type"], "single value"),
                (1, [f"--pipeline={self.pipeline}", f"--data={self.table(types=('a', 'b'), name='words.csv')[0]}", "--group=node_type"],
                 "('node_type'): 'a' is not a finite number"),
                (2, [f"--pipeline={self.pipeline}", "--archive=a.zip"], "--pipeline"),
                (2, [f"--pipeline={self.pipeline}", "--data=a.csv"], "--group"),
                (2, ["--archive=a.zip", "--data=a.csv", "--group=b"], "--pipeline"),
                (2, [], "--archive or --pipeline")]:
            ended = run("import", into, *arguments)
            self.assertEqual(code, ended.returncode, (arguments, ended.stderr))
            self.assertIn(words, ended.stderr)
        self.assertFalse(os.path.exists(self.path("store")))

    def test_the_pipeline_may_be_the_working_directory_but_not_the_output(self):
        os.symlink(self.pipeline, self.path("link"))
        for output in (".", "./", "store", "../lab-v1/a/b", self.path("link/store")):
            ended = run("import", "--pipeline=.", f"--output={output}", cwd=self.pipeline)
            self.assertEqual(1, ended.returncode, ended.stderr)
            self.assertIn("use an output directory outside of it", ended.stderr)
        ended = run("import", "--pipeline=.", f"--output={self.path('store')}", cwd=self.pipeline)
        self.assertEqual(0, ended.returncode, ended.stderr)
        self.assertIn("lab-v1-", ended.stdout)

    def test_models_of_another_pipeline_are_not_mixed_with_these(self):
        self.write("store/old/model.json", "{}")
        ended = run("import", f"--pipeline={self.pipeline}", f"--output={self.path('store')}")
        self.assertEqual((1, ["old"]), (ended.returncode, os.listdir(self.path("store"))), ended.stderr)
        self.assertIn("store/old: this model is not of the pipeline; use another output directory", ended.stderr)


if __name__ == "__main__":
    run_tests()
