#pragma once
// The page at "/": describes the agent, shows its live section and a table, and links its endpoints. Its script and
// style sheet are in page_assets.h.
#include <optional>
#include <string>
#include <string_view>
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
  std::vector<std::vector<std::string>> rows;  // one text per header
  std::vector<std::string> remarks;            // below the table, one line each
};

struct AgentName {
  std::string node;  // "": unknown
  std::string version;
};

/// HTML in UTF-8. Every text is escaped, and cut after kMaxText bytes; `live` is HTML (live_section.h).
[[nodiscard]] std::string LandingPage(const AgentName& agent, const std::vector<Link>& links,
                                      const std::optional<PageTable>& table, std::string_view live = {});

}  // namespace kepler::web
