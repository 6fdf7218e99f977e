#pragma once
// ScrapeCache: renders each snapshot once per format, for any number of clients. Pages are kept until the next
// snapshot, so clients with different formats share the same few pages. Not thread-safe: one thread renders.
//   ScrapeCache cache(options, read_self_status);
//   auto page = cache.Get(*board.Latest(), format, stale);
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "export/prometheus/render_page.h"
#include "snapshot/snapshot.h"
#include "status/agent_status.h"
#include "status/http_status.h"
#include "status/push_status.h"

namespace kepler::prometheus {

class ScrapeCache {
 public:
  using PagePtr = std::shared_ptr<const Page>;
  /// Called once per rendering. Empty if the `process` collector is off.
  using SelfStatusProvider = std::function<status::SelfStatus()>;
  using HttpStatusProvider = std::function<status::HttpStatus()>;  // same as SelfStatusProvider
  using PushStatusProvider = std::function<std::vector<status::PushStatus>()>;

  explicit ScrapeCache(RenderOptions options, SelfStatusProvider self_status = {}, HttpStatusProvider http_status = {},
                       PushStatusProvider push_status = {});

  /// Never null. A request for a newer snapshot drops renderings of older ones. Exceptions of the rendering
  /// (std::bad_alloc) are counted and rethrown; the next call then retries.
  [[nodiscard]] PagePtr Get(const snapshot::Snapshot& snapshot, Format format, bool stale);

 private:
  struct Key {
    uint64_t sequence = 0;
    Format format{};
    bool stale = false;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    PagePtr page;
  };

  [[nodiscard]] PagePtr Make(const snapshot::Snapshot& snapshot, const Key& key) const;

  const RenderOptions options_;
  const SelfStatusProvider self_status_;
  const HttpStatusProvider http_status_;
  const PushStatusProvider push_status_;
  uint64_t failed_ = 0;         // number of failed renderings
  std::vector<Entry> entries_;  // at most one per key and snapshot, so six
};

}  // namespace kepler::prometheus
