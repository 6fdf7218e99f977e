#pragma once
// Finds the end of the head of a request, parses the head and the body, and renders the head of a response. Hides
// Beast. Pure.
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/server/request.h"
#include "http/server/server.h"

namespace kepler::http::server {

struct RequestHead {
  Request request{};  // method as sent; the server makes HEAD a GET
  std::string authorization{};
  uint64_t content_length = 0;
  std::string transfer_coding{};  // only "chunked" can be read; there is then no length
  bool expects_continue = false;
  bool http10 = false;
  bool keep_alive = false;
  [[nodiscard]] bool has_body() const { return content_length > 0 || !transfer_coding.empty(); }
};

/// Reason to refuse a request: the status of the answer, and a sentence for the client.
struct RequestError {
  unsigned status = 400;
  std::string reason;
};

/// Returns the length of the head at the begin of `buffer`, with its empty line; nothing if the head is incomplete. The
/// first `searched` bytes contain no end of a head. An empty line without CR ends the head too, so that the client gets
/// an answer with the reason.
[[nodiscard]] std::optional<size_t> FindHeadEnd(std::string_view buffer, size_t searched);

/// `head` is a whole head, with its empty line.
[[nodiscard]] std::expected<RequestHead, RequestError> ParseRequestHead(std::string_view head);

/// The body that follows a head, by length or in chunks.
class BodyParser {
 public:
  /// More than `max` bytes are refused.
  BodyParser(const RequestHead& head, uint64_t max);
  ~BodyParser();

  /// Removes bytes of the body from the front of `input`. If the body is incomplete, only an incomplete line of the
  /// chunk framing stays in `input`. Returns true if the body is complete.
  [[nodiscard]] std::expected<bool, RequestError> Take(std::string& input);
  /// The part of the body that was read.
  [[nodiscard]] std::string& text();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct HeadOptions {
  bool keep_alive = true;
  bool http10 = false;  // the client speaks HTTP/1.0, in which keep-alive needs a header
  std::time_t now = 0;  // for Date
  std::span<const std::pair<std::string, std::string>> extra{};
};

/// Adds Retry-After to 503, because its causes end within seconds.
[[nodiscard]] std::string RenderHead(const Response& response, const HeadOptions& options);

/// "Not Found"; "Unknown" for a status without a name.
[[nodiscard]] std::string_view StatusText(unsigned status);

/// Returns a short plain-text answer of the server itself. If `text` is empty, the text is that of the status.
[[nodiscard]] Response PlainAnswer(unsigned status, std::string_view text = {});

}  // namespace kepler::http::server
