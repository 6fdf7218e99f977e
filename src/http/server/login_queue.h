#pragma once
// Passwords that wait to be hashed: each network in turn, and within a network each client, those that have not failed
// first. Who guesses makes others wait for the hash in progress and one for each network that it guesses from; those of
// its own network for one of each address too that it has not failed from yet. Pure.
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "http/server/client_address.h"

namespace kepler::http::server {

using PasswordTag = std::array<unsigned char, 32>;  // stands for (user, hash, password)

struct LoginJob {
  ClientAddress client;
  PasswordTag tag{};
  bool known_user = false;
  bool has_failed = false;  // the client, before
  std::string hash;
  std::string password;
};

class LoginQueue {
 public:
  static constexpr size_t kMaxOfOne = 4;  // waiting, of one client
  static constexpr size_t kMax = 256;     // of all

  struct Added {
    bool queued = false;                // no: too many wait
    std::optional<LoginJob> dropped{};  // had to go instead
  };
  /// A full queue drops the newest job of the client that has most in the network that has most, where the new one's
  /// network or client has fewer; for who has not failed also one of a network that has.
  [[nodiscard]] Added Add(LoginJob job);
  /// The first one of the client whose turn it is.
  [[nodiscard]] std::optional<LoginJob> Take();
  /// All of one client.
  [[nodiscard]] std::deque<LoginJob> TakeAllOf(const ClientAddress& client);
  /// Who waits of its network goes before it from now on, unless they have failed too.
  void MarkFailed(const ClientAddress& client);
  [[nodiscard]] bool empty() const { return jobs_.empty(); }

 private:
  struct Client {
    uint64_t turn = 0;  // the smallest is next
    bool has_failed = false;
    size_t jobs = 0;  // never none
  };
  struct Network {
    uint64_t turn = 0;
    size_t jobs = 0;
  };
  using Jobs = std::list<LoginJob>;

  [[nodiscard]] LoginJob Remove(Jobs::iterator job);
  [[nodiscard]] bool AllFailed(const ClientNetwork& network) const;
  [[nodiscard]] std::optional<LoginJob> MakeRoomFor(const LoginJob& job);

  Jobs jobs_;  // as they came; few enough to be searched
  std::map<ClientAddress, Client> clients_;
  std::map<ClientNetwork, Network> networks_;
  uint64_t last_turn_ = 0;
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

}  // namespace kepler::http::server
