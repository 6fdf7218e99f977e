#include "export/web/page_assets.h"

namespace kepler::web {

// All values become text nodes, never markup.
std::string_view PageScript() {
  return R"js("use strict";
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const byId = (id) => document.getElementById(id);
  const say = (id, text) => { const at = byId(id); if (at && at.textContent !== String(text)) at.textContent = text; };
  const number = (value) => {
    if (value === undefined) return "–";
    return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  };
  const joules = (value) => value.toFixed(2);

  const fill = (body, rows) => {
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, r) => {
      const row = body.rows[r] || body.insertRow();
      cells.forEach((text, c) => {
        let cell = row.cells[c];
        if (!cell) {
          cell = document.createElement(c === 0 ? "th" : "td");
          if (c === 0) cell.scope = "row";
          row.append(cell);
        }
        if (cell.textContent !== text) cell.textContent = text;
      });
    });
  };

  const parent = (level, row) => {
    const parts = [];
    if (level === "process") parts.push(row.container || row.container_id);
    if (level === "process" || level === "container") parts.push(row.pod || row.pod_id);
    if (level !== "namespace") parts.push(row.namespace);
    if (level === "process") parts.push(row.vm_id);
    if (level === "container" || level === "vm") parts.push(row.runtime);
    return parts.filter(Boolean).join(" ");
  };

  const origin = (zone) => zone.metered ? "measured" : zone.source === "model" ? "estimated" : "simulated";

  const showZones = (zones) => {
    fill(byId("zones"), zones.map((zone) => [zone.zone, number(zone.watts), number(zone.active_watts),
      number(zone.idle_watts), joules(zone.joules), origin(zone)]));
  };

  const showRows = (workloads) => {
    if (!workloads || !byId("rows")) return;
    fill(byId("rows"), workloads.rows.map((row) => [
      (row.name || row.id) + (row.pid === undefined ? "" : " (" + row.pid + ")"),
      row.running === false ? "ended" : number(row.watts), joules(row.joules),
      row.cpu_seconds === undefined ? "–" : row.cpu_seconds.toFixed(1), parent(workloads.level, row)]));
    const {total, matching} = workloads, listed = workloads.rows.length;
    say("count", (total || "none") + (matching === total ? "" : ", " + (matching || "none") + " match") +
      (listed < matching ? ", the first " + listed + " are listed" : ""));
    say("unlisted", joules(workloads.unlisted_joules));
    say("unattributed", joules(workloads.unattributed_joules));
  };

  // The chart, as power_chart.cc draws it: 240 bins of 15 s, newest last.
  const figure = document.querySelector("figure[data-column]");
  const column = figure ? Number(figure.dataset.column) : 0;
  let points = [];
  let step = 5;
  const draw = () => {
    if (!figure || points.length === 0) return;
    const bins = Array.from({length: 240}, () => ({active: 0, idle: 0, points: 0}));
    const newest = points[points.length - 1].at;
    for (const point of points) {
      const age = Math.floor((newest - point.at) / 15000);
      if (point.active === null || age < 0 || age >= 240) continue;
      const bin = bins[239 - age];
      bin.active += point.active;
      bin.idle += point.idle;
      ++bin.points;
    }
    const of = (bin, part) => part === "idle" ? bin.idle / bin.points : (bin.active + bin.idle) / bin.points;
    const max = Math.max(0, ...bins.filter((bin) => bin.points).map((bin) => of(bin, "active")));
    const gap = Math.max(2, Math.floor(3 * step / 15));
    for (const part of ["active", "idle"]) {
      let path = "", begin = 0, last = -1;
      bins.forEach((bin, i) => {
        if (!bin.points) return;
        const x = i * 2, y = 150 - of(bin, part) / (max || 1) * 130;
        if (last < 0 || i - last > gap) {
          if (last >= 0) path += "V150H" + begin + "Z";
          begin = x;
          path += "M" + x + " 150";
        }
        path += "L" + x + " " + y.toFixed(1) + "H" + (x + 2);
        last = i;
      });
      byId(part).setAttribute("d", path + "V150H" + begin + "Z");
    }
    byId("top").textContent = number(max) + " W";
    byId("chart").setAttribute("aria-label", "Power in the last hour, maximum " + number(max) + " W");
  };
  const add = (answer) => {
    const zones = answer.zones.filter((zone) => zone.domain === "cpu");
    const zone = zones[column];
    if (!zone) return;
    const at = Date.parse(answer.time);
    // After a connect, the first event repeats the last tick of the history or of the stream before. The history may
    // still have to be drawn.
    if (points.length === 0 || points[points.length - 1].at !== at)
      points.push({at, active: zone.active_watts === undefined ? null : zone.active_watts, idle: zone.idle_watts || 0});
    while (points.length > 0 && at - points[0].at > 3600000) points.shift();
    draw();
  };

  let received = performance.now() - Number(byId("age").textContent) * 1000;
  const age = () => say("age", Math.round((performance.now() - received) / 1000));
  const show = (answer) => {
    performance.clearMeasures("update");
    const begin = performance.now();
    const time = answer.time.slice(0, 19).replace("T", " ") + " UTC";
    if (byId("time").textContent !== time) received = begin;
    say("time", time);
    say("interval", Number(answer.interval_seconds.toPrecision(3)));
    age();
    say("error", answer.conservation_error_microjoules);
    showZones(answer.zones);
    showRows(answer.workloads);
    add(answer);
    say("state", answer.stale ? "The last tick is too old: there are no watts." : "Live.");
    performance.measure("update", {start: begin});
  };

  // A browser has six connections to a server, and a stream holds one: hidden tabs do without.
  let events = null, retry = 0;
  const disconnect = () => {
    clearTimeout(retry);
    if (events) events.close();
    events = null;
  };
  const connect = () => {
    disconnect();
    if (document.hidden) return;
    events = new EventSource("/api/v1/events?" + live.dataset.query);
    events.addEventListener("tick", (event) => show(JSON.parse(event.data)));
    events.addEventListener("error", (event) => {
      say("state", "Not live: the connection is lost, trying to connect again.");
      if (event.target.readyState === EventSource.CLOSED) retry = setTimeout(connect, 10000);
    });
  };
  const begin = () => {
    disconnect();
    if (document.hidden) return;
    fetch("/api/v1/history").then((answer) => answer.json()).then((history) => {
      step = history.step_seconds;
      points = history.points.map((point) => ({at: Date.parse(point.time), active: point.active_watts[column],
        idle: point.idle_watts[column]}));
    }).catch(() => {}).finally(connect);
  };

  document.addEventListener("visibilitychange", begin);
  begin();
  setInterval(age, 1000);
})();
)js";
}

}  // namespace kepler::web
