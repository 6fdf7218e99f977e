#pragma once
// The query of a request for workloads: "level=pod&sort=joules&limit=20&search=web". Pure.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

enum class Sort : uint8_t { kWatts, kJoules, kCpu };
[[nodiscard]] std::string_view ToString(Sort sort);

struct Query {
  snapshot::Level level = snapshot::Level::kProcess;
  Sort sort = Sort::kWatts;
  size_t limit = 0;      // rows, at most kMaxRows
  std::string search{};  // a part of any name or id of a workload, in any case; "": all
  std::string
      under{};  // id of the container, pod or VM, or name of the namespace, that the workloads belong to; "": all
  bool operator==(const Query&) const = default;
};

inline constexpr size_t kDefaultRows = 50;
inline constexpr size_t kMaxRows = 1000;
inline constexpr size_t kMaxSearch = 64;  // bytes
inline constexpr size_t kMaxUnder = 255;  // bytes

/// AllLevels(): all levels; the first one that is shown is the default. IsShown(): `gates` are the exported levels
/// (bits of series::Gate). Namespaces are shown if the level of pods or of namespaces is exported.
[[nodiscard]] std::span<const snapshot::Level> AllLevels();
[[nodiscard]] bool IsShown(snapshot::Level level, uint32_t gates);

/// The error for a parameter whose value is not allowed.
[[nodiscard]] std::unexpected<Error> RefuseParameter(std::string_view name, std::string_view value,
                                                     std::string_view allowed);

/// Parses a query. kInvalid names the parameter and the allowed values. Unknown parameters are ignored. If no level is
/// shown, a query without a level is valid, and IsShown() is false for its level.
[[nodiscard]] Result<Query> ParseQuery(std::string_view text, uint32_t gates);

}  // namespace kepler::api
