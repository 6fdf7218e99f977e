#pragma once
// From all of a node's watts (AbsPower) to what load adds (DynPower): what is not the load's is taken off each row, and
// nothing goes below 0. Pure.
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::lab::dataset {

/// Of a table. NaN: an empty cell, which stays one.
struct NumberColumn {
  std::string name{};
  std::vector<double> values{};
  bool is_dynamic = false;  // idle power was subtracted
};

/// Prefix of columns of background activity: background_cpu_cycles.
inline constexpr std::string_view kBackgroundPrefix = "background_";

/// "package" of the columns package_power, package_watts and package_dynamic_power; "" of what is no column of watts.
[[nodiscard]] std::string_view WattsOf(std::string_view column);

/// Marks a column from which idle power was subtracted: package_dynamic_power.
[[nodiscard]] bool IsDynamic(std::string_view column);
/// "package_dynamic_power" of the columns package_power and package_watts.
[[nodiscard]] std::string DynamicName(std::string_view column);

struct Isolated {
  std::vector<NumberColumn> watts{};  // the columns that were given, with what is left
  std::vector<std::string> notes{};   // what was taken off, a line each
  size_t rows = 0;                    // with other watts than before
  size_t clamped = 0;                 // watts that would have been negative
};

/// How idle watts are looked for (FindIdleWatts), for each node by itself. As many rows as the watts have.
struct IdleSearch {
  const NumberColumn& load;  // how busy a row is
  std::span<const std::string_view> nodes;
  double share = 10;  // percent
  double percentile = 10;
};
[[nodiscard]] Isolated TakeOffIdle(std::vector<NumberColumn> watts, const IdleSearch& search);

/// Idle watts by column ("package_power") or component ("package").
using IdleProfile = std::map<std::string, double, std::less<>>;
/// The medians of the columns of watts among these, by component.
[[nodiscard]] IdleProfile ProfileOf(std::span<const NumberColumn> idle);
/// kInvalid, with `source`, where the profile does not have one of the columns.
[[nodiscard]] Result<Isolated> TakeOffProfile(std::vector<NumberColumn> watts, const IdleProfile& profile,
                                              std::string_view source);

/// What `model` says of the background: an estimate for each row, or one for all. Columns of components that the model
/// does not have are left as they are, which is noted.
[[nodiscard]] Isolated TakeOffEstimates(std::vector<NumberColumn> watts, const model::PowerModel& model,
                                        std::span<const model::Estimate> background, std::string_view source);
/// A feature loses the background too: a value for each row, where NaN is nothing, or one for all.
void TakeOffBackground(std::vector<double>& feature, std::span<const double> background);

/// What a component takes without load, and by which rows.
struct IdleWatts {
  double watts = 0;
  size_t rows = 0;         // with the least load
  double most_load = 0;    // among these
  double least_share = 0;  // the least load as a share of the most of all rows; far from 0: it never was idle
};

/// The `percentile` (0 to 100) of watts among the `share` of rows with the least load, at least twenty of them if there
/// are as many. Not the smallest watts of all: one bad reading would be the idle power. Rows whose load or watts is NaN
/// do not count; nothing where no row is left.
[[nodiscard]] std::optional<IdleWatts> FindIdleWatts(std::span<const double> load, std::span<const double> watts,
                                                     double share, double percentile);

/// Between the values nearest to it, as most people define it; `values` are not empty.
[[nodiscard]] double PercentileOf(std::vector<double> values, double percentile);

}  // namespace kepler::lab::dataset
