#pragma once
// The head of a response as bytes. Pure.
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/server/server.h"

namespace kepler::http {

struct HeadOptions {
  bool keep_alive = true;
  bool http10 = false;  // the client speaks HTTP/1.0, where keeping alive must be said
  std::time_t now = 0;  // for Date
  std::span<const std::pair<std::string, std::string>> extra{};
};

[[nodiscard]] std::string RenderHead(const Response& response, const HeadOptions& options);

/// "Not Found"; "Unknown" for a status without a name.
[[nodiscard]] std::string_view StatusText(unsigned status);

/// A short plain-text answer of the server itself; the status text where `text` is empty.
[[nodiscard]] Response PlainAnswer(unsigned status, std::string_view text = {});

}  // namespace kepler::http
