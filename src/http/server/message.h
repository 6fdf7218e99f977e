#pragma once
// Messages as bytes: where the head of a request ends, what that says, and its body; the head of a response. Hides
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
  std::string transfer_coding{};  // "chunked" is the one that can be read; then there is no length
  bool expects_continue = false;
  bool http10 = false;
  bool keep_alive = false;
  [[nodiscard]] bool has_body() const { return content_length > 0 || !transfer_coding.empty(); }
};

/// Why a request is refused: the status to answer with, and a sentence for the client.
struct RequestError {
  unsigned status = 400;
  std::string reason;
};

/// The length of the head that `buffer` begins with, its empty line included; nothing while it is incomplete.
/// `searched` bytes were searched before in vain. An empty line without CR ends it too, for who sends such lines is to
/// hear what is wrong with them.
[[nodiscard]] std::optional<size_t> FindHeadEnd(std::string_view buffer, size_t searched);

/// `head` is a whole head, empty line included.
[[nodiscard]] std::expected<RequestHead, RequestError> ParseRequestHead(std::string_view head);

/// The body that follows a head, by length or in chunks.
class BodyParser {
 public:
  /// More than `max` bytes are refused.
  BodyParser(const RequestHead& head, uint64_t max);
  ~BodyParser();

  /// Takes what it can from the front of `input`; what it leaves of a body that is not whole is part of a line that
  /// frames a chunk. True: the body is whole.
  [[nodiscard]] std::expected<bool, RequestError> Take(std::string& input);
  /// What has come.
  [[nodiscard]] std::string& text();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct HeadOptions {
  bool keep_alive = true;
  bool http10 = false;  // the client speaks HTTP/1.0, where keeping alive must be said
  std::time_t now = 0;  // for Date
  std::span<const std::pair<std::string, std::string>> extra{};
};

/// With Retry-After for 503: everything that causes it passes within seconds.
[[nodiscard]] std::string RenderHead(const Response& response, const HeadOptions& options);

/// "Not Found"; "Unknown" for a status without a name.
[[nodiscard]] std::string_view StatusText(unsigned status);

/// A short plain-text answer of the server itself; the status text where `text` is empty.
[[nodiscard]] Response PlainAnswer(unsigned status, std::string_view text = {});

}  // namespace kepler::http::server
