#pragma once
// ScrapeCache: renders a snapshot once per format and encoding, whoever and however many ask. Thread-safe; a caller
// that comes while its rendering is being made waits for that one.
//   ScrapeCache cache(options, read_self_stats);
//   auto body = cache.Get(board.Latest(), format, encoding, stale);
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "export/prometheus/render.h"
#include "snapshot/snapshot.h"

namespace kepler::prometheus {

class ScrapeCache {
 public:
  using Body = std::shared_ptr<const std::string>;
  /// Called once per rendering, on the caller's thread; empty where the `process` collector is off.
  using SelfStatsProvider = std::function<SelfStats()>;
  using HttpStatsProvider = std::function<HttpStats()>;  // likewise

  /// Renderings kept. A reader may hold an older one for as long as it needs it.
  static constexpr size_t kMost = 3;

  explicit ScrapeCache(RenderOptions options, SelfStatsProvider self_stats = {}, HttpStatsProvider http_stats = {});

  /// Never null. Keeps no snapshot: what it holds of one is its sequence number. Renderings of older snapshots are
  /// dropped when a newer one is asked for. Throws what the rendering threw (std::bad_alloc); the next caller then
  /// tries anew.
  [[nodiscard]] Body Get(const std::shared_ptr<const snapshot::Snapshot>& snapshot, Format format, Encoding encoding,
                         bool stale);

 private:
  struct Key {
    uint64_t sequence = 0;
    Format format{};
    Encoding encoding{};
    bool stale = false;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    Body body;            // null while it is being made
    bool failed = false;  // it will never be made
  };

  [[nodiscard]] Body Make(const snapshot::Snapshot& snapshot, const Key& key) const;
  void Insert(std::shared_ptr<Entry> entry);
  void Drop(const std::shared_ptr<Entry>& entry);

  const RenderOptions options_;
  const SelfStatsProvider self_stats_;
  const HttpStatsProvider http_stats_;
  std::atomic<uint64_t> failed_ = 0;  // renderings
  std::mutex mutex_;
  std::condition_variable made_;
  std::vector<std::shared_ptr<Entry>> entries_;  // guarded by mutex_; latest use last
};

}  // namespace kepler::prometheus
