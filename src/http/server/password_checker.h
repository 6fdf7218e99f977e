#pragma once
// Basic authentication: bcrypt on a thread of its own, its verdicts cached, clients served in turn, guessers put off
// and named in the log. A user that does not exist costs what the dearest one costs. On the I/O thread.
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "http/server/client_address.h"
#include "http/server/event_loop.h"
#include "http/server/failed_logins.h"
#include "http/server/hash_worker.h"
#include "http/webconfig/bcrypt.h"

namespace kepler::http::server {

enum class LoginVerdict : uint8_t {
  kAllowed,
  kDenied,
  kPutOff,  // the client has failed too often: nothing is hashed for it now
  kBusy     // too many different passwords wait already, or came later, or there is no thread that could hash this one
};

struct Credentials {
  std::string user;
  std::string password;
};

/// What "Basic <base64>" holds; nothing for any other text.
[[nodiscard]] std::optional<Credentials> ParseBasicAuth(std::string_view header);

/// Ends after the loop has stopped; waits for no hash then, and calls nothing.
class PasswordChecker {
 public:
  using Users = std::map<std::string, std::string, std::less<>>;  // name -> bcrypt hash
  using Done = std::move_only_function<void(LoginVerdict)>;

  static constexpr size_t kMaxOfOneLogin = 64;  // requests that wait for one hash

  explicit PasswordChecker(EventLoop& loop, HashWorker::Matches matches = webconfig::BcryptMatches,
                           std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>());

  /// Whether this very login was found right before: then it costs nothing.
  [[nodiscard]] bool Knows(const Users& users, const Credentials& credentials) const;
  /// `done` is called at once, or later on the loop's thread. Requests of a client for the same password share one
  /// hash; their number is bounded too.
  void Check(const Users& users, const Credentials& credentials, const ClientAddress& client, Done done);
  /// How long the client is put off.
  [[nodiscard]] std::chrono::nanoseconds WaitOf(const ClientAddress& client) const;

 private:
  /// The latest verdicts of one kind, oldest first.
  class Cache {
   public:
    [[nodiscard]] bool Has(const PasswordTag& tag) const;
    void Add(const PasswordTag& tag);

   private:
    std::deque<PasswordTag> tags_;
  };
  struct Login {  // whose hash somebody waits for
    std::string shown_user;
    std::vector<Done> waiting;
  };
  using LoginKey = std::pair<ClientAddress, PasswordTag>;

  [[nodiscard]] PasswordTag MakeTag(bool known_user, std::string_view user, std::string_view hash,
                                    std::string_view password) const;
  [[nodiscard]] LoginVerdict Enqueue(LoginJob job);
  void Finish(const LoginJob& job, bool matches);
  void Answer(const LoginKey& key, LoginVerdict verdict);
  /// Counts the failure and names the client, now and then.
  void OnFailure(const ClientAddress& client, std::string shown_user, bool hashed);

  const std::shared_ptr<const Clock> clock_;
  PasswordTag secret_;  // so that tags mean nothing outside this process
  Cache allowed_;
  Cache denied_;
  FailedLogins failed_;
  std::map<LoginKey, Login> logins_;
  log::LogLimiter limiter_{std::chrono::minutes(1)};
  HashWorker worker_;
};

}  // namespace kepler::http::server
