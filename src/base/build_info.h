#pragma once
// What this binary is; filled by the agent from the build, shown by --version and kepler_build_info.
#include <string>

namespace kepler {

struct BuildInfo {
  std::string version = "unknown";
  std::string revision = "unknown";
  std::string branch = "unknown";
  std::string compiler = "unknown";
  std::string arch = "unknown";
};

}  // namespace kepler
