#include "top/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"

namespace kepler::top {
namespace {

constexpr size_t kMinRows = 50, kMaxRows = 1000;  // the API's own limit

}  // namespace

void Follow(const Readings& readings, size_t visible_rows, View& view) {
  if (readings.level != NameOf(view.now.level)) return;  // of an earlier request
  const auto selected = std::ranges::find(readings.rows, view.now.selected, &WorkloadReading::id);
  if (view.now.selected.empty())
    view.row = 0;
  else if (selected != readings.rows.end())
    view.row = static_cast<size_t>(selected - readings.rows.begin());
  view.row = std::min(view.row, readings.rows.empty() ? 0 : readings.rows.size() - 1);
  const size_t page = std::max<size_t>(visible_rows, 1);
  view.first = std::clamp(view.first, view.row - std::min(view.row, page - 1), view.row);
}

std::string TargetOf(const View& view, size_t limit) {
  std::string target =
      fmt::format("/api/v1/snapshot?level={}&sort={}&limit={}", NameOf(view.now.level), NameOf(view.sort), limit);
  if (!view.now.filter.empty()) target += "&search=" + PercentEncode(view.now.filter);
  if (!view.now.under.empty()) target += "&under=" + PercentEncode(view.now.under);
  return target;
}

std::string Target(const View& view, size_t visible_rows) {
  const size_t wanted = (view.row + 2 * visible_rows) / kMinRows * kMinRows + kMinRows;
  return TargetOf(view, std::min(wanted, kMaxRows));
}

}  // namespace kepler::top
