#include "export/api/endpoint.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::api {
namespace {

http::server::Response NoSnapshot() {
  return JsonError(503, "no snapshot yet; the first one is available within a second of startup");
}

/// The text of `make`, which is null if too many answers are on their way.
template <class Make>
http::server::Response AnswerOf(const Make& make) {
  try {
    auto text = make();
    return text ? JsonAnswer(std::move(text)) : JsonError(503, "too many large answers at once; try again later");
  } catch (const std::bad_alloc&) {
    return JsonError(503, "out of memory");
  }
}

}  // namespace

http::server::Response JsonAnswer(http::server::Body body) {
  http::server::Response response;
  response.content_type = "application/json";
  response.body = std::move(body);
  response.headers = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  return response;
}

http::server::Response JsonError(unsigned status, std::string_view why) {
  auto response = JsonAnswer(std::make_shared<const std::string>(fmt::format("{{\"error\":{}}}\n", QuoteJson(why))));
  response.status = status;
  return response;
}

Endpoint::Endpoint(Source source, Nanoseconds interval, Readers readers)
    : readers_(std::move(readers)),
      renderings_(std::move(source)),
      history_(interval),
      events_(readers_.latest, renderings_) {}

void Endpoint::AddRoutes(http::server::Server& server) {
  using http::server::RunsOn;
  server.Handle({.path = "/api/v1/snapshot", .runs_on = RunsOn::kWorkers},
                [this](const auto& request, const auto& answer) { answer(Snapshot(request)); });
  server.Handle({.path = "/api/v1/history", .runs_on = RunsOn::kWorkers},
                [this](const auto& request, const auto& answer) { answer(History(request)); });
  server.Handle("/api/v1/events", [this](const auto& request, const auto& answer) { answer(events_.Open(request)); });
}

void Endpoint::Observe(const snapshot::Snapshot& snapshot) {
  history_.Add(snapshot);
  events_.Publish(snapshot.sequence);
}

http::server::Response Endpoint::Snapshot(const http::server::Request& request) {
  const auto query = ParseQuery(request.query, renderings_.source().gates);
  if (!query) return JsonError(400, query.error().message);
  const auto reading = readers_.fresh();
  if (!reading.snapshot) return NoSnapshot();
  return AnswerOf([&] { return renderings_.Get(*reading.snapshot, reading.stale, *query); });
}

http::server::Response Endpoint::History(const http::server::Request& request) {
  const auto text = http::server::FindParameter(request.query, "seconds");
  if (!text) return JsonError(400, text.error().message);
  const auto seconds = text->has_value() ? ParseNumber<int64_t>(**text) : PowerHistory::kSpan.count();
  if (!seconds || *seconds < 1 || *seconds > PowerHistory::kSpan.count())
    return JsonError(
        400, RefuseParameter("seconds", **text, fmt::format("1 to {}", PowerHistory::kSpan.count())).error().message);
  const auto reading = readers_.latest();
  if (!reading.snapshot) return NoSnapshot();
  return AnswerOf(
      [&] { return renderings_.Hold(HistoryJson(history_.Read(std::chrono::seconds(*seconds)), *reading.snapshot)); });
}

}  // namespace kepler::api
