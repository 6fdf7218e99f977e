#pragma once
// Settings of `kepler-model serve`: its flags, and the names of upstream's model server (0.7) in the environment or as
// files of a directory. A flag wins over a file, and a file over the environment. Pure, except EnvironmentOf().
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "base/log.h"
#include "modelserver/model_server.h"
#include "modelserver/selection.h"
#include "settings/table.h"

namespace kepler::lab::tool {

struct Serving {
  std::string store;
  std::vector<std::string> listen;
  std::string web_config_file;
  modelserver::Readers readers = modelserver::Readers::kLogin;
  modelserver::Policy selection = modelserver::Policy::kHonest;
  std::string error_key;
  std::vector<std::string> max_error{};  // "package_mape:20"
  Duration scan_interval = std::chrono::seconds(10);
  std::string jobs{};  // directory of training jobs; empty: no training
  Duration job_time = std::chrono::minutes(30);
  int64_t job_memory = 2048;  // MiB
  std::string retrain{};      // name of the model that is retrained; empty: none
  std::string retrain_server{};
  std::string retrain_node{};
  std::string retrain_machine{};
  std::string retrain_sign_key{};
  std::vector<std::string> retrain_features{};
  std::string retrain_trainer = "auto";
  Duration retrain_last = std::chrono::hours(7 * 24);
  Duration retrain_interval = std::chrono::hours(24);
  std::string config_dir = "/etc/kepler/kepler.config";
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
};

[[nodiscard]] const settings::TableOf<Serving>& ServeTable();

/// What became of a name of upstream's that is set.
struct EnvironmentUse {
  std::string name;
  std::string reason;  // why it is ignored; empty if it is used
};

/// Fills the settings that no flag has set. `value` returns the text of a name; empty if it is not set.
[[nodiscard]] std::vector<EnvironmentUse> ApplyEnvironment(Serving& config,
                                                           const std::function<std::string(std::string_view)>& value);

/// Logs each name that is set, and why it is ignored.
void LogEnvironment(const std::vector<EnvironmentUse>& uses);

/// The text of a name: of the file `directory`/`name`, else of the environment, without blanks around it.
[[nodiscard]] std::string EnvironmentOf(const std::string& directory, std::string_view name);

}  // namespace kepler::lab::tool
