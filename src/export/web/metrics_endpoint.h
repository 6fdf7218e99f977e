#pragma once
// /metrics: queues scrapes and answers them on its own thread. A scrape that waits for a tick, or renders, therefore
// never delays a health probe. Scrapes that wait together share one tick and one rendering.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "export/prometheus/scrape_cache.h"
#include "export/series/reading.h"
#include "http/server/server.h"
#include "snapshot/snapshot.h"

namespace kepler::web {

class MetricsEndpoint {
 public:
  /// Both references must outlive the endpoint, which uses `cache` on its thread. It calls `read` there, once for all
  /// scrapes that wait together.
  MetricsEndpoint(std::function<series::Reading()> read, prometheus::ScrapeCache& cache, const Clock& clock);
  ~MetricsEndpoint();  // drops queued scrapes, which are answered with status 500
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// Starts the thread. Call before the first scrape.
  [[nodiscard]] Status Start();
  void Handle(const http::server::Request& request, http::server::Responder responder);

 private:
  struct Scrape {
    prometheus::Format format;
    prometheus::Encoding encoding;
    http::server::Responder responder;
  };
  static constexpr size_t kMaxQueued = 4096;

  void Loop(const std::stop_token& stop);
  void Answer(const std::vector<Scrape>& scrapes);
  /// Returns the response; status 503 if there is not enough memory.
  [[nodiscard]] http::server::Response PageOf(const snapshot::Snapshot& snapshot, const Scrape& scrape, bool stale);

  const std::function<series::Reading()> read_;
  prometheus::ScrapeCache& cache_;
  const Clock& clock_;
  log::LogLimiter limiter_;
  std::mutex mutex_;
  std::condition_variable_any queued_;
  std::vector<Scrape> queue_;  // guarded by mutex_
  std::jthread thread_;        // keep last: it uses everything above
};

}  // namespace kepler::web
