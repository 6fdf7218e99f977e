#pragma once
// ScrapeCache: renders each snapshot once per format, for any number of clients. Thread-safe. A caller that arrives
// during a rendering waits for its result. Pages are kept until the next snapshot, so clients with different formats
// share the same few pages.
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
#include "status/agent_status.h"
#include "status/http_status.h"

namespace kepler::prometheus {

class ScrapeCache {
 public:
  using PagePtr = std::shared_ptr<const Page>;
  /// Called once per rendering, on the caller's thread. Empty if the `process` collector is off.
  using SelfStatusProvider = std::function<status::SelfStatus()>;
  using HttpStatusProvider = std::function<status::HttpStatus()>;  // same as SelfStatusProvider

  explicit ScrapeCache(RenderOptions options, SelfStatusProvider self_status = {}, HttpStatusProvider http_status = {});

  /// Never null. Holds no snapshot, only its sequence number. A request for a newer snapshot drops renderings of older
  /// ones. Exceptions of the rendering (std::bad_alloc) are rethrown; the next caller then retries.
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
    PagePtr page;  // null until it is rendered
  };

  [[nodiscard]] PagePtr Make(const snapshot::Snapshot& snapshot, const Key& key);
  /// Returns a page that is finished or being rendered by another thread. Returns null if there is neither a page nor
  /// an entry.
  [[nodiscard]] PagePtr Find(const Key& key, std::unique_lock<std::mutex>& lock);
  void Insert(std::shared_ptr<Entry> entry);
  void Drop(const std::shared_ptr<Entry>& entry);

  const RenderOptions options_;
  const SelfStatusProvider self_status_;
  const HttpStatusProvider http_status_;
  std::atomic<uint64_t> failed_ = 0;  // number of failed renderings
  std::mutex mutex_;
  std::condition_variable made_;
  std::vector<std::shared_ptr<Entry>> entries_;  // guarded by mutex_; at most one per key and snapshot, so four
};

}  // namespace kepler::prometheus
