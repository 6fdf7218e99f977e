#pragma once
// The head of a request: where it ends, and what it says. Hides Beast. Pure.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "http/server/server.h"

namespace kepler::http {

struct RequestHead {
  Request request;  // method as sent; the server makes HEAD a GET
  std::string authorization;
  uint64_t content_length = 0;
  bool unbounded_body = false;  // chunked, or any other transfer coding
  bool expects_continue = false;
  bool http10 = false;
  bool keep_alive = false;
};

/// Why a head is refused: the status to answer with, and a sentence for the client.
struct HeadError {
  unsigned status = 400;
  std::string reason;
};

/// The length of the head that `buffer` begins with, its empty line included; nothing while it is incomplete.
/// `searched` bytes were looked at before in vain. An empty line without CR ends it too, for who sends such lines is to
/// hear what is wrong with them.
[[nodiscard]] std::optional<size_t> FindHeadEnd(std::string_view buffer, size_t searched);

/// `head` is a whole head, empty line included.
[[nodiscard]] std::expected<RequestHead, HeadError> ParseRequestHead(std::string_view head);

}  // namespace kepler::http
