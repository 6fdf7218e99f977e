#include "export/prometheus/scrape_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kepler::prometheus {

ScrapeCache::ScrapeCache(RenderOptions options, SelfStatusProvider self_status, HttpStatusProvider http_status)
    : options_(std::move(options)), self_status_(std::move(self_status)), http_status_(std::move(http_status)) {}

ScrapeCache::PagePtr ScrapeCache::Get(const std::shared_ptr<const snapshot::Snapshot>& snapshot, Format format,
                                      bool stale) {
  const Key key{snapshot->sequence, format, stale};
  std::unique_lock lock(mutex_);
  if (PagePtr found = Find(key, lock)) return found;
  const auto entry = std::make_shared<Entry>();
  entry->key = key;
  Insert(entry);
  lock.unlock();
  PagePtr page;
  try {
    page = Make(*snapshot, key);
  } catch (...) {
    Drop(entry);
    throw;
  }
  lock.lock();
  entry->state = Entry::State::kMade;
  entry->page = page;
  made_.notify_all();
  return page;
}

ScrapeCache::PagePtr ScrapeCache::Find(const Key& key, std::unique_lock<std::mutex>& lock) {
  while (true) {
    const auto found = std::ranges::find(entries_, key, [](const auto& entry) { return entry->key; });
    if (found == entries_.end()) return nullptr;
    const std::shared_ptr<Entry> entry = *found;  // shared: another thread may drop the entry
    made_.wait(lock, [&] { return entry->state != Entry::State::kMaking; });
    if (entry->page) return entry->page;  // otherwise the rendering failed
  }
}

/// Threads that wait for a dropped entry share it, and still get its page.
void ScrapeCache::Insert(std::shared_ptr<Entry> entry) {
  std::erase_if(entries_, [&](const auto& old) { return old->key.sequence < entry->key.sequence; });
  entries_.push_back(std::move(entry));
}

/// The first waiting thread that wakes renders the page again.
void ScrapeCache::Drop(const std::shared_ptr<Entry>& entry) {
  ++failed_;
  const std::lock_guard lock(mutex_);
  entry->state = Entry::State::kFailed;
  std::erase(entries_, entry);
  made_.notify_all();
}

ScrapeCache::PagePtr ScrapeCache::Make(const snapshot::Snapshot& snapshot, const Key& key) {
  series::Extras extras{.stale = key.stale, .failed = failed_, .log_lines_dropped = log::LinesDropped()};
  status::SelfStatus self;
  if (self_status_) {
    self = self_status_();
    extras.self = &self;
  }
  status::HttpStatus http;
  if (http_status_) {
    http = http_status_();
    extras.http = &http;
  }
  return std::make_shared<const Page>(RenderPage(snapshot, options_, extras, key.format));
}

}  // namespace kepler::prometheus
