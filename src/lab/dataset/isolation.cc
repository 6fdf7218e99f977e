#include "lab/dataset/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kepler::lab::dataset {
namespace {

constexpr std::string_view kDynamicSuffix = "_dynamic_power";

/// Returns the value of a row from a list with one value per row, or one value for all rows.
template <class T>
const T& OfRow(std::span<const T> values, size_t row) {
  return values.size() == 1 ? values.front() : values[row];
}

class Subtraction {
 public:
  explicit Subtraction(std::vector<NumberColumn> watts) : changed_(watts.empty() ? 0 : watts.front().values.size()) {
    out_.watts = std::move(watts);
  }

  [[nodiscard]] std::vector<NumberColumn>& watts() { return out_.watts; }
  void Note(std::string line) { out_.notes.push_back(std::move(line)); }

  void TakeOff(NumberColumn& column, size_t row, double off) {
    double& watts = column.values[row];
    if (std::isnan(watts) || off == 0) return;
    if (watts < off) ++out_.clamped;
    const double left = std::max(watts - off, 0.0);
    if (left != watts) changed_[row] = true;
    watts = left;
  }

  void LeaveOut(NumberColumn& column, size_t row) {
    if (std::isnan(column.values[row])) return;
    column.values[row] = std::numeric_limits<double>::quiet_NaN();
    changed_[row] = true;
  }

  Isolated Finish() {
    out_.rows = static_cast<size_t>(std::ranges::count(changed_, true));
    return std::move(out_);
  }

 private:
  Isolated out_;
  std::vector<bool> changed_;  // by row
};

/// The rows of one node.
void TakeOffIdleOf(std::string_view node, std::span<const size_t> rows, const IdleSearch& search, NumberColumn& column,
                   Subtraction& out) {
  constexpr double kFarFromIdle = 0.1;
  std::vector<double> load, watts;
  for (const size_t row : rows) {
    load.push_back(search.load.values[row]);
    watts.push_back(column.values[row]);
  }
  const std::string of = fmt::format("{}{}{}", node, node.empty() ? "" : ": ", column.name);
  const auto idle = FindIdleWatts(load, watts, search.share / 100, search.percentile);
  if (!idle) {
    // Unchanged they would be taken for dynamic power.
    const auto lost = std::ranges::count_if(watts, [](double value) { return !std::isnan(value); });
    for (const size_t row : rows) out.LeaveOut(column, row);
    if (lost > 0)
      out.Note(fmt::format("{}: no row with watts has {}, so idle power is unknown; {} watts are left out", of,
                           search.load.name, lost));
    return;
  }
  out.Note(fmt::format("{}: {:.3f} W, percentile {} of {} rows with {} up to {:.6g}", of, idle->watts,
                       search.percentile, idle->rows, search.load.name, idle->most_load));
  if (idle->least_share > kFarFromIdle)
    out.Note(
        fmt::format("{}: the minimum load is {:.0f} percent of the maximum, so the subtracted watts include "
                    "more than idle power",
                    of, idle->least_share * 100));
  for (const size_t row : rows) out.TakeOff(column, row, idle->watts);
}

}  // namespace

std::string_view WattsOf(std::string_view column) {
  for (const std::string_view suffix : {kDynamicSuffix, std::string_view("_power"), std::string_view("_watts")})
    if (column.ends_with(suffix) && !column.starts_with(kBackgroundPrefix))
      return column.substr(0, column.size() - suffix.size());
  return {};
}

bool IsDynamic(std::string_view column) { return column.ends_with(kDynamicSuffix); }

std::string DynamicName(std::string_view column) { return fmt::format("{}{}", WattsOf(column), kDynamicSuffix); }

Isolated TakeOffIdle(std::vector<NumberColumn> watts, const IdleSearch& search) {
  std::map<std::string_view, std::vector<size_t>> by_node;
  for (size_t row = 0; row < search.nodes.size(); ++row) by_node[search.nodes[row]].push_back(row);
  Subtraction out(std::move(watts));
  for (NumberColumn& column : out.watts()) {
    column.is_dynamic = true;
    for (const auto& [node, rows] : by_node) TakeOffIdleOf(node, rows, search, column, out);
  }
  return out.Finish();
}

IdleProfile ProfileOf(std::span<const NumberColumn> idle) {
  IdleProfile profile;
  for (const NumberColumn& column : idle) {
    if (WattsOf(column.name).empty()) continue;
    std::vector<double> watts = column.values;
    std::erase_if(watts, [](double value) { return std::isnan(value); });
    if (!watts.empty()) profile[std::string(WattsOf(column.name))] = PercentileOf(std::move(watts), 50);
  }
  return profile;
}

Result<Isolated> TakeOffProfile(std::vector<NumberColumn> watts, const IdleProfile& profile, std::string_view source) {
  Subtraction out(std::move(watts));
  for (NumberColumn& column : out.watts()) {
    const std::string_view component = WattsOf(column.name);
    const auto found = profile.contains(column.name) ? profile.find(column.name) : profile.find(component);
    if (found == profile.end())
      return Fail(ErrorKind::kInvalid, fmt::format("{}: it has no value for {}", source, component));
    column.is_dynamic = true;
    for (size_t row = 0; row < column.values.size(); ++row) out.TakeOff(column, row, found->second);
    out.Note(fmt::format("{}: {:.3f} W from {}", column.name, found->second, source));
  }
  return out.Finish();
}

Isolated TakeOffEstimates(std::vector<NumberColumn> watts, const model::PowerModel& model,
                          std::span<const model::Estimate> background, std::string_view source) {
  Subtraction out(std::move(watts));
  for (NumberColumn& column : out.watts()) {
    const auto component = model::ComponentOf(WattsOf(column.name));
    if (!component ||
        std::ranges::find(model.components, *component, &model::ComponentModel::component) == model.components.end()) {
      out.Note(fmt::format("{}: nothing was subtracted, because the model does not predict it", column.name));
      continue;
    }
    column.is_dynamic = true;
    double sum = 0;
    for (size_t row = 0; row < column.values.size(); ++row) {
      const double off = OfRow(background, row).watts[static_cast<size_t>(*component)];
      sum += off;
      out.TakeOff(column, row, off);
    }
    out.Note(fmt::format("{}: mean {:.3f} W, from {}", column.name, sum / static_cast<double>(column.values.size()),
                         source));
  }
  return out.Finish();
}

void TakeOffBackground(std::vector<double>& feature, std::span<const double> background) {
  for (size_t row = 0; row < feature.size(); ++row)
    if (const double off = OfRow(background, row); !std::isnan(feature[row]) && !std::isnan(off))
      feature[row] = std::max(feature[row] - off, 0.0);
}

double PercentileOf(std::vector<double> values, double percentile) {
  std::ranges::sort(values);
  const double place = percentile / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

std::optional<IdleWatts> FindIdleWatts(std::span<const double> load, std::span<const double> watts, double share,
                                       double percentile) {
  constexpr size_t kFewest = 20;
  std::vector<size_t> rows;
  for (size_t i = 0; i < load.size(); ++i)
    if (!std::isnan(load[i]) && !std::isnan(watts[i])) rows.push_back(i);
  if (rows.empty()) return std::nullopt;
  const auto [lowest, highest] = std::ranges::minmax(rows, {}, [&](size_t row) { return load[row]; });
  const double least_share = load[highest] > 0 ? std::max(load[lowest], 0.0) / load[highest] : 0;
  const auto wanted = static_cast<size_t>(std::ceil(share * static_cast<double>(rows.size())));
  const size_t count = std::min(std::max(wanted, kFewest), rows.size());
  std::ranges::sort(rows, {}, [&](size_t row) { return std::pair(load[row], row); });
  rows.resize(count);
  std::vector<double> least;
  least.reserve(count);
  for (const size_t row : rows) least.push_back(watts[row]);
  return IdleWatts{.watts = PercentileOf(std::move(least), percentile),
                   .rows = count,
                   .most_load = load[rows.back()],
                   .least_share = least_share};
}

}  // namespace kepler::lab::dataset
