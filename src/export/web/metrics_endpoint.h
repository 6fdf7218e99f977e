#pragma once
// /metrics: queues scrapes and answers them on a thread of its own, so that a scrape that waits for a tick or renders
// never holds up a health probe. Scrapes that wait together share one tick and one rendering.
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
#include "http/server/server.h"
#include "snapshot/snapshot.h"

namespace kepler::web {

/// What scrapes that wait together are answered from.
struct Reading {
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // null: there is none yet
  bool stale = false;                                  // too old for its watts to be true
};

class MetricsEndpoint {
 public:
  /// Both must outlive the endpoint, which calls `read` on its thread.
  MetricsEndpoint(std::function<Reading()> read, prometheus::ScrapeCache& cache, const Clock& clock);
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

  const std::function<Reading()> read_;
  prometheus::ScrapeCache& cache_;
  const Clock& clock_;
  log::LogLimiter limiter_;
  std::mutex mutex_;
  std::condition_variable_any queued_;
  std::vector<Scrape> queue_;  // guarded by mutex_
  std::jthread thread_;        // keep last: it uses everything above
};

}  // namespace kepler::web
