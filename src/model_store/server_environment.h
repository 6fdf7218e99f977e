#pragma once
// The model server in the settings of Kepler 0.7: MODEL_SERVER_ENABLE, MODEL_SERVER_URL and others. Facts: its
// pkg/config, and util/config.py of its model server. Pure, except ReadOldSetting().
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::model_store {

/// Where agents of Kepler 0.7 have a file for each setting, from a config map.
inline constexpr char kOldSettings[] = "/etc/kepler/kepler.config";

/// Returns a setting as an agent of Kepler 0.7 reads it: the environment variable, else the file `directory`/`name`
/// without white space around its text; "" if there is neither. Any thread that may call getenv().
[[nodiscard]] std::string ReadOldSetting(const std::string& directory, const std::string& name);

/// What became of a name that is set.
struct NameUse {
  std::string name;
  std::string reason;  // why it is ignored; empty if it is used
};

struct ServerEnvironment {
  std::string server;  // "http://host:8100"; empty: none
  std::vector<NameUse> uses;
};

/// `value` returns the text of a name; empty if it is not set. `setting`: the name of the setting that wins over the
/// environment, if it is set, for messages; else empty.
[[nodiscard]] ServerEnvironment ReadServerEnvironment(const std::function<std::string(std::string_view)>& value,
                                                      std::string_view setting);

}  // namespace kepler::model_store
