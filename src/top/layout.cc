#include "top/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "top/workload_table.h"
#include "top/zone_table.h"

namespace kepler::top {
namespace {

constexpr std::array<std::string_view, 5> kPlurals = {"Processes", "Containers", "Pods", "VMs", "Namespaces"};
constexpr size_t kTall = 16;  // from here on there are blank lines and details

constexpr std::string_view kHints = "q quit  ? help  1-5 level  w/j/c sort  / filter  Enter open  Esc back";
constexpr auto kHelp = std::to_array<std::string_view>({
    "1 processes  2 containers  3 pods",
    "4 VMs  5 namespaces  Tab next level",
    "w j c    sort by watts, joules, CPU time",
    "/        filter by a part of the name",
    "Up Down  select, also PgUp PgDn Home End",
    "Enter    open namespace, pod, container",
    "Esc      back, or remove the filter",
    "q        quit, also Ctrl+C",
    "",
    "Click a row to select it, and again to",
    "open it. Click a heading to sort.",
    "JOULES, COST and CARBON count from the",
    "start of the agent or of the workload.",
    "",
    "Press any key to go on.",
});

std::string Between(std::string_view left, std::string_view right, size_t width, Glyphs glyphs) {
  const std::string end = Shown(right, width, glyphs);
  const size_t used = WidthOf(end);
  if (used + 2 >= width) return Cell(left, width, Side::kLeft, glyphs);
  return Cell(left, width - used - 1, Side::kLeft, glyphs) + " " + end;
}

std::string Title(const Knowledge& known, size_t width, Glyphs glyphs) {
  if (!known.has_readings) return Cell("kepler top", width, Side::kLeft, glyphs);
  const Readings& readings = known.readings;
  const std::string clock = readings.time.size() >= 19 ? readings.time.substr(11, 8) + "Z, " : "";
  const std::string age = fmt::format("{}{} ago", clock, TimeText(static_cast<double>(known.age.count())));
  const std::string version = width < 60 || readings.version.empty() ? "" : "  kepler " + readings.version;
  return Between((readings.node.empty() ? "kepler top" : readings.node) + version, age, width, glyphs);
}

std::string Status(const View& view, const Readings& readings, size_t width, Glyphs glyphs) {
  const Listing& now = view.now;
  std::string left(kPlurals[static_cast<size_t>(now.level)]);
  if (!now.under.empty()) left += " of " + now.title;
  left += fmt::format(" by {}", NameOf(view.sort));
  if (readings.level == NameOf(now.level)) left += fmt::format(", {} of {}", readings.rows.size(), readings.matching);
  if (!now.filter.empty() && !view.is_editing) left += fmt::format(", filter \"{}\"", now.filter);
  std::string right;
  if (width >= 100)
    right = fmt::format("not listed {} J, unattributed {} J", JoulesText(readings.unlisted_joules),
                        JoulesText(readings.unattributed_joules));
  return Between(left, right, width, glyphs);
}

std::string Details(const WorkloadReading& row, size_t width, Glyphs glyphs) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "  ", name, value);
  };
  add("exe", row.exe);
  add("container", row.container);
  add("pod", row.pod);
  add("namespace", row.name_space);
  add("runtime", row.runtime);
  add("id", row.id);
  return Cell(text, width, Side::kLeft, glyphs);
}

std::string Prompt(const View& view, size_t width, Glyphs glyphs) {
  if (view.is_editing) return Cell("filter: " + view.now.filter + "_", width, Side::kLeft, glyphs);
  return Cell(kHints, width, Side::kLeft, glyphs);
}

/// Why there is nothing to see.
std::string Nothing(const View& view, const Knowledge& known) {
  if (!known.has_readings) return known.trouble.empty() ? "waiting for values" : "";
  if (known.readings.level.empty()) return "none, without a zone";
  if (known.readings.level != NameOf(view.now.level)) return "waiting for values";
  if (!known.readings.rows.empty()) return "";
  return view.now.filter.empty() ? "none" : "no name contains the filter; Esc removes it";
}

/// The title, and what is wrong.
std::vector<Line> Top(const Knowledge& known, const Size& size, Glyphs glyphs) {
  std::vector<Line> lines = {{Title(known, size.columns, glyphs), Style::kTitle}};
  const auto alert = [&](std::string_view text) {
    lines.push_back({Cell(text, size.columns, Side::kLeft, glyphs), Style::kAlert});
  };
  if (!known.trouble.empty()) alert(known.trouble);
  if (known.has_readings && known.readings.stale) alert("the last tick is too old: power is unknown");
  const size_t remarks = size.lines >= kTall ? known.remarks.size() : std::min<size_t>(known.remarks.size(), 1);
  for (size_t i = 0; i < remarks; ++i)
    lines.push_back({Cell(known.remarks[i], size.columns, Side::kLeft, glyphs), Style::kDim});
  return lines;
}

/// Everything above the rows, the header of the table included.
std::vector<Line> Head(const View& view, const Knowledge& known, const Size& size, const Look& look) {
  std::vector<Line> lines = Top(known, size, look.glyphs);
  if (!known.has_readings) return lines;
  const size_t max_zones = std::max<size_t>(1, size.lines / 5);
  for (Line& line : ZoneLines(known.readings, known.history, size.columns, max_zones, look))
    lines.push_back(std::move(line));
  if (size.lines >= kTall) lines.emplace_back();
  lines.push_back({Status(view, known.readings, size.columns, look.glyphs), Style::kPlain});
  lines.emplace_back();  // for the header of the table
  return lines;
}

/// Lines below the rows.
size_t FootLines(const Size& size) { return size.lines >= kTall ? 2 : 1; }

/// No line is longer than the screen, however small.
Frame Clipped(Frame frame, const Size& size, Glyphs glyphs) {
  frame.lines.resize(size.lines);
  for (Line& line : frame.lines) line.text = Shown(line.text, size.columns, glyphs);
  return frame;
}

Frame HelpFrame(const Knowledge& known, const Size& size, Glyphs glyphs) {
  Frame frame{.lines = Top(known, size, glyphs)};
  for (const std::string_view text : kHelp) frame.lines.push_back({Cell(text, size.columns, Side::kLeft, glyphs)});
  return Clipped(std::move(frame), size, glyphs);
}

}  // namespace

size_t VisibleRows(const Knowledge& known, const Size& size) {
  const size_t used = Head({}, known, size, {}).size() + FootLines(size);
  return size.lines > used ? size.lines - used : 0;
}

Frame Layout(const View& view, const Knowledge& known, const Size& size, const Look& look) {
  if (view.help) return HelpFrame(known, size, look.glyphs);
  Frame frame{.lines = Head(view, known, size, look)};
  const size_t rows = VisibleRows(known, size);
  const Readings& readings = known.readings;
  const std::string nothing = Nothing(view, known);
  const bool has_rows = known.has_readings && nothing.empty();
  if (has_rows) {
    const WorkloadTable table(readings, view.sort, size.columns, look);
    frame.placement = {frame.lines.size() - 1, frame.lines.size(), rows, table.Areas()};
    frame.lines.back() = {Cell(table.Header(), size.columns, Side::kLeft, look.glyphs), Style::kHeader};
    for (size_t i = view.first; i < readings.rows.size() && i < view.first + rows; ++i)
      frame.lines.push_back({Shown(table.Row(i), size.columns, look.glyphs), i == view.row ? Style::kSelected
                                                                             : readings.rows[i].running ? Style::kPlain
                                                                                                        : Style::kDim});
  } else {
    frame.lines.push_back({Cell(nothing, size.columns, Side::kLeft, look.glyphs), Style::kDim});
  }
  const size_t foot = FootLines(size);
  frame.lines.resize(size.lines > foot ? size.lines - foot : 0);
  const bool is_selected = has_rows && view.row < readings.rows.size();
  if (foot == 2)
    frame.lines.push_back(
        {is_selected ? Details(readings.rows[view.row], size.columns, look.glyphs) : "", Style::kDim});
  frame.lines.push_back({Prompt(view, size.columns, look.glyphs), Style::kHeader});
  return Clipped(std::move(frame), size, look.glyphs);
}

std::string PlainText(const View& view, const Readings& readings, size_t width, const Look& look) {
  std::vector<Line> lines = {{fmt::format("{}  {}", readings.node, readings.time)}};
  lines.front().text = Shown(lines.front().text, width, look.glyphs);
  for (Line& line : ZoneLines(readings, {}, width, SIZE_MAX, look)) lines.push_back(std::move(line));
  lines.emplace_back();
  lines.push_back({Status(view, readings, std::min<size_t>(width, 100), look.glyphs)});
  // CPU use is the difference of two answers. There is no other one.
  Look shown = look;
  shown.has_cores = std::ranges::any_of(readings.rows, [](const auto& row) { return row.cpu_cores.has_value(); });
  const WorkloadTable table(readings, view.sort, width, shown);
  lines.push_back({table.Header()});
  for (size_t i = 0; i < readings.rows.size(); ++i) lines.push_back({table.Row(i)});
  std::string out;
  for (const Line& line : lines)
    out += fmt::format("{}\n", std::string_view(line.text).substr(0, line.text.find_last_not_of(' ') + 1));
  return out;
}

}  // namespace kepler::top
