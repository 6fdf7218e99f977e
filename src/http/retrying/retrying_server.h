#pragma once
// A server that is asked over HTTP, again where it may know better the next time.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "http/client/client.h"

namespace kepler::http::retrying {

struct Server {
  http::client::Peer peer{};
  std::string prefix{};  // of every path: "/prometheus"
  std::string bearer_token{};
  std::string user{}, password{};  // of basic authentication, in place of a token
  std::string accept = "application/json";
  std::chrono::milliseconds timeout{60'000};  // for an answer, whole
  int retries = 4;
  std::shared_ptr<http::client::Client> client = std::make_shared<http::client::Client>();
  size_t retried = 0;  // so far
  /// Waits before a retry.
  std::function<void(std::chrono::milliseconds)> wait = [](auto time) { std::this_thread::sleep_for(time); };
  std::function<void(std::string_view)> say{};  // if there: why, and how long that is
};

/// "https://host:9090/prefix": an error says what is wrong with it.
[[nodiscard]] Result<Server> ServerAt(std::string_view url);

/// What a server that refuses says why: "error" of a JSON text as Prometheus answers, else the first line.
[[nodiscard]] std::string ReasonIn(std::string_view body);

/// Sends `request`, whose target is behind the prefix, with the login and the timeout of the server. `take` has the
/// body in pieces; `begin` is called before each attempt, whose body begins anew. After a server error other than 501
/// and 505, after 408, 429, a timeout or a broken connection it is retried as RetryPolicy says. kNotFound: the server
/// answers 404; kInvalid: it refuses; kMalformed: what `take` refused.
[[nodiscard]] Status Send(Server& server, http::client::ClientRequest request, const std::function<void()>& begin,
                          const http::client::OnPiece& take);

/// GET of `target` behind the prefix, as Send().
[[nodiscard]] Status Ask(Server& server, const std::string& target, const std::function<void()>& begin,
                         const http::client::OnPiece& take);

}  // namespace kepler::http::retrying
