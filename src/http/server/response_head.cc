#include "http/server/response_head.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace kepler::http {
namespace {

constexpr std::array<std::pair<unsigned, std::string_view>, 20> kStatusTexts = {{
    {200, "OK"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

/// RFC 9110's form; strftime would follow the locale.
void AppendDate(std::string& head, std::time_t now) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  ::gmtime_r(&now, &t);
  fmt::format_to(std::back_inserter(head), "Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                 kDays[static_cast<size_t>(t.tm_wday)], t.tm_mday, kMonths[static_cast<size_t>(t.tm_mon)],
                 t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

void AppendField(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view StatusText(unsigned status) {
  for (const auto& [code, text] : kStatusTexts) {
    if (code == status) return text;
  }
  return "Unknown";
}

std::string RenderHead(const Response& response, const HeadOptions& options) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, StatusText(response.status));
  if (!response.content_type.empty()) AppendField(head, "Content-Type", response.content_type);
  if (!response.content_encoding.empty()) AppendField(head, "Content-Encoding", response.content_encoding);
  const bool has_length = response.status != 204 && response.status != 304;
  if (has_length) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body ? response.body->size() : 0);
  }
  AppendDate(head, options.now);
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
