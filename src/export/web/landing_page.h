#pragma once
// The page at "/": describes the agent, links its endpoints and lists the meters. Self-contained: no script, no other
// file.
#include <string>
#include <vector>

#include "snapshot/snapshot.h"

namespace kepler::web {

struct Link {
  std::string path;  // "/metrics"
  std::string summary;
  std::string description;
};

/// HTML in UTF-8; every text is escaped. `snapshot`: null before the first tick.
[[nodiscard]] std::string LandingPage(const std::string& version, const std::vector<Link>& links,
                                      const snapshot::Snapshot* snapshot);

}  // namespace kepler::web
