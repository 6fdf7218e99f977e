#pragma once
// Sends requests over HTTP to a server with a login, and retries them after temporary errors. Blocks. One thread.
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
  std::string prefix{};  // prefix of all paths: "/prometheus"
  std::string bearer_token{};
  std::string user{}, password{};  // for basic authentication, instead of a token
  std::string accept = "application/json";
  std::chrono::milliseconds timeout{60'000};  // for a whole request with its answer
  int retries = 4;
  std::shared_ptr<http::client::Client> client = std::make_shared<http::client::Client>();
  size_t retried = 0;                          // number of retries until now
  std::chrono::milliseconds patience{10'000};  // time without an answer after which `say` gets a line
  /// If set: returns true for an answer after which the same request has no chance. Gets the error of Send().
  std::function<bool(const Error&)> is_final{};
  /// Called to wait before a retry.
  std::function<void(std::chrono::milliseconds)> wait = [](auto time) { std::this_thread::sleep_for(time); };
  /// If set: gets the reason and the length of each wait. A line about an answer that is late comes from another
  /// thread.
  std::function<void(std::string_view)> say{};
};

/// Returns the server at a URL such as "https://host:9090/prefix". The error has the reason why the URL is invalid.
[[nodiscard]] Result<Server> ServerAt(std::string_view url);

/// Returns the reason in the body of an error answer: "error" of JSON, as Prometheus answers, else the first line.
[[nodiscard]] std::string ReasonIn(std::string_view body);

/// Sends `request` with the login and the timeout of the server. The prefix is added to its target. `take` gets the
/// body in pieces. `begin` is called before each attempt, because the body then starts again. The request is retried by
/// RetryPolicy after server errors other than 501 and 505, after 408 and 429, timeouts and broken connections, unless
/// the answer is final. Errors: kNotFound for status 404, kInvalid for other refusals, kMalformed if `take` refused the
/// body.
[[nodiscard]] Status Send(Server& server, http::client::ClientRequest request, const std::function<void()>& begin,
                          const http::client::OnPiece& take);

/// Sends a GET request for `target`, as Send().
[[nodiscard]] Status Ask(Server& server, const std::string& target, const std::function<void()>& begin,
                         const http::client::OnPiece& take);

}  // namespace kepler::http::retrying
