#!/usr/bin/env python3
"""Draws what the queries of a dashboard return, as an SVG for the documentation. It is not a picture of Grafana.

    tools/dashboards/draw.py URL DASHBOARD OUTPUT [VARIABLE=VALUE[,VALUE]...]...

URL: of Prometheus. The last ten minutes are drawn. A variable that is not given has its value after loading."""
import html
import math
import pathlib
import re
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import grafana  # noqa: E402

SECONDS, STEP = 600, 5
COLUMN, LINE = 50, 30  # pixels of Grafana's grid
COLORS = ("#3274d9", "#56a64b", "#f2a900", "#e0226e", "#8f3bb8", "#37872d", "#ff780a", "#19730e", "#705da0", "#b3261e")


class Server:
    def __init__(self, url):
        self.url = url.rstrip("/")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read().decode()


def shown(value, unit):
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit == "s" and value and value < 1:
        return f"{1000 * value:.3g} ms"
    symbol = {"watt": "W", "joule": "J", "s": "s", "bytes": "B"}.get(unit, "")
    power = max(0, min(3, int(math.log10(value) // 3))) if value >= 1000 and unit != "s" else 0
    return f"{value / 1000 ** power:.3g} {('', 'k', 'M', 'G')[power]}{symbol}".strip()


def named(legend, labels):
    if not legend:
        return " ".join(value for name, value in sorted(labels.items()) if name not in ("job", "instance", "__name__"))
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match[1], ""), legend)


def text(x, y, words, size=11, color="#222", anchor="start", weight="normal"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def graph(series, unit, width, height, now):
    """Lines with a scale and the names of the six highest. A gap in the data is a gap in the line."""
    series = sorted(((name, [(float(at), float(value)) for at, value in points if value != "NaN"]) for name, points in series),
                    key=lambda one: -max((value for _, value in one[1]), default=0))
    top = max((value for _, points in series for _, value in points), default=0) or 1
    bottom = height - 34
    yield f'<line x1="48" x2="{width}" y1="{bottom}" y2="{bottom}" stroke="#999"/>'
    for part in (0, 0.5, 1):
        y = bottom - part * (bottom - 28)
        yield text(44, y + 4, shown(part * top, unit), 10, "#666", "end")
        yield f'<line x1="48" x2="{width}" y1="{y:.0f}" y2="{y:.0f}" stroke="#eee"/>'
    for number, (_, points) in enumerate(series):
        path, before = "", 0
        for at, value in points:
            x, y = 48 + (width - 48) * (1 - (now - at) / SECONDS), bottom - value / top * (bottom - 28)
            path += f"{'L' if at - before <= 2 * STEP else 'M'}{x:.0f} {y:.0f}"
            before = at
        yield f'<path d="{path}" fill="none" stroke="{COLORS[number % len(COLORS)]}" stroke-width="1.5"/>'
    for number, (name, _) in enumerate(series[:6]):
        x, y = 48 + number % 3 * (width - 48) / 3, height - 18 + number // 3 * 14
        yield text(x, y, "● " + name[:int(width / 24)], 10, COLORS[number % len(COLORS)])


def table(rows, unit, width):
    rows = sorted(rows, key=lambda row: -row[1])[:8]
    for number, (name, value) in enumerate(rows):
        yield text(8, 40 + number * 16, name[:int(width / 9)])
        yield text(width - 8, 40 + number * 16, shown(value, unit), anchor="end")


def drawn(server, dashboard, values, panel, now):
    place, unit = panel["gridPos"], panel["fieldConfig"]["defaults"]["unit"]
    width, height = place["w"] * COLUMN - 10, place["h"] * LINE - 10
    series, rows = [], []
    for target in panel["targets"]:
        query = grafana.substituted(target["expr"], values, dashboard.choices)
        if panel["type"] == "timeseries":
            found = grafana.get(server, "/api/v1/query_range", query=query, start=now - SECONDS, end=now, step=STEP)["result"]
            series += [(named(target.get("legendFormat"), one["metric"]), one["values"]) for one in found]
        else:
            found = grafana.get(server, "/api/v1/query", query=query)["result"]
            rows += [(named(None, one["metric"]), float(one["value"][1])) for one in found]
    yield f'<rect width="{width}" height="{height}" rx="3" fill="#fff" stroke="#ccc"/>'
    yield text(8, 17, panel["title"][:int(width / 7)], 12, weight="bold")
    if panel["type"] == "timeseries":
        yield from graph(series, unit, width - 8, height - 4, now)
    elif panel["type"] == "stat":
        yield text(width / 2, height / 2 + 18, shown(rows[0][1], unit) if rows else "no data", 28, "#37872d", "middle")
    else:
        yield from table(rows, unit, width)


def main(url, path, output, *chosen):
    server, dashboard, now = Server(url), grafana.Dashboard(path), time.time()
    grafana.BUILT_IN.update({"__rate_interval": "20s", "__range": f"{SECONDS}s"})
    values, _ = dashboard.values(server, **{name: values.split(",") for name, values in (one.split("=", 1) for one in chosen)})
    parts, bottom = [], 0
    for panel in dashboard.json["panels"]:
        place = panel["gridPos"]
        bottom = max(bottom, (place["y"] + place["h"]) * LINE)
        inside = ([text(4, 20, panel["title"], 14, weight="bold")] if panel["type"] == "row"
                  else drawn(server, dashboard, values, panel, now))
        parts.append(f'<g transform="translate({place["x"] * COLUMN + 5},{place["y"] * LINE + 30})">{"".join(inside)}</g>')
    note = f"{dashboard.json['title']}: results of the queries, drawn by tools/dashboards/draw.py, not by Grafana"
    pathlib.Path(output).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1210 {bottom + 35}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="#f4f5f5"/>{text(8, 20, note, 12, "#666")}{"".join(parts)}</svg>\n',
        encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
