#include "export/api/endpoint.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/text.h"

namespace kepler::api {

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

http::server::Response Endpoint::Snapshot(const http::server::Request& request) {
  const auto query = ParseQuery(request.query, renderings_.source().gates);
  if (!query) return JsonError(400, query.error().message);
  const auto reading = read_();
  if (!reading.snapshot)
    return JsonError(503, "no snapshot yet; the first one is available within a second of startup");
  try {
    auto text = renderings_.Get(*reading.snapshot, reading.stale, *query);
    if (!text) return JsonError(503, "too many large answers at once; try again later");
    return JsonAnswer(std::move(text));
  } catch (const std::bad_alloc&) {
    return JsonError(503, "out of memory");
  }
}

}  // namespace kepler::api
