#pragma once
// A request as its handler gets it. A value; owns its text.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kepler::http::server {

/// Shared, never copied. The bytes of a request's body count in the budgets until the last owner releases it.
using Body = std::shared_ptr<const std::string>;

/// The lines of a head, at most Limits::header_bytes together.
class Headers {
 public:
  void Add(std::string_view name, std::string_view value) { lines_.emplace_back(name, value); }
  /// Returns the values of all lines called `name`, in any case, joined by ", " (RFC 9110, section 5.3). Returns "" if
  /// there is no such line.
  [[nodiscard]] std::string Get(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

/// Returns the value of the first parameter `name` in a query such as "name=a%20b&on": decoded, with "+" as a space,
/// and
/// "" for a parameter without "=". Returns nothing if there is no such parameter. kInvalid if any parameter is
/// malformed; the error names it.
[[nodiscard]] Result<std::optional<std::string>> FindParameter(std::string_view query, std::string_view name);

struct RequestPeer {
  std::string address;  // as ToString(ClientAddress): "10.0.0.1", or the /64 of an IPv6 client
  bool tls = false;
  std::string certificate{};  // subject of the verified client certificate ("CN=prometheus,O=x"); "" if there is none
};

struct Request {
  std::string method;  // as sent, but HEAD is "GET": the server leaves the body out
  std::string path;    // decoded, without the query
  std::string query;   // as sent, without "?"; see FindParameter
  Headers headers{};   // without Authorization: a handler sees no password
  RequestPeer peer{};
  std::string user{};  // the authenticated user; "" if the web file has no users, or an open route got no password
  Body body{};         // null if the request has no body, or the route takes none
};

}  // namespace kepler::http::server
