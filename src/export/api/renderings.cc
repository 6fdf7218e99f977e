#include "export/api/renderings.h"

#include <algorithm>

namespace kepler::api {

Renderings::Text Renderings::Get(const snapshot::Snapshot& snapshot, bool stale, const Query& query) {
  const std::scoped_lock lock(mutex_);
  if (snapshot.sequence != sequence_) {
    entries_.clear();
    kept_ = 0;
    sequence_ = snapshot.sequence;
  }
  std::erase_if(entries_, [](const Entry& entry) { return entry.shared.expired(); });
  const auto same = [&](const Entry& entry) { return entry.stale == stale && entry.query == query; };
  if (const auto found = std::ranges::find_if(entries_, same); found != entries_.end())
    if (Text text = found->shared.lock()) return text;
  if (*bytes_ >= kMaxBytes) return nullptr;
  auto owned = std::make_unique<const std::string>(SnapshotJson(snapshot, stale, query, source_));
  const size_t size = owned->size();
  *bytes_ += size;
  Text text(owned.release(), [bytes = bytes_, size](const std::string* of) {
    *bytes -= size;
    delete of;
  });
  Entry entry{.query = query, .stale = stale, .shared = text};
  if (size <= kMaxKeptBytes && kept_ < kMaxKept) {
    entry.kept = text;
    ++kept_;
  }
  entries_.push_back(std::move(entry));
  return text;
}

}  // namespace kepler::api
