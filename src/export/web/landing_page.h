#pragma once
// The page at "/": describes the agent, links its endpoints and shows a table. Self-contained: no script, no other
// file.
#include <optional>
#include <string>
#include <vector>

namespace kepler::web {

struct Link {
  std::string path;  // "/metrics"
  std::string summary;
  std::string description;
};

struct PageTable {
  std::string title;
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> remarks;  // below the table, one line each
};

/// HTML in UTF-8; every text is escaped, and cut after kMaxText bytes.
[[nodiscard]] std::string LandingPage(const std::string& version, const std::vector<Link>& links,
                                      const std::optional<PageTable>& table);

}  // namespace kepler::web
