#pragma once
// Passwords that wait to be hashed. Networks take turns, and the clients in a network, those without a failed login
// first. An attacker delays other clients by the running hash and one hash per network that it uses. Clients in its own
// network also wait for one hash per address that has not failed yet. Pure.
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

using PasswordTag = std::array<unsigned char, 32>;  // identifies (user, hash, password)

struct LoginJob {
  ClientAddress client;
  PasswordTag tag{};
  bool known_user = false;
  bool has_failed = false;  // the client has a failed login
  std::string hash;
  std::string password;
};

class LoginQueue {
 public:
  static constexpr size_t kMaxOfOne = 4;  // waiting jobs of one client
  static constexpr size_t kMax = 256;     // waiting jobs of all clients

  struct Added {
    bool queued = false;                // false: the queue is full
    std::optional<LoginJob> dropped{};  // the job that was dropped for the new one
  };
  /// If the queue is full, drops the newest job of the client with the most jobs in the network with the most, if the
  /// new job's network or client has fewer. For a client without a failed login: also of a network that only failed.
  [[nodiscard]] Added Add(LoginJob job);
  /// Removes and returns the first job of the client whose turn it is.
  [[nodiscard]] std::optional<LoginJob> Take();
  /// Removes and returns all jobs of one client.
  [[nodiscard]] std::deque<LoginJob> TakeAllOf(const ClientAddress& client);
  /// From now on, clients of the same network without a failed login are before this client.
  void MarkFailed(const ClientAddress& client);
  [[nodiscard]] bool empty() const { return jobs_.empty(); }

 private:
  struct Client {
    uint64_t turn = 0;  // the smallest is next
    bool has_failed = false;
    size_t jobs = 0;  // at least 1
  };
  struct Network {
    uint64_t turn = 0;
    size_t jobs = 0;
  };
  using Jobs = std::list<LoginJob>;

  [[nodiscard]] LoginJob Remove(Jobs::iterator job);
  [[nodiscard]] bool AllFailed(const ClientNetwork& network) const;
  [[nodiscard]] std::optional<LoginJob> MakeRoomFor(const LoginJob& job);

  Jobs jobs_;  // in the order of their arrival; few enough for a linear search
  std::map<ClientAddress, Client> clients_;
  std::map<ClientNetwork, Network> networks_;
  uint64_t last_turn_ = 0;
};

/// Limit of the CPU time for failed logins of all clients: a quarter of a CPU in the long run. The credit that
/// accumulates meanwhile covers 15 hashes of half a second. Pure.
class HashBudget {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Records a failed login whose hash used `cpu` of CPU time.
  void Wasted(std::chrono::nanoseconds cpu, SteadyTime now) { paid_at_ = std::max(paid_at_, now) + kShare * cpu; }
  /// Time at which the next hash may begin.
  [[nodiscard]] SteadyTime Next() const { return paid_at_ - kCredit; }

 private:
  static constexpr int kShare = 4;
  static constexpr std::chrono::seconds kCredit{30};
  SteadyTime paid_at_{};
};

}  // namespace kepler::http::server
