#include "energy/platform/redfish/bmc_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "energy/platform/redfish/resource.h"
#include "http/client/redirection.h"
#include "http/client/retry.h"
#include "json/stream.h"

namespace kepler::energy::platform::redfish {
namespace {

using http::client::ClientRequest;
using http::client::Method;

constexpr unsigned kUnauthorized = 401;
constexpr unsigned kForbiddenStatus = 403;
constexpr unsigned kNotFoundStatus = 404;

bool IsAboutBmc(unsigned status) { return status == 429 || status == 502 || status == 503 || status == 504; }

std::string_view WithoutQuery(std::string_view uri) { return uri.substr(0, uri.find('?')); }

}  // namespace

BmcClient::BmcClient(BmcAccess access, std::chrono::milliseconds timeout, std::shared_ptr<const Clock> clock)
    : access_(std::move(access)),
      timeout_(timeout),
      clock_(std::move(clock)),
      client_({.per_peer = 1, .peers = 1, .idle = std::chrono::minutes(2)}) {}

BmcClient::~BmcClient() {
  const auto& left = session_ ? session_ : ended_;
  if (!left) return;
  if (const Status deleted = Logout(*left, kMaxFarewell, {}); !deleted)
    log::Warn("failed to delete the session on the BMC; it stays until the BMC ends it",
              {{"bmc", access_.id}, {"err", deleted.error().message}});
}

void BmcClient::Replace(BmcClient& former) {
  const bool is_same = former.access_.peer.host == access_.peer.host && former.access_.peer.port == access_.peer.port;
  if (!is_same || access_.auth != Auth::kSession) return;
  auto& left = former.session_ ? former.session_ : former.ended_;
  ended_ = std::exchange(left, std::nullopt);
}

Result<json::Value> BmcClient::Get(const std::string& uri, const std::stop_token& stop) {
  KEPLER_CHECK_OK(MayAsk(uri));
  KEPLER_TRY(const Fetched fetched, SendWithLogin(uri, stop));
  if (!fetched.answer.ok()) return std::unexpected(Refuse(MakeRequest(Method::kGet, uri), fetched));
  auto resource = json::Parse(fetched.body, kMaxValues);
  if (resource) return resource;
  const std::string_view other = json::WhatInPlaceOfJson(fetched.body);
  return Fail(ErrorKind::kMalformed, fmt::format("{}{}: {}", access_.peer.Url(), WithoutQuery(uri),
                                                 other.empty() ? resource.error().message : other));
}

/// Whether a request is allowed now.
Status BmcClient::MayAsk(const std::string& uri) {
  if (refused_) return std::unexpected(*refused_);
  const BootTime now = clock_->Now();
  if (now < not_before_)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the BMC {} wants no request for another {} s (Retry-After)", access_.id,
                            std::chrono::ceil<std::chrono::seconds>(not_before_ - now).count()));
  const auto forbidden = forbidden_.find(uri);
  if (forbidden == forbidden_.end()) return {};
  if (!forbidden->second.until || now < *forbidden->second.until) return std::unexpected(forbidden->second.error);
  forbidden_.erase(forbidden);
  return {};
}

ClientRequest BmcClient::MakeRequest(Method method, std::string uri) const {
  ClientRequest request{.method = method,
                        .target = std::move(uri),
                        .deadlines = {.silence = timeout_, .total = timeout_},
                        .max_bytes = kMaxBytes};
  request.allow_plain_login = true;  // the BMC file has a warning for it
  request.headers.emplace_back("OData-Version", "4.0");
  if (access_.auth == Auth::kBasic) {
    request.user = access_.username;
    request.password = access_.password;
  } else if (session_) {
    request.headers.emplace_back("X-Auth-Token", session_->token);
  }
  return request;
}

Result<BmcClient::Fetched> BmcClient::Send(const ClientRequest& request, const std::stop_token& stop) {
  Fetched fetched;
  const auto take = [&fetched](std::string_view piece) -> Status {
    fetched.body += piece;
    return {};
  };
  auto answer = client_.Send(access_.peer, request, take, stop);
  if (!answer && answer.error().kind == ErrorKind::kPermission)  // not one of this machine
    return Fail(
        ErrorKind::kInvalid,
        answer.error().message + "; set caFile in the BMC file to the CA that signed the certificate of the BMC");
  KEPLER_TRY(fetched.answer, std::move(answer));
  NoteRetryAfter(fetched.answer);
  return fetched;
}

/// A session that has ended is replaced once.
Result<BmcClient::Fetched> BmcClient::SendWithLogin(const std::string& uri, const std::stop_token& stop) {
  if (access_.auth == Auth::kBasic) return Send(MakeRequest(Method::kGet, uri), stop);
  KEPLER_CHECK_OK(EnsureSession(stop));
  KEPLER_TRY(Fetched fetched, Send(MakeRequest(Method::kGet, uri), stop));
  if (fetched.answer.status != kUnauthorized) return fetched;
  if (clock_->Now() - session_->since < kLoginPause) next_login_ = clock_->Now() + kLoginPause;
  ended_ = std::exchange(session_, std::nullopt);
  KEPLER_CHECK_OK(EnsureSession(stop));
  KEPLER_TRY(fetched, Send(MakeRequest(Method::kGet, uri), stop));
  if (fetched.answer.status != kUnauthorized) return fetched;
  next_login_ = clock_->Now() + kLoginPause;
  ended_ = std::exchange(session_, std::nullopt);
  return Fail(ErrorKind::kUnavailable,
              fmt::format("{}{} answered 401 to a new session", access_.peer.Url(), WithoutQuery(uri)));
}

std::string BmcClient::Hide(std::string_view text) const {
  ClientRequest secrets{.target = "/"};
  secrets.user = access_.username;
  secrets.password = access_.password;
  if (session_) secrets.bearer_token = session_->token;
  return EscapeControls(HideLogin(text, secrets));
}

Error BmcClient::RefuseLogin(std::string_view answer) {
  refused_ = Error{ErrorKind::kUnavailable,
                   fmt::format("the BMC {} refused the user name or password ({}); correct them in the BMC file. No "
                               "request is sent until the file changes, because more failures may lock the account",
                               access_.id, answer)};
  log::Error("BMC refused the login", {{"bmc", access_.id}, {"url", access_.peer.Url()}, {"err", refused_->message}});
  return *refused_;
}

/// The error for an answer that is not 2xx.
Error BmcClient::Refuse(const ClientRequest& request, const Fetched& fetched) {
  const auto& answer = fetched.answer;
  if (answer.status == kUnauthorized) return RefuseLogin("401 Unauthorized");
  const std::string redirection = DescribeRedirection(access_.peer, answer);
  const std::string reason = redirection.empty() ? Hide(ReasonOf(answer.body)) : redirection;
  Error error{ErrorKind::kIo, fmt::format("{}{} answered {}{}{}", access_.peer.Url(), WithoutQuery(request.target),
                                          answer.status, reason.empty() ? "" : ": ", reason)};
  if (answer.status == kNotFoundStatus) error.kind = ErrorKind::kNotFound;
  if (answer.status / 100 == 3) error.kind = ErrorKind::kInvalid;
  if (IsAboutBmc(answer.status)) error.kind = ErrorKind::kUnavailable;
  if (answer.status != kForbiddenStatus) return error;
  error.kind = ErrorKind::kInvalid;
  const bool for_good = IsAboutLicence(answer.body);
  error.message += for_good ? "; the BMC needs a licence for it" : "; the user needs the privilege Login";
  const auto until = for_good ? std::nullopt : std::optional(clock_->Now() + kForbidden);
  if (!forbidden_.contains(request.target))
    log::Warn("BMC forbids a resource; it is not requested any more",
              {{"bmc", access_.id},
               {"until", for_good ? "the BMC file changes" : "an hour has passed"},
               {"err", error.message}});
  forbidden_.insert_or_assign(request.target, Forbidden{error, until});
  return error;
}

void BmcClient::NoteRetryAfter(const http::client::Answer& answer) {
  if (!IsAboutBmc(answer.status) || answer.retry_after.empty()) return;
  const auto delay = http::client::ParseRetryAfter(answer.retry_after, clock_->Wall());
  if (delay) not_before_ = clock_->Now() + std::min<Nanoseconds>(*delay, kMaxRetryAfter);
}

}  // namespace kepler::energy::platform::redfish
