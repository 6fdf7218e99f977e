#include "top/workload_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kepler::top {
namespace {

constexpr size_t kFigure = 8;    // columns of a figure
constexpr size_t kMaxText = 60;  // of a text; the last one may be longer
constexpr size_t kGap = 1;
// Minimum width of the screen for these columns.
constexpr size_t kCores = 50, kCost = 60, kContext = 70, kTime = 90, kMoreContext = 110, kOtherZones = 150;
constexpr size_t kMaxOtherZones = 3;

Level LevelOf(const Readings& readings) {
  const auto* const found = std::ranges::find(kLevelNames, readings.level);
  return found == kLevelNames.end() ? Level::kProcess : static_cast<Level>(found - kLevelNames.begin());
}

std::string NameAndState(const WorkloadReading& row) {
  const std::string& name = !row.name.empty() ? row.name : !row.comm.empty() ? row.comm : row.id;
  return row.running ? name : name + " (ended)";
}

std::optional<double> WattsIn(const WorkloadReading& row, std::string_view zone) {
  const auto use = std::ranges::find(row.zones, zone, &ZoneUse::zone);
  return use == row.zones.end() ? std::nullopt : use->watts;
}

std::string UpperCase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

WorkloadTable::WorkloadTable(const Readings& readings, Sort sort, size_t width, const Look& look)
    : readings_(readings), sort_(sort), width_(width), look_(look) {
  const Level level = LevelOf(readings);
  AddFigures(level);
  columns_.push_back({"NAME", Side::kLeft, 0, NameAndState});
  AddTexts(level);
  FitTexts();
}

void WorkloadTable::AddFigures(Level level) {
  using W = WorkloadReading;
  const auto add = [&](size_t from_width, std::string_view title, const auto& text, std::optional<Sort> sort = {}) {
    if (width_ >= from_width) columns_.push_back({std::string(title), Side::kRight, kFigure, text, sort});
  };
  add(0, "WATTS", [](const W& row) { return WattsText(row.watts); }, Sort::kWatts);
  add(0, "JOULES", [](const W& row) { return JoulesText(row.joules); }, Sort::kJoules);
  if (look_.has_cores) add(kCores, "CORES", [](const W& row) { return CoresText(row.cpu_cores); });
  add(
      sort_ == Sort::kCpu ? 0 : kTime, "CPU TIME", [](const W& row) { return TimeText(row.cpu_seconds.value_or(-1)); },
      Sort::kCpu);
  if (look_.price)
    add(kCost, "COST", [price = *look_.price](const W& row) { return MoneyText(KilowattHours(row.joules) * price); });
  if (look_.carbon)
    add(kCost, "CARBON",
        [carbon = *look_.carbon](const W& row) { return CarbonText(KilowattHours(row.joules) * carbon); });
  size_t others = 0;
  for (const ZoneReading& zone : readings_.zones) {
    const auto has = [&](const W& row) { return WattsIn(row, zone.zone).has_value(); };
    if (zone.zone == readings_.zone || others == kMaxOtherZones || std::ranges::none_of(readings_.rows, has)) continue;
    ++others;
    add(kOtherZones, UpperCase(zone.zone) + " W",
        [name = zone.zone](const W& row) { return WattsText(WattsIn(row, name)); });
  }
  if (level == Level::kProcess)
    add(kCores, "PID", [](const W& row) { return row.pid ? std::to_string(*row.pid) : std::string("-"); });
}

void WorkloadTable::AddTexts(Level level) {
  using W = WorkloadReading;
  if (level == Level::kProcess) AddText("CONTAINER", kContext, &W::container);
  if (level == Level::kProcess) AddText("POD", kMoreContext, &W::pod);
  if (level == Level::kContainer) AddText("POD", kContext, &W::pod);
  if (level == Level::kPod) AddText("NAMESPACE", kContext, &W::name_space);
  if (level == Level::kProcess || level == Level::kContainer) AddText("NAMESPACE", kMoreContext, &W::name_space);
  if (level == Level::kContainer) AddText("RUNTIME", kMoreContext, &W::runtime);
  if (level == Level::kProcess) AddText("EXE", kMoreContext, &W::exe);
}

void WorkloadTable::AddText(std::string_view title, size_t from_width, std::string WorkloadReading::* text) {
  const auto has_text = [&](const WorkloadReading& row) { return !(row.*text).empty(); };
  if (width_ < from_width || std::ranges::none_of(readings_.rows, has_text)) return;
  columns_.push_back(
      {std::string(title), Side::kLeft, 0, [text](const WorkloadReading& row) { return row.*text; }, {}});
}

void WorkloadTable::FitTexts() {
  size_t left = width_;
  std::vector<std::pair<size_t, Column*>> wanted;  // columns that the texts need
  for (Column& column : columns_) {
    left -= std::min(left, column.width + kGap);
    if (column.width != 0) continue;
    size_t widest = column.title.size();
    for (const WorkloadReading& row : readings_.rows)
      widest = std::max(widest, WidthOf(Shown(column.text(row), kMaxText, look_.glyphs)));
    wanted.emplace_back(widest, &column);
  }
  // The narrowest text is first: the columns that it does not need go to the others.
  std::ranges::sort(wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i].second->width = std::min(wanted[i].first, left / (wanted.size() - i));
    left -= wanted[i].second->width;
  }
  Column& last = columns_.back();
  last.width = std::min(last.width + left, size_t{4096});
}

std::string WorkloadTable::Header() const {
  std::string line;
  for (const Column& column : columns_) {
    const bool sorted = column.sort == sort_;
    line += Cell(column.title, column.width, column.side, look_.glyphs);
    line += !sorted ? " " : look_.glyphs == Glyphs::kUtf8 ? "↓" : "*";
  }
  return line;
}

std::string WorkloadTable::Row(size_t index) const {
  std::string line;
  for (const Column& column : columns_)
    line += Cell(column.text(readings_.rows[index]), column.width, column.side, look_.glyphs) + " ";
  return line;
}

std::vector<SortArea> WorkloadTable::Areas() const {
  std::vector<SortArea> areas;
  size_t begin = 0;
  for (const Column& column : columns_) {
    const size_t end = begin + column.width + kGap;
    if (column.sort) areas.push_back({begin, end, *column.sort});
    begin = end;
  }
  return areas;
}

}  // namespace kepler::top
