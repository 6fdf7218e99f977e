#pragma once
// The stdout exporter: prints the report every two seconds on its own thread. If the reader closes the pipe, printing
// ends but the agent continues. A reader that does not read blocks neither the collection nor the exit.
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "export/stdout/power_report.h"
#include "snapshot/snapshot.h"

namespace kepler::console {

class Printer {
 public:
  struct Latest {
    std::shared_ptr<const snapshot::Snapshot> snapshot;  // null: no report yet
    bool stale = false;                                  // too old for its watts to be valid
  };
  /// Both functions are called on the printer's thread. `fresh` is called for each report. `on_end` is called when
  /// stdout is closed.
  using Fresh = std::function<Latest()>;
  Printer(Fresh fresh, ReportOptions options, std::function<void()> on_end);
  ~Printer();  // stops
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  [[nodiscard]] Status Start();

 private:
  enum class Outcome : uint8_t { kDone, kStopped, kFailed };

  void Loop(const std::stop_token& stop);
  [[nodiscard]] Outcome Print(std::string_view text);

  const Fresh fresh_;
  const ReportOptions options_;
  const std::function<void()> on_end_;
  UniqueFd stop_;        // readable once the printer must end
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::console
