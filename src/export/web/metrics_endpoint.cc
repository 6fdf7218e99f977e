#include "export/web/metrics_endpoint.h"

#include <new>
#include <string>
#include <utility>

#include "base/thread.h"
#include "export/prometheus/negotiate.h"

namespace kepler::web {
namespace {

http::server::Response Unavailable(std::string text) {
  http::server::Response response;
  response.status = 503;
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

/// Sends the plain text of a page, one piece after the other.
http::server::Pieces PlainPieces(prometheus::ScrapeCache::PagePtr page) {
  return [page = std::move(page), next = size_t{0}](const http::server::PieceResponder& respond) mutable {
    if (next == page->pieces.size()) return respond(nullptr);
    try {
      respond(std::make_shared<const std::string>(page->TextOf(next++)));
    } catch (const std::bad_alloc&) {
      return;  // no end is sent and the connection is closed, so the client detects the incomplete page
    }
  };
}

}  // namespace

MetricsEndpoint::MetricsEndpoint(std::function<series::Reading()> read, prometheus::ScrapeCache& cache,
                                 const Clock& clock)
    : read_(std::move(read)), cache_(cache), clock_(clock) {}

MetricsEndpoint::~MetricsEndpoint() = default;

Status MetricsEndpoint::Start() {
  KEPLER_TRY(thread_, StartThread("scrapes", [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

void MetricsEndpoint::Handle(const http::server::Request& request, http::server::Responder responder) {
  Scrape scrape{prometheus::NegotiateFormat(request.headers.Get("Accept")),
                prometheus::NegotiateEncoding(request.headers.Get("Accept-Encoding")), std::move(responder)};
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() < kMaxQueued) {
      queue_.push_back(std::move(scrape));
      queued_.notify_one();
      return;
    }
  }
  scrape.responder(Unavailable("too many concurrent scrapes; try again later\n"));
}

void MetricsEndpoint::Loop(const std::stop_token& stop) {
  while (true) {
    std::vector<Scrape> scrapes;
    {
      std::unique_lock lock(mutex_);
      if (!queued_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
      scrapes.swap(queue_);
    }
    Answer(scrapes);
  }
}

void MetricsEndpoint::Answer(const std::vector<Scrape>& scrapes) {
  const series::Reading reading = read_();
  for (const Scrape& scrape : scrapes) {
    if (!reading.snapshot) {
      scrape.responder(Unavailable("no snapshot yet; the first one is available within a second of startup\n"));
      continue;
    }
    scrape.responder(PageOf(*reading.snapshot, scrape, reading.stale));
  }
}

http::server::Response MetricsEndpoint::PageOf(const snapshot::Snapshot& snapshot, const Scrape& scrape, bool stale) {
  http::server::Response response;
  try {
    auto page = cache_.Get(snapshot, scrape.format, stale);
    if (scrape.encoding == prometheus::Encoding::kGzip)
      response.body = http::server::Body(page, &page->gzip);
    else
      response.pieces = PlainPieces(std::move(page));
  } catch (const std::bad_alloc&) {
    limiter_.Say(log::Level::kError, "memory", clock_.Now(), "failed to answer a scrape: out of memory",
                 {{"action",
                   "raise the memory limit of this agent, or export fewer series (monitor.maxTerminated, "
                   "exporter.prometheus.metricsLevel)"}});
    return Unavailable("out of memory\n");
  }
  response.content_type = prometheus::ContentType(scrape.format);
  response.content_encoding = prometheus::ContentEncoding(scrape.encoding);
  response.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  return response;
}

}  // namespace kepler::web
