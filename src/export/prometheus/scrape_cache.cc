#include "export/prometheus/scrape_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kepler::prometheus {

ScrapeCache::ScrapeCache(RenderOptions options, SelfStatusProvider self_status, HttpStatusProvider http_status)
    : options_(std::move(options)), self_status_(std::move(self_status)), http_status_(std::move(http_status)) {}

ScrapeCache::Body ScrapeCache::Get(const std::shared_ptr<const snapshot::Snapshot>& snapshot, Format format,
                                   Encoding encoding, bool stale) {
  const Key key{snapshot->sequence, format, encoding, stale};
  std::unique_lock lock(mutex_);
  if (Body found = Find(key, lock)) return found;
  const auto entry = std::make_shared<Entry>();
  entry->key = key;
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
  entry->state = Entry::State::kMade;
  entry->body = body;
  if (encoding != Encoding::kIdentity) entry->kept = body;
  made_.notify_all();
  return body;
}

ScrapeCache::Body ScrapeCache::Find(const Key& key, std::unique_lock<std::mutex>& lock) {
  while (true) {
    const auto found = std::ranges::find(entries_, key, [](const auto& entry) { return entry->key; });
    if (found == entries_.end()) return nullptr;
    std::shared_ptr<Entry> entry = *found;  // shared: it may be dropped meanwhile
    made_.wait(lock, [&] { return entry->state != Entry::State::kMaking; });
    if (Body body = entry->body.lock()) return body;
    std::erase(entries_, entry);  // its readers are gone, or there never were any
  }
}

/// Whoever waits for an entry that is dropped here holds it too, and still gets its body.
void ScrapeCache::Insert(std::shared_ptr<Entry> entry) {
  std::erase_if(entries_, [&](const auto& old) { return old->key.sequence < entry->key.sequence; });
  entries_.push_back(std::move(entry));
}

/// Of those who wait for it, the first to wake makes it anew.
void ScrapeCache::Drop(const std::shared_ptr<Entry>& entry) {
  ++failed_;
  const std::lock_guard lock(mutex_);
  entry->state = Entry::State::kFailed;
  std::erase(entries_, entry);
  made_.notify_all();
}

ScrapeCache::Body ScrapeCache::Make(const snapshot::Snapshot& snapshot, const Key& key) {
  series::Extras extras{.stale = key.stale, .failed = failed_, .log_lines_dropped = log::LinesDropped()};
  snapshot::SelfStatus self;
  if (self_status_) {
    self = self_status_();
    extras.self = &self;
  }
  snapshot::HttpStatus http;
  if (http_status_) {
    http = http_status_();
    extras.http = &http;
  }
  const bool plain = key.encoding == Encoding::kIdentity;
  auto body = std::make_shared<const std::string>(
      RenderBody(snapshot, options_, extras, key.format, key.encoding, plain ? plain_bytes_.load() : 0));
  if (plain) plain_bytes_ = body->size();
  return body;
}

}  // namespace kepler::prometheus
