#include "http/server/message.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/parse.h"
#include "base/percent.h"
#include "base/text.h"

namespace kepler::http::server {
namespace {

namespace beast_http = boost::beast::http;
using Fields = beast_http::request_parser<beast_http::empty_body>::value_type;

std::unexpected<RequestError> Refuse(unsigned status, std::string reason) {
  return std::unexpected(RequestError{status, std::move(reason)});
}

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

Headers HeadersOf(const Fields& fields) {
  Headers headers;
  for (const auto& field : fields)
    if (field.name() != beast_http::field::authorization) headers.Add(View(field.name_string()), View(field.value()));
  return headers;
}

/// Sets path and query from "/path?query" or "http://host/path?query". Returns false for any other target.
bool SplitTarget(std::string_view target, Request& request) {
  if (target == "*") {
    request.path = "*";
    return true;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (ToLowerAscii(target.substr(0, scheme.size())) != scheme) continue;
    const auto path = target.find_first_of("/?", scheme.size());
    target = path == std::string_view::npos ? "/" : target.substr(path);
    if (target.starts_with('?')) return false;
  }
  if (!target.starts_with('/')) return false;
  target = target.substr(0, target.find('#'));
  const auto question = target.find('?');
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  auto path = PercentDecode(target.substr(0, question));
  if (!path) return false;
  request.path = *std::move(path);
  return true;
}

std::expected<RequestHead, RequestError> Interpret(const Fields& fields) {
  RequestHead head;
  head.request.method = View(fields.method_string());
  if (!SplitTarget(View(fields.target()), head.request)) return Refuse(400, "the request target is not a path");
  const auto hosts = fields.count(beast_http::field::host);
  if (hosts > 1 || (hosts == 0 && fields.version() >= 11)) return Refuse(400, "exactly one Host header is needed");
  if (const auto length = fields.find(beast_http::field::content_length); length != fields.end()) {
    const auto bytes = ParseNumber<uint64_t>(Trim(View(length->value())));
    if (!bytes) return Refuse(400, "Content-Length is not a number");
    head.content_length = *bytes;
  }
  head.http10 = fields.version() == 10;
  head.request.headers = HeadersOf(fields);
  // A proxy that reads these headers differently would take the body as the next request (request smuggling).
  head.transfer_coding = ToLowerAscii(head.request.headers.Get("Transfer-Encoding"));
  const bool coded = fields.count(beast_http::field::transfer_encoding) > 0;
  if (coded && (head.transfer_coding.empty() || head.http10 || fields.count(beast_http::field::content_length) > 0))
    return Refuse(400, "Transfer-Encoding must name a coding, without Content-Length, in HTTP/1.1");
  const auto expect = head.request.headers.Get("Expect");
  head.expects_continue = boost::beast::iequals(expect, "100-continue");
  if (!expect.empty() && !head.expects_continue) return Refuse(417, "the only supported expectation is 100-continue");
  head.authorization = View(fields[beast_http::field::authorization]);
  head.keep_alive = fields.keep_alive();
  return head;
}

bool HasBareLineFeed(std::string_view head) {
  for (size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1))
    if (at == 0 || head[at - 1] != '\r') return true;
  return false;
}

void AppendField(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::optional<size_t> FindHeadEnd(std::string_view buffer, size_t searched) {
  constexpr size_t kMaxEnd = std::string_view("\n\r\n").size();
  // The previous read may have ended in the middle of the empty line.
  auto at = buffer.find('\n', searched - std::min(searched, kMaxEnd - 1));
  for (; at != std::string_view::npos; at = buffer.find('\n', at + 1)) {
    for (const std::string_view empty_line : {"\r\n", "\n"})
      if (buffer.substr(at + 1).starts_with(empty_line)) return at + 1 + empty_line.size();
  }
  return std::nullopt;
}

std::expected<RequestHead, RequestError> ParseRequestHead(std::string_view head) {
  if (HasBareLineFeed(head)) return Refuse(400, "lines must end with CR LF");
  beast_http::request_parser<beast_http::empty_body> parser;
  parser.header_limit(std::numeric_limits<uint32_t>::max());  // the caller bounds the buffer
  parser.body_limit(boost::none);
  parser.skip(true);  // the connection reads the body
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  const bool is_http = head.substr(0, head.find('\r')).contains(" HTTP/");
  if (error == beast_http::error::bad_version && is_http)
    return Refuse(505, "only HTTP/1.0 and HTTP/1.1 are supported");
  if (error) return Refuse(400, error.message());
  if (!parser.is_header_done()) return Refuse(400, "the head is incomplete");
  return Interpret(parser.get());
}

struct BodyParser::Impl {
  beast_http::request_parser<beast_http::string_body> parser;
  boost::beast::error_code error;
};

BodyParser::BodyParser(const RequestHead& head, uint64_t max) : impl_(std::make_unique<Impl>()) {
  impl_->parser.body_limit(max);
  impl_->parser.eager(true);
  // Beast needs only the framing of the body from the head. The head was parsed before.
  const std::string framing =
      fmt::format("POST / HTTP/1.1\r\n{}\r\n\r\n", head.transfer_coding.empty()
                                                       ? fmt::format("Content-Length: {}", head.content_length)
                                                       : "Transfer-Encoding: chunked");
  impl_->parser.put(boost::asio::buffer(framing), impl_->error);
}

BodyParser::~BodyParser() = default;

std::expected<bool, RequestError> BodyParser::Take(std::string& input) {
  auto& [parser, error] = *impl_;
  if (error == beast_http::error::need_more) error = {};
  // Beast before 1.86 asserts that a body without chunks does not come in smaller pieces.
  constexpr size_t kShortestChunks = std::string_view("0\r\n\r\n").size();
  if (parser.chunked() && text().empty() && input.size() < kShortestChunks) return false;
  if (!error && !parser.is_done()) input.erase(0, parser.put(boost::asio::buffer(input), error));
  if (error == beast_http::error::body_limit) return Refuse(413, "the body is too large");
  if (error && error != beast_http::error::need_more) return Refuse(400, error.message());
  return parser.is_done();
}

std::string& BodyParser::text() { return impl_->parser.get().body(); }

std::string_view StatusText(unsigned status) {
  const auto known = beast_http::int_to_status(status);
  if (known == beast_http::status::unknown) return "Unknown";
  return View(beast_http::obsolete_reason(known));
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
  if (response.status == 503) AppendField(head, "Retry-After", "1");
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
  return {.status = status, .body = std::make_shared<const std::string>(fmt::format("{}\n", body))};
}

}  // namespace kepler::http::server
