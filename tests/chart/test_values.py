"""Values, schema, rules and dashboard agree with each other and with what the agent has. Without helm."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from harness import require, run_tests  # noqa: E402
from manifests import CHART, PROFILES, ROOT, host_mounts, manifest  # noqa: E402

# docs/configuration.md's words.
TYPES = {"text": "string", "boolean": "boolean", "whole number": "integer", "number": "number", "mapping": "object"}
RULES = ROOT / "deploy/rules"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def leaves(node, path=()):
    """Paths of all that is no mapping; an empty one counts too."""
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from leaves(value, path + (key,))
    else:
        yield path


def resolve(schema):
    """Returns the referenced schema with the keys next to the reference."""
    if "$ref" not in schema:
        return schema
    found = resolve(SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    siblings = {key: value for key, value in schema.items() if key != "$ref"}
    if "properties" in siblings:
        siblings["properties"] = {**found["properties"], **siblings["properties"]}
    return {**found, **siblings}


def at(path):
    """What the schema says of a value; of one inside of what is Kubernetes' own, what it says of that."""
    schema = SCHEMA
    for key in path:
        below = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
        if below is None and schema == SCHEMA["$defs"]["free"]:
            return schema
        schema = resolve(below or {})
        if schema.get("type") == ["object", "null"] and "properties" not in schema:
            return schema
    return schema


def keys(schema, path=()):
    """(path, what the schema says) of what is no block."""
    schema = resolve(schema)
    if "properties" in schema:
        for key, value in schema["properties"].items():
            yield from keys(value, path + (key,))
    else:
        yield path, schema


def has(node, path):
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return False
        node = node[key]
    return True


class Values(unittest.TestCase):
    def setUp(self):
        self.values = yaml.safe_load((CHART / "values.yaml").read_text())

    def test_every_knob_is_turned_in_all_knobs(self):
        turned = yaml.safe_load((ROOT / "tests/chart/values/all-knobs.yaml").read_text())
        missing = [".".join(path) for path in leaves(self.values) if not has(turned, path)]
        self.assertEqual(missing, [])

    def test_every_knob_is_in_the_schema(self):
        for path in leaves(self.values):
            with self.subTest(".".join(path)):
                self.assertTrue({"type", "enum", "const", "anyOf"} & at(path).keys())

    def test_schema_is_closed(self):
        """Where keys are listed, others are refused, except lists whose items are Kubernetes' own."""
        def closed(node, path):
            if isinstance(node, dict):
                if "properties" in node and "$ref" not in node and path != "$/$defs/named/items":
                    self.assertIs(node.get("additionalProperties"), False, path)
                for key, value in node.items():
                    closed(value, f"{path}/{key}")
            elif isinstance(node, list):
                for index, value in enumerate(node):
                    closed(value, f"{path}/{index}")
        closed(SCHEMA, "$")

    def test_config_is_the_agents(self):
        """Its keys, types, ranges and choices, by docs/configuration.md, which is made from the agent's table."""
        page = (ROOT / "docs/configuration.md").read_text()
        rows = re.findall(r"^\| `([a-z][A-Za-z.-]*\.[A-Za-z.-]+)` \| [^|]* \| ([^|]+) \| [^|]+ \| (.*) \|$", page, re.M)
        config = {".".join(path): schema for path, schema in keys(SCHEMA["properties"]["config"])}
        self.assertEqual({key for key, _, _ in rows}, set(config))
        for key, kind, meaning in rows:
            choices = re.search(r"[Oo]ne of ([\w/, -]+)$", meaning)
            choices = choices and choices[1].split(", ")
            bounds = re.search(r"(\d+) to (\d+)$", kind)
            bounds = dict(zip(("minimum", "maximum"), map(int, bounds.groups()))) if bounds else {}
            schema = config[key]
            with self.subTest(key, kind=kind):
                if kind == "text or list":  # a text, with commas: the agent's to judge
                    self.assertEqual(schema["items"], {"enum": [*choices, *re.findall(r"also: (\w+)", meaning)]})
                    continue
                if kind.startswith("list"):
                    self.assertEqual(schema["type"], "array")
                    kind, schema = kind.split(" of ")[1].removesuffix("s"), resolve(schema["items"])
                if choices:
                    self.assertEqual(schema, {"enum": choices})
                elif kind.startswith("duration"):
                    self.assertEqual(schema, resolve(SCHEMA["$defs"]["seconds" if "0 or 1s to" in kind else "duration"]))
                else:
                    word = next(word for word in TYPES if kind.startswith(word))
                    said = {"type": TYPES[word], **bounds}
                    if not bounds:  # a number that the agent takes for any has a bound all the same: helm's are no integers
                        schema = {key: value for key, value in schema.items() if key != "maximum"}
                    self.assertEqual({key: value for key, value in schema.items() if key != "pattern"}, said)

    def test_readme_is_made_from_the_values(self):
        made = subprocess.run([sys.executable, ROOT / "tools/chart/readme.py", CHART / "values.yaml"], check=True,
                              capture_output=True, text=True, timeout=60).stdout
        self.assertEqual((CHART / "README.md").read_text(), made, "run tools/chart.sh --write")
        for path in leaves(self.values):
            names = {".".join(path[:length]) for length in range(1, len(path) + 1)}
            self.assertTrue([name for name in names if f"| `{name}` | " in made], path)


class Pages(unittest.TestCase):
    def test_every_command_gives_the_image_the_tag_that_the_chart_pulls(self):
        version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
        found = {}
        for path in [ROOT / "README.md", ROOT / "deploy/Dockerfile", *sorted((ROOT / "docs").glob("*.md"))]:
            for options, image in re.findall(r"docker build(?:x build)? ([^`\n]*?)-t (\S+)", path.read_text()):
                found.setdefault(path.name, set()).add(image)
                name = "kepler-model" if "--target model" in options else "kepler"
                suffix = "-nonroot" if "--target nonroot" in options else ""
                with self.subTest(path.name, image=image):
                    self.assertRegex(image, rf"^(REGISTRY/)?{name}:{re.escape(version)}{suffix}$")
        self.assertLessEqual({"README.md", "Dockerfile", "image.md", "kubernetes.md"}, found.keys())


class Rules(unittest.TestCase):
    FILES = ("recording.yaml", "alerts.yaml")

    def test_the_chart_and_everybody_else_use_the_same_files(self):
        """Two names of one folder: a chart can read only files below its own folder."""
        for name, folder in (("rules", "files/rules"), ("grafana", "files/dashboards")):
            self.assertTrue((ROOT / "deploy" / name).samefile(CHART / folder), name)

    def rules(self):
        for file in self.FILES:
            for group in yaml.safe_load((RULES / file).read_text())["groups"]:
                for rule in group["rules"]:
                    yield rule.get("alert", rule.get("record")), rule["expr"]

    def expressions(self):
        yield from self.rules()
        for path in sorted((ROOT / "deploy/grafana").glob("*.json")):
            for panel in json.loads(path.read_text())["panels"]:
                for target in panel.get("targets", ()):
                    yield panel["title"], target["expr"]

    def test_metrics_and_labels_exist(self):
        page = (ROOT / "docs/metrics.md").read_text()
        labels = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in
                  re.findall(r"^\| `(\w+)` \| \w+ \| ([^|]*) \|", page, re.M)}
        recorded = {name for name, _ in self.rules() if ":" in name}
        for name, expression in self.expressions():
            self.assertLessEqual(set(re.findall(r"\w+:\w+:\w+", expression)), recorded)
            for metric, selector in re.findall(r"(?<![:\w])((?:kepler|process)_\w+)(?![:\w])(?:\{([^}]*)\})?", expression):
                with self.subTest(name, metric=metric):
                    self.assertIn(metric, labels)
                    self.assertLessEqual(set(re.findall(r"(\w+)\s*=", selector)), labels[metric] | {"job", "instance"})

    def test_promtool_takes_the_rules(self):
        require(shutil.which("promtool"), "promtool is not installed")
        files = [str(RULES / file) for file in self.FILES]
        subprocess.run(["promtool", "check", "rules", *files], check=True, stdout=subprocess.DEVNULL, timeout=60)
        subprocess.run(["promtool", "test", "rules", "tests/chart/rules_test.yaml"], check=True, cwd=ROOT,
                       stdout=subprocess.DEVNULL, timeout=120)

    def test_queries_of_the_pages_are_tried(self):
        in_readme = set(re.findall(r"`(\w+[^`]*\{zone=[^`]*)`", (ROOT / "README.md").read_text()))
        in_page = set(re.findall(r"^```promql\n(.*?)\n```$", (ROOT / "docs/kubernetes.md").read_text(), re.M | re.S))
        tried = {case["expr"] for test in yaml.safe_load((ROOT / "tests/chart/rules_test.yaml").read_text())["tests"]
                 for case in test.get("promql_expr_test", ())}
        self.assertTrue(in_readme and in_page)
        self.assertLessEqual(in_readme | in_page, tried)

    def test_every_recording_rule_is_tried(self):
        """Or another rule is made from it, which is tried."""
        rules = {name: expression for name, expression in self.rules() if ":" in name}
        tried = " ".join(case["expr"] for test in yaml.safe_load((ROOT / "tests/chart/rules_test.yaml").read_text())["tests"]
                         for case in test.get("promql_expr_test", ()))
        used = " ".join(rules.values())
        for name in rules:
            self.assertRegex(name, r"^[a-z_]+:kepler_[a-z_]+:[a-z0-9_]+$")
            self.assertTrue(name in tried or name in used, name)

    def test_the_page_has_every_rule_and_dashboard(self):
        named = set(re.findall(r"`([\w:.-]+)`", (ROOT / "docs/dashboards.md").read_text()))
        names = {name for name, _ in self.rules()}
        self.assertEqual(names - named, set())
        self.assertEqual({name for name in named if name.count(":") == 2 or re.match(r"Kepler[A-Z]", name)} - names, set())
        self.assertEqual({path.name for path in (ROOT / "deploy/grafana").glob("*")} - named, set())

    def test_every_alert_is_tried(self):
        """Where everything is wrong, or nobody is scraped, each fires; where all is well, none is left out."""
        tests = {test["name"]: test for test in yaml.safe_load((ROOT / "tests/chart/rules_test.yaml").read_text())["tests"]}
        fires = {re.search(r'alertname="(\w+)"', sample["labels"])[1]
                 for name in ("everything is wrong", "nobody is scraped") for case in tests[name]["promql_expr_test"]
                 for sample in case.get("exp_samples", ())}
        quiet = {case["alertname"] for case in tests["all is well"]["alert_rule_test"]}
        alerts = {name for name, _ in self.rules() if ":" not in name}
        self.assertEqual((alerts, alerts), (fires, quiet))


class Dashboards(unittest.TestCase):
    def setUp(self):
        self.dashboards = {path.name: json.loads(path.read_text()) for path in (ROOT / "deploy/grafana").glob("*.json")}

    def test_they_are_made_from_their_tables(self):
        subprocess.run([sys.executable, ROOT / "tools/dashboards/make.py"], check=True, timeout=60)

    def test_grafana_can_import_them(self):
        """No id of a server, a fixed uid, the data source by a variable, and no panel over another."""
        for name, one in self.dashboards.items():
            with self.subTest(name):
                self.assertEqual((one["uid"] + ".json", "id" in one), (name, False))
                self.assertLessEqual(len(one["uid"]), 40)
                sources = re.findall(r'"uid": ?"([^"]+)"', json.dumps([one["panels"], one["templating"]]))
                self.assertEqual(set(sources), {"${datasource}"})
                taken = set()
                for panel in one["panels"]:
                    place = panel["gridPos"]
                    cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                             for y in range(place["y"], place["y"] + place["h"])}
                    self.assertLessEqual(place["x"] + place["w"], 24)
                    self.assertFalse(cells & taken, panel["title"])
                    taken |= cells
                self.assertEqual(len({panel["id"] for panel in one["panels"]}), len(one["panels"]))

    def test_they_have_the_panels_and_variables_of_kepler_0_11(self):
        panels = [panel for one in self.dashboards.values() for panel in one["panels"] if panel["type"] != "row"]
        self.assertGreaterEqual(len(panels), 21)
        self.assertEqual([panel["title"] for panel in panels if not panel["description"] or
                          not panel["fieldConfig"]["defaults"]["unit"]], [])
        variables = {variable["name"] for one in self.dashboards.values() for variable in one["templating"]["list"]}
        self.assertLessEqual({"datasource", "job", "node", "zone", "namespace", "pod", "process", "container", "vm"}, variables)

    def test_names_with_quotes_work_in_every_matcher(self):
        for name, one in self.dashboards.items():
            for text in re.findall(r'"(?:expr|query)": "((?:[^"\\]|\\.)*)"', json.dumps(one)):
                for variable in re.findall(r"\$[^_].*?[,})]", text):
                    self.assertRegex(variable, r"^\$\{\w+:regex\}", f"{name}: {text}")


class Compose(unittest.TestCase):
    FOLDER = ROOT / "deploy/compose"

    def test_services_mount_what_is_there(self):
        compose = yaml.safe_load((self.FOLDER / "compose.yaml").read_text())
        self.assertEqual(set(compose["services"]), {"kepler", "prometheus", "grafana"})
        for service in compose["services"].values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((self.FOLDER / source).exists(), source)

    def test_the_agent_has_the_rights_of_profile_exact(self):
        agent = yaml.safe_load((self.FOLDER / "compose.yaml").read_text())["services"]["kepler"]
        self.assertEqual(agent["cap_drop"], ["ALL"])
        self.assertEqual(set(agent["cap_add"]),
                         set(manifest(PROFILES[0]).agent["securityContext"]["capabilities"]["add"]))
        self.assertEqual((agent["pid"], agent["read_only"]), ("host", True))
        self.assertIn("no-new-privileges:true", agent["security_opt"])
        self.assertEqual({tuple(volume.split(":")) for volume in agent["volumes"]},
                         {(own, path, "ro") for own, path in host_mounts(manifest(PROFILES[0]))})

    def test_the_model_server_is_the_one_of_the_agent(self):
        more = yaml.safe_load((self.FOLDER / "model-server.yaml").read_text())
        agent = yaml.safe_load((self.FOLDER / "compose.yaml").read_text())["services"]["kepler"]
        server = more["services"]["model-server"]
        *flags, url = more["services"]["kepler"]["command"]
        self.assertEqual(flags, agent["command"])
        port = server["ports"][0].split(":")[-1]
        self.assertEqual(url, f"--model.server=http://model-server:{port}")
        subprocess.run([os.environ["KEPLER_BIN"], "--config.check", url], check=True, capture_output=True)
        dockerfile = (ROOT / server["build"]["dockerfile"]).read_text()
        model = re.search(rf" AS {server['build']['target']}\n(.*?)\n\n", dockerfile, re.S)[1]
        self.assertIn(f"EXPOSE {port}\n", model)
        volume, path = server["volumes"][0].split(":")
        self.assertIn(volume, more["volumes"])
        self.assertIn(f"--store={path}", model)

    def test_prometheus_takes_its_configuration(self):
        config = (self.FOLDER / "prometheus.yml").read_text()
        self.assertEqual(yaml.safe_load(config)["rule_files"], ["/etc/prometheus/rules/*.yaml"])
        require(shutil.which("promtool"), "promtool is not installed")
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(config.replace("/etc/prometheus/rules", str(RULES)))
            file.flush()
            subprocess.run(["promtool", "check", "config", file.name], check=True, stdout=subprocess.DEVNULL, timeout=60)


if __name__ == "__main__":
    run_tests()
