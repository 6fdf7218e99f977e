#pragma once
// /metrics: queues scrapes and answers them on a thread of its own, so that a scrape that waits for a tick or renders
// never holds up a health probe. Scrapes that wait together share one tick and one rendering.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "export/prometheus/scrape_cache.h"
#include "http/server/server.h"
#include "pipeline/collector.h"
#include "pipeline/schedule.h"

namespace kepler::agent {

class MetricsEndpoint {
 public:
  /// All must outlive the endpoint.
  MetricsEndpoint(pipeline::Collector& collector, prometheus::ScrapeCache& cache, const Clock& clock,
                  pipeline::Freshness freshness);
  ~MetricsEndpoint();  // what is still queued is dropped, which answers it 500
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// Before the first scrape.
  [[nodiscard]] Status Start();
  void Handle(const http::Request& request, http::Responder responder);

 private:
  struct Scrape {
    prometheus::Format format;
    prometheus::Encoding encoding;
    http::Responder responder;
  };
  static constexpr size_t kMaxQueued = 4096;

  void Loop(const std::stop_token& stop);
  void Answer(const std::vector<Scrape>& scrapes);
  /// The answer; 503 where there is no memory for it.
  [[nodiscard]] http::Response PageOf(const std::shared_ptr<const snapshot::Snapshot>& snapshot, const Scrape& scrape,
                                      bool stale);

  pipeline::Collector& collector_;
  prometheus::ScrapeCache& cache_;
  const Clock& clock_;
  const pipeline::Freshness freshness_;
  log::LogLimiter limiter_;
  std::mutex mutex_;
  std::condition_variable_any queued_;
  std::vector<Scrape> queue_;  // guarded by mutex_
  std::jthread thread_;        // keep last: it uses everything above
};

}  // namespace kepler::agent
