#pragma once
// Settings of `kepler top`.
#include <chrono>
#include <string>
#include <vector>

#include "base/build_info.h"
#include "base/duration.h"
#include "settings/command_line.h"
#include "top/view.h"

namespace kepler::agent {

struct TopSettings {
  std::string url{};          // "": the agent of this machine if there is one, else this process
  bool local = false;         // this process, even if an agent runs
  std::string config_file{};  // configuration of the agent, also used if this process measures
  std::string user{};
  std::string password_file{};
  std::string ca_file{};
  std::string cert_file{};
  std::string key_file{};
  Duration interval = std::chrono::seconds(1);
  top::Level level = top::Level::kProcess;
  top::Sort sort = top::Sort::kWatts;
  std::string filter{};
  double price = 0;   // currency per kWh; 0: not shown
  double carbon = 0;  // grams per kWh; 0: not shown
  bool once = false;
  bool json = false;
  int limit = 50;  // rows of --once
};

/// `arguments` are those after `kepler top`.
[[nodiscard]] settings::Parsed<TopSettings> ParseTopSettings(const std::vector<const char*>& arguments,
                                                             const BuildInfo& build);

}  // namespace kepler::agent
