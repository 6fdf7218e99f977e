#pragma once
// Settings of `kepler-model estimator`: its flags, and the names of upstream's estimator (0.7) in the environment or as
// files of a directory. A flag wins over a file, and a file over the environment. Pure.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/serve_settings.h"
#include "base/duration.h"
#include "base/log.h"
#include "settings/draft.h"
#include "settings/table.h"

namespace kepler::lab::tool {

struct Estimating {
  std::string socket = "/tmp/estimator.sock";
  std::string mode = "0660";
  std::string group;
  std::vector<std::string> models;
  std::string server;
  Duration refresh = std::chrono::hours(1);
  std::string cache_dir;
  std::string public_key;
  std::string machine;
  std::string config_dir = "/etc/kepler/kepler.config";
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
};

[[nodiscard]] const settings::TableOf<Estimating>& EstimatorTable();

/// Returns the mode of "0660"; nothing if the text is not octal or above 0777.
[[nodiscard]] std::optional<mode_t> ModeOf(std::string_view text);

/// Fills the settings that no flag has set. `value` returns the text of a name; empty if it is not set.
[[nodiscard]] std::vector<EnvironmentUse> ApplyEnvironment(Estimating& config,
                                                           const std::function<std::string(std::string_view)>& value);

/// Rejects settings that cannot be used, after ApplyEnvironment().
void CheckEstimating(settings::Draft& draft, const Estimating& config);

}  // namespace kepler::lab::tool
