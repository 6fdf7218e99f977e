#include "export/prometheus/scrape_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kepler::prometheus {

ScrapeCache::ScrapeCache(RenderOptions options, SelfStatusProvider self_status, HttpStatusProvider http_status,
                         PushStatusProvider push_status)
    : options_(std::move(options)),
      self_status_(std::move(self_status)),
      http_status_(std::move(http_status)),
      push_status_(std::move(push_status)) {}

ScrapeCache::PagePtr ScrapeCache::Get(const snapshot::Snapshot& snapshot, Format format, bool stale) {
  const Key key{snapshot.sequence, format, stale};
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found != entries_.end()) return found->page;
  std::erase_if(entries_, [&](const Entry& old) { return old.key.sequence < key.sequence; });
  try {
    return entries_.emplace_back(key, Make(snapshot, key)).page;
  } catch (...) {
    ++failed_;
    throw;
  }
}

ScrapeCache::PagePtr ScrapeCache::Make(const snapshot::Snapshot& snapshot, const Key& key) const {
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
  std::vector<status::PushStatus> pushes;
  if (push_status_) pushes = push_status_();
  extras.pushes = pushes;
  return std::make_shared<const Page>(RenderPage(snapshot, options_, extras, key.format));
}

}  // namespace kepler::prometheus
