#include "lab/recorder/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/parse.h"
#include "base/text.h"
#include "http/client/url.h"
#include "json/document.h"

namespace kepler::lab::recorder {
namespace {

constexpr std::chrono::milliseconds kFirstPause{500};
constexpr std::chrono::milliseconds kLongestPause{10'000};
constexpr std::chrono::milliseconds kLongestDelay{60'000};  // of a server that says how long

bool MayKnowBetter(const Result<http::Refusal>& answer) {
  if (answer) return answer->status == 429 || answer->status >= 500;
  return answer.error().kind == ErrorKind::kTimeout || answer.error().kind == ErrorKind::kUnavailable;
}

/// At least `pause`: as long as the server wants.
std::chrono::milliseconds WaitAfter(const Result<http::Refusal>& answer, std::chrono::milliseconds pause) {
  if (!answer || (answer->status != 429 && answer->status != 503)) return pause;
  const double now = std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count();
  const auto delay = DelayOf(answer->retry_after, now);
  if (!delay) return pause;
  const double bounded = std::min(*delay * 1000, static_cast<double>(kLongestDelay.count()));
  return std::max(pause, std::chrono::milliseconds(std::llround(bounded)));
}

Status Judge(const Server& server, const Result<http::Refusal>& answer) {
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return {};
  return Fail(ErrorKind::kInvalid,
              fmt::format("{} answered {}: {}", server.peer.Url(), answer->status, ReasonIn(answer->body)));
}

/// "http://host:9090 answered 429; retrying in 60 s (1 of 4)".
std::string WhatNext(const Server& server, const Result<http::Refusal>& answer, std::chrono::milliseconds pause,
                     int attempt) {
  const std::string what =
      answer ? fmt::format("{} answered {}", server.peer.Url(), answer->status) : answer.error().message;
  return fmt::format("{}; retrying in {:g} s ({} of {})", what, std::chrono::duration<double>(pause).count(),
                     attempt + 1, server.retries);
}

}  // namespace

Result<Server> ServerAt(std::string_view url) {
  KEPLER_TRY(http::Url parsed, http::ParseUrl(url));
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

std::optional<double> DelayOf(const std::string& retry_after, double now) {
  if (!retry_after.empty() && std::ranges::all_of(retry_after, IsDigit)) return ParseNumber<double>(retry_after);
  std::tm date{};
  const char* const end = ::strptime(retry_after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::max(static_cast<double>(::timegm(&date)) - now, 0.0);
}

std::string UrlEncode(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text)
    out += kPlain.contains(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

Status Ask(Server& server, const std::string& target, const std::function<void()>& begin, const http::OnPiece& take) {
  const http::GetRequest request{.target = server.prefix + target,
                                 .bearer_token = server.bearer_token,
                                 .user = server.user,
                                 .password = server.password,
                                 .accept = server.accept,
                                 .silence = server.timeout,
                                 .total = server.timeout};
  auto pause = kFirstPause;
  for (int attempt = 0;; ++attempt) {
    begin();
    const auto answer = http::Fetch(server.peer, request, take, {});
    if (attempt == server.retries || !MayKnowBetter(answer)) return Judge(server, answer);
    ++server.retried;
    const auto next = WaitAfter(answer, pause);
    if (server.say) server.say(WhatNext(server, answer, next, attempt));
    server.wait(next);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace kepler::lab::recorder
