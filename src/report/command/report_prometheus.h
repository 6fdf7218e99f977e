#pragma once
// A Prometheus server as the source of `kepler report`. It reads every sample of the period, in ranges that fit the
// memory, so that nothing is extrapolated. Blocks.
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "base/result.h"
#include "http/retrying/retrying_server.h"
#include "recording/recording.h"
#include "report/energy_line.h"
#include "report/energy_report.h"

namespace kepler::report::command {

struct PrometheusAccess {
  std::string url{};
  std::vector<std::string> match{};  // matchers of labels: 'job="kepler"'
  std::string bearer_token_file{};
  std::string user{};
  std::string password_file{};
  std::string ca_file{};
  Duration timeout = std::chrono::seconds(60);  // of a request
};

struct PrometheusQuery {
  report::By by = report::By::kNamespace;
  std::vector<std::string> zones{};  // empty: see ZonesOf()
  report::Milliseconds from{};
  report::Milliseconds to{};
};

class PrometheusSource {
 public:
  using Say = std::function<void(std::string_view line)>;

  /// Reads the files of `access`. `say` gets a line before each retry.
  [[nodiscard]] static Result<PrometheusSource> Open(const PrometheusAccess& access, Say say);

  /// The zones of the query; if it has none, package or the first one that the server has. kInvalid: there is no
  /// such zone in the period, or no energy at all.
  [[nodiscard]] Result<std::vector<std::string>> ZonesOf(const PrometheusQuery& query);

  /// Calls `take` with the lines of all ticks in the period and of the last ones before it, in the order of time.
  /// Returns notes for the reader of the report, with the warnings in all responses of the server so far. Errors name
  /// the server and what it answers.
  [[nodiscard]] Result<std::vector<std::string>> Read(const PrometheusQuery& query,
                                                      const std::function<void(const report::EnergyLine&)>& take);

 private:
  struct Range {
    report::Milliseconds begin, end;  // without the begin
  };
  PrometheusSource(http::retrying::Server server, std::vector<std::string> match)
      : server_(std::move(server)), match_(std::move(match)) {}
  [[nodiscard]] Result<recording::Recording> Ask(const std::string& selector, const Range& range);
  [[nodiscard]] Result<recording::Recording> AskHalves(const std::string& selector, Range& range);
  [[nodiscard]] std::unexpected<Error> InAnswer(const Error& error) const;
  void Keep(const std::vector<std::string>& warnings);

  http::retrying::Server server_;
  std::vector<std::string> match_;
  std::set<std::string> warnings_;
};

}  // namespace kepler::report::command
