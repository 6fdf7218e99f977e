#include "export/api/renderings.h"

#include <algorithm>
#include <utility>

namespace kepler::api {

Renderings::Text Renderings::Hold(std::string text) const {
  if (*bytes_ >= kMaxBytes) return nullptr;
  const size_t size = text.size();
  const auto* owned = new std::string(std::move(text));
  *bytes_ += size;
  return {owned, [bytes = bytes_, size](const std::string* of) {
            *bytes -= size;
            delete of;
          }};
}

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
  Text text = Hold(SnapshotJson(snapshot, stale, query, source_));
  if (!text) return nullptr;
  Entry entry{.query = query, .stale = stale, .shared = text};
  if (text->size() <= kMaxKeptBytes && kept_ < kMaxKept) {
    entry.kept = text;
    ++kept_;
  }
  entries_.push_back(std::move(entry));
  return text;
}

}  // namespace kepler::api
