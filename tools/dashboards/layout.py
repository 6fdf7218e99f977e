"""The JSON of Grafana for a dashboard that is given as rows of panels."""
import itertools

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Of Grafana 12.1, the version of deploy/compose. Newer ones convert it.
SCHEMA = 41


def variable(name, query, label, multi=False, everything=None, default=None, regex=""):
    """A choice by a query. `everything`: All can be chosen, and is at first; as `multi` if it is not given."""
    everything = multi if everything is None else everything
    made = {"name": name, "label": label, "type": "query", "datasource": DATASOURCE, "refresh": 2, "sort": 1, "regex": regex,
            "definition": query, "query": {"query": query, "refId": name}, "multi": multi, "includeAll": everything}
    if everything:
        made |= {"allValue": ".*", "current": {"text": "All", "value": "$__all"}}
    elif default:
        made["current"] = {"text": default, "value": default}
    return made


def panel(kind, title, description, queries, unit="watt", width=12, height=8, overrides=(), **custom):
    """`kind`: stat, timeseries, table; `queries`: (expression, legend); `custom`: of the lines of a graph."""
    defaults = {"unit": unit}
    if kind == "timeseries":
        defaults |= {"min": 0, "custom": {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never", **custom}}
    made = {"type": kind, "title": title, "description": description, "datasource": DATASOURCE,
            "gridPos": {"w": width, "h": height}, "fieldConfig": {"defaults": defaults, "overrides": list(overrides)},
            "targets": [{"refId": chr(ord("A") + number), "datasource": DATASOURCE, "expr": " ".join(expression.split()),
                         **({"instant": True, "format": "table"} if kind == "table" else {}),
                         **({"instant": True} if kind == "stat" else {}),
                         **({"legendFormat": legend} if legend else {})}
                        for number, (expression, legend) in enumerate(queries)]}
    if kind == "timeseries":
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                           "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "table":
        column = {"joule": "Energy"}.get(unit, "Number")
        made["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True},
                                                                  "renameByName": {"Value": column}}}]
    return made


def placed(rows):
    """All panels with their ids and positions; each row begins with a heading and fills 24 columns before the next line."""
    ids, y = itertools.count(1), 0
    for title, panels in rows:
        yield {"type": "row", "title": title, "id": next(ids), "collapsed": False, "panels": [],
               "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}}
        x, line, y = 0, 0, y + 1
        for one in panels:
            size = one["gridPos"]
            if x + size["w"] > 24:
                x, y, line = 0, y + line, 0
            yield {**one, "id": next(ids), "gridPos": {"x": x, "y": y, **size}}
            x, line = x + size["w"], max(line, size["h"])
        y += line


def dashboard(uid, title, description, variables, rows):
    return {"uid": uid, "title": title, "description": description, "tags": ["kepler", "energy"], "schemaVersion": SCHEMA,
            "version": 1, "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-1h", "to": "now"},
            "links": [{"type": "dashboards", "title": "Kepler", "tags": ["kepler"], "asDropdown": True, "includeVars": True,
                       "keepTime": True}],
            "templating": {"list": [{"name": "datasource", "label": "Data source", "type": "datasource",
                                     "query": "prometheus"}, *variables]},
            "panels": list(placed(rows))}
