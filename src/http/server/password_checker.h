#pragma once
// Basic authentication with bcrypt on a separate thread. Results are cached. Clients take turns, and wait after too
// many failures, which are logged. Unknown users take as long as the most expensive hash. On the I/O thread.
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
  kPutOff,  // the client has too many failed logins, so its password is not hashed now
  kBusy     // too many passwords wait, or no thread can be started
};

struct Credentials {
  std::string user;
  std::string password;
};

/// Returns the credentials in "Basic <base64>"; nothing for any other text.
[[nodiscard]] std::optional<Credentials> ParseBasicAuth(std::string_view header);

/// Destroy it after the loop has stopped. The destructor waits for no hash and calls no function.
class PasswordChecker {
 public:
  using Users = std::map<std::string, std::string, std::less<>>;  // name -> bcrypt hash
  using Done = std::move_only_function<void(LoginVerdict)>;

  static constexpr size_t kMaxOfOneLogin = 64;  // requests that wait for one hash

  explicit PasswordChecker(EventLoop& loop, HashWorker::Matches matches = webconfig::BcryptMatches,
                           std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>());

  /// Returns true if the cache has this login as correct, so that it needs no hash.
  [[nodiscard]] bool Knows(const Users& users, const Credentials& credentials) const;
  /// Calls `done` at once, or later on the loop's thread. Requests of a client with the same password share one hash;
  /// at most kMaxOfOneLogin of them wait.
  void Check(const Users& users, const Credentials& credentials, const ClientAddress& client, Done done);
  /// Time until a password of the client is hashed again.
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
  struct Login {  // a login with a pending hash
    std::string shown_user;
    std::vector<Done> waiting;
  };
  using LoginKey = std::pair<ClientAddress, PasswordTag>;

  [[nodiscard]] PasswordTag MakeTag(bool known_user, std::string_view user, std::string_view hash,
                                    std::string_view password) const;
  [[nodiscard]] LoginVerdict Enqueue(LoginJob job);
  void Finish(const LoginJob& job, bool matches);
  void Answer(const LoginKey& key, LoginVerdict verdict);
  /// Counts the failure, and logs the client at a limited rate.
  void OnFailure(const ClientAddress& client, std::string shown_user, bool hashed);

  const std::shared_ptr<const Clock> clock_;
  PasswordTag secret_;  // makes tags useless outside this process
  Cache allowed_;
  Cache denied_;
  FailedLogins failed_;
  std::map<LoginKey, Login> logins_;
  log::LogLimiter limiter_{std::chrono::minutes(1)};
  HashWorker worker_;
};

}  // namespace kepler::http::server
