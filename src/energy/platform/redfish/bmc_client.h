#pragma once
// BmcClient: fetches resources of one BMC. BMCs are slow and lock accounts, so it asks for no more than needed: one
// kept connection, no request after a refused login, none before the time of Retry-After, and one session at a time.
//
//   auth: session      no session ──POST──► session ──401──► ended ──DELETE (or it is gone)──► no session
//
// One thread.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "energy/platform/redfish/bmc_file.h"
#include "http/client/client.h"
#include "json/document.h"

namespace kepler::energy::platform::redfish {

class BmcClient {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 20;  // of an answer; the largest that is known has 100 KiB
  static constexpr size_t kMaxValues = 50'000;              // of JSON in it
  static constexpr std::chrono::minutes kMaxRetryAfter{10};
  static constexpr std::chrono::minutes kForbidden{60};  // time until a forbidden resource is requested again
  static constexpr std::chrono::seconds kMaxFarewell{2};
  static constexpr std::chrono::seconds kLoginPause{10};  // after a session that ended at once

  /// `timeout`: of each request.
  BmcClient(BmcAccess access, std::chrono::milliseconds timeout, std::shared_ptr<const Clock> clock);
  /// Deletes the session, within kMaxFarewell.
  ~BmcClient();
  BmcClient(const BmcClient&) = delete;
  BmcClient& operator=(const BmcClient&) = delete;
  /// Takes over the session of `former`, if both use sessions of the same BMC, and deletes it before the first login:
  /// BMCs have few sessions, and the destructor of `former` may fail to delete it.
  void Replace(BmcClient& former);

  [[nodiscard]] const BmcAccess& access() const { return access_; }
  /// Fetches a resource. Errors: kTimeout and kUnavailable (no answer, login refused, 429, 502 to 504, a stop) are
  /// about the whole BMC; kNotFound (404), kInvalid (403, a redirection, too large), kMalformed and kIo (other answers)
  /// are about the resource. A message contains the URL and a remedy.
  [[nodiscard]] Result<json::Value> Get(const std::string& uri, const std::stop_token& stop);

 private:
  struct Session {
    std::string token;
    std::string uri;  // "": the BMC has not named it
    BootTime since;
  };
  struct Forbidden {
    Error error;
    std::optional<BootTime> until;  // nothing: for good
  };
  struct Fetched {
    http::client::Answer answer;
    std::string body;  // of a 2xx
  };

  [[nodiscard]] Status MayAsk(const std::string& uri);
  [[nodiscard]] http::client::ClientRequest MakeRequest(http::client::Method method, std::string uri) const;
  [[nodiscard]] Result<Fetched> Send(const http::client::ClientRequest& request, const std::stop_token& stop);
  [[nodiscard]] Result<Fetched> SendWithLogin(const std::string& uri, const std::stop_token& stop);
  [[nodiscard]] Error Refuse(const http::client::ClientRequest& request, const Fetched& fetched);
  [[nodiscard]] Error RefuseLogin(std::string_view answer);
  void NoteRetryAfter(const http::client::Answer& answer);
  [[nodiscard]] std::string Hide(std::string_view text) const;

  [[nodiscard]] Status EnsureSession(const std::stop_token& stop);
  [[nodiscard]] Result<std::string> SessionsUri(const std::stop_token& stop);
  [[nodiscard]] Status Login(const std::string& uri);
  [[nodiscard]] Error RefuseSession(const http::client::ClientRequest& request, const Fetched& fetched);
  [[nodiscard]] Status Logout(const Session& session, std::chrono::milliseconds timeout, const std::stop_token& stop);

  const BmcAccess access_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<const Clock> clock_;
  http::client::Client client_;
  std::optional<Error> refused_;  // the login: nothing is sent any more
  BootTime not_before_{};
  std::map<std::string, Forbidden, std::less<>> forbidden_;
  std::string sessions_uri_;
  std::optional<Session> session_;
  std::optional<Session> ended_;  // to delete before another session is made
  BootTime next_login_{};
};

}  // namespace kepler::energy::platform::redfish
