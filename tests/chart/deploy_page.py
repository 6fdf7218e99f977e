"""The tables of docs/deploy-kubernetes.md, which tests hold against the chart and against what runs: they are written there
and nowhere else."""
import dataclasses
import pathlib
import re

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/deploy-kubernetes.md").read_text()


def words(cell):
    """Returns the texts in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def table(heading):
    """The rows of the first table below a heading: {heading of the column: cell}."""
    lines = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]
    if len(rows) < 3 or any(len(row) != len(rows[0]) for row in rows[2:]):
        raise AssertionError(f"no table, or rows of different lengths, below {heading!r}")
    return [dict(zip(rows[0], row)) for row in rows[2:]]


@dataclasses.dataclass(frozen=True)
class Rights:
    """Of the agent, by a profile. `capabilities` None: all."""
    uid: int
    capabilities: frozenset | None
    host_pids: bool
    source: str  # of CPU time


def profile_rights():
    """{profile: its rights}, from "Which profile?"."""
    found = {}
    for row in table("Which profile?"):
        cell = row["Rights"]
        everything = cell == "everything"
        uid = re.search(r"uid (\d+)", cell)
        found[words(row["`profile`"])[0]] = Rights(
            int(uid[1]) if uid else 0, None if everything else frozenset(words(cell)), everything or "host pids" in cell,
            "bpf" if row["CPU time"].startswith("BPF") else "procfs")
    return found


def process_names():
    """The capabilities that it says processNames adds."""
    return frozenset(words(re.search(r"\*\*`processNames: true`\*\* adds ([^,]*),", PAGE)[1]))


@dataclasses.dataclass(frozen=True)
class Field:
    """A row of "Pod Security levels"; `items`: `FIELD VALUE` for each of several values, else the field."""
    items: frozenset
    profiles: frozenset
    refused_by: str | None


def fields():
    found = []
    for row in table("Pod Security levels"):
        name, *values = words(row["Field"])
        several = name in ("hostPath", "capabilities.add")
        items = {f"{name} {value}" for value in values} if several else {name, *values}
        profiles = {words(column)[0] for column, cell in row.items() if column.startswith("`") and cell == "yes"}
        level = row["Level that refuses it"]
        found.append(Field(frozenset(items), frozenset(profiles), None if level == "–" else level))
    return found


def refused(level, profile):
    """What that level, by itself, has against a profile's pod."""
    return {item for field in fields() if field.refused_by == level and profile in field.profiles for item in field.items}
