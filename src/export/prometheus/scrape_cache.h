#pragma once
// ScrapeCache: renders a snapshot once per format, whoever and however many ask. Thread-safe; a caller that comes while
// its rendering is being made waits for that one. Pages are kept until the next snapshot: clients that take turns in
// what they ask for share the same few.
//   ScrapeCache cache(options, read_self_status);
//   auto page = cache.Get(board.Latest(), format, stale);
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "export/prometheus/render_page.h"
#include "snapshot/snapshot.h"

namespace kepler::prometheus {

class ScrapeCache {
 public:
  using PagePtr = std::shared_ptr<const Page>;
  /// Called once per rendering, on the caller's thread; empty where the `process` collector is off.
  using SelfStatusProvider = std::function<snapshot::SelfStatus()>;
  using HttpStatusProvider = std::function<snapshot::HttpStatus()>;  // likewise

  explicit ScrapeCache(RenderOptions options, SelfStatusProvider self_status = {}, HttpStatusProvider http_status = {});

  /// Never null. Keeps no snapshot: what it holds of one is its sequence number. Renderings of older snapshots are
  /// dropped when a newer one is asked for. Throws what the rendering threw (std::bad_alloc); the next caller then
  /// tries anew.
  [[nodiscard]] PagePtr Get(const std::shared_ptr<const snapshot::Snapshot>& snapshot, Format format, bool stale);

 private:
  struct Key {
    uint64_t sequence = 0;
    Format format{};
    bool stale = false;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    enum class State : uint8_t { kMaking, kMade, kFailed };
    Key key;
    State state = State::kMaking;
    PagePtr page;  // null until it is made
  };

  [[nodiscard]] PagePtr Make(const snapshot::Snapshot& snapshot, const Key& key);
  /// The page, made by somebody else already or right now; null where there is none, nor an entry for it.
  [[nodiscard]] PagePtr Find(const Key& key, std::unique_lock<std::mutex>& lock);
  void Insert(std::shared_ptr<Entry> entry);
  void Drop(const std::shared_ptr<Entry>& entry);

  const RenderOptions options_;
  const SelfStatusProvider self_status_;
  const HttpStatusProvider http_status_;
  std::atomic<uint64_t> failed_ = 0;  // renderings
  std::mutex mutex_;
  std::condition_variable made_;
  std::vector<std::shared_ptr<Entry>> entries_;  // guarded by mutex_; of a snapshot at most one for each key, so four
};

}  // namespace kepler::prometheus
