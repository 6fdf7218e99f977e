#pragma once
// Passwords that wait to be hashed: each client in turn, so that one who guesses makes nobody else wait for more than
// the hash in progress. Pure.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/server/client_address.h"

namespace kepler::http {

using PasswordTag = std::array<unsigned char, 32>;  // stands for (user, hash, password)

struct LoginJob {
  ClientAddress client;
  PasswordTag tag{};
  bool known_user = false;
  std::string hash;
  std::string password;
};

class LoginQueue {
 public:
  static constexpr size_t kMostOfOne = 4;  // waiting, of one client
  static constexpr size_t kMost = 256;     // of all

  /// False where too many wait.
  [[nodiscard]] bool Add(LoginJob job);
  /// The first one of the client whose turn it is.
  [[nodiscard]] std::optional<LoginJob> Take();
  /// All of one client.
  [[nodiscard]] std::deque<LoginJob> TakeAllOf(const ClientAddress& client);
  [[nodiscard]] bool empty() const { return turns_.empty(); }

 private:
  std::map<ClientAddress, std::deque<LoginJob>> waiting_;  // none is empty
  std::deque<ClientAddress> turns_;                        // its keys, next one first
  size_t size_ = 0;
};

/// What failed logins may cost: a quarter of a processor in the long run, however many clients there are. What was
/// saved up covers 15 hashes of half a second. Pure.
class HashBudget {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// A hash that took `took` was for nothing.
  void Wasted(std::chrono::nanoseconds took, SteadyTime now) { paid_at_ = std::max(paid_at_, now) + kShare * took; }
  /// When the next one may begin.
  [[nodiscard]] SteadyTime Next() const { return paid_at_ - kCredit; }

 private:
  static constexpr int kShare = 4;
  static constexpr std::chrono::seconds kCredit{30};
  SteadyTime paid_at_{};
};

}  // namespace kepler::http
