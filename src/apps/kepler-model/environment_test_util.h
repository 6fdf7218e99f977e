#pragma once
// Environment variables of upstream's programs, applied to settings.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/serve_settings.h"

namespace kepler::lab::tool {

using EnvironmentNames = std::map<std::string, std::string, std::less<>>;

/// The names that are set, with " ignored" if they have no effect.
template <class Config>
std::vector<std::string> Apply(Config& config, const EnvironmentNames& names) {
  std::vector<std::string> uses;
  for (const EnvironmentUse& use : ApplyEnvironment(config, [&](std::string_view name) {
         const auto found = names.find(name);
         return found == names.end() ? std::string() : found->second;
       }))
    uses.push_back(use.name + (use.reason.empty() ? "" : " ignored"));
  return uses;
}

}  // namespace kepler::lab::tool
