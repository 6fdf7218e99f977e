#pragma once
// Version and build details of this binary. The agent fills them from the build. --version and kepler_build_info show
// them.
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
