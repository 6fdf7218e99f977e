"""What Grafana asks Prometheus for a dashboard: its variables put into its queries, as Grafana 12 does."""
import json
import pathlib
import re
import time
import urllib.error
import urllib.parse

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/grafana"
ALL = "$__all"
BUILT_IN = {"__rate_interval": "10s", "__interval": "5s", "__range": "60s"}
REFERENCE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)")


def escaped_by_regex(value):
    """The format `regex`."""
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", r"\\\g<0>", value)


def escaped_by_prometheus(value, choice):
    """Without a format: for a string between double quotes; of a choice of many also for a regular expression in it."""
    if not choice:
        return value.replace("\\", "\\\\").replace('"', '\\"')
    return re.sub(r"[$^*{}\[\]'+?.()|]", r"\\\\\g<0>", value.replace("\\", "\\\\\\\\").replace('"', '\\\\\\"'))


def substituted(text, values, choices):
    """`values`: name to a value, a list of values, or ALL; `choices`: names of variables that may be several."""
    def one(match):
        name, form = match[1] or match[3], match[2]
        if name in BUILT_IN:
            return BUILT_IN[name]
        value = values[name]
        if value == ALL:
            return ".*"
        some = [escaped_by_regex(item) if form == "regex" else escaped_by_prometheus(item, name in choices)
                for item in ([value] if isinstance(value, str) else value)]
        return some[0] if len(some) == 1 else f"({'|'.join(some)})"
    return REFERENCE.sub(one, text)


class Dashboard:
    def __init__(self, path):
        self.json = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.variables = [one for one in self.json["templating"]["list"] if one["type"] == "query"]
        self.choices = {one["name"] for one in self.variables if one["multi"] or one["includeAll"]}

    def queries(self):
        """(title, kind, expression) of each."""
        for panel in self.json["panels"]:
            for target in panel.get("targets", ()):
                yield panel["title"], panel["type"], target["expr"]

    def values(self, server, **chosen):
        """What the variables are after loading, one after the other, and what each could be."""
        values, options = {}, {}
        for one in self.variables:
            name = one["name"]
            options[name] = asked(server, substituted(one["query"]["query"], values, self.choices))
            if name in chosen:
                values[name] = chosen[name]
            else:
                first = one.get("current", {}).get("value")
                values[name] = first if first == ALL or first in options[name] else next(iter(options[name]), "")
        return values, options


def get(server, path, **parameters):
    """The data of an answer. Prometheus' own words are in the error."""
    try:
        return json.loads(server.get(path + "?" + urllib.parse.urlencode(parameters)))["data"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{parameters}: {error.read().decode()}") from None


def asked(server, query):
    """What a variable could be."""
    if match := re.fullmatch(r"label_values\((.+),\s*(\w+)\)", query, re.S):
        return get(server, f"/api/v1/label/{match[2]}/values", **{"match[]": match[1]})
    match = re.fullmatch(r"query_result\((.+)\)", query, re.S)
    return [one["metric"]["pid"] for one in get(server, "/api/v1/query", query=match[1].strip())["result"]]


def samples(server, kind, expression):
    """Numbers of a panel: those of the last half a minute for a graph, those of now for others."""
    if kind == "timeseries":
        now = time.time()
        result = get(server, "/api/v1/query_range", query=expression, start=now - 30, end=now, step=5)["result"]
        found = [value for series in result for _, value in series["values"]]
    else:
        found = [series["value"][1] for series in get(server, "/api/v1/query", query=expression)["result"]]
    return [float(value) for value in found if value != "NaN"]
