#pragma once
// Subtracts the power without load from the watts of each row (AbsPower -> DynPower). The result is never below 0.
// Pure.
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

/// A column of a table. NaN is an empty cell and stays empty.
struct NumberColumn {
  std::string name{};
  std::vector<double> values{};
  bool is_dynamic = false;  // idle power was subtracted
};

/// Prefix of columns of background activity: background_cpu_cycles.
inline constexpr std::string_view kBackgroundPrefix = "background_";

/// Returns "package" for package_power, package_watts and package_dynamic_power; "" for a column without watts.
[[nodiscard]] std::string_view WattsOf(std::string_view column);

/// Returns true for the name of a column from which idle power was subtracted, such as package_dynamic_power.
[[nodiscard]] bool IsDynamic(std::string_view column);
/// Returns "package_dynamic_power" for package_power and package_watts.
[[nodiscard]] std::string DynamicName(std::string_view column);

struct Isolated {
  std::vector<NumberColumn> watts{};  // the given columns after the subtraction
  std::vector<std::string> notes{};   // the subtracted watts, one line each
  size_t rows = 0;                    // number of rows with changed watts
  size_t clamped = 0;                 // number of watts that would have been negative
};

/// Input of FindIdleWatts(), for each node separately. `load` and `nodes` have as many rows as the watts. Of a node
/// without a row of load and watts the watts become NaN, with a note.
struct IdleSearch {
  const NumberColumn& load;  // load of each row
  std::span<const std::string_view> nodes;
  double share = 10;  // percent
  double percentile = 10;
};
[[nodiscard]] Isolated TakeOffIdle(std::vector<NumberColumn> watts, const IdleSearch& search);

/// Idle watts by column ("package_power") or component ("package").
using IdleProfile = std::map<std::string, double, std::less<>>;
/// Returns the median of each column of watts in `idle`, by component.
[[nodiscard]] IdleProfile ProfileOf(std::span<const NumberColumn> idle);
/// kInvalid if the profile lacks one of the columns; the error names `source`.
[[nodiscard]] Result<Isolated> TakeOffProfile(std::vector<NumberColumn> watts, const IdleProfile& profile,
                                              std::string_view source);

/// Subtracts the estimates of `model` for the background: one per row, or one for all rows. Columns of components that
/// the model does not have are unchanged, with a note.
[[nodiscard]] Isolated TakeOffEstimates(std::vector<NumberColumn> watts, const model::PowerModel& model,
                                        std::span<const model::Estimate> background, std::string_view source);
/// Subtracts the background from a feature: one value per row, or one for all rows. NaN subtracts nothing.
void TakeOffBackground(std::vector<double>& feature, std::span<const double> background);

/// The idle watts of a component, and the rows from which they were found.
struct IdleWatts {
  double watts = 0;
  size_t rows = 0;         // number of rows with the least load
  double most_load = 0;    // maximum load of these rows
  double least_share = 0;  // minimum load ÷ maximum load of all rows; far above 0: the machine was never idle
};

/// Returns the `percentile` (0 to 100) of the watts of the `share` of rows with the least load, at least twenty rows if
/// the table has twenty. The minimum of all watts would be wrong: one bad reading would become the idle power. Rows
/// with NaN as load or watts are ignored. Returns nothing if no row is left.
[[nodiscard]] std::optional<IdleWatts> FindIdleWatts(std::span<const double> load, std::span<const double> watts,
                                                     double share, double percentile);

/// Interpolates linearly between the two nearest values. `values` must not be empty.
[[nodiscard]] double PercentileOf(std::vector<double> values, double percentile);

}  // namespace kepler::lab::dataset
