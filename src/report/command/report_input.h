#pragma once
// Reads files of JSON lines for `kepler report`. Blocks.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/energy_line.h"

namespace kepler::report::command {

struct LinesRead {
  size_t lines = 0;
  size_t refused = 0;
};

/// Calls `take` for each line of the files, which are sorted by their first time; "-" is standard input. An invalid
/// line, and one of more than 1 MiB, is left out, and `refuse` gets "FILE:LINE: reason". A last line without a line end
/// is left out silently, because the agent may be writing it. Error: a file cannot be read, or is a device. `say` gets
/// a message if a pipe has no data for two seconds.
[[nodiscard]] Result<LinesRead> ReadEnergyLines(std::span<const std::string> paths,
                                                const std::function<void(const report::EnergyLine&)>& take,
                                                const std::function<void(std::string_view)>& refuse,
                                                const std::function<void(std::string_view)>& say);

}  // namespace kepler::report::command
