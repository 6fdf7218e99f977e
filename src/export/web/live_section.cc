#include "export/web/live_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/percent.h"
#include "export/api/snapshot_json.h"
#include "export/api/workloads.h"
#include "export/series/figure_text.h"
#include "export/web/html_text.h"
#include "export/web/power_chart.h"
#include "status/zone_origin.h"

namespace kepler::web {
namespace {

using status::Domain;

/// "level=pod&sort=watts&search=a%20b", without "&amp;".
std::string QueryOf(const api::Query& query, snapshot::Level level, api::Sort sort) {
  std::string text = fmt::format("level={}&sort={}", snapshot::ToString(level), api::ToString(sort));
  if (!query.search.empty()) text += "&search=" + PercentEncode(query.search);
  if (!query.under.empty() && level == query.level) text += "&under=" + PercentEncode(query.under);
  return text;
}

std::string Joules(Energy energy) { return fmt::format("{:.2f}", energy.ToJoules()); }

/// "2026-11-27 22:00:00 UTC".
std::string TimeOf(WallTime time) {
  const std::string text = series::TimeText(time);
  const auto point = text.rfind('.');
  std::string shown = text.substr(0, point) + " UTC";
  shown[shown.find('T')] = ' ';
  return shown;
}

std::string_view PluralOf(snapshot::Level level) {
  switch (level) {
    case snapshot::Level::kContainer:
      return "Containers";
    case snapshot::Level::kVm:
      return "VMs";
    case snapshot::Level::kPod:
      return "Pods";
    case snapshot::Level::kNamespace:
      return "Namespaces";
    default:
      return "Processes";
  }
}

/// "312, 40 match, the first 20 are listed", as the script writes it.
std::string CountText(size_t total, size_t matching, size_t listed) {
  std::string text = total == 0 ? "none" : std::to_string(total);
  if (matching != total) text += matching == 0 ? ", none match" : fmt::format(", {} match", matching);
  if (listed < matching) text += fmt::format(", the first {} are listed", listed);
  return text;
}

class Writer {
 public:
  explicit Writer(const LiveView& view) : view_(view), snapshot_(view.snapshot) {}

  [[nodiscard]] std::string Write() && {
    const bool has_rows = api::IsShown(view_.query.level, view_.gates);
    const std::string query = has_rows ? QueryOf(view_.query, view_.query.level, view_.query.sort) : "";
    Put("<div id=\"live\" data-query=\"{}&amp;limit={}\">\n", EscapeHtml(query), kPageRows);
    Now();
    Chart();
    if (has_rows && snapshot_.primary < snapshot_.processes.zones) Workloads();
    out_ += "</div>\n";
    return std::move(out_);
  }

 private:
  void Now() {
    Put("<h2 id=\"now\">Power now</h2>\n<p><span id=\"state\" role=\"status\">{}</span> Figures of <time "
        "id=\"time\">{}</time>, <span id=\"age\">{:.0f}</span> s old, averaged over <span "
        "id=\"interval\">{:.3g}</span> "
        "s.</p>\n",
        view_.stale ? "The last tick is too old: there are no watts." : "", TimeOf(snapshot_.taken_at),
        view_.age_seconds, ToSeconds(snapshot_.interval));
    const auto is_simulated = [](const auto& zone) {
      return status::OriginOf(zone.source) == status::Origin::kSimulated;
    };
    if (std::ranges::any_of(snapshot_.zones, is_simulated))
      out_ += "<p class=\"problem\">The fake meter is in use: its power is simulated, nothing is measured.</p>\n";
    out_ +=
        "<table aria-labelledby=\"now\" class=\"figures zones\"><thead><tr><th scope=\"col\">Zone</th><th "
        "scope=\"col\">Watts</th><th "
        "scope=\"col\">Active</th><th scope=\"col\">Idle</th><th scope=\"col\">Joules</th><th "
        "scope=\"col\">Source</th></tr></thead>\n<tbody id=\"zones\">\n";
    for (size_t z = 0; z < snapshot_.node.size(); ++z)
      if (snapshot_.zones[z].domain != Domain::kIdleCpu) Zone(snapshot_.zones[z], snapshot_.node[z]);
    Put("</tbody></table>\n<p>Joules since startup. Node energy minus the sum of all its parts: <span "
        "id=\"error\">{}</span> µJ.</p>\n",
        api::ConservationError(snapshot_).microjoules());
  }

  void Zone(const status::Zone& zone, const snapshot::NodeZone& node) {
    const bool known = node.fresh && !view_.stale;
    const bool is_split = zone.domain == Domain::kCpu;
    const auto watts = [&](bool shown, Power power) { return shown ? ShortNumber(power.watts()) : "–"; };
    Put("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        EscapeHtml(zone.name), watts(known, node.power), watts(known && is_split, node.active_power),
        watts(known && is_split, node.idle_power), Joules(node.total), ToString(status::OriginOf(zone.source)));
  }

  void Chart() {
    if (snapshot_.primary >= snapshot_.zones.size()) return;
    const std::string& zone = snapshot_.zones[snapshot_.primary].name;
    const auto column = std::ranges::find(view_.points.zones, zone);
    if (column == view_.points.zones.end() || view_.points.times.empty()) return;
    const auto index = column - view_.points.zones.begin();
    Put("<h2 id=\"hour\">Last hour</h2>\n<figure data-column=\"{}\">\n", index);
    out_ += PowerChart(view_.points, static_cast<size_t>(index));
    Put("<figcaption>Power of {}: <span class=\"key active\"></span> active on top of <span class=\"key idle\"></span> "
        "idle, in watts. <a href=\"/api/v1/history\">Figures</a></figcaption>\n</figure>\n",
        EscapeHtml(zone));
  }

  void Workloads() {
    const api::Workloads workloads(snapshot_, view_.query.level);
    const auto found = workloads.Find(view_.query);
    out_ += "<h2 id=\"workloads\">Top workloads</h2>\n";
    if (!view_.problem.empty()) Put("<p class=\"problem\">{}</p>\n", EscapeHtml(view_.problem));
    Levels();
    Search();
    out_ += R"(<table aria-labelledby="workloads" class="figures rows"><thead><tr><th scope="col">Name</th>)";
    Sorts();
    out_ += "<th scope=\"col\">Belongs to</th></tr></thead>\n<tbody id=\"rows\">\n";
    for (const size_t row : found.rows) Row(workloads, row);
    Put("</tbody></table>\n<p>{}: <span id=\"count\">{}</span>. Energy without a row: <span id=\"unlisted\">{}</span> "
        "J; "
        "unattributed energy: <span id=\"unattributed\">{}</span> J.</p>\n",
        PluralOf(view_.query.level), CountText(workloads.rows(), found.matching, found.rows.size()),
        Joules(api::UnlistedOf(snapshot_, view_.query.level)), Joules(snapshot_.unattributed[snapshot_.primary]));
    const bool is_named =
        view_.query.level == snapshot::Level::kPod || view_.query.level == snapshot::Level::kNamespace;
    if (is_named && !snapshot_.pod_informer)
      out_ += "<p>Set kube.enabled to see the names of pods and namespaces.</p>\n";
  }

  void Levels() {
    out_ += "<nav aria-label=\"Level\">";
    for (const snapshot::Level level : api::AllLevels()) {
      if (!api::IsShown(level, view_.gates)) continue;
      Put("<a href=\"?{}\"{}>{}</a> ", EscapeHtml(QueryOf(view_.query, level, view_.query.sort)),
          level == view_.query.level ? " aria-current=\"page\"" : "", snapshot::ToString(level));
    }
    out_ += "</nav>\n";
  }

  void Search() {
    Put("<form action=\"/\" method=\"get\" role=\"search\"><input type=\"hidden\" name=\"level\" value=\"{}\"><input "
        "type=\"hidden\" name=\"sort\" value=\"{}\"><label for=\"search\">Search</label> <input id=\"search\" "
        "name=\"search\" type=\"search\" maxlength=\"{}\" value=\"{}\"> <button>Search</button></form>\n",
        snapshot::ToString(view_.query.level), api::ToString(view_.query.sort), api::kMaxSearch,
        EscapeHtml(view_.query.search));
  }

  /// The headers of the figures: each sorts by it.
  void Sorts() {
    const auto header = [&](api::Sort sort, std::string_view text) {
      const bool is_used = sort == view_.query.sort;
      Put(R"(<th scope="col"{}><a href="?{}">{}</a></th>)", is_used ? R"( aria-sort="descending")" : "",
          EscapeHtml(QueryOf(view_.query, view_.query.level, sort)), text);
    };
    header(api::Sort::kWatts, "Watts");
    header(api::Sort::kJoules, "Joules");
    header(api::Sort::kCpu, "CPU s");
  }

  void Row(const api::Workloads& workloads, size_t row) {
    const api::Names names = workloads.NamesOf(row);
    const size_t zone = snapshot_.primary;
    const bool runs = workloads.IsRunning(row);
    std::string name(names.name.empty() ? std::string_view(names.id) : names.name);
    if (names.pid != 0) name += fmt::format(" ({})", names.pid);
    Put("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", EscapeHtml(name),
        !runs         ? "ended"
        : view_.stale ? "–"
                      : ShortNumber(workloads.watts(row, zone)),
        Joules(workloads.energy(row, zone)),
        workloads.has_cpu() ? fmt::format("{:.1f}", ToSeconds(workloads.cpu(row))) : "–", EscapeHtml(ParentOf(names)));
  }

  /// The names of the nearest parents: "web shop-0 shop".
  [[nodiscard]] std::string ParentOf(const api::Names& names) const {
    std::string text;
    const auto add = [&](std::string_view part) {
      if (!part.empty()) text += (text.empty() ? "" : " ") + std::string(part);
    };
    using snapshot::Level;
    const Level level = view_.query.level;
    if (level == Level::kProcess) add(!names.container.empty() ? names.container : names.container_id);
    if (level == Level::kProcess || level == Level::kContainer) add(!names.pod.empty() ? names.pod : names.pod_id);
    if (level != Level::kNamespace) add(names.name_space);
    if (level == Level::kProcess) add(names.vm_id);
    if (level == Level::kContainer || level == Level::kVm) add(names.runtime);
    return text;
  }

  template <class... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const LiveView& view_;
  const snapshot::Snapshot& snapshot_;
  std::string out_;
};

}  // namespace

std::string LiveSection(const LiveView& view) { return Writer(view).Write(); }

}  // namespace kepler::web
