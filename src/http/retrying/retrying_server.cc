#include "http/retrying/retrying_server.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/thread.h"
#include "http/client/redirection.h"
#include "http/client/retry.h"
#include "http/client/url.h"
#include "json/document.h"

namespace kepler::http::retrying {
namespace {

Status Judge(const Server& server, const http::client::ClientRequest& request,
             const Result<http::client::Answer>& answer) {
  if (!answer) return std::unexpected(answer.error());
  if (answer->ok()) return {};
  const std::string redirection = http::client::DescribeRedirection(server.peer, *answer);
  const std::string reason = redirection.empty() ? ReasonIn(HideLogin(answer->body, request)) : redirection;
  constexpr unsigned kNotFoundStatus = 404;
  return Fail(answer->status == kNotFoundStatus ? ErrorKind::kNotFound : ErrorKind::kInvalid,
              fmt::format("{} answered {}: {}", server.peer.Url(), answer->status, reason));
}

/// "http://host:9090 answered 429; retrying in 60 s (1 of 4)".
std::string WhatNext(const Server& server, const Result<http::client::Answer>& answer, std::chrono::milliseconds pause,
                     unsigned attempt) {
  const std::string what =
      answer ? fmt::format("{} answered {}", server.peer.Url(), answer->status) : answer.error().message;
  return fmt::format("{}; retrying in {:g} s ({} of {})", what, std::chrono::duration<double>(pause).count(), attempt,
                     server.retries);
}

/// Says that a server has not answered yet: until the timeout, which may be minutes, nothing else would be said.
class DelayNote {
 public:
  explicit DelayNote(const Server& server) {
    if (!server.say || server.patience >= server.timeout) return;
    // Without a thread there is only no line.
    if (auto thread = StartThread("delay-note", [&server](const std::stop_token& stop) { Wait(server, stop); }))
      thread_ = *std::move(thread);
  }
  void Cancel() { thread_.request_stop(); }

 private:
  static void Wait(const Server& server, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, server.patience, [] { return false; });
    if (stop.stop_requested()) return;
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    server.say(fmt::format("{} has not answered for {:g} s; waiting for at most {:g} s", server.peer.Url(),
                           seconds(server.patience), seconds(server.timeout)));
  }

  std::jthread thread_;
};

}  // namespace

Result<Server> ServerAt(std::string_view url) {
  KEPLER_TRY(http::client::Url parsed, http::client::ParseUrl(url));
  if (parsed.target.contains('?')) return Fail(ErrorKind::kInvalid, "must not have a query");
  while (parsed.target.ends_with('/')) parsed.target.pop_back();
  return Server{.peer = std::move(parsed.peer), .prefix = std::move(parsed.target)};
}

std::string ReasonIn(std::string_view body) {
  constexpr size_t kMaxShown = 500;
  if (const auto document = json::Parse(body)) {
    const auto found = json::Cursor(*document).Find("error");
    if (found && *found)
      if (const auto text = (*found)->Text()) return SanitizeUtf8(*text, kMaxShown);
  }
  const std::string_view line = Trim(body.substr(0, body.find('\n')));
  return line.empty() ? "it gave no reason" : SanitizeUtf8(line, kMaxShown);
}

Status Ask(Server& server, const std::string& target, const std::function<void()>& begin,
           const http::client::OnPiece& take) {
  return Send(server, {.target = target}, begin, take);
}

Status Send(Server& server, http::client::ClientRequest request, const std::function<void()>& begin,
            const http::client::OnPiece& take) {
  request.target.insert(0, server.prefix);
  request.bearer_token = server.bearer_token;
  request.user = server.user;
  request.password = server.password;
  request.accept = server.accept;
  request.deadlines = {.silence = server.timeout, .total = server.timeout};
  // 507 to 529: proxies in front of hosted servers. 501 and 505 stay as they are.
  const http::client::RetryPolicy policy{.retries = static_cast<unsigned>(server.retries),
                                         .statuses = {408, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529}};
  for (unsigned attempt = 1;; ++attempt) {
    begin();
    DelayNote note(server);
    const auto answer = server.client->Send(server.peer, request,
                                            [&](std::string_view piece) {
                                              note.Cancel();
                                              return take(piece);
                                            },
                                            {});
    note.Cancel();
    const Status judged = Judge(server, request, answer);
    const bool is_final = !judged && answer && server.is_final && server.is_final(judged.error());
    const auto delay = policy.Next(request, answer, attempt, 0, SystemClock().Wall());
    if (!delay || is_final) return judged;
    ++server.retried;
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(*delay);
    if (server.say) server.say(WhatNext(server, answer, pause, attempt));
    server.wait(pause);
  }
}

}  // namespace kepler::http::retrying
