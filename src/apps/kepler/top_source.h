#pragma once
// TopSource: the JSON API for `kepler top`, of an agent (top_client.h) or of this process (top_node.h).
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::agent {

/// Begin of the remark that power is estimated, not measured. The reason follows.
inline constexpr std::string_view kEstimateRemark = "power is an estimate: ";

class TopSource {
 public:
  TopSource() = default;
  TopSource(const TopSource&) = delete;
  TopSource& operator=(const TopSource&) = delete;
  virtual ~TopSource() = default;

  /// Returns the JSON for `target`, a path and query of the API. Blocks. The error has the reason. kInvalid: the server
  /// answered with an error, and the message has the remedy. Hint() is the remedy for all other errors.
  [[nodiscard]] virtual Result<std::string> Get(const std::string& target, const std::stop_token& stop) const = 0;
  [[nodiscard]] virtual std::string_view Hint() const = 0;
  /// Where the answers come from, for errors.
  [[nodiscard]] virtual std::string Place() const { return "this process"; }
  /// Waits until the values cover a whole interval. Call it before a single Get().
  virtual Status Settle() const { return {}; }
  /// Remarks about the values for the user, one line each. Any thread.
  [[nodiscard]] virtual std::vector<std::string> Remarks() const { return {}; }

 protected:
  TopSource(TopSource&&) = default;
  TopSource& operator=(TopSource&&) = default;
};

}  // namespace kepler::agent
