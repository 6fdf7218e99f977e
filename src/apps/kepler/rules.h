#pragma once
// From the command line to the agent's configuration, with the rules that it must keep besides those of the table.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apps/kepler/config.h"
#include "base/build_info.h"
#include "settings/command_line.h"
#include "settings/draft.h"

namespace kepler::agent {

/// When a configuration is read. A reload leaves out files of the cluster: only the start uses their settings, and a
/// token that is rotated at that moment must not refuse the rest.
enum class Moment : uint8_t { kStart, kReload };

/// Puts every broken rule on the draft's errors. Looks at the files and directories that the configuration names.
void CheckRules(settings::Draft& draft, const Config& config, Moment moment = Moment::kStart);

/// What a valid configuration leaves open: zero durations that stand for the default, deprecated keys (with a warning),
/// counters that the weights need, and the node's names. `hostname` may be empty.
void Complete(settings::Draft& draft, Config& config, const std::string& hostname);

/// Opens no meter. `hostname` stands in for a node name that is not given; without, the system's.
[[nodiscard]] settings::Parsed<Config> ParseCommandLine(std::span<const char* const> argv, const BuildInfo& build,
                                                        const std::optional<std::string>& hostname = {},
                                                        Moment moment = Moment::kStart);

}  // namespace kepler::agent
