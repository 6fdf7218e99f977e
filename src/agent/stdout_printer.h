#pragma once
// The stdout exporter: prints the report every two seconds on a thread of its own. A reader that goes away (closed
// pipe) ends the printing, not the agent; one that stands still holds up neither the collection nor the stop.
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "export/stdout/report.h"
#include "pipeline/collector.h"

namespace kepler::agent {

class StdoutPrinter {
 public:
  /// `collector` must outlive the printer. `on_end` is called on the printer's thread when stdout takes no more.
  StdoutPrinter(pipeline::Collector& collector, console::ReportOptions options, std::function<void()> on_end);
  ~StdoutPrinter();  // stops
  StdoutPrinter(const StdoutPrinter&) = delete;
  StdoutPrinter& operator=(const StdoutPrinter&) = delete;

  [[nodiscard]] Status Start();

 private:
  enum class Outcome : uint8_t { kDone, kStopped, kFailed };

  void Loop(const std::stop_token& stop);
  [[nodiscard]] Outcome Print(std::string_view text);

  pipeline::Collector& collector_;
  const console::ReportOptions options_;
  const std::function<void()> on_end_;
  UniqueFd stop_;        // readable once the printer has to end
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::agent
