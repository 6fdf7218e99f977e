#pragma once
// The model server in the environment of Kepler 0.7: MODEL_SERVER_ENABLE, MODEL_SERVER_URL and others. Facts: its
// pkg/config, and util/config.py of its model server. Pure.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::model_store {

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
