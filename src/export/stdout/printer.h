#pragma once
// The stdout exporter: prints the report every two seconds on a thread of its own. A reader that goes away (closed
// pipe) ends the printing, not the agent; one that stands still holds up neither the collection nor the stop.
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
  /// Both are called on the printer's thread: `fresh` for each report (null: there is nothing to report yet), `on_end`
  /// when stdout takes no more.
  using Fresh = std::function<std::shared_ptr<const snapshot::Snapshot>()>;
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
  UniqueFd stop_;        // readable once the printer has to end
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::console
