"""kepler-model export, import and plot, the shipped program: a model comes back as it was, no archive that somebody made up
writes anything, runs anything or takes the machine's memory, and a page shows what the predictions are."""
import hashlib
import io
import json
import os
import pickle
import stat
import struct
import subprocess
import warnings
import xml.etree.ElementTree
import zipfile
import zlib

from harness import run_tests
from test_model import NX12, ModelTest, figures, made_up, rows_of, run

FEATURES = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
TESTDATA = os.path.join(os.path.dirname(__file__), "../../src/lab/files/testdata")


def packed(members, compression=zipfile.ZIP_DEFLATED):
    """Bytes of a zip; members are (name, text) or (ZipInfo, text)."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, text in members:
            archive.writestr(name, text)
    return file.getvalue()


def summed(members):
    """The same, with their SHA256SUMS."""
    lines = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in members)
    return packed([*members, ("SHA256SUMS", lines)])


def bomb(gigabytes):
    """A zip with one member of `gigabytes` of zeros: what deflate makes of a megabyte is repeated."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeeze.compress(bytes(1 << 20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    body = piece * (gigabytes << 10) + b"\x03\x00"
    size, name = min(gigabytes << 30, 0xfffffff0), b"model.json"
    head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(body), size, len(name), 0)
    local = b"PK\x03\x04" + head + name + body
    central = b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


class FilesTest(ModelTest):
    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def refuse(self, archive, *says, arguments=(), code=1):
        before = sorted(os.listdir(self.directory))
        ended = run("import", f"--archive={archive}", f"--output={self.path('got')}", *arguments)
        self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        for words in says if code == 2 else (archive, *says):
            self.assertIn(words, ended.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def take(self, archive, *arguments, output="got"):
        return json.loads(self.succeed("import", f"--archive={archive}", f"--output={self.path(output)}", "--json",
                                       *arguments))

    def predicted(self, model, text):
        data = self.write("data.csv", text)
        lines = self.succeed("predict", f"--model={self.path(model)}", f"--data={data}").splitlines()
        return [float(line.split(",")[1]) for line in lines[1:]]


class RoundTrip(FilesTest):
    def test_a_model_comes_back_as_it_was(self):
        for trainer, weights in (("linear", True), ("xgboost", False), ("logarithmic", False)):
            with self.subTest(trainer):
                self.train(NX12, "model", "--features=CounterOnly", f"--trainer={trainer}", "--folds=block5")
                zipped = self.path("model.zip")
                said = json.loads(self.succeed("export", f"--model={self.path('model')}", f"--output={zipped}", "--json"))
                again = self.path("again.zip")
                text = self.succeed("export", f"--model={self.path('model')}", f"--output={again}")
                why = {"xgboost": "only linear models and curves", "logarithmic": "it limits its features"}
                self.assertIn(why.get(trainer, "bytes"), text)
                self.assertEqual(self.read("model.zip"), self.read("again.zip"))
                self.assertEqual(said["weights"], weights)
                self.assertEqual(said["sha256"], hashlib.sha256(self.read("model.zip")).hexdigest())
                got = self.take(zipped)
                self.assertEqual((got["name"], got["output"], got["version"]), ("model", "AbsPower", 1))
                self.assertEqual(list(got["components"]), ["package"])
                for name in ("model.json", "card.md"):
                    self.assertEqual(self.read(f"model/{name}"), self.read(f"got/{name}"))

    def test_what_is_in_it_is_what_anybody_can_check(self):
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear", "--folds=block5")
        self.succeed("export", f"--model={self.path('model')}", f"--output={self.path('model.zip')}")
        with zipfile.ZipFile(self.path("model.zip")) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            archive.extractall(self.path("out"))
        self.assertEqual(sorted(names), ["SHA256SUMS", "card.md", "metadata.json", "model.json", "weight.json"])
        checked = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=self.path("out"), check=False,
                                 capture_output=True, text=True)
        self.assertEqual((checked.returncode, len(checked.stdout.splitlines())), (0, 4), checked.stderr)
        metadata = json.loads(self.read("out/metadata.json"))
        model = json.loads(self.read("model/model.json"))
        self.assertEqual(metadata["kepler_archive"], 1)
        self.assertEqual((metadata["name"], metadata["features"]), ("model", model["features"]))
        accuracy = model["components"][0]["accuracy"]
        self.assertEqual(metadata["components"]["package"],
                         {"trainer": "linear", "mae": accuracy["mae_watts"], "mape": accuracy["mape"]})
        whole = self.succeed("predict", f"--model={self.path('model')}", f"--data={NX12}")
        by_weights = self.succeed("predict", f"--model={self.path('out/weight.json')}", f"--data={NX12}")
        for ours, theirs in zip(whole.splitlines()[1:], by_weights.splitlines()[1:]):
            self.assertAlmostEqual(float(ours.split(",")[1]), float(theirs.split(",")[1]), places=6)

    def test_through_a_pipe_and_under_another_name(self):
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear")
        zipped = subprocess.run([os.environ["KEPLER_MODEL_BIN"], "export", f"--model={self.path('model')}", "--output=-"],
                                capture_output=True, check=True, timeout=60).stdout
        ended = subprocess.run([os.environ["KEPLER_MODEL_BIN"], "import", "--archive=-", f"--output={self.path('got')}",
                                "--name=other"], input=zipped, capture_output=True, check=True, timeout=60)
        self.assertIn(b"got: other from an archive of kepler-model: package of 3 features", ended.stdout)
        self.assertEqual(json.loads(self.read("got/model.json"))["name"], "other")
        card = self.read("got/card.md").decode()
        self.assertTrue(card.startswith("# other\n\nImported by this name."), card[:200])
        self.assertIn("# model\n\nA power model of a node", card)

    def test_xgboost_comes_back_from_its_own_format(self):
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=xgboost", "--target=package_power,dram_power")
        model, booster = f"--model={self.path('model')}", self.path("booster.json")
        export = ("export", model, "--format=xgboost", f"--output={booster}")
        ended = run(*export)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("choose one of its components with --component: package, dram", ended.stderr)
        said = json.loads(self.succeed(*export, "--component=dram", "--json"))
        self.assertEqual((said["component"], said["sha256"]), ("dram", hashlib.sha256(self.read("booster.json")).hexdigest()))
        self.assertEqual(json.loads(self.read("booster.json"))["version"], [2, 1, 0])
        self.take(booster, "--component=dram")
        ours, theirs = (json.loads(self.read(f"{name}/model.json"))["components"][-1]["predictor"] for name in ("model", "got"))
        self.assertEqual(ours, theirs)
        self.assertEqual(run("export", model, "--component=dram", f"--output={booster}").returncode, 2)
        self.train(NX12, "linear", "--features=CounterOnly", "--trainer=linear")
        ended = run("export", f"--model={self.path('linear')}", "--format=xgboost", f"--output={booster}")
        self.assertIn("supports only trees and blends of trees", ended.stderr)

    def test_what_cannot_be_exported(self):
        for name, says in (("none", "none/model.json: No such file"), ("model/model.json", "not a directory"),
                           ("bare", "bare/card.md: No such file"), ("bad", "bad/model.json: ")):
            if name == "model/model.json":
                self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear")
                os.mkdir(self.path("bare"))
                self.write_bytes("bare/model.json", self.read("model/model.json"))
                os.mkdir(self.path("bad"))
                self.write("bad/model.json", "{}")
                self.write("bad/card.md", "")
            ended = run("export", f"--model={self.path(name)}", f"--output={self.path('model.zip')}")
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertIn(says, ended.stderr)
            self.assertFalse(os.path.exists(self.path("model.zip")))
        self.assertEqual(run("export", "--model=x", "--output=-", "--json").returncode, 2)


class PlantedLinks(FilesTest):
    """A symbolic link in place of what a command writes: what it leads to stays as it was, and the link is named."""

    def setUp(self):
        super().setUp()
        self.table = self.write("table.csv", made_up())
        self.train(self.table, "model", "--features=cpu_cycles", "--trainer=linear")
        self.succeed("predict", f"--model={self.path('model')}", f"--data={self.table}", f"--output={self.path('out.csv')}")
        self.succeed("export", f"--model={self.path('model')}", f"--output={self.path('model.zip')}")
        self.victim = self.write("victim", "mine")
        os.mkdir(self.path("got"))

    def refuse_link(self, link, *arguments):
        os.symlink(self.victim, self.path(link))
        before = sorted(os.listdir(self.directory)), sorted(os.listdir(self.path("got")))
        ended = run(*arguments)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertEqual(ended.stderr, f"kepler-model: cannot write {self.path(link)}: it is a symbolic link to "
                                       f"{self.victim}; name that file, or remove the link\n")
        self.assertEqual((sorted(os.listdir(self.directory)), sorted(os.listdir(self.path("got")))), before)
        self.assertEqual(self.read("victim"), b"mine")
        os.remove(self.path(link))

    def test_of_every_command(self):
        model, data, output = f"--model={self.path('model')}", f"--data={self.table}", f"--output={self.path('link')}"
        into = f"--output={self.path('got')}"
        train = ("train", data, "--features=cpu_cycles", "--trainer=linear")
        for link, arguments in (
                ("got/model.json", ("import", f"--archive={self.path('model.zip')}", into)),
                ("got/card.md", ("import", f"--archive={self.path('model.zip')}", into)),
                ("got/model.json", (*train, into)), ("got/card.md", (*train, into)),
                ("link", (*train, into, f"--predictions={self.path('link')}")),
                ("link", ("predict", model, data, output)),
                ("link", ("export", model, output)),
                ("link.svg", ("plot", f"--predictions={self.path('out.csv')}", data, f"{output}.svg")),
                ("link", ("isolate", f"--input={self.table}", "--method=none", output)),
                ("link", ("extract", f"--input={self.path('no-raw.json')}", output)),
                ("link", ("query", "--server=http://127.0.0.1:1", "--last=1h", output)),
                ("link", ("collect", "--schedule=cpu:1", output))):
            with self.subTest(arguments=arguments, link=link):
                self.refuse_link(link, *arguments)

    def test_standard_output_by_its_names(self):
        predict = [os.environ["KEPLER_MODEL_BIN"], "predict", f"--model={self.path('model')}", f"--data={self.table}"]
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(name):
                piped = subprocess.run([*predict, f"--output={name}"], capture_output=True, check=True, timeout=60)
                self.assertEqual(piped.stdout, self.read("out.csv"))
                with open(self.path("into"), "wb") as file:
                    file.write(b"# before\n")
                    file.flush()
                    subprocess.run([*predict, f"--output={name}"], stdout=file, check=True, timeout=60)
                    file.write(b"# behind\n")
                self.assertEqual(self.read("into"), b"# before\n" + self.read("out.csv") + b"# behind\n")
        script = '"$@" --output=>(cat >"$TO")'
        subprocess.run(["bash", "-c", f"{script}; wait $!", "bash", *predict], env={**os.environ, "TO": self.path("to")},
                       check=True, timeout=60)
        self.assertEqual(self.read("to"), self.read("out.csv"))


class AttackedArchives(FilesTest):
    def setUp(self):
        super().setUp()
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear")
        self.succeed("export", f"--model={self.path('model')}", f"--output={self.path('model.zip')}")
        with zipfile.ZipFile(self.path("model.zip")) as archive:
            self.members = [(name, archive.read(name).decode()) for name in archive.namelist()]

    def refuse_members(self, members, *says):
        self.refuse(self.write_bytes("bad.zip", packed(members)), *says)

    def without(self, *names):
        return [(name, text) for name, text in self.members if name not in names]

    def test_names_that_lead_out(self):
        for name in ("../../evil", "/tmp/evil", "a/../../evil", "..\\evil", "C:\\evil", "dir/model.json"):
            with self.subTest(name):
                self.refuse_members([*self.members, (name, "x")], f"member '{name}': ")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "..", "evil")))

    def test_links_and_devices(self):
        for kind, says in ((stat.S_IFLNK, "a link"), (stat.S_IFCHR, "a device"), (stat.S_IFDIR, "a directory")):
            info = zipfile.ZipInfo("card.md")
            info.create_system, info.external_attr = 3, (kind | 0o777) << 16
            self.refuse_members([*self.without("card.md"), (info, "/etc/passwd")], f"member 'card.md': {says}")

    def test_two_of_a_name(self):
        self.refuse_members([*self.members, ("model.json", "{}")], "appears twice")

    def test_ten_gigabytes_of_zeros_take_no_memory(self):
        archive = self.write_bytes("bomb.zip", bomb(10))
        with subprocess.Popen([os.environ["KEPLER_MODEL_BIN"], "import", f"--archive={archive}",
                               f"--output={self.path('got')}"], stderr=subprocess.PIPE, text=True) as process:
            said = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1)
        self.assertIn("member 'model.json': too large: the maximum is 64 MiB", said)
        self.assertLess(usage.ru_maxrss, 1 << 20)  # in kB, with a sanitizer's own
        self.refuse(archive, "too large")

    def test_many_that_are_each_within_the_limit(self):
        zeros = "0" * (60 << 20)
        self.refuse_members([(f"{i}", zeros) for i in range(3)], "member '2': too large: the maximum is 8 MiB")
        self.refuse_members([(f"{i}", "") for i in range(101)], "101 members; the maximum is 100")

    def test_an_archive_in_an_archive(self):
        self.refuse_members([("pipeline.zip", packed(self.members))], "member 'pipeline.zip': an archive in an archive")

    def test_cut_and_damaged(self):
        whole = self.read("model.zip")
        for size in (4, 30, len(whole) // 2, len(whole) - 1):
            self.refuse(self.write_bytes("cut.zip", whole[:size]), "truncated or damaged")
        damaged = bytearray(whole)
        damaged[200] ^= 0xff
        self.refuse(self.write_bytes("bad.zip", bytes(damaged)), "truncated or damaged")

    def test_sums_that_do_not_hold(self):
        changed = [(name, text.replace('"bias":', '"bias":1') if name == "model.json" else text)
                   for name, text in self.members]
        self.refuse_members(changed, "member 'model.json': its SHA-256 differs from SHA256SUMS")
        self.refuse_members([*self.members, ("extra", "x")], "member 'extra': a model archive must not contain this file")
        self.refuse_members(self.without("weight.json"), "member 'weight.json': SHA256SUMS lists it, but it is missing")
        for name in ("SHA256SUMS", "model.json", "card.md", "metadata.json"):
            self.refuse_members(self.without(name), f"member '{name}': it is missing; the archive is incomplete")
        bad = [*self.without("SHA256SUMS"), ("SHA256SUMS", "0123  model.json\n")]
        self.refuse_members(bad, "member 'SHA256SUMS': its lines must be")
        short = [(name, text.split("\n", 1)[1] if name == "SHA256SUMS" else text) for name, text in self.members]
        self.refuse_members(short, "member 'model.json': SHA256SUMS does not list it")

    def test_metadata_of_another_model_or_version(self):
        for old, new, says in (('"kepler_archive":1', '"kepler_archive":2', "version 2 is not supported; this program reads version 1"),
                               ('"name":"model"', '"name":"other"', "name: the model in model.json has another name"),
                               ('"version":1', '"version":7', "version: the model in model.json has another version"),
                               ('"card.md":"', '"card.md":"0', "the file has another SHA-256")):
            members = [(name, text.replace(old, new) if name == "metadata.json" else text)
                       for name, text in self.without("SHA256SUMS")]
            self.refuse(self.write_bytes("bad.zip", summed(members)), f"member 'metadata.json': ", says)

    def test_what_is_no_archive(self):
        for text in ("", "hello", "PK\x03\x04", "[]", '{"a": 1}'):
            self.refuse(self.write("x.zip", text))
        self.refuse(self.path("none.zip"), "No such file")
        self.refuse(self.directory, "Is a directory", code=3)
        self.refuse(self.path("model.zip"), "remove --power", arguments=["--power=AbsPower"])
        self.refuse("x", "--name: ", arguments=[f"--name={'x' * 256}"], code=2)


WEIGHTS = {"package": {"All_Weights": {"Bias_Weight": 12, "Categorical_Variables": {}, "Numerical_Variables": {
    "bpf_cpu_time_ms": {"scale": 500, "weight": 8}, "bpf_page_cache_hit": {"scale": 1, "weight": 0}}}}}
BOOSTER = {"learner": {"objective": {"name": "reg:squarederror"},
                       "learner_model_param": {"base_score": "1E1", "num_feature": "2"},
                       "gradient_booster": {"name": "gbtree", "model": {"trees": [
                           {"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0],
                            "split_conditions": [2, 1, 42], "default_left": [0, 0, 0]}]}}}}
ROWS = "bpf_cpu_time_ms,bpf_page_cache_hit\n1,0\n2000,5\n"


class Ran:
    """Pickled, it is a program: whoever reads it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


class ServerArchives(FilesTest):
    """As Kepler's model server zips them."""

    def archive(self, name, more, output="AbsPower", **metadata):
        said = {"model_name": name, "output_type": output, "features": FEATURES, "mae": 3.5, "package_mae": 3.5,
                "package_mape": 4.25, **metadata}
        return self.write_bytes(f"{name}.zip", packed([("metadata.json", json.dumps(said)), *more]))

    def listed(self, model_file, steps):
        return json.dumps({"package": {"model_file": model_file, "features": FEATURES, "fe_files": steps}})

    def pickled(self):
        return pickle.dumps(Ran(self.path("ran")))

    def test_weights_beside_pickles(self):
        archive = self.archive("SGDRegressorTrainer_0", [("weight.json", json.dumps(WEIGHTS)),
                                                         ("scaler.pkl", self.pickled())], "DynPower",
                               machine_spec={"processor": "intel_xeon", "cores": 96})
        got = self.take(archive)
        self.assertEqual((got["name"], got["output"]), ("SGDRegressorTrainer_0", "DynPower"))
        self.assertIn("weight.json in an archive of Kepler's model server, which may be of an earlier training", got["kind"])
        self.assertEqual(self.predicted("got", ROWS), [12 + 8 / 500, 44])
        self.assertEqual(json.loads(self.read("got/model.json"))["machine"]["processor"], "intel_xeon")
        card = self.read("got/card.md").decode()
        for words in ("earlier training", "The file states no errors", "SHA-256", "SGDRegressorTrainer_0.zip", "power that load adds", "Do not use it for"):
            self.assertIn(words, card)
        self.succeed("export", f"--model={self.path('got')}", f"--output={self.path('ours.zip')}")
        self.take(self.path("ours.zip"), output="back")
        self.assertEqual(self.read("got/model.json"), self.read("back/model.json"))
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_trees_whose_features_are_as_they_are(self):
        name = "XgboostFitTrainer_0"
        self.take(self.archive(name, [(f"{name}.json", self.listed("package.json", [])),
                                      ("package.json", json.dumps(BOOSTER))]))
        self.assertEqual(self.predicted("got", ROWS), [11, 52])

    def test_pickles_that_are_programs_are_refused_and_not_run(self):
        name = "XgboostFitTrainer_0"
        trees = [(f"{name}.json", self.listed("package.json", ["scaler.pkl"])), ("package.json", json.dumps(BOOSTER)),
                 ("scaler.pkl", self.pickled())]
        self.refuse(self.archive(name, trees), "member 'scaler.pkl': ", "it refers to 'posix.mkdir'", "nothing was executed")
        name = "GradientBoostingRegressorTrainer_1"
        self.refuse(self.archive(name, [(f"{name}.json", self.listed("package.pkl", [])), ("package.pkl", self.pickled())]),
                    "member 'package.pkl': ", "it refers to 'posix.mkdir'")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_every_trainer_predicts_as_in_python(self):
        """The archives and the expected watts are those of src/lab/files/testdata/make.py."""
        with open(os.path.join(TESTDATA, "expected.csv"), encoding="utf-8") as file:
            lines = [line.strip().split(",") for line in file]
        for archive in sorted({line[0] for line in lines if line[0].endswith("Trainer_0.zip")}):
            with self.subTest(archive):
                cells = [line[2:] for line in lines if line[0] == archive and line[1] == "package"]
                got = self.take(os.path.join(TESTDATA, archive), output=archive)
                watts = self.predicted(archive, "\n".join([",".join(FEATURES), *(",".join(row[:-1]) for row in cells), ""]))
                for ours, row in zip(watts, cells, strict=True):
                    self.assertAlmostEqual(ours / float(row[-1]), 1, delta=2e-6)
                self.assertNotIn("core", got["components"])
                self.assertGreater(json.loads(self.read(f"{archive}/model.json"))["components"][0]["accuracy"]["mae_watts"], 0)

    def test_archives_that_are_not_whole(self):
        name = "XgboostFitTrainer_0"
        self.refuse(self.write_bytes("x.zip", packed([("a.json", "{}")])), "member 'metadata.json': it is missing")
        self.refuse(self.archive(name, []), f"member '{name}.json': it is missing")
        self.refuse(self.archive(name, [(f"{name}.json", self.listed("package.json", []))]), "member 'package.json': it is")
        self.refuse(self.archive(name, [(f"{name}.json", "{}")]), "it has no component")
        self.refuse(self.archive(name, [(f"{name}.json", "[]")]), f"member '{name}.json': ")
        self.refuse(self.archive(name, [("weight.json", "{}")]), "member 'weight.json': ")
        self.refuse(self.archive(name, [], output="Power"), "member 'metadata.json': output_type: ")
        self.refuse(self.archive(name, [(f"{name}.json", self.listed("package.json", [])), ("package.json", "{}")]),
                    "member 'package.json': ")
        other = json.loads(json.dumps(BOOSTER))
        other["learner"]["feature_names"] = ["cpu_cycles", "bpf_page_cache_hit"]
        self.refuse(self.archive(name, [(f"{name}.json", self.listed("package.json", [])),
                                        ("package.json", json.dumps(other))]), "feature 0 is cpu_cycles")


class BareFiles(FilesTest):
    def test_weights(self):
        got = self.take(self.write("SGDRegressorTrainer_3.json", json.dumps(WEIGHTS)), "--power=DynPower")
        self.assertEqual((got["name"], got["output"]), ("SGDRegressorTrainer_3", "DynPower"))
        self.assertEqual(self.predicted("got", ROWS), [12 + 8 / 500, 44])
        self.assertIn(b"The file states no errors", self.read("got/card.md"))

    def test_xgboost(self):
        booster = self.write("booster.json", json.dumps(BOOSTER))
        self.refuse(booster, "does not name its 2 features")
        got = self.take(booster, "--features=bpf_cpu_time_us,bpf_page_cache_hit", "--component=dram", "--name=x")
        self.assertEqual((got["name"], got["features"], list(got["components"])), ("x", FEATURES, ["dram"]))
        self.assertEqual(self.predicted("got", ROWS), [11, 52])
        os.makedirs(self.path("epyc"))
        unnamed = self.write("epyc/model.json", json.dumps(BOOSTER))
        self.assertEqual(self.take(unnamed, "--features=bpf_cpu_time_us,bpf_page_cache_hit")["name"], "epyc")
        self.refuse("x", "--component: ", arguments=["--component=cpu"], code=2)

    def test_our_own_says_its_power_itself(self):
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear")
        model = self.path("model/model.json")
        self.take(model)
        self.assertEqual(self.read("model/model.json"), self.read("got/model.json"))
        os.rename(self.path("got"), self.path("kept"))
        self.refuse(model, "states that its watts are AbsPower", arguments=["--power=DynPower"])


class Plots(FilesTest):
    def setUp(self):
        super().setUp()
        self.out = self.path("out.csv")
        self.train(NX12, "model", "--features=CounterOnly", "--trainer=linear", "--folds=time70_30",
                   f"--predictions={self.out}")

    def plot(self, ending, *arguments):
        said = json.loads(self.succeed("plot", f"--data={NX12}", f"--output={self.path('page.' + ending)}", "--json",
                                       *arguments))
        return said, self.read(f"page.{ending}")

    def test_model_per_core_takes_the_size_from_the_machine(self):
        model = f"--model={self.path('per-core')}"
        self.succeed("train", f"--data={NX12}", "--features=cpu_cycles", "--trainer=linear", "--per=core", "--machine=cores=64",
                     f"--output={self.path('per-core')}")
        self.refuse_plot(f"--data={NX12}", f"--output={self.path('page.svg')}", model, says="cores")
        mae = [self.plot("svg", model, f"--machine=cores={cores}")[0]["mae"] for cores in (64, 128)]
        self.assertLess(mae[0], mae[1], "the machine of the data against one of twice its size")

    def refuse_plot(self, *arguments, says, code=1):
        before = sorted(os.listdir(self.directory))
        ended = run("plot", *arguments)
        self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
        self.assertIn(says, ended.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_figures_are_those_of_the_predictions_in_every_format(self):
        measured = {row["row"]: float(row["package_power"]) for row in rows_of(NX12)}
        rows = rows_of(self.out)
        expected = figures([float(row["prediction"]) for row in rows], [measured[row["row"]] for row in rows])
        for ending in ("svg", "png", "html"):
            said, page = self.plot(ending, f"--predictions={self.out}")
            self.assert_figures(said, expected)
            self.assertEqual(said["rows"], len(measured))
            self.assertEqual(sum(band["n"] for band in said["by_load"]), len(rows))
            self.assertEqual(page, self.plot(ending, f"--predictions={self.out}")[1])
            if ending == "svg":
                self.assertEqual(xml.etree.ElementTree.fromstring(page).tag, "{http://www.w3.org/2000/svg}svg")
            elif ending == "png":
                self.assertEqual((page[:8], struct.unpack(">I", page[16:20])[0]), (b"\x89PNG\r\n\x1a\n", 2400))
            else:
                self.assertIn(f"<td>{expected['mae']:.3f}</td>".encode(), page)
                self.assertNotIn(b"<script", page)

    def test_a_model_beside_others_over_a_feature(self):
        said, _ = self.plot("svg", f"--model={self.path('model')}", "--feature=cpu_cycles",
                            f"--compare=unseen={self.out},again={self.path('model')}", "--title=<i>")
        self.assertEqual([of["name"] for of in said["models"]], [self.path("model"), "unseen", "again"])
        self.assertEqual(len({of["n"] for of in said["models"]} | {len(rows_of(self.out))}), 1)
        self.assertEqual(said["models"][0]["mae"], said["models"][2]["mae"])

    def test_one_row_constants_and_watts_that_no_machine_takes(self):
        for name, rows in (("one", ["0,42"]), ("same", [f"{i},42" for i in range(20)]), ("none", [f"{i},0" for i in range(9)]),
                           ("huge", ["0,1e12", "1,0"]), ("tiny", ["0,1e-12", "1,2e-12"])):
            data = self.write("data.csv", "row,package_power\n" + "\n".join(rows) + "\n")
            made = self.write("made.csv", "row,prediction\n" + "\n".join(rows) + "\n")
            for ending in ("png", "html"):
                with self.subTest(name, ending=ending):
                    self.succeed("plot", f"--data={data}", f"--predictions={made}",
                                 f"--output={self.path('page.' + ending)}")

    def test_many_rows_are_a_small_page(self):
        rows = "\n".join(f"{i},{50 + i * 7919 % 1000 / 10}" for i in range(200_000))
        data = self.write("data.csv", f"row,package_power\n{rows}\n")
        made = self.write("made.csv", f"row,prediction\n{rows}\n")
        said = json.loads(self.succeed("plot", f"--data={data}", f"--predictions={made}", "--json",
                                       f"--output={self.path('page.svg')}"))
        self.assertEqual((said["n"], said["mae"]), (200_000, 0))
        self.assertLess(os.path.getsize(self.path("page.svg")), 2 << 20)

    def test_what_cannot_be_drawn(self):
        data, page = f"--data={NX12}", f"--output={self.path('page.svg')}"
        mine = f"--predictions={self.out}"
        self.refuse_plot(data, page, "--compare=a=b.csv", says="needs --predictions or --model", code=2)
        self.refuse_plot(data, page, "--target=core_power", says="no column 'core_power'")
        self.refuse_plot(data, page, "--feature=cycles", says="no column 'cycles'")
        self.refuse_plot(data, page, mine, "--model=x", says="set either --predictions or --model", code=2)
        self.refuse_plot(data, page, mine, "--machine=cores=8", says="is for models", code=2)
        self.refuse_plot(data, mine, f"--output={self.path('page.pdf')}", says="must be .svg, .png or .html", code=2)
        self.refuse_plot(data, page, mine, "--target=watts", says="contains no component", code=2)
        self.refuse_plot(data, page, mine, "--target=core_power", says="no column 'core_power'")
        self.refuse_plot(data, page, mine, "--feature=cycles", says="no column 'cycles'")
        self.refuse_plot(data, page, "--predictions=none.csv", says="none.csv: No such file")
        self.refuse_plot(data, page, f"--predictions={NX12}", says="nx12.csv: no column 'package'")
        self.refuse_plot(data, page, f"--model={self.path('model')}", "--target=dram_power", says="no component dram")
        for text, says in (("row,prediction\n0,1\n0,2\n", "line 3: row '0' appears twice"),
                           ("row,prediction\nx,1\n", "line 2: row 'x' is not in"),
                           ("row,prediction\n0,nan\n", "line 2"), ("prediction\n1\n", "no column 'row'"), ("", "line 1")):
            made = self.write("made.csv", text)
            self.refuse_plot(data, page, f"--predictions={made}", says=says)
        self.refuse_plot(data, "--output=/proc/page.svg", mine, says="/proc/page.svg")
        twice = self.write("twice.csv", "row,package_power\n1,1\n1,2\n")
        self.refuse_plot(f"--data={twice}", page, mine, says="line 3: row '1' appears twice")


if __name__ == "__main__":
    run_tests()
