#pragma once
// The page at "/": describes the agent and links its endpoints. Self-contained: no script, no other file.
#include <string>
#include <vector>

namespace kepler::web {

struct Link {
  std::string path;  // "/metrics"
  std::string summary;
  std::string description;
};

/// HTML in UTF-8; every text is escaped.
[[nodiscard]] std::string LandingPage(const std::string& version, const std::vector<Link>& links);

}  // namespace kepler::web
