#pragma once
// Reads files of JSON lines for `kepler report`. Blocks.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/energy_line.h"

namespace kepler::agent {

struct LinesRead {
  size_t lines = 0;
  size_t refused = 0;
};

/// Calls `take` for every line of the files, in the order of the first time in each; "-" is standard input. A line that
/// cannot be read goes to `refuse` ("FILE:LINE: reason") and is left out, except for a last line without its end, which
/// the agent may be writing. An error names a file that cannot be read, or a device. `say` gets a line if a pipe has no
/// data for two seconds.
[[nodiscard]] Result<LinesRead> ReadEnergyLines(std::span<const std::string> paths,
                                                const std::function<void(const report::EnergyLine&)>& take,
                                                const std::function<void(std::string_view)>& refuse,
                                                const std::function<void(std::string_view)>& say);

}  // namespace kepler::agent
