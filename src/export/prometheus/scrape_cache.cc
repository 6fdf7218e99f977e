#include "export/prometheus/scrape_cache.h"

#include <algorithm>
#include <utility>

namespace kepler::prometheus {

ScrapeCache::ScrapeCache(RenderOptions options, SelfStatsProvider self_stats, HttpStatsProvider http_stats)
    : options_(std::move(options)), self_stats_(std::move(self_stats)), http_stats_(std::move(http_stats)) {}

ScrapeCache::Body ScrapeCache::Get(const std::shared_ptr<const snapshot::Snapshot>& snapshot, Format format,
                                   Encoding encoding, bool stale) {
  const Key key{snapshot->sequence, format, encoding, stale};
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = std::ranges::find(entries_, key, [](const auto& entry) { return entry->key; });
    if (found == entries_.end()) break;
    std::rotate(found, found + 1, entries_.end());
    const std::shared_ptr<Entry> entry = entries_.back();  // shared: it may be dropped meanwhile
    made_.wait(lock, [&] { return entry->body != nullptr || entry->failed; });
    if (entry->body != nullptr) return entry->body;
  }
  const auto entry = std::make_shared<Entry>(Entry{key, nullptr, false});
  Insert(entry);
  lock.unlock();
  Body body;
  try {
    body = Make(*snapshot, key);
  } catch (...) {
    Drop(entry);
    throw;
  }
  lock.lock();
  entry->body = body;
  made_.notify_all();
  return body;
}

/// Whoever waits for an entry that is dropped here holds it too, and still gets its body.
void ScrapeCache::Insert(std::shared_ptr<Entry> entry) {
  std::erase_if(entries_, [&](const auto& old) { return old->key.sequence < entry->key.sequence; });
  if (entries_.size() == kMost) entries_.erase(entries_.begin());
  entries_.push_back(std::move(entry));
}

/// Of those who wait for it, the first to wake makes it anew.
void ScrapeCache::Drop(const std::shared_ptr<Entry>& entry) {
  ++failed_;
  const std::lock_guard lock(mutex_);
  entry->failed = true;
  std::erase(entries_, entry);
  made_.notify_all();
}

ScrapeCache::Body ScrapeCache::Make(const snapshot::Snapshot& snapshot, const Key& key) const {
  RenderInput input{.stale = key.stale, .failed = failed_};
  SelfStats self;
  if (self_stats_) {
    self = self_stats_();
    input.self = &self;
  }
  HttpStats http;
  if (http_stats_) {
    http = http_stats_();
    input.http = &http;
  }
  return std::make_shared<const std::string>(RenderBody(snapshot, options_, input, key.format, key.encoding));
}

}  // namespace kepler::prometheus
