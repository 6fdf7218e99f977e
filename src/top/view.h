#pragma once
// View: the workloads that the user wants to see, and the request for them. Keys change it (keys.h). Pure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/readings.h"

namespace kepler::top {

enum class Level : uint8_t { kProcess, kContainer, kPod, kVm, kNamespace };
enum class Sort : uint8_t { kWatts, kJoules, kCpu };
/// Names in the JSON API.
inline constexpr std::array<std::string_view, 5> kLevelNames = {"process", "container", "pod", "vm", "namespace"};
inline constexpr std::array<std::string_view, 3> kSortNames = {"watts", "joules", "cpu"};

[[nodiscard]] constexpr std::string_view NameOf(Level level) { return kLevelNames[static_cast<size_t>(level)]; }
[[nodiscard]] constexpr std::string_view NameOf(Sort sort) { return kSortNames[static_cast<size_t>(sort)]; }

/// A list of workloads: a level, limited to one pod or container and to a filter, if set.
struct Listing {
  Level level = Level::kProcess;
  std::string filter{};
  std::string under{};     // id of the container or pod; "": the whole node
  std::string title{};     // name of `under` for people
  std::string selected{};  // id of the selected row; "": the first one
};

struct View {
  Listing now{};
  Sort sort = Sort::kWatts;
  std::vector<Listing> parents{};  // lists to which Esc returns, the last one first
  size_t row = 0;                  // index of the selected row
  size_t first = 0;                // index of the first row on the screen
  bool is_editing = false;         // the user is typing the filter
  std::string old_filter{};        // the filter that Esc restores
  bool help = false;
};

/// Finds the selected row in `readings`, and scrolls so that it is on the screen.
void Follow(const Readings& readings, size_t visible_rows, View& view);

/// Path and query of the request for `limit` rows.
[[nodiscard]] std::string TargetOf(const View& view, size_t limit);
/// The same for a screen: the number of rows grows with the selected one.
[[nodiscard]] std::string Target(const View& view, size_t visible_rows);

}  // namespace kepler::top
