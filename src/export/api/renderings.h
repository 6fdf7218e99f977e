#pragma once
// Renderings: the JSON of a snapshot, once for all clients with the same query. Bounds the bytes of all answers that
// are on their way, so that clients that read slowly cannot fill the memory. Thread-safe.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "export/api/snapshot_json.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

class Renderings {
 public:
  using Text = std::shared_ptr<const std::string>;

  explicit Renderings(Source source) : source_(std::move(source)) {}
  /// Null if the texts that somebody has take kMaxBytes already. A request for a newer snapshot drops older texts.
  [[nodiscard]] Text Get(const snapshot::Snapshot& snapshot, bool stale, const Query& query);
  /// Counts a text of another form in the same limit. Null if it is reached.
  [[nodiscard]] Text Hold(std::string text) const;
  [[nodiscard]] const Source& source() const { return source_; }

  static constexpr size_t kMaxBytes = size_t{16} << 20;
  /// Kept until the next snapshot; a larger text is shared as long as somebody has it.
  static constexpr size_t kMaxKept = 8;
  static constexpr size_t kMaxKeptBytes = size_t{128} << 10;

 private:
  struct Entry {
    Query query;
    bool stale = false;
    std::weak_ptr<const std::string> shared{};
    Text kept{};
  };

  const Source source_;
  std::mutex mutex_;
  uint64_t sequence_ = 0;       // of all entries; guarded by mutex_
  std::vector<Entry> entries_;  // guarded by mutex_
  size_t kept_ = 0;             // guarded by mutex_
  const std::shared_ptr<std::atomic<size_t>> bytes_ = std::make_shared<std::atomic<size_t>>();
};

}  // namespace kepler::api
