// Sessions of BmcClient (DSP0266, 13.3.4): a POST to the sessions of the BMC gives a token for X-Auth-Token.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "energy/platform/redfish/bmc_client.h"
#include "energy/platform/redfish/resource.h"
#include "energy/platform/redfish/sensors.h"

namespace kepler::energy::platform::redfish {
namespace {

using http::client::ClientRequest;
using http::client::Method;

constexpr std::string_view kDefaultSessions = "/redfish/v1/SessionService/Sessions";

/// The path of a session: Location may be a whole URL. Its host is ignored, since the token belongs to this BMC only.
std::string PathOf(std::string_view location) {
  if (const size_t scheme = location.find("://"); scheme != std::string_view::npos) {
    location.remove_prefix(scheme + 3);
    location.remove_prefix(std::min(location.find('/'), location.size()));
  }
  return location.starts_with('/') ? std::string(location) : "";
}

}  // namespace

Status BmcClient::EnsureSession(const std::stop_token& stop) {
  if (session_) return {};
  if (clock_->Now() < next_login_)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the BMC {} ended a session at once; the next login is delayed", access_.id));
  if (ended_) {
    KEPLER_CHECK_OK(Logout(*ended_, timeout_, stop));
    ended_.reset();
  }
  KEPLER_TRY(const std::string uri, SessionsUri(stop));
  KEPLER_CHECK_OK(Login(uri));
  return stop.stop_requested() ? Fail(ErrorKind::kUnavailable, "the agent stops") : Status();
}

Result<std::string> BmcClient::SessionsUri(const std::stop_token& stop) {
  if (!sessions_uri_.empty()) return sessions_uri_;
  const ClientRequest request = MakeRequest(Method::kGet, std::string(kServiceRoot));
  KEPLER_TRY(const Fetched fetched, Send(request, stop));
  const unsigned status = fetched.answer.status;
  const bool needs_login = status == 401 || status == 403;  // against DSP0266
  if (!fetched.answer.ok() && !needs_login) return std::unexpected(Refuse(request, fetched));
  const auto root = json::Parse(fetched.body, kMaxValues);
  if (root) sessions_uri_ = LinkOf(*root, "Sessions");
  if (sessions_uri_.empty()) sessions_uri_ = kDefaultSessions;
  return sessions_uri_;
}

/// A stop does not cut the request: the BMC may have made the session already, and without the answer it would stay.
Status BmcClient::Login(const std::string& uri) {
  ClientRequest request = MakeRequest(Method::kPost, uri);
  request.content_type = "application/json";
  request.body = std::make_shared<const std::string>(
      fmt::format(R"({{"UserName": {}, "Password": {}}})", QuoteJson(access_.username), QuoteJson(access_.password)));
  request.wanted_header = "X-Auth-Token";
  KEPLER_TRY(const Fetched fetched, Send(request, {}));
  if (!fetched.answer.ok()) return std::unexpected(RefuseSession(request, fetched));
  Session session{.token = fetched.answer.wanted, .uri = PathOf(fetched.answer.location), .since = clock_->Now()};
  if (session.uri.empty()) {
    const auto body = json::Parse(fetched.body, kMaxValues);
    if (body) session.uri = PathOf(TextOf(*body, "@odata.id"));
  }
  if (session.token.empty())
    return Fail(ErrorKind::kUnavailable, fmt::format("{}{} answered {} without X-Auth-Token; set auth to basic",
                                                     access_.peer.Url(), uri, fetched.answer.status));
  session_ = std::move(session);
  return {};
}

/// Some BMCs answer 400 or 403 to a wrong password. A limit of sessions may pass.
Error BmcClient::RefuseSession(const ClientRequest& request, const Fetched& fetched) {
  const unsigned status = fetched.answer.status;
  const bool is_limit = ToLowerAscii(fetched.answer.body).contains("limit");
  if (!is_limit && (status == 400 || status == 401 || status == 403))
    return RefuseLogin(fmt::format("{} for a new session", status));
  Error error{ErrorKind::kUnavailable, fmt::format("{}{} answered {}: {}", access_.peer.Url(), request.target, status,
                                                   Hide(ReasonOf(fetched.answer.body)))};
  if (is_limit) error.message += "; the BMC has too many sessions: delete some, or set auth to basic";
  if (status == 404 || status == 405) error.message += "; the BMC has no sessions: set auth to basic";
  return error;
}

/// Success if the session is gone.
Status BmcClient::Logout(const Session& session, std::chrono::milliseconds timeout, const std::stop_token& stop) {
  if (session.uri.empty()) return {};
  ClientRequest request{.method = Method::kDelete,
                        .target = session.uri,
                        .headers = {{"X-Auth-Token", session.token}},
                        .deadlines = {.silence = timeout, .total = timeout},
                        .max_bytes = kMaxBytes};
  KEPLER_TRY(const Fetched fetched, Send(request, stop));
  const unsigned status = fetched.answer.status;
  // A BMC refuses the request for a session that is gone, each in its own way. One that cannot delete sessions ends
  // them by itself. One that is too busy still has the session.
  const bool is_busy = status == 408 || status == 429;
  if (fetched.answer.ok() || (status / 100 == 4 && !is_busy) || status == 501) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("{}{}: cannot delete the session: the BMC answered {}",
                                                   access_.peer.Url(), session.uri, status));
}

}  // namespace kepler::energy::platform::redfish
