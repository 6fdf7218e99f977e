#include "http/server/response_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>

#include <boost/beast/http/status.hpp>

namespace kepler::http {
namespace {

void AppendField(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view StatusText(unsigned status) {
  const auto known = boost::beast::http::int_to_status(status);
  if (known == boost::beast::http::status::unknown) return "Unknown";
  const auto text = boost::beast::http::obsolete_reason(known);
  return {text.data(), text.size()};
}

std::string RenderHead(const Response& response, const HeadOptions& options) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, StatusText(response.status));
  if (!response.content_type.empty()) AppendField(head, "Content-Type", response.content_type);
  if (!response.content_encoding.empty()) AppendField(head, "Content-Encoding", response.content_encoding);
  if (response.pieces && !options.http10)
    AppendField(head, "Transfer-Encoding", "chunked");
  else if (!response.pieces && response.status != 204 && response.status != 304)
    AppendField(head, "Content-Length", std::to_string(response.body ? response.body->size() : 0));
  // As RFC 9110 has it; no locale.
  fmt::format_to(std::back_inserter(head), "Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(options.now));
  for (const auto& [name, value] : response.headers) AppendField(head, name, value);
  for (const auto& [name, value] : options.extra) AppendField(head, name, value);
  if (!options.keep_alive)
    AppendField(head, "Connection", "close");
  else if (options.http10)
    AppendField(head, "Connection", "keep-alive");
  head += "\r\n";
  return head;
}

Response PlainAnswer(unsigned status, std::string_view text) {
  const auto body = text.empty() ? StatusText(status) : text;
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .content_encoding = {},
          .body = std::make_shared<const std::string>(fmt::format("{}\n", body)),
          .headers = {}};
}

}  // namespace kepler::http
