#pragma once
// A line of the agent's file of JSON lines (docs/json-lines.md), as far as a report needs it. Pure.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace kepler::report {

/// Unix time in milliseconds, the resolution of the file.
using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

/// Energy by the name of the zone.
using ZoneEnergies = std::vector<std::pair<std::string, Energy>>;

/// Reasons of lines of the level "unlisted".
inline constexpr std::array<std::string_view, 5> kUnlistedReasons = {"departed", "capped", "unseen", "outside",
                                                                     "unnamed"};

/// First bytes of a UTF-8 file from Excel, PowerShell and some editors. They are not part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct EnergyLine {
  Milliseconds time{};
  std::string node;
  std::string level;                                       // "node", "pod", …, "unattributed", "unlisted"
  std::string start;                                       // time at which the series was 0; empty: the line has none
  std::string zone;                                        // of a node
  std::string of;                                          // of "unlisted": the level
  std::string reason;                                      // of "unlisted"
  std::vector<std::pair<std::string, std::string>> texts;  // what identifies a workload: "pod_name" …
  std::string key;                                         // of the series of a node; empty: `start` and `texts`
  ZoneEnergies joules;                                     // of a node: of `zone`
  Energy active;                                           // of a node
  Energy idle;                                             // of a node
  bool is_divided = false;                                 // of a node: `active` and `idle` are known

  /// "" if the line has no such text.
  [[nodiscard]] std::string_view Text(std::string_view name) const;
};

/// Reads lines one by one. Numbers keep every digit.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  /// kMalformed for what is not a JSON object with version, time, node and level; kInvalid for another version. The
  /// result is valid until the next call.
  [[nodiscard]] Result<const EnergyLine*> Read(std::string_view text);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

/// Reads joules from 0 to 1e12 exactly: "12.5", "8.2e-05". kMalformed for a fraction of a microjoule and anything else.
[[nodiscard]] Result<Energy> ReadJoules(std::string_view text);

}  // namespace kepler::report
